// The stand-in for Discord, seen by discord.js: its own gateway client (identify, heartbeats, resume), messages both
// ways, files, buttons, commands, threads, and each refusal as DiscordAPIError, HTTPError or RateLimitError.
//
//     NODE_PATH=<folder>/node_modules node check_discordjs.cjs http://127.0.0.1:PORT
//
// It ends with an assertion that failed, or with the line `discord.js: all is well`.
"use strict";
const assert = require("node:assert/strict");
const {
  ActionRowBuilder, ButtonBuilder, ButtonStyle, ChannelType, Client, DiscordAPIError, Events, GatewayIntentBits, HTTPError,
  MessageFlags, Partials, REST, RateLimitError, Routes,
} = require("discord.js");

const URL_ = process.argv[2].replace(/\/$/, "");
const TOKEN = "OTAw.stand-in_token";
const rest = { api: URL_ + "/api", retries: 0 };

async function act(deed, more = {}) {
  const headers = { "content-type": "application/json", "x-standin": "1" };
  const answer = await fetch(URL_ + "/standin/act", { method: "POST", headers, body: JSON.stringify({ do: deed, ...more }) });
  assert.equal(answer.status, 200, deed + " " + (await answer.clone().text()));
  return answer.json();
}
const look = async (chat) => (await act("look", { chat })).messages;
const last = async (chat) => (await look(chat)).at(-1);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function refused(status, code, call) {
  try {
    await call;
  } catch (why) {
    assert.ok(why instanceof DiscordAPIError, `${why}`);
    assert.deepEqual([why.status, why.code], [status, code], why.message);
    return why;
  }
  assert.fail(`a refusal with code ${code}`);
}

/// The next event of a sort that is wanted.
const next = (client, event, wanted = () => true) => new Promise((done, failed) => {
  const timer = setTimeout(() => failed(new Error(`${event} never came`)), 30_000);
  const heard = (...all) => {
    if (!wanted(...all)) return;
    clearTimeout(timer);
    client.off(event, heard);
    done(all.length > 1 ? all : all[0]);
  };
  client.on(event, heard);
});

const made = () => new Client({
  rest,
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages, GatewayIntentBits.MessageContent],
  partials: [Partials.Channel, Partials.Message],
});

async function main() {
  await act("heartbeat_every", { ms: 1500 });
  const client = made();
  const ready = next(client, Events.ClientReady);
  await client.login(TOKEN);
  await ready;
  assert.equal(client.user.id, "900000000000000000");
  assert.equal(client.guilds.cache.size, 1);
  const ann = await act("person", { name: "Ann" });
  const direct = await act("direct", { person: ann });
  const lab = await act("channel", { name: "lab" });
  console.log("discord.js: identified");

  // Said in a direct chat and in a server.
  let came = next(client, Events.MessageCreate, (m) => m.content === "Hello 👋");
  await act("say", { chat: direct, person: ann, text: "Hello 👋" });
  let message = await came;
  assert.equal(message.channel.type, ChannelType.DM);
  assert.deepEqual([message.author.id, message.author.globalName, message.author.bot], [ann.id, "Ann", false]);
  came = next(client, Events.MessageCreate, (m) => m.inGuild());
  await act("say", { chat: lab, person: ann, text: `<@${client.user.id}> in the lab` });
  const asked = await came;
  assert.ok(asked.mentions.has(client.user));
  came = next(client, Events.MessageUpdate);
  await act("edit", { message: asked.id, text: "changed" });
  assert.equal((await came)[1].content, "changed");
  const gone = next(client, Events.MessageDelete);
  const third = await act("say", { chat: lab, person: ann, text: "unsaid" });
  await act("delete", { message: third });
  assert.equal((await gone).id, third);
  console.log("discord.js: events");

  // Said by the bot: the same key is the same message, nobody is called, changes and marks are seen.
  const words = { content: `Good day @everyone <@${ann.id}>`, nonce: "key-1", enforceNonce: true, allowedMentions: { parse: [], repliedUser: false } };
  const first = await message.reply(words);
  assert.equal((await message.reply(words)).id, first.id);
  assert.deepEqual((await last(direct)).pings, []);
  await message.reply("not told to be quiet");
  assert.deepEqual((await last(direct)).pings, ["replied_user"]);
  await message.channel.sendTyping();
  await first.edit({ content: "Good evening" });
  assert.equal((await look(direct)).find((m) => m.id === first.id).text, "Good evening");
  const mark = await message.react("👀");
  assert.equal((await look(direct)).find((m) => m.id === message.id).mark, "👀");
  await mark.users.remove(client.user);
  assert.equal((await look(direct)).find((m) => m.id === message.id).mark, null);
  const again = await message.channel.messages.fetch({ after: message.id, limit: 10 });
  assert.ok(again.has(first.id));
  console.log("discord.js: messages");

  // Files both ways, and a voice message.
  await asked.channel.send({ content: "Here.", files: [{ attachment: Buffer.from("the report"), name: "report.txt", description: "a report" }] });
  assert.deepEqual((await last(lab)).files.map((f) => [f.name, f.text]), [["report.txt", "the report"]]);
  came = next(client, Events.MessageCreate, (m) => m.attachments.size > 0 && m.author.id === ann.id);
  await act("file", { chat: lab, person: ann, text: "", name: "notes.txt", media_type: "text/plain", content: "some notes" });
  const file = (await came).attachments.first();
  assert.deepEqual([file.name, file.contentType, file.size], ["notes.txt", "text/plain", 10]);
  assert.equal(await (await fetch(file.url)).text(), "some notes");
  const spoken = {
    flags: MessageFlags.IsVoiceMessage,
    attachments: [{ id: 0, filename: "voice-message.ogg", duration_secs: 1.5, waveform: "AAAA" }],
  };
  const voice = (contentType) => client.rest.post(Routes.channelMessages(lab.id), { body: spoken, files: [{ data: Buffer.from("OggS"), name: "voice-message.ogg", contentType }] });
  const heard = await voice("audio/ogg");
  assert.equal(heard.attachments[0].duration_secs, 1.5);
  await refused(400, 50161, voice("application/ogg"));
  console.log("discord.js: files");

  // Buttons.
  const row = new ActionRowBuilder().addComponents(
    new ButtonBuilder().setCustomId("yes").setLabel("Allow").setStyle(ButtonStyle.Success),
    new ButtonBuilder().setCustomId("no").setLabel("Decline").setStyle(ButtonStyle.Danger),
  );
  await asked.channel.send({ content: "May I?", components: [row] });
  let pressed = next(client, Events.InteractionCreate, (i) => i.isButton());
  assert.equal(await act("press", { chat: lab, person: ann, label: "Allow" }), true);
  let press = await pressed;
  assert.deepEqual([press.customId, press.user.id, press.message.content], ["yes", ann.id, "May I?"]);
  await press.deferUpdate();
  await refused(400, 40060, client.rest.post(Routes.interactionCallback(press.id, press.token), { body: { type: 6 }, auth: false }));
  await refused(404, 10062, client.rest.post(Routes.interactionCallback("1", "none"), { body: { type: 6 }, auth: false }));
  pressed = next(client, Events.InteractionCreate, (i) => i.isButton());
  await act("press", { chat: lab, person: ann, label: "Decline" });
  press = await pressed;
  await press.update({ content: "Declined.", components: [] });
  assert.deepEqual((await last(lab)).buttons, []);
  assert.equal((await last(lab)).text, "Declined.");
  console.log("discord.js: buttons");

  // Commands.
  const option = { type: 3, name: "text", description: "What belongs to it", required: false };
  const menu = await client.application.commands.set([{ name: "status", description: "How it goes", options: [option] }]);
  assert.deepEqual(menu.map((one) => one.name), ["status"]);
  assert.deepEqual((await act("count")).menu, ["status"]);
  await refused(400, 50035, client.application.commands.set([{ name: "Status!", description: "x" }]));
  const chosen = next(client, Events.InteractionCreate, (i) => i.isChatInputCommand());
  await act("choose", { chat: direct, person: ann, command: "status", words: "now" });
  const command = await chosen;
  assert.deepEqual([command.commandName, command.options.getString("text")], ["status", "now"]);
  await command.reply({ content: "All is well.", flags: MessageFlags.Ephemeral });
  const later = next(client, Events.InteractionCreate, (i) => i.isChatInputCommand());
  await act("choose", { chat: direct, person: ann, command: "status", words: null });
  const slow = await later;
  await slow.deferReply();
  await slow.editReply("It took a while.");
  assert.equal((await last(direct)).text, "It took a while.");
  console.log("discord.js: commands");

  // Threads.
  const begun = await asked.startThread({ name: "a thread" });
  assert.equal(begun.id, asked.id);
  await begun.send("in the thread");
  await refused(400, 160004, client.rest.post(Routes.threads(lab.id, asked.id), { body: { name: "again" } }));
  const chat = { ...lab, thread: begun.id };
  await act("end_thread", { chat, locked: true });
  await refused(403, 160005, begun.send("too late"));
  console.log("discord.js: threads");

  // Refusals.
  const post = (channel, body) => client.rest.post(Routes.channelMessages(channel), { body });
  await refused(404, 10003, post("123456789012345678", { content: "x" }));
  await refused(404, 10008, client.rest.patch(Routes.channelMessage(lab.id, "123456789012345678"), { body: { content: "x" } }));
  await refused(403, 50005, client.rest.patch(Routes.channelMessage(lab.id, asked.id), { body: { content: "x" } }));
  await refused(400, 50006, post(lab.id, { content: "" }));
  await refused(400, 50007, client.rest.post(Routes.userChannels(), { body: { recipient_id: "123456789012345678" } }));
  await refused(400, 10014, client.rest.put(Routes.channelMessageOwnReaction(lab.id, asked.id, "x")));
  await pause(5_000);
  const long = await refused(400, 50035, post(lab.id, { content: "x".repeat(2001) }));
  assert.ok(long.rawError.errors.content);
  const large = { body: {}, files: [{ data: Buffer.alloc(11 * 1024 * 1024), name: "large.bin" }] };
  await refused(413, 40005, client.rest.post(Routes.channelMessages(lab.id), large));
  await act("shut_out", { chat: lab, out: true });
  await refused(403, 50001, post(lab.id, { content: "x" }));
  await act("shut_out", { chat: lab, out: false });
  await act("break", { what: "flaky", times: 1 });
  await assert.rejects(post(lab.id, { content: "x" }), (why) => why instanceof HTTPError && why.status === 500);
  await pause(5_000);
  const hasty = new REST({ ...rest, rejectOnRateLimit: () => true }).setToken(TOKEN);
  await act("break", { what: "rate_limit", times: 1 });
  await assert.rejects(hasty.post(Routes.channelMessages(lab.id), { body: { content: "x" } }), (why) => why instanceof RateLimitError && why.retryAfter >= 1000);
  // Six at once: the sixth waits for its bucket, as its headers tell.
  await pause(5_000);
  const begins = Date.now();
  for (let at = 1; at <= 6; at += 1) await post(direct.id, { content: `number ${at}` });
  assert.ok(Date.now() - begins > 2_000, "the bucket was not waited for");
  const nobody = new REST(rest).setToken("wrong");
  await refused(401, 0, nobody.get(Routes.user()));
  console.log("discord.js: refusals");

  // The gateway: heartbeats, asked to come again, a broken line, silence, a session that is gone.
  assert.ok(client.ws.ping >= 0, "no heartbeat was answered");
  let counts = await act("count");
  let resumed = next(client, Events.ShardResume);
  await act("reconnect");
  await resumed;
  resumed = next(client, Events.ShardResume);
  await act("drop");
  came = next(client, Events.MessageCreate, (m) => m.content === "meanwhile");
  await act("say", { chat: direct, person: ann, text: "meanwhile" });
  await resumed;
  await came;
  resumed = next(client, Events.ShardResume);
  await act("heartbeats", { on: false });
  await next(client, Events.ShardReconnecting);
  await act("heartbeats", { on: true });
  await resumed;
  assert.equal((await act("count")).begun, counts.begun);
  assert.ok((await act("count")).resumed >= counts.resumed + 3);
  const anew = next(client, Events.ShardReady);
  await act("forget");
  await anew;
  counts = await act("count");
  came = next(client, Events.MessageCreate, (m) => m.content === "and on");
  await act("say", { chat: direct, person: ann, text: "and on" });
  await came;
  await client.destroy();
  await act("content_intent", { on: false });
  await pause(5_000);
  const curious = made();
  await assert.rejects(async () => {
    const failed = new Promise((_, fail) => curious.on(Events.Error, fail));
    await Promise.race([curious.login(TOKEN), failed]);
    await failed;
  }, /disallowed intents/i);
  await curious.destroy();
  await assert.rejects(made().login("OTAw.another"), /invalid token/i);
  console.log("discord.js: gateway");
  console.log("discord.js: all is well");
  process.exit(0);
}

main().catch((why) => { console.error(why); process.exit(1); });
