//! What the gateway tells, as events. Pure: no clock, no network, and nothing remembered.
//!
//! Every field may be missing, and unknown ones are passed over: a message must not be lost for a field that nobody
//! here asks for. What is of an unknown kind or shape is kept as [`Event::Unknown`]. What says nothing to us (who
//! joined, who types, who reacted) is no event.

use sb_channel::model::{Chat, FileRef, MessageRef, Person};
use sb_channel::{Event, Incoming, Pressed, Quoted};
use serde_json::{Value, json};

use super::places::Places;
use super::snowflake;

/// Beginnings of the names of events that are known and none of our business.
const PASSED_OVER: [&str; 19] = [
    "READY",
    "RESUMED",
    "TYPING_",
    "PRESENCE_",
    "GUILD_",
    "CHANNEL_",
    "THREAD_",
    "MESSAGE_",
    "INTERACTION_CREATE",
    "STAGE_",
    "INTEGRATION_",
    "VOICE_",
    "WEBHOOKS_",
    "INVITE_",
    "ENTITLEMENT_",
    "SUBSCRIPTION_",
    "AUTO_MODERATION_",
    "USER_",
    "APPLICATION_COMMAND_",
];
/// The longest payload that is kept for later.
const LONGEST_KEPT: usize = 64 * 1024;
/// Set on a message that is a voice note.
const IS_VOICE: u64 = 1 << 13;

/// A field by its path, if it is a text that is not empty.
pub(super) fn text<'a>(of: &'a Value, at: &str) -> Option<&'a str> {
    of.pointer(at)?.as_str().filter(|text| !text.is_empty())
}

/// The items of a list by its path.
pub(super) fn all<'a>(of: &'a Value, at: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    of.pointer(at).and_then(Value::as_array).into_iter().flatten()
}

/// What one dispatch says.
pub(super) fn dispatch(kind: &str, data: &Value, known: &Places) -> Vec<Event> {
    let event = match kind {
        "MESSAGE_CREATE" | "INTERACTION_CREATE" | "MESSAGE_DELETE" | "CHANNEL_DELETE"
            if text(data, "/id").is_none() =>
        {
            Some(unknown(kind, data))
        }
        "MESSAGE_CREATE" => said(data, known),
        "MESSAGE_UPDATE" => edited(data, known),
        "MESSAGE_DELETE" => text(data, "/id").map(|key| Event::Unsent { key: key.to_owned() }),
        "MESSAGE_DELETE_BULK" => {
            let gone = all(data, "/ids").filter_map(Value::as_str);
            return gone.map(|key| Event::Unsent { key: key.to_owned() }).collect();
        }
        "INTERACTION_CREATE" => interaction(data, known),
        "CHANNEL_DELETE" => text(data, "/id")
            .map(|chat| Event::Gone { chat: chat.to_owned(), why: "the channel was deleted".to_owned() }),
        _ if PASSED_OVER.iter().any(|known| kind.starts_with(known)) => None,
        _ => Some(unknown(kind, data)),
    };
    event.into_iter().collect()
}

/// A payload that was kept, read again.
pub(super) fn again(raw: &str, known: &Places) -> Option<Event> {
    let kept: Value = serde_json::from_str(raw).ok()?;
    let event = dispatch(text(&kept, "/t")?, &kept["d"], known).into_iter().next();
    event.filter(|event| !matches!(event, Event::Unknown { .. }))
}

fn unknown(kind: &str, data: &Value) -> Event {
    let raw = json!({"t": kind, "d": data}).to_string();
    Event::Unknown { what: kind.to_owned(), raw: if raw.len() > LONGEST_KEPT { String::new() } else { raw } }
}

fn said(message: &Value, known: &Places) -> Option<Event> {
    let (id, channel) = (text(message, "/id")?, text(message, "/channel_id")?);
    let (words, files) = (heard(message, known)?, files(message, channel, id));
    let (said, mentioned) = words;
    if said.is_empty() && files.is_empty() && !mentioned {
        return None;
    }
    let quoted = message.get("referenced_message").filter(|to| to.is_object()).map(|to| Quoted {
        from: person(&to["author"], &to["member"]).name,
        ours: text(to, "/author/id") == Some(&known.us),
        text: gist(to, known),
    });
    let chat = place(channel, message, known);
    let answers_us = quoted.as_ref().is_some_and(|quoted| quoted.ours);
    let mut person = person(&message["author"], &message["member"]);
    if text(message, "/webhook_id").is_some() {
        // Quirk: webhook_writes.json. A webhook's message has the webhook's id as its author's, and any name.
        person = Person { id: None, bot: true, ..person };
    }
    let said = Incoming {
        message: Some(reference(channel, id)),
        files,
        addressed: message.get("guild_id").is_none() || mentioned || answers_us,
        quoted,
        // Quirk: forwarded.json. Discord does not say whose words these were.
        forwarded: all(message, "/message_snapshots").next().map(|_| "somebody".to_owned()),
        at: snowflake::time(id),
        ..Incoming::new(id, chat, person, said)
    };
    Some(said.into())
}

/// Quirk: update_of_a_link.json. A link's preview is told as a change too, without anybody having changed anything.
fn edited(message: &Value, known: &Places) -> Option<Event> {
    text(message, "/edited_timestamp").filter(|_| message.get("content").is_some())?;
    let (text, _) = heard(message, known)?;
    Some(Event::Edited { key: self::text(message, "/id")?.to_owned(), text })
}

/// The words of a person's own message, and whether they mention us; none where it is nothing to be heard.
fn heard(message: &Value, known: &Places) -> Option<(String, bool)> {
    // Quirk: joined.json. Joins, pins and boosts are messages of other types; 19 is a reply.
    let is_plain = matches!(message["type"].as_u64(), None | Some(0 | 19));
    // Quirk: group_direct.json. A direct chat with several people is no place for bots.
    let is_party =
        message.get("guild_id").is_none() && !matches!(message["channel_type"].as_u64(), None | Some(1));
    let author = text(message, "/author/id")?;
    (is_plain && !is_party && author != known.us).then(|| words(message, known))
}

/// The words of a message without our name before them, and whether they mention us.
fn words(message: &Value, known: &Places) -> (String, bool) {
    // Quirk: mention_old.json, mention_role.json. There is an older form, and a bot has a role of its own in a server.
    let mut ours = vec![format!("<@{}>", known.us), format!("<@!{}>", known.us)];
    ours.extend(
        known.our_role(text(message, "/guild_id").unwrap_or_default()).map(|role| format!("<@&{role}>")),
    );
    let whole = everything(message);
    let listed = all(message, "/mentions").any(|user| text(user, "/id") == Some(&known.us));
    let mentioned = listed || ours.iter().any(|name| whole.contains(name));
    let mut rest = whole.trim();
    while let Some(after) = ours.iter().find_map(|name| rest.strip_prefix(name.as_str())) {
        // "@us, what is new?"
        rest = after.trim_start_matches([' ', ',', ':', '\n']);
    }
    (readable(rest, message).trim().to_owned(), mentioned)
}

/// What was said in words and by other means.
fn everything(message: &Value) -> String {
    let mut parts = vec![text(message, "/content").unwrap_or_default().to_owned()];
    parts.extend(all(message, "/message_snapshots").map(|passed_on| everything(&passed_on["message"])));
    parts.extend(
        all(message, "/sticker_items").filter_map(|s| Some(format!("(sticker: {})", text(s, "/name")?))),
    );
    if let Some(question) = text(message, "/poll/question/text") {
        let options: Vec<_> =
            all(message, "/poll/answers").filter_map(|a| text(a, "/poll_media/text")).collect();
        parts.push(format!("Poll: {question} ({})", options.join(" / ")));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The gist of a message that another one answers.
fn gist(message: &Value, known: &Places) -> String {
    match (words(message, known).0, text(message, "/attachments/0/filename")) {
        (said, Some(name)) if said.is_empty() => format!("({name})"),
        (said, _) => said,
    }
}

/// Mentions and emoji as people see them: `<@77>` is `@Ann`, `<:wave:12>` is `:wave:`.
fn readable(words: &str, message: &Value) -> String {
    let mut shown = String::with_capacity(words.len());
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('<') {
        shown.push_str(before);
        match after.split_once('>').and_then(|(inner, behind)| Some((meant(inner, message)?, behind))) {
            Some((meant, behind)) => (shown, rest) = (shown + &meant, behind),
            None => (shown, rest) = (shown + "<", after),
        }
    }
    shown + rest
}

fn meant(inner: &str, message: &Value) -> Option<String> {
    if let Some(id) = inner.strip_prefix("@!").or(inner.strip_prefix('@')) {
        let user = all(message, "/mentions").find(|user| text(user, "/id") == Some(id))?;
        return Some(format!("@{}", person(user, &user["member"]).name));
    }
    let (name, id) = inner.strip_prefix("a:").or(inner.strip_prefix(':'))?.split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (is_name && id.parse::<u64>().is_ok()).then(|| format!(":{name}:"))
}

/// The files of a message, and of those it passes on. A reference holds where a new link is to be had, and the link,
/// which lasts about a day.
fn files(message: &Value, channel: &str, id: &str) -> Vec<FileRef> {
    let passed_on = all(message, "/message_snapshots").map(|passed_on| &passed_on["message"]);
    let files = std::iter::once(message).chain(passed_on).flat_map(|of| {
        let is_voice = of["flags"].as_u64().is_some_and(|flags| flags & IS_VOICE != 0);
        all(of, "/attachments").map(move |file| (file, is_voice))
    });
    let one = |(file, is_voice): (&Value, bool)| {
        let seconds = file["duration_secs"].as_f64().unwrap_or_default().clamp(0.0, 86_400.0);
        // Quirk: voice.json. A type may come with parameters.
        let media_type =
            text(file, "/content_type").unwrap_or_default().split(';').next().unwrap_or_default();
        Some(FileRef {
            reference: format!("{channel}/{id}/{} {}", text(file, "/id")?, text(file, "/url")?),
            name: text(file, "/filename").unwrap_or_default().to_owned(),
            media_type: media_type.trim().to_owned(),
            size: file["size"].as_u64(),
            voice_s: is_voice.then_some(seconds.ceil() as u32),
        })
    };
    files.filter_map(one).collect()
}

/// Only what we registered and posted is offered: no other sort of interaction is ours.
fn interaction(done: &Value, known: &Places) -> Option<Event> {
    let (id, channel) = (text(done, "/id")?, text(done, "/channel_id")?);
    let user = if done["member"]["user"].is_object() { &done["member"]["user"] } else { &done["user"] };
    let (chat, person) = (place(channel, done, known), person(user, &done["member"]));
    match done["type"].as_u64() {
        Some(2) => {
            let chosen = all(done, "/data/options").map(|chosen| match &chosen["value"] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            let typed = std::iter::once(format!("/{}", text(done, "/data/name")?)).chain(chosen);
            let typed = typed.collect::<Vec<_>>().join(" ");
            let said = Incoming::new(format!("command:{id}"), chat, person, typed);
            Some(Incoming { addressed: true, at: snowflake::time(id), ..said }.into())
        }
        Some(3) => Some(Event::Pressed(Pressed {
            key: format!("press:{id}"),
            chat,
            person,
            says: text(done, "/data/custom_id")?.to_owned(),
            on: text(done, "/message/id").map(|on| reference(channel, on)),
            handle: format!("{id}/{}", text(done, "/token")?),
            lends: None,
        })),
        _ => None,
    }
}

/// The id and the token of a command, whose sender must be told that it was taken.
pub(super) fn to_answer(kind: &str, data: &Value) -> Option<String> {
    let is_command = kind == "INTERACTION_CREATE" && data["type"] == 2;
    is_command.then(|| Some(format!("{}/{}", text(data, "/id")?, text(data, "/token")?)))?
}

fn person(user: &Value, member: &Value) -> Person {
    let names =
        [text(member, "/nick"), text(user, "/global_name"), text(user, "/username"), text(user, "/id")];
    Person {
        id: text(user, "/id").map(str::to_owned),
        name: names.into_iter().flatten().next().unwrap_or("somebody").to_owned(),
        bot: user["bot"] == true,
    }
}

/// A thread is a channel of its own to Discord; to us it is a thread of the channel it belongs to.
fn place(channel: &str, told: &Value, known: &Places) -> Chat {
    match known.parent(channel) {
        _ if told.get("guild_id").is_none() => Chat::direct(channel),
        Some(parent) => Chat { thread: Some(channel.to_owned()), ..Chat::group(parent) },
        None => Chat::group(channel),
    }
}

pub(super) fn reference(channel: &str, message: &str) -> MessageRef {
    MessageRef(format!("{channel}:{message}"))
}
