"""The stand-in for Telegram, seen by python-telegram-bot: every method that the adapter uses, files both
ways, and each refusal as that library's own error.

    python check_ptb.py http://127.0.0.1:PORT

It ends with an assertion that failed, or with the line `python-telegram-bot: all is well`.
"""

import asyncio
import json
import sys
import urllib.request

from telegram import (
    Bot,
    BotCommand,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaDocument,
    InputMediaPhoto,
    LinkPreviewOptions,
    MessageEntity,
    ReactionTypeEmoji,
    ReplyParameters,
)
from telegram.error import BadRequest, ChatMigrated, Conflict, Forbidden, InvalidToken, NetworkError, RetryAfter
from telegram.request import HTTPXRequest

URL = sys.argv[1].rstrip("/")
TOKEN = "123456:stand-in_token"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (64).to_bytes(4, "big") + (48).to_bytes(4, "big")


def act(**deed):
    """Does something as a person."""
    deed["do"] = deed.pop("deed")
    headers = {"content-type": "application/json", "x-standin": "1"}
    request = urllib.request.Request(URL + "/standin/act", json.dumps(deed).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def shown(chat):
    with urllib.request.urlopen(f"{URL}/standin/state?chat={chat}") as answer:
        return json.load(answer)


def say(chat, person, text, **more):
    return act(deed="say", chat=str(chat), person=str(person), text=text, **more)


def breaks(what, number=0, of="posts", times=1):
    act(deed="break", what=what, number=number, of=of, times=times)


async def refused(kind, says, call):
    try:
        await call
    except kind as why:
        assert says.lower() in str(why).lower(), f"{why!r} does not say {says!r}"
        # Some kinds are below others: it must be this one exactly.
        assert type(why) is kind, f"{why!r} is no {kind.__name__}"
        return why
    raise AssertionError(f"{kind.__name__} was expected")


async def updates(bot, offset=None, timeout=1):
    return list(await bot.get_updates(offset=offset, timeout=timeout, allowed_updates=["message", "edited_message", "callback_query", "my_chat_member"]))


async def messages(bot, chat):
    me = await bot.get_me()
    assert me.username == "sb_bot" and me.is_bot and me.id == 123456
    text = "😀 bold and site"
    entities = [MessageEntity("bold", 3, 4), MessageEntity("text_link", 12, 4, url="https://example.org/")]
    sent = await bot.send_message(chat, text, entities=entities, link_preview_options=LinkPreviewOptions(is_disabled=True))
    assert sent.text == text and list(sent.parse_entities().values()) == ["bold", "site"]
    assert sent.chat.id == chat and sent.chat.type == "private"
    reply = await bot.send_message(chat, "more", reply_parameters=ReplyParameters(sent.message_id, allow_sending_without_reply=True))
    assert reply.reply_to_message.message_id == sent.message_id
    buttons = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="y"), InlineKeyboardButton("No", callback_data="n")]])
    edited = await bot.edit_message_text("May I?", chat, sent.message_id, reply_markup=buttons)
    assert edited.text == "May I?" and edited.reply_markup.inline_keyboard[0][1].callback_data == "n"
    await refused(BadRequest, "message is not modified", bot.edit_message_text("May I?", chat, sent.message_id, reply_markup=buttons))
    assert act(deed="press", chat=str(chat), person=str(chat), label="Yes")["pressed"]
    press = (await updates(bot))[-1].callback_query
    assert press.data == "y" and press.from_user.id == chat and press.message.message_id == sent.message_id
    assert await bot.answer_callback_query(press.id)
    await refused(BadRequest, "query is too old", bot.answer_callback_query(press.id))
    # Without a keyboard, an edit takes it away.
    edited = await bot.edit_message_text("Allowed.", chat, sent.message_id)
    assert edited.reply_markup is None
    await refused(BadRequest, "message to edit not found", bot.edit_message_text("x", chat, 9999))
    await refused(BadRequest, "message text is empty", bot.send_message(chat, " "))
    await refused(BadRequest, "message is too long", bot.send_message(chat, "x" * 4097))
    await refused(BadRequest, "entity_bounds_invalid", bot.send_message(chat, "😀", entities=[MessageEntity("bold", 0, 1)]))
    await refused(BadRequest, "chat not found", bot.send_message(5, "x"))
    assert await bot.delete_message(chat, reply.message_id)


async def gestures(bot, chat):
    key = say(chat, chat, "hi there")["key"]
    message = int(key.split(":")[1])
    assert await bot.set_message_reaction(chat, message, [ReactionTypeEmoji("👀")])
    assert shown(chat)["messages"][-1]["mark"] == "👀"
    assert await bot.set_message_reaction(chat, message, [])
    assert shown(chat)["messages"][-1]["mark"] is None
    await refused(BadRequest, "reaction_invalid", bot.set_message_reaction(chat, message, [ReactionTypeEmoji("⏳")]))
    assert await bot.send_chat_action(chat, "typing")
    assert shown(chat)["typing"]
    assert await bot.send_message_draft(chat, 7, "The answer", entities=[MessageEntity("italic", 4, 6)], api_kwargs={"can_stop": True})
    draft = shown(chat)["draft"]
    assert draft["text"] == "The answer" and draft["stop"] and draft["entities"][0]["type"] == "italic"
    await bot.send_message(chat, "The answer is 4.")
    assert shown(chat)["draft"] is None and not shown(chat)["typing"]
    await refused(BadRequest, "random_id_invalid", bot.send_message_draft(chat, 0, "x"))
    group = int(act(deed="group", title="Drafts")["id"])
    await refused(BadRequest, "textdraft_peer_invalid", bot.send_message_draft(group, 7, "x"))
    assert await bot.set_my_commands([BotCommand("help", "What there is")])
    assert (await bot.get_my_commands())[0].command == "help"


async def files(bot, chat):
    photo = await bot.send_photo(chat, PNG, caption="a picture", caption_entities=[MessageEntity("bold", 2, 7)], filename="a.png")
    assert photo.photo[-1].width == 640 and list(photo.parse_caption_entities().values()) == ["picture"]
    document = await bot.send_document(chat, b"%PDF-1.7 words", filename="report.pdf")
    assert document.document.file_name == "report.pdf" and document.document.file_size == 14
    got = await bot.get_file(document.document.file_id)
    assert bytes(await got.download_as_bytearray()) == b"%PDF-1.7 words"
    voice = await bot.send_voice(chat, b"OggS voice", duration=7)
    assert voice.voice.duration == 7
    again = await bot.send_document(chat, document.document.file_id)
    assert again.document.file_size == 14
    album = await bot.send_media_group(chat, [InputMediaPhoto(PNG, caption="two"), InputMediaPhoto(PNG)])
    assert len(album) == 2 and album[0].media_group_id == album[1].media_group_id and album[0].caption == "two"
    await refused(BadRequest, "can't be mixed", bot.send_media_group(chat, [InputMediaPhoto(PNG), InputMediaDocument(b"x")]))
    await refused(BadRequest, "image_process_failed", bot.send_photo(chat, b"no picture"))
    wide = PNG[:16] + (9000).to_bytes(4, "big") + (2000).to_bytes(4, "big")
    await refused(BadRequest, "photo_invalid_dimensions", bot.send_photo(chat, wide))
    await refused(BadRequest, "wrong file_id", bot.get_file("none"))
    await refused(BadRequest, "message caption is too long", bot.send_document(chat, b"x", caption="x" * 1025))


async def receiving(bot, chat):
    seen = await updates(bot)
    last = seen[-1].update_id
    say(chat, chat, "/ask@sb_bot what is new?")
    [update] = await updates(bot, last + 1)
    command = update.message.parse_entities(["bot_command"])
    assert list(command.values()) == ["/ask@sb_bot"] and update.message.from_user.id == chat
    [again] = await updates(bot, last + 1)
    assert again.update_id == update.update_id
    assert await updates(bot, update.update_id + 1) == []
    # A poll really waits.
    poll = asyncio.create_task(updates(bot, update.update_id + 1, timeout=20))
    await asyncio.sleep(0.3)
    assert not poll.done()
    say(chat, chat, "now")
    [waited] = await poll
    assert waited.message.text == "now"
    # The older of two polls ends.
    older = asyncio.create_task(updates(bot, waited.update_id + 1, timeout=20))
    await asyncio.sleep(0.3)
    newer = asyncio.create_task(updates(bot, waited.update_id + 1, timeout=20))
    await refused(Conflict, "terminated by other getUpdates", older)
    say(chat, chat, "to the newer")
    assert (await newer)[0].message.text == "to the newer"
    assert await bot.set_webhook("https://example.org/hooks/t", secret_token="abc", allowed_updates=["message"], max_connections=20)
    assert (await bot.get_webhook_info()).url == "https://example.org/hooks/t"
    await refused(Conflict, "webhook is active", updates(bot))
    assert await bot.delete_webhook()
    assert (await bot.get_webhook_info()).url == ""


async def topics_and_groups(bot, person):
    group = int(act(deed="group", title="The lab")["id"])
    thread = int(act(deed="topic", chat=str(group), name="Plans")["id"])
    sent = await bot.send_message(group, "in plans", message_thread_id=thread)
    assert sent.message_thread_id == thread and sent.is_topic_message
    await refused(BadRequest, "message thread not found", bot.send_message(group, "x", message_thread_id=1))
    drained = await updates(bot)
    say(group, person, "@sb_bot hi", thread=str(thread))
    update = (await updates(bot, drained[-1].update_id + 1))[0]
    assert update.message.chat.type == "supergroup" and update.message.message_thread_id == thread
    assert update.message.reply_to_message.forum_topic_created.name == "Plans"
    basic = int(act(deed="group", title="Small", basic=True)["id"])
    moved = int(act(deed="migrate", chat=str(basic))["id"])
    why = await refused(ChatMigrated, "migrated to supergroup", bot.send_message(basic, "x"))
    assert why.new_chat_id == moved
    assert [u for u in await updates(bot, update.update_id + 1) if u.message and u.message.migrate_to_chat_id == moved]


async def faults(bot, chat):
    breaks("rate_limit", 7)
    why = await refused(RetryAfter, "retry in 7", bot.send_message(chat, "x"))
    assert int(getattr(why.retry_after, "total_seconds", lambda: why.retry_after)()) == 7
    breaks("chat_gone")
    await refused(Forbidden, "bot was blocked by the user", bot.send_message(chat, "x"))
    breaks("format")
    await refused(BadRequest, "can't parse entities", bot.send_message(chat, "x"))
    breaks("flaky")
    await refused(NetworkError, "internal server error", bot.send_message(chat, "x"))
    breaks("revoked")
    await refused(InvalidToken, "unauthorized", bot.send_message(chat, "x"))
    breaks("unknown")
    await refused(InvalidToken, "not found", bot.send_message(chat, "x"))
    before = len(shown(chat)["messages"])
    breaks("lost_answer")
    try:
        await bot.send_message(chat, "perhaps")
        raise AssertionError("the answer came")
    except NetworkError as why:
        assert not isinstance(why, BadRequest), why
    assert len(shown(chat)["messages"]) == before + 1, "it was acted on"
    act(deed="block", chat=str(chat))
    await refused(Forbidden, "bot was blocked by the user", bot.send_message(chat, "x"))
    act(deed="unblock", chat=str(chat))
    standing = [u.my_chat_member for u in await updates(bot) if u.my_chat_member]
    assert [s.new_chat_member.status for s in standing[-2:]] == ["kicked", "member"]
    wrong = Bot("123456:wrong", base_url=URL + "/bot")
    await refused(InvalidToken, "rejected by the server", wrong.initialize())


async def main():
    person = int(act(deed="person", name="Ann")["id"])
    # Two polls at once need two connections.
    polls = HTTPXRequest(connection_pool_size=4)
    async with Bot(TOKEN, URL + "/bot", URL + "/file/bot", get_updates_request=polls) as bot:
        for check in (messages, gestures, files, receiving, topics_and_groups, faults):
            await check(bot, person)
            print(f"python-telegram-bot: {check.__name__}")
    print("python-telegram-bot: all is well")


asyncio.run(main())
