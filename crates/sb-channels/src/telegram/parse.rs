//! An update of Telegram's as events. Pure: no clock, no network, and nothing remembered.
//!
//! An update is read by itself, so one that has an unknown shape is kept as [`Event::Unknown`] and the
//! rest of its batch is taken. What says nothing to us (joins, pins, channel posts) is no event.

use sb_channel::model::{Chat, ChatSort, MessageRef, Person, Timestamp};
use sb_channel::{Event, Incoming, Pressed, Quoted};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::content;
use super::wire::{self, CallbackQuery, MemberChange, Message, StoppedGeneration, User};

/// What we know of ourselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Me {
    pub id: i64,
    /// Without the `@`; not known before [`check`](sb_channel::Channel::check).
    pub username: Option<String>,
}

/// Kinds of updates that are known and are none of our business: what channels tell, and who reacted.
const PASSED_OVER: [&str; 6] = [
    "channel_post",
    "edited_channel_post",
    "message_reaction",
    "message_reaction_count",
    "chat_member",
    "guest_message",
];

/// One update's number, and what it says. Nothing if it is no update at all.
pub(super) fn update(update: &Value, me: &Me) -> Option<(i64, Vec<Event>)> {
    let id = update.get("update_id")?.as_i64()?;
    let fields = update.as_object()?.iter().filter(|(name, _)| *name != "update_id");
    Some((id, fields.flat_map(|(kind, value)| events(id, kind, value, me)).collect()))
}

fn events(id: i64, kind: &str, value: &Value, me: &Me) -> Vec<Event> {
    let read = match kind {
        "message" => read(value).map(|message| said(id, &message, me)),
        "edited_message" => read(value).map(|message| edited(id, &message, me)),
        "callback_query" => read(value).map(pressed),
        "stopped_message_generation" => read(value).map(|stop| stopped(&stop)),
        "my_chat_member" => read(value).map(|change| standing(&change)),
        _ if PASSED_OVER.contains(&kind) => Some(None),
        _ => None,
    };
    match read {
        Some(event) => event.into_iter().collect(),
        None => vec![Event::Unknown { what: kind.to_owned(), raw: value.to_string() }],
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

fn said(update: i64, message: &Message, me: &Me) -> Option<Event> {
    let from = &message.chat;
    let id = from.id?;
    // Quirk: migrated.json. The group tells both ways; the other way would undo this one.
    if let Some(to) = message.migrate_to_chat_id {
        return Some(Event::Moved { chat: id.to_string(), to: to.to_string() });
    }
    if !is_heard(message, me) {
        return None;
    }
    let words = content::words(message, me);
    let files = content::files(message);
    if words.text.is_empty() && files.is_empty() && !words.addressed {
        return None;
    }
    let quoted = quoted(message, me);
    let answers_us = quoted.as_ref().is_some_and(|quoted| quoted.ours);
    let key = key(id, message.message_id, update);
    let said = Incoming {
        message: reference(id, message.message_id),
        files,
        album: message.media_group_id.clone(),
        addressed: from.is_private() || words.addressed || answers_us,
        quoted,
        forwarded: message.forward_origin.as_ref().map(origin),
        at: message.date.filter(|s| *s > 0).map(|s| Timestamp(s.saturating_mul(1000))),
        ..Incoming::new(key, place(from, topic(message)), writer(message)?, words.text)
    };
    Some(said.into())
}

fn edited(update: i64, message: &Message, me: &Me) -> Option<Event> {
    let id = message.chat.id?;
    let text = content::words(message, me).text;
    is_heard(message, me).then(|| Event::Edited { key: key(id, message.message_id, update), text })
}

fn pressed(press: CallbackQuery) -> Option<Event> {
    let (handle, message) = (press.id?, press.message?);
    let id = message.chat.id.filter(|_| message.chat.is_spoken_in())?;
    Some(Event::Pressed(Pressed {
        key: format!("press:{handle}"),
        chat: place(&message.chat, topic(&message)),
        person: person(&press.from?),
        says: press.data?,
        on: reference(id, message.message_id),
        handle,
        lends: None,
    }))
}

fn stopped(stop: &StoppedGeneration) -> Option<Event> {
    let id = stop.chat.id.filter(|_| stop.chat.is_private())?;
    let person = Person { id: Some(id.to_string()), name: stop.chat.called(), bot: false };
    let key = format!("stop:{id}:{}", stop.draft_id.unwrap_or_default());
    Some(Event::Stopped { key, chat: place(&stop.chat, stop.message_thread_id), person })
}

fn standing(change: &MemberChange) -> Option<Event> {
    let chat = change.chat.id.filter(|_| change.chat.is_spoken_in())?.to_string();
    match (change.old_chat_member.is_in(), change.new_chat_member.is_in()?) {
        (_, false) if change.chat.is_private() => {
            Some(Event::Gone { chat, why: "the bot was blocked".into() })
        }
        (_, false) => Some(Event::Gone { chat, why: "the bot was removed from the group".into() }),
        (Some(true), true) => None,
        (_, true) => Some(Event::Back { chat }),
    }
}

/// Whether it is somebody's own message in a chat, and not ours.
fn is_heard(message: &Message, me: &Me) -> bool {
    // Quirk: automatic_forward.json. A channel's posts appear in its discussion group by themselves.
    let by_itself = message.is_automatic_forward == Some(true) || message.guest_query_id.is_some();
    let ours = message.from.as_ref().is_some_and(|from| from.id == Some(me.id));
    message.chat.is_spoken_in() && !by_itself && !ours
}

/// Who wrote. Quirk: anonymous_admin.json. For a chat that writes, `from` is a made-up user of everybody's.
fn writer(message: &Message) -> Option<Person> {
    match (&message.sender_chat, &message.from) {
        (Some(chat), _) => Some(Person { id: None, name: chat.called(), bot: false }),
        (None, Some(user)) => Some(person(user)),
        (None, None) => None,
    }
}

fn person(user: &User) -> Person {
    Person { id: user.id.map(|id| id.to_string()), name: user.called(), bot: user.is_bot.unwrap_or_default() }
}

fn place(chat: &wire::Chat, topic: Option<i64>) -> Chat {
    Chat {
        id: chat.id.unwrap_or_default().to_string(),
        thread: topic.map(|topic| topic.to_string()),
        sort: if chat.is_private() { ChatSort::Direct } else { ChatSort::Group },
    }
}

/// Quirk: reply_thread.json. Without the mark, the number is a chain of replies and no topic.
fn topic(message: &Message) -> Option<i64> {
    message.message_thread_id.filter(|_| message.is_topic_message == Some(true))
}

/// Quirk: message_zero.json. Messages shown to one person only all have the number 0, so these are told apart by
/// their update.
fn key(chat: i64, message: Option<i64>, update: i64) -> String {
    match message.unwrap_or_default() {
        0 => format!("{chat}:0:{update}"),
        message => format!("{chat}:{message}"),
    }
}

fn reference(chat: i64, message: Option<i64>) -> Option<MessageRef> {
    message.filter(|id| *id != 0).map(|id| MessageRef(format!("{chat}:{id}")))
}

fn quoted(message: &Message, me: &Me) -> Option<Quoted> {
    let quote = message.quote.as_ref().and_then(|quote| quote.text.clone());
    // Quirk: topic_root.json. In a topic, what answers nothing "answers" the service message that began it.
    let answered = message.reply_to_message.as_ref().filter(|to| to.forum_topic_created.is_none());
    if let Some(to) = answered {
        let ours = to.sender_chat.is_none() && to.from.as_ref().is_some_and(|from| from.id == Some(me.id));
        let from = writer(to).map_or_else(|| to.chat.called(), |person| person.name);
        return Some(Quoted { from, ours, text: quote.unwrap_or_else(|| content::gist(to)) });
    }
    let elsewhere = message.external_reply.as_ref()?;
    let from = elsewhere.origin.as_ref().map_or_else(|| "somebody elsewhere".to_owned(), origin);
    Some(Quoted { from, ours: false, text: quote.unwrap_or_default() })
}

fn origin(origin: &wire::ForwardOrigin) -> String {
    if let Some(user) = &origin.sender_user {
        return user.called();
    }
    let chat = origin.sender_chat.as_ref().or(origin.chat.as_ref()).map(wire::Chat::called);
    origin.sender_user_name.clone().or(chat).unwrap_or_else(|| "somebody".to_owned())
}
