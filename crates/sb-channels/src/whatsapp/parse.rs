//! What a webhook tells, as events. Pure: time comes with the call, and nothing is remembered.
//!
//! Meta puts any number of messages and statuses into one call, of any number of our account's phone
//! numbers; only ours counts. Each is read by itself, so an odd one is kept as [`Event::Unknown`] and the
//! rest is taken.

use sb_channel::model::{Chat, FileRef, Handle, MessageRef, Person, Timestamp};
use sb_channel::{Event, Incoming, Pressed, Quoted, Report};
use serde::Deserialize;
use serde_json::{Value, json};

use super::content;
use super::faults;
use super::wire::{Change, Contact, Context, Message, Status};

/// What we know of ourselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Us {
    pub phone_number_id: String,
    /// Known once [`check`](sb_channel::Channel::check) asked.
    pub name: Option<String>,
}

/// How long after a person's message we may write what we like.
pub(super) const WINDOW_MS: i64 = 24 * 60 * 60 * 1000;
/// Meta calls again for seven days. A signature names no time, so what is older was copied on its way: whoever sent
/// it again waited until its id was forgotten.
const OLDEST_MS: i64 = 8 * 24 * 60 * 60 * 1000;
/// Kinds of messages that are known and say nothing to us.
const PASSED_OVER: [&str; 2] = ["reaction", "request_welcome"];

/// The events of a whole call; none if it has not the form of one. `now`: when it came; without, age is not looked at.
pub(super) fn webhook(body: &Value, us: &Us, now: Option<Timestamp>) -> Option<Vec<Event>> {
    let entries = body.get("entry")?.as_array()?;
    let changes = entries.iter().filter_map(|entry| entry.get("changes")?.as_array()).flatten();
    let ours = changes.filter(|change| change.get("field").and_then(Value::as_str) == Some("messages"));
    Some(ours.filter_map(|change| change.get("value")).flat_map(|value| change(value, us, now)).collect())
}

/// The events of one change.
pub(super) fn change(value: &Value, us: &Us, now: Option<Timestamp>) -> Vec<Event> {
    let Ok(change) = Change::deserialize(value) else { return vec![unknown("a change", value.clone())] };
    if change.metadata.phone_number_id != us.phone_number_id {
        return Vec::new();
    }
    let said = change.messages.iter().filter_map(|message| {
        let whole = || alone(value, message);
        match Message::deserialize(message) {
            Ok(read) if is_too_old(&read, now) => None,
            Ok(read) => told(&read, &change, us).unwrap_or_else(|| Some(unknown(&read.sort, whole()))),
            Err(_) => Some(unknown("a message", whole())),
        }
    });
    let reported = change.statuses.iter().filter_map(|status| {
        let status = Status::deserialize(status).ok()?;
        report(&status)
    });
    said.chain(reported).collect()
}

/// A change with this message only, as [`change`] reads it.
fn alone(value: &Value, message: &Value) -> Value {
    let mut alone = json!({"messages": [message]});
    for name in ["metadata", "contacts"] {
        alone[name] = value.get(name).cloned().unwrap_or_default();
    }
    alone
}

fn unknown(what: &str, raw: Value) -> Event {
    Event::Unknown { what: what.to_owned(), raw: raw.to_string() }
}

fn is_too_old(message: &Message, now: Option<Timestamp>) -> bool {
    now.zip(at(message)).is_some_and(|(now, at)| now.ms_since(at) > OLDEST_MS)
}

/// When it was written.
fn at(message: &Message) -> Option<Timestamp> {
    let seconds: i64 = message.timestamp.as_ref()?.parse().ok()?;
    Some(Timestamp(seconds.checked_mul(1000)?))
}

/// What a message is to us: nothing for what says nothing; none if nobody here knows it.
fn told(message: &Message, change: &Change, us: &Us) -> Option<Option<Event>> {
    match message.sort.as_str() {
        known if PASSED_OVER.contains(&known) => return Some(None),
        "system" => return Some(moved_on(message)),
        "edit" => {
            let edit = message.edit.as_ref()?;
            let within: Message = changed(message, edit.message.clone())?;
            let text = content::text(&within)?;
            return Some(Some(Event::Edited { key: edit.original_message_id.clone(), text }));
        }
        "revoke" => {
            let key = message.revoke.as_ref()?.original_message_id.clone();
            return Some(Some(Event::Unsent { key }));
        }
        _ => {}
    }
    // A business hears its own words in groups.
    let number = digits(&change.metadata.display_phone_number);
    if !number.is_empty() && message.from.as_deref().map(digits).as_ref() == Some(&number) {
        return Some(None);
    }
    let who = writer(message, &change.contacts)?;
    let chat = match &message.group_id {
        Some(group) => Chat::group(group.clone()),
        None => Chat::direct(who.chat.clone()),
    };
    let handle = at(message).map(|at| Handle {
        token: message.id.clone(),
        until: at.plus_ms(WINDOW_MS),
        uses: u32::MAX,
    });
    if message.sort == "interactive" {
        let interactive = message.interactive.as_ref()?;
        let chosen = interactive.button_reply.as_ref().or(interactive.list_reply.as_ref())?;
        let on = message.context.as_ref().and_then(|context| context.id.clone()).map(MessageRef);
        return Some(Some(Event::Pressed(Pressed {
            key: message.id.clone(),
            chat,
            person: who.person,
            says: chosen.id.clone(),
            on,
            handle: message.id.clone(),
            lends: handle,
        })));
    }
    let text = content::text(message)?;
    let files: Vec<FileRef> = content::file(message).into_iter().collect();
    if text.trim().is_empty() && files.is_empty() {
        return Some(None);
    }
    let context = message.context.as_ref();
    let quoted = context.and_then(|context| quoted(context, &number));
    let answers_us = quoted.as_ref().is_some_and(|quoted| quoted.ours);
    let (named, text) = content::meant_for(&text, &number, us.name.as_deref());
    let passed_on = context.is_some_and(|context| context.forwarded || context.frequently_forwarded);
    let direct = message.group_id.is_none();
    let said = Incoming {
        message: Some(MessageRef(message.id.clone())),
        addressed: direct || named || answers_us,
        files,
        quoted,
        forwarded: passed_on.then(|| "somebody".to_owned()),
        handle,
        at: at(message),
        ..Incoming::new(message.id.clone(), chat, who.person, text)
    };
    Some(Some(said.into()))
}

/// What is answered: whose it is; what it says, WhatsApp does not repeat.
fn quoted(context: &Context, number: &str) -> Option<Quoted> {
    context.id.as_ref()?;
    let from = digits(context.from.as_deref().unwrap_or_default());
    let ours = !number.is_empty() && from == number;
    Some(Quoted { from: format!("+{from}"), ours, text: String::new() })
}

/// What an edited message says now, read as a message of its own.
fn changed(message: &Message, mut within: Value) -> Option<Message> {
    within.as_object_mut()?.insert("id".to_owned(), message.id.clone().into());
    Message::deserialize(within).ok()
}

/// Who wrote, and where a direct answer goes.
struct Writer {
    person: Person,
    chat: String,
}

/// Quirk: no_phone_number.json. Whoever has a username may show no number at all, and then is known by their
/// contact alone, which stands beside the message.
fn writer(message: &Message, contacts: &[Contact]) -> Option<Writer> {
    let same = |theirs: &Option<String>, own: &Option<String>| own.is_some() && theirs == own;
    let contact = contacts
        .iter()
        .find(|c| same(&c.user_id, &message.from_user_id))
        .or_else(|| contacts.iter().find(|c| same(&c.wa_id, &message.from)))
        .or_else(|| contacts.first().filter(|_| contacts.len() == 1 && message.from.is_none()));
    let id = contact.and_then(|c| c.user_id.clone()).or_else(|| message.from_user_id.clone());
    let id = id.filter(|id| !id.is_empty());
    let number = message.from.clone().or_else(|| contact.and_then(|c| c.wa_id.clone()));
    let number = number.filter(|number| !number.is_empty());
    let profile = contact.map(|c| &c.profile);
    let own = |name: &Option<String>| name.clone().filter(|name| !name.trim().is_empty());
    let name = profile
        .and_then(|p| own(&p.name).or_else(|| own(&p.username)))
        .or_else(|| number.as_ref().map(|number| format!("+{number}")))
        .unwrap_or_else(|| "somebody".to_owned());
    let chat = id.clone().or(number)?;
    // A phone number is handed on to somebody else one day, so it names nobody.
    Some(Writer { person: Person { id, name, bot: false }, chat })
}

/// Quirk: changed_number.json. Whoever changes their number gets another id too. It is a new person to us, as the
/// number may have gone to one: nobody inherits what another was allowed.
fn moved_on(message: &Message) -> Option<Event> {
    let system = message.system.as_ref()?;
    let changed = matches!(
        system.sort.as_str(),
        "user_changed_number" | "customer_changed_number" | "user_changed_user_id"
    );
    let chat = message.from_user_id.clone().or_else(|| message.from.clone()).filter(|_| changed)?;
    Some(Event::Gone { chat, why: "the person has another number, and another id, from now on".into() })
}

/// Statuses come in any order, so only what settles something is looked at.
fn report(status: &Status) -> Option<Event> {
    let fate = match status.status.as_str() {
        "sent" | "delivered" => Ok(()),
        // Quirk: status_failed_for_one.json. In a group one person did not get it, and the others did.
        "failed" if status.recipient_participant_user_id.is_some() => return None,
        "failed" => Err(faults::told_later(status.errors.first())),
        _ => return None,
    };
    let key = status.biz_opaque_callback_data.clone()?;
    Some(Event::Reported(Report { key, message: MessageRef(status.id.clone()), fate }))
}

pub(super) fn digits(number: &str) -> String {
    number.chars().filter(char::is_ascii_digit).collect()
}
