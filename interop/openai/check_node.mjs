// Clients for JavaScript: OpenAI's own, and Vercel's AI SDK with its provider for compatible servers and with the one
// for OpenAI itself, which asks the newer API.
//
//     node check_node.mjs URL TOKEN      (NODE_PATH is not read by modules: run it where node_modules is)
//
// It ends with an assertion that failed, or with the line `JavaScript: all is well`.

import assert from "node:assert";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url, token, modules] = process.argv.slice(2);
const require = createRequire(pathToFileURL(modules + "/"));
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const session = (id) => id.replace("resp_", "resp-").split("-")[1];
const holds = (what, so) => {
  assert.ok(so, what);
  console.log("  holds:", what);
};

async function openai() {
  console.log("openai for JavaScript");
  const { default: OpenAI } = await load("openai");
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token });
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  holds("models are listed", names.includes("assistant"));
  const messages = [{ role: "user", content: "one" }];
  const first = await client.chat.completions.create({ model: "assistant", messages });
  messages.push(first.choices[0].message, { role: "user", content: "!say a\n!tool list_files {}\n!say b" });
  const stream = client.chat.completions.stream({ model: "assistant", messages, stream_options: { include_usage: true } });
  const final = await stream.finalChatCompletion();
  holds("a stream is put together", final.choices[0].message.content === "a\n\nb" && final.usage.total_tokens > 0);
  holds("a follow-up goes on", session(final.id) === session(first.id));
  const made = await client.responses.create({ model: "assistant", input: "one" });
  const next = await client.responses.create({ model: "assistant", input: "two", previous_response_id: made.id });
  holds("responses go on by an id", session(next.id) === session(made.id) && next.output_text.includes("two"));
  let text = "";
  for await (const event of await client.responses.create({ model: "assistant", input: "!say x\n!say y", stream: true })) {
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  holds("and are streamed", text.includes("x") && text.includes("y"));
  const failing = [{ role: "user", content: "!fail credit" }];
  const failed = await client.chat.completions.create({ model: "assistant", messages: failing }).catch((why) => why);
  holds("a failed turn is an error", failed.status === 500 && failed.code === "insufficient_quota");
  const wrong = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
  const refused = await wrong.models.list().catch((why) => why);
  holds("a wrong key is one", refused.status === 401);
}

async function vercel() {
  console.log("Vercel AI SDK");
  const { generateText, streamText } = await load("ai");
  const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
  const { createOpenAI } = await load("@ai-sdk/openai");
  const compatible = createOpenAICompatible({ name: "sb", baseURL: `${url}/v1`, apiKey: token, includeUsage: true });
  const own = createOpenAI({ baseURL: `${url}/v1`, apiKey: token });
  for (const [name, model] of [["compatible", compatible("assistant")], ["chat", own.chat("assistant")], ["responses", own("assistant")]]) {
    const messages = [{ role: "user", content: `one by ${name}` }];
    const first = await generateText({ model, messages });
    holds(`${name}: a question is answered`, first.text.includes(`one by ${name}`) && first.usage.totalTokens > 0);
    messages.push({ role: "assistant", content: first.text }, { role: "user", content: "two" });
    const streamed = streamText({ model, messages });
    let text = "";
    for await (const piece of streamed.textStream) text += piece;
    const { id } = await streamed.response;
    holds(`${name}: a streamed follow-up goes on`, text.includes("two") && session(id) === session(first.response.id));
  }
}

await openai();
await vercel();
console.log("JavaScript: all is well");
