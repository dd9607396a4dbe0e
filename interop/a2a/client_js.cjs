// @a2a-js/sdk as a client, in both versions of the wire: client_js.cjs URL TOKEN.
const assert = require("node:assert");
const { randomUUID } = require("node:crypto");
const { ClientFactory, JsonRpcTransportFactory, DefaultAgentCardResolver } = require("@a2a-js/sdk/client");

const [URL_, TOKEN] = process.argv.slice(2);
const asks = (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${TOKEN}`);
  return fetch(input, { ...init, headers });
};

async function main() {
  const how = { fetchImpl: asks, legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(how)],
    cardResolver: new DefaultAgentCardResolver(how),
  });
  const client = await factory.createFromUrl(URL_);
  const message = (text) => ({
    message: {
      messageId: randomUUID(), role: 1, parts: [{ content: { $case: "text", value: text } }],
      contextId: "", taskId: "", extensions: [], referenceTaskIds: [], metadata: undefined,
    },
    configuration: undefined, metadata: undefined, tenant: "",
  });
  const sent = await client.sendMessage(message("hello"));
  assert.match(JSON.stringify(sent), /hello/);
  console.log("  sent whole");
  let pieces = 0, last;
  for await (const event of client.sendMessageStream(message("!stream 5 20"))) {
    pieces += 1;
    last = event;
  }
  assert.ok(pieces > 4, `${pieces} pieces`);
  console.log("  sent streamed,", pieces, "events, the last", JSON.stringify(last).slice(0, 160));
}

main().catch((why) => {
  console.error(why);
  process.exit(1);
});
