// The stand-in for WhatsApp, seen by whatsapp-api-js: messages by number and by id, buttons, lists, files both ways,
// and the stand-in's calls judged by its signature check.
//
//     NODE_PATH=<folder>/node_modules node check_whatsapp_api_js.mjs http://127.0.0.1:PORT
//
// It ends with an assertion that failed, or with the line `whatsapp-api-js: all is well`.
import assert from "node:assert/strict";
import http from "node:http";
import path from "node:path";
import { webcrypto } from "node:crypto";
import { pathToFileURL } from "node:url";

const library = (file) => import(pathToFileURL(path.join(process.env.NODE_PATH, "whatsapp-api-js/lib", file)));
const { WhatsAppAPI } = await library("index.js");
const { Text, Interactive, ActionButtons, Button, ActionList, ListSection, Row, Body, Image, Document, Reaction } =
    await library("messages/index.js");

const HERE = process.argv[2].replace(/\/$/, "");
const [ID, ACCOUNT, ANN, PHONE] = ["900001", "100200300", "US.70002222", "15550002222"];
const [SECRET, WORD] = ["wa-test-app-secret-0123456789abcd", "stand-in verify token"];

const wa = new WhatsAppAPI({
    token: "stand-in_token",
    appSecret: SECRET,
    webhookVerifyToken: WORD,
    v: "v26.0",
    ponyfill: {
        fetch: (url, options) => fetch(String(url).replace("https://graph.facebook.com", HERE), options),
        subtle: webcrypto.subtle,
    },
});

async function act(deed, what = "act") {
    const headers = { "content-type": "application/json", "x-standin": "1" };
    const answer = await fetch(`${HERE}/standin/${what}`, { method: "POST", headers, body: JSON.stringify(deed) });
    assert.equal(answer.status, 204, JSON.stringify(deed));
}
const shown = async () => (await fetch(`${HERE}/standin/state`)).json();

// Where the stand-in calls: the library judges the call and reads it.
const heard = [];
let judged = 0;
let wake = () => {};
const hears = (kind) => (update) => {
    heard.push({ kind, ...update });
    wake();
};
wa.on.message = hears("message");
wa.on.status = hears("status");
async function next(kind) {
    for (;;) {
        const at = heard.findIndex((update) => update.kind === kind);
        if (at >= 0) return heard.splice(at, 1)[0];
        await new Promise((resolve, reject) => {
            const late = setTimeout(() => reject(new Error(`no ${kind} came`)), 20_000);
            wake = () => (clearTimeout(late), resolve());
        });
    }
}
const hook = http.createServer(async (request, response) => {
    const url = new URL(request.url, "http://here");
    try {
        if (request.method === "GET") return response.end(wa.get(Object.fromEntries(url.searchParams)));
        const pieces = [];
        for await (const piece of request) pieces.push(piece);
        const body = Buffer.concat(pieces).toString();
        const signature = request.headers["x-hub-signature-256"];
        assert.equal(await wa.verifyRequestSignature(body + " ", signature), false, "it believes anything");
        await wa.post(JSON.parse(body), body, signature);
        judged += 1;
        response.end();
    } catch (why) {
        console.error(why);
        response.writeHead(why.httpStatus ?? 500).end();
    }
});
await new Promise((resolve) => hook.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${hook.address().port}/hooks/wa`;
const subscribed = await wa.$$apiFetch$$(`https://graph.facebook.com/v26.0/${ACCOUNT}/subscribed_apps`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ override_callback_uri: address, verify_token: WORD }),
});
assert.deepEqual(await subscribed.json(), { success: true });

// What Ann writes, and that it is read and worked on.
await act({ do: "say", text: "hé 👋" });
const said = await next("message");
assert.equal(said.message.text.body, "hé 👋");
assert.deepEqual([said.contact.wa_id, said.contact.user_id], [PHONE, ANN]);
assert.deepEqual(await wa.markAsRead(ID, said.message.id, "text"), { success: true });
assert.equal((await shown()).typing, true);

// Words by number and by id, and what becomes of them.
for (const to of [PHONE, { bsuid: ANN }]) {
    const sent = await wa.sendMessage(ID, to, new Text("*Done.*"), said.message.id, "turn:1:0:0");
    const statuses = [await next("status"), await next("status")];
    assert.deepEqual(statuses.map((update) => update.status).sort(), ["delivered", "sent"]);
    assert.ok(statuses.every((update) => update.id === sent.messages[0].id));
    assert.ok(statuses.every((update) => update.biz_opaque_callback_data === "turn:1:0:0"));
}

// Something to tap.
const buttons = new ActionButtons(new Button("/approve 1", "Allow once"), new Button("/approve 3", "Decline"));
await wa.sendMessage(ID, { bsuid: ANN }, new Interactive(buttons, new Body("May I?")));
await act({ do: "press", label: "Allow once" });
assert.deepEqual((await next("message")).message.interactive.button_reply, { id: "/approve 1", title: "Allow once" });
const list = new ActionList("Choose", new ListSection("Ways", new Row("/approve 2", "Always in this session")));
await wa.sendMessage(ID, { bsuid: ANN }, new Interactive(list, new Body("May I?")));
await act({ do: "press", label: "Always in this session" });
assert.equal((await next("message")).message.interactive.list_reply.id, "/approve 2");

// A mark, and files both ways.
await wa.sendMessage(ID, { bsuid: ANN }, new Reaction(said.message.id, "👀"));
assert.equal((await shown()).messages[0].mark, "👀");
const form = new FormData();
form.set("file", new Blob(["the report"], { type: "text/plain" }), "report.txt");
const { id } = await wa.uploadMedia(ID, form);
await wa.sendMessage(ID, { bsuid: ANN }, new Document(id, true, "the plan", "report.txt"));
assert.deepEqual((await shown()).messages.at(-1).files, ["report.txt"]);
const found = await wa.retrieveMedia(id, ID);
assert.deepEqual([found.file_size, found.mime_type], [10, "text/plain"]);
assert.equal(await (await wa.fetchMedia(found.url)).text(), "the report");
assert.deepEqual(await wa.deleteMedia(id, ID), { success: true });

// Refusals come as Meta's errors: a document is no picture, and a message that is too long is none.
const refused = async (code, message) => {
    const answer = await wa.sendMessage(ID, { bsuid: ANN }, message);
    assert.equal(answer.error?.code, code, JSON.stringify(answer));
};
await refused(131053, new Image(id, true));
await refused(131009, new Reaction("wamid.none", "👀"));

assert.ok(judged >= 10, `${judged} calls`);
console.log(`whatsapp-api-js: all is well (${judged} calls of the stand-in judged)`);
hook.closeAllConnections();
hook.close();
