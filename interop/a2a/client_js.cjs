// @a2a-js/sdk as a client, in both versions of the wire: client_js.cjs URL TOKEN.
const assert = require("node:assert");
const http = require("node:http");
const { randomUUID } = require("node:crypto");
const { TaskState } = require("@a2a-js/sdk");
const { ClientFactory, JsonRpcTransportFactory, DefaultAgentCardResolver } = require("@a2a-js/sdk/client");

const [URL_, TOKEN] = process.argv.slice(2);
const asks = (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${TOKEN}`);
  return fetch(input, { ...init, headers });
};
const tenant = "";

const text = (value) => ({ content: { $case: "text", value }, filename: "", mediaType: "text/plain", metadata: undefined });
const file = (bytes, filename) => ({
  content: { $case: "raw", value: Buffer.from(bytes) }, filename, mediaType: "text/plain", metadata: undefined,
});

function message(parts, { contextId = "", taskId = "", returnImmediately = false } = {}) {
  return {
    message: {
      messageId: randomUUID(), role: 1, parts, contextId, taskId, extensions: [], referenceTaskIds: [],
      metadata: undefined,
    },
    configuration: {
      acceptedOutputModes: [], taskPushNotificationConfig: undefined, historyLength: undefined, returnImmediately,
    },
    metadata: undefined, tenant,
  };
}

// What a task said, and each of the states that a stream told.
const words = (task) => task.artifacts.flatMap((a) => a.parts.map((p) => p.content.value)).join("");
const told = (events) => events.map((e) => e.payload?.value?.status?.state).filter((state) => state !== undefined);

async function every(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

// Somebody to be told: what came first, and where.
async function listener() {
  let came;
  const heard = new Promise((done) => (came = done));
  const server = http.createServer(async (request, answer) => {
    let body = "";
    for await (const piece of request) body += piece;
    answer.end();
    came({ body, token: request.headers["x-a2a-notification-token"] });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return [heard, `http://127.0.0.1:${server.address().port}/hook`, server];
}

async function talk(client, version) {
  const sent = await client.sendMessage(message([text("hello"), file("hi", "a.txt")]));
  assert.match(words(sent), /hello/);
  assert.match(words(await client.getTask({ id: sent.id, historyLength: undefined, tenant })), /hello/);
  console.log("  sent whole, with a file");

  const streamed = await every(client.sendMessageStream(message([text("!stream 5 20")])));
  assert.ok(streamed.length > 4, `${streamed.length} pieces`);
  assert.strictEqual(told(streamed).at(-1), TaskState.TASK_STATE_COMPLETED);
  console.log("  sent streamed");

  const call = '!tool write_file {"path":"js.txt","content":"x"}\n!tool share_file {"path":"js.txt"}\n!say Written.';
  const asked = await client.sendMessage(message([text(call)]));
  assert.strictEqual(asked.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const where = { contextId: asked.contextId, taskId: asked.id };
  const done = await client.sendMessage(message([text("/approve")], where));
  assert.strictEqual(done.status.state, TaskState.TASK_STATE_COMPLETED);
  const files = done.artifacts.flatMap((a) => a.parts).filter((part) => part.filename === "js.txt");
  assert.strictEqual(Buffer.from(files[0].content.value).toString(), "x");
  console.log("  approved, and a file came");

  const begun = await client.sendMessage(message([text("!wait 60")], { returnImmediately: true }));
  const gone = await client.cancelTask({ id: begun.id, metadata: undefined, tenant });
  assert.strictEqual(gone.status.state, TaskState.TASK_STATE_CANCELED);
  await assert.rejects(client.cancelTask({ id: begun.id, metadata: undefined, tenant }), /cancel/i);
  await assert.rejects(client.getTask({ id: "no-such-task", historyLength: undefined, tenant }), /task/i);
  console.log("  cancelled, once");

  const long = await client.sendMessage(message([text("!stream 30 50")], { returnImmediately: true }));
  const followed = await every(client.resubscribeTask({ id: long.id, tenant }));
  assert.strictEqual(told(followed).at(-1), TaskState.TASK_STATE_COMPLETED);
  console.log("  followed");

  const hook = {
    tenant, taskId: sent.id, id: "mine", url: "https://example.com/hook", token: "t", authentication: undefined,
  };
  await client.createTaskPushNotificationConfig(hook);
  const listing = { taskId: sent.id, pageSize: 0, pageToken: "", tenant };
  assert.strictEqual((await client.listTaskPushNotificationConfig(listing)).configs.length, 1);
  await client.deleteTaskPushNotificationConfig({ taskId: sent.id, id: "mine", tenant });
  assert.strictEqual((await client.listTaskPushNotificationConfig(listing)).configs.length, 0);
  console.log("  told whom to tell, and told no more");

  const [heard, url, server] = await listener();
  const pushed = message([text("!stream 3 20")], { returnImmediately: true });
  pushed.configuration.taskPushNotificationConfig = { ...hook, taskId: "", url };
  const task = await client.sendMessage(pushed);
  const post = await heard;
  server.close();
  assert.strictEqual(post.token, "t");
  assert.ok(post.body.includes(task.id), post.body);
  console.log("  pushed");
  console.log(`  all of it over ${version}`);
}

async function main() {
  const how = { fetchImpl: asks, legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(how)],
    cardResolver: new DefaultAgentCardResolver(how),
  });
  const card = await (await factory.createFromUrl(URL_)).getAgentCard();
  for (const version of ["1.0", "0.3"]) {
    const supportedInterfaces = card.supportedInterfaces.filter((i) => i.protocolVersion.startsWith(version));
    assert.ok(supportedInterfaces.length > 0, `the card offers no ${version}`);
    await talk(await factory.createFromAgentCard({ ...card, supportedInterfaces }), version);
  }
}

main().catch((why) => {
  console.error(why);
  process.exit(1);
});
