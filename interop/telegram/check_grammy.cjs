// The stand-in for Telegram, seen by grammY: its own long polling, JSON bodies, files both ways, drafts with a
// stop button, and each refusal as GrammyError or HttpError.
//
//     NODE_PATH=<folder>/node_modules node check_grammy.cjs http://127.0.0.1:PORT
//
// It ends with an assertion that failed, or with the line `grammY: all is well`.
"use strict";
const assert = require("node:assert/strict");
const { Bot, GrammyError, HttpError, InlineKeyboard, InputFile, InputMediaBuilder } = require("grammy");

const URL_ = process.argv[2].replace(/\/$/, "");
const TOKEN = "123456:stand-in_token";
const PNG = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"), Buffer.from([0, 0, 0, 64, 0, 0, 0, 48])]);

async function act(deed) {
  const headers = { "content-type": "application/json", "x-standin": "1" };
  const answer = await fetch(URL_ + "/standin/act", { method: "POST", headers, body: JSON.stringify(deed) });
  assert.equal(answer.status, 200, JSON.stringify(deed));
  return answer.json();
}
const shown = async (chat) => (await fetch(`${URL_}/standin/state?chat=${chat}`)).json();
const say = (chat, person, text, more = {}) => act({ do: "say", chat: String(chat), person: String(person), text, ...more });

async function refused(code, says, call) {
  try {
    await call;
  } catch (why) {
    assert.ok(why instanceof GrammyError, `${why} ${why.error}`);
    assert.equal(why.error_code, code);
    assert.ok(why.description.includes(says), `${why.description} does not say ${says}`);
    return why;
  }
  assert.fail(`a refusal that says ${says}`);
}

async function main() {
  const bot = new Bot(TOKEN, { client: { apiRoot: URL_ } });
  const ann = Number((await act({ do: "person", name: "Ann" })).id);
  const came = [];
  let tell = () => {};
  bot.use((context) => { came.push(context.update); tell(); });
  const until = async (wanted) => {
    for (;;) {
      const found = came.find(wanted);
      if (found) return found;
      await new Promise((done) => { tell = done; });
    }
  };
  await say(ann, ann, "while nobody listened");
  // Its own start: getMe, deleteWebhook, then polls that confirm what was handled.
  const polling = bot.start({
    allowed_updates: ["message", "edited_message", "callback_query", "my_chat_member", "stopped_message_generation"],
  });
  const first = await until((u) => u.message?.chat.id === ann);
  assert.equal(first.message.text, "while nobody listened");
  assert.equal(bot.botInfo.username, "sb_bot");
  await say(ann, ann, "/help me");
  const command = await until((u) => u.message?.text === "/help me");
  assert.deepEqual(command.message.entities, [{ type: "bot_command", offset: 0, length: 5 }]);
  console.log("grammY: polling");

  const sent = await bot.api.sendMessage(ann, "😀 bold", {
    entities: [{ type: "bold", offset: 3, length: 4 }],
    link_preview_options: { is_disabled: true },
    reply_parameters: { message_id: first.message.message_id, allow_sending_without_reply: true },
    reply_markup: new InlineKeyboard().text("Yes", "y").text("No", "n"),
  });
  assert.deepEqual(sent.entities, [{ type: "bold", offset: 3, length: 4 }]);
  assert.equal(sent.reply_to_message.message_id, first.message.message_id);
  await act({ do: "press", chat: String(ann), person: String(ann), label: "No" });
  const press = (await until((u) => u.callback_query)).callback_query;
  assert.equal(press.data, "n");
  assert.equal(await bot.api.answerCallbackQuery(press.id), true);
  await refused(400, "query is too old", bot.api.answerCallbackQuery(press.id));
  const edited = await bot.api.editMessageText(ann, sent.message_id, "No, then.");
  assert.equal(edited.reply_markup, undefined);
  await refused(400, "message is not modified", bot.api.editMessageText(ann, sent.message_id, "No, then."));
  await refused(400, "message to edit not found", bot.api.editMessageText(ann, 9999, "x"));
  console.log("grammY: messages");

  const mark = (emoji) => bot.api.setMessageReaction(ann, first.message.message_id, emoji.map((e) => ({ type: "emoji", emoji: e })));
  assert.equal(await mark(["👀"]), true);
  assert.equal((await shown(ann)).messages[0].mark, "👀");
  await refused(400, "REACTIONS_TOO_MANY", mark(["👀", "👍"]));
  await mark([]);
  assert.equal(await bot.api.sendChatAction(ann, "typing"), true);
  assert.equal((await shown(ann)).typing, true);
  assert.equal(await bot.api.raw.sendMessageDraft({ chat_id: ann, draft_id: 9, text: "", can_stop: true }), true);
  assert.deepEqual((await shown(ann)).draft, { text: "", entities: [], stop: true, thread: null });
  assert.equal(await bot.api.raw.sendMessageDraft({ chat_id: ann, draft_id: 9, text: "The answer", can_stop: true }), true);
  await act({ do: "stop", chat: String(ann) });
  const stop = await until((u) => u.stopped_message_generation);
  assert.equal(stop.stopped_message_generation.draft_id, 9);
  assert.equal(await bot.api.setMyCommands([{ command: "help", description: "What there is" }]), true);
  console.log("grammY: gestures");

  const photo = await bot.api.sendPhoto(ann, new InputFile(PNG, "a.png"), { caption: "a picture", caption_entities: [{ type: "bold", offset: 2, length: 7 }] });
  assert.equal(photo.caption_entities[0].type, "bold");
  const document_ = await bot.api.sendDocument(ann, new InputFile(Buffer.from("words"), "a.txt"));
  assert.equal(document_.document.file_name, "a.txt");
  const file = await bot.api.getFile(document_.document.file_id);
  const got = await fetch(`${URL_}/file/bot${TOKEN}/${file.file_path}`);
  assert.equal(await got.text(), "words");
  const album = await bot.api.sendMediaGroup(ann, [InputMediaBuilder.photo(new InputFile(PNG, "a.png")), InputMediaBuilder.photo(new InputFile(PNG, "b.png"), { caption: "second" })]);
  assert.deepEqual(album.map((m) => m.media_group_id), [album[0].media_group_id, album[0].media_group_id]);
  await refused(400, "IMAGE_PROCESS_FAILED", bot.api.sendPhoto(ann, new InputFile(Buffer.from("none"), "a.png")));
  console.log("grammY: files");

  const broken = (what, number = 0) => act({ do: "break", what, number, of: "posts", times: 1 });
  await broken("rate_limit", 7);
  const limited = await refused(429, "Too Many Requests", bot.api.sendMessage(ann, "x"));
  assert.equal(limited.parameters.retry_after, 7);
  for (const [what, code, says] of [["chat_gone", 403, "bot was blocked by the user"], ["format", 400, "can't parse entities"], ["flaky", 500, "Internal Server Error"], ["revoked", 401, "Unauthorized"], ["unknown", 404, "Not Found"]]) {
    await broken(what);
    await refused(code, says, bot.api.sendMessage(ann, "x"));
  }
  await broken("lost_answer");
  await assert.rejects(bot.api.sendMessage(ann, "perhaps"), HttpError);
  const basic = Number((await act({ do: "group", title: "Small", basic: true })).id);
  const moved = Number((await act({ do: "migrate", chat: String(basic) })).id);
  const migrated = await refused(400, "upgraded to a supergroup", bot.api.sendMessage(basic, "x"));
  assert.equal(migrated.parameters.migrate_to_chat_id, moved);
  const group = Number((await act({ do: "group", title: "The lab" })).id);
  const thread = Number((await act({ do: "topic", chat: String(group), name: "Plans" })).id);
  const plans = await bot.api.sendMessage(group, "in plans", { message_thread_id: thread });
  assert.equal(plans.message_thread_id, thread);
  await refused(400, "message thread not found", bot.api.sendMessage(group, "x", { message_thread_id: 1 }));
  console.log("grammY: refusals");

  await bot.stop();
  await polling;
  assert.equal((await bot.api.getUpdates({ timeout: 0 })).length, 0, "its stop confirmed what it had");
  console.log("grammY: all is well");
}

main().catch((why) => { console.error(why); process.exit(1); });
