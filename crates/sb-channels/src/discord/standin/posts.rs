//! What the bot puts into a channel: messages, files, edits, marks; and what of it is refused.

use sb_channel::standin::SeenFile;
use serde_json::{Value, json};

use super::platform::{Message, Platform, Room, Sort};
use super::refusal::Refusal;
use super::{BOT, Calls};

const LONGEST_TEXT: usize = 2_000;
const MOST_FILES: usize = 10;
const LARGEST_FILE: usize = 10 * 1024 * 1024;
const MOST_MARKS: usize = 20;
const VOICE: u64 = 1 << 13;
/// Flags a bot may set: no previews, no sound, voice message.
const FLAGS: u64 = 1 << 2 | 1 << 12 | VOICE;
/// How long a key makes a repeat the same message, in milliseconds.
const NONCE_LIVES_MS: i64 = 5 * 60 * 1000;
/// A message so old, in milliseconds, is changed but a few times.
const OLD_MS: i64 = 60 * 60 * 1000;
const EDITS_OF_OLD: u32 = 5;
pub(super) const TYPING_LIVES_MS: i64 = 10_000;

/// What a request brings along.
#[derive(Default)]
pub(super) struct Body {
    pub fields: Value,
    /// By the number in the name of their part.
    pub files: Vec<(u64, SeenFile)>,
}

impl Platform {
    /// A new message of the bot's.
    pub(super) fn post(&mut self, room: u64, body: &Body) -> Result<Value, Refusal> {
        let lost = self.breaks(Calls::Posts)?;
        let now = self.now();
        let mut message = self.written(&body.fields, None)?;
        let place = self.reach(room)?;
        if matches!(place.sort, Sort::Thread { is_locked: true, .. }) {
            return Err(Refusal::new(403, 160_005, "This thread is locked"));
        }
        let nonce = match &body.fields["nonce"] {
            Value::Null => None,
            Value::String(nonce) if nonce.chars().count() > 25 => {
                return Err(Refusal::body("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length."));
            }
            Value::String(nonce) => Some(nonce.clone()),
            other => Some(other.to_string()),
        };
        if body.fields["enforce_nonce"] == true {
            let first = place.messages.iter().find(|known| {
                known.author == BOT
                    && known.nonce.is_some()
                    && known.nonce == nonce
                    && now.0 - known.at < NONCE_LIVES_MS
            });
            if let Some(first) = first.cloned() {
                return lost.map_or_else(|| Ok(self.shown(room, &first)), Err);
            }
        }
        message.nonce = nonce;
        message.answers = answered(place, &body.fields)?;
        message.files = files(&body.fields, &body.files, &mut message.voice, message.flags)?;
        if message.text.is_empty() && message.files.is_empty() && message.components.is_empty() {
            return Err(Refusal::new(400, 50_006, "Cannot send an empty message"));
        }
        for (id, _) in &mut message.files {
            *id = self.next();
        }
        let message = self.put(room, message);
        self.tell_message("MESSAGE_CREATE", room, &message);
        lost.map_or_else(|| Ok(self.shown(room, &message)), Err)
    }

    /// One of the bot's messages says something else.
    pub(super) fn change(&mut self, room: u64, id: u64, fields: &Value) -> Result<Value, Refusal> {
        let lost = self.breaks(Calls::Posts)?;
        let now = self.now();
        let place = self.reach(room)?;
        let is_archived = place.is_archived;
        let before = place.message(id).ok_or_else(Refusal::unknown_message)?.clone();
        if before.author != BOT {
            return Err(Refusal::new(403, 50_005, "Cannot edit a message authored by another user"));
        }
        if is_archived {
            return Err(Refusal::new(400, 50_083, "Thread is archived"));
        }
        if now.0 - before.at > OLD_MS && before.edits >= EDITS_OF_OLD {
            let why = "Maximum number of edits to messages older than 1 hour reached. Try again later";
            return Err(Refusal::new(429, 30_046, why));
        }
        if before.flags & VOICE != 0 {
            return Err(Refusal::new(400, 50_173, "Cannot edit a voice message"));
        }
        let mut message = self.written(fields, Some(&before))?;
        (message.edited_at, message.edits) = (Some(now.0), before.edits + 1);
        if let Some(known) = self.reach(room)?.message(id) {
            *known = message.clone();
        }
        self.tell_message("MESSAGE_UPDATE", room, &message);
        lost.map_or_else(|| Ok(self.shown(room, &message)), Err)
    }

    pub(super) fn shown(&self, room: u64, message: &Message) -> Value {
        self.rooms.get(&room).map(|room| self.message(room, message)).unwrap_or_default()
    }

    /// The words, buttons and flags of a message, new or changed.
    pub(super) fn written(&self, fields: &Value, before: Option<&Message>) -> Result<Message, Refusal> {
        let mut message = before.cloned().unwrap_or_else(|| Message { author: BOT, ..Message::default() });
        if let Some(text) = fields.get("content") {
            text.as_str().unwrap_or_default().trim().clone_into(&mut message.text);
        }
        if message.text.chars().count() > LONGEST_TEXT {
            return Err(Refusal::body("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length."));
        }
        if let Some(rows) = fields.get("components").and_then(Value::as_array) {
            check_rows(rows)?;
            message.components.clone_from(rows);
        }
        message.flags = fields["flags"].as_u64().unwrap_or(message.flags) & FLAGS;
        message.pings = self.pinged(&message.text, fields);
        Ok(message)
    }

    /// Whom a text calls, as its request allows it. Without a word about it, everybody it names.
    fn pinged(&self, text: &str, fields: &Value) -> Vec<String> {
        let allowed = fields.get("allowed_mentions").filter(|allowed| !allowed.is_null());
        let parses = |what: &str| {
            let list = allowed.map(|allowed| {
                allowed["parse"].as_array().is_some_and(|all| all.iter().any(|one| one == what))
            });
            list.unwrap_or(true)
        };
        let named = |id: &str| {
            allowed
                .and_then(|a| a["users"].as_array())
                .is_some_and(|all| all.iter().any(|one| self::id(one) == id.parse().ok()))
        };
        let people = self.mentioned(text).into_iter().map(|id| id.to_string());
        let mut pings: Vec<String> = people.filter(|id| parses("users") || named(id)).collect();
        let calls_all = text.contains("@everyone") || text.contains("@here");
        pings.extend((calls_all && parses("everyone")).then(|| "everyone".to_owned()));
        if fields["message_reference"].is_object()
            && allowed.is_none_or(|allowed| allowed["replied_user"] == true)
        {
            pings.push("replied_user".to_owned());
        }
        pings
    }

    /// Puts the bot's mark on a message, or takes it off.
    pub(super) fn mark(&mut self, room: u64, id: u64, emoji: &str, on: bool) -> Result<Value, Refusal> {
        self.breaks(Calls::Gestures)?;
        if emoji.is_empty() || emoji.is_ascii() {
            return Err(Refusal::new(400, 10_014, "Unknown Emoji"));
        }
        let message = self.reach(room)?.message(id).ok_or_else(Refusal::unknown_message)?;
        let is_there = message.marks.iter().any(|mark| mark == emoji);
        match on {
            true if is_there => {}
            true if message.marks.len() >= MOST_MARKS => {
                return Err(Refusal::new(403, 30_010, "Maximum number of reactions reached (20)"));
            }
            true => message.marks.push(emoji.to_owned()),
            false if !is_there => return Err(Refusal::new(404, 10_014, "Unknown Emoji")),
            false => message.marks.retain(|mark| mark != emoji),
        }
        Ok(Value::Null)
    }

    pub(super) fn types(&mut self, room: u64) -> Result<Value, Refusal> {
        self.breaks(Calls::Gestures)?;
        let until = self.now().plus_ms(TYPING_LIVES_MS);
        self.reach(room)?.typing_until = Some(until);
        Ok(Value::Null)
    }
}

fn check_rows(rows: &[Value]) -> Result<(), Refusal> {
    let wrong = |what: &str| Err(Refusal::body("components", "BASE_TYPE_BAD_LENGTH", what));
    if rows.len() > 5 {
        return wrong("Must be 5 or fewer in length.");
    }
    let mut ids = Vec::new();
    for row in rows {
        let buttons = row["components"]
            .as_array()
            .filter(|buttons| row["type"] == 1 && (1..=5).contains(&buttons.len()));
        let Some(buttons) = buttons else { return wrong("Must be between 1 and 5 in length.") };
        for button in buttons {
            let length = |field: &str| button[field].as_str().unwrap_or_default().chars().count();
            if !(1..=80).contains(&length("label")) || !(1..=100).contains(&length("custom_id")) {
                return wrong("Must be between 1 and 100 in length.");
            }
            if ids.contains(&button["custom_id"]) {
                return wrong("Component custom id cannot be duplicated");
            }
            ids.push(button["custom_id"].clone());
        }
    }
    Ok(())
}

/// An id, which may come as text or as a number.
pub(super) fn id(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The message that a new one answers.
fn answered(place: &mut Room, fields: &Value) -> Result<Option<u64>, Refusal> {
    let reference = &fields["message_reference"];
    let Some(id) = id(&reference["message_id"]) else { return Ok(None) };
    let elsewhere = self::id(&reference["channel_id"]).is_some_and(|channel| channel != place.id);
    match place.message(id) {
        Some(_) if !elsewhere => Ok(Some(id)),
        _ if reference["fail_if_not_exists"] == false => Ok(None),
        _ => Err(Refusal::body("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")),
    }
}

/// The files of a new message; of a voice message, exactly one, which says how long it is.
fn files(
    fields: &Value,
    parts: &[(u64, SeenFile)],
    voice: &mut Option<(f64, String)>,
    flags: u64,
) -> Result<Vec<(u64, SeenFile)>, Refusal> {
    if parts.len() > MOST_FILES {
        return Err(Refusal::body("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length."));
    }
    if parts.iter().any(|(_, file)| file.bytes.len() > LARGEST_FILE) {
        return Err(Refusal::new(413, 40_005, "Request entity too large"));
    }
    let told = |at: u64| fields["attachments"].as_array()?.iter().find(|told| id(&told["id"]) == Some(at));
    if flags & VOICE != 0 {
        let one = parts.first().filter(|(_, file)| parts.len() == 1 && file.media_type.starts_with("audio/"));
        let told = one.and_then(|(at, _)| told(*at));
        let length = told.and_then(|told| told["duration_secs"].as_f64());
        let (Some(length), Some(waveform)) = (length, told.and_then(|told| told["waveform"].as_str())) else {
            return Err(Refusal::new(400, 50_161, "Voice messages must have supporting metadata"));
        };
        if fields["content"].as_str().is_some_and(|content| !content.is_empty()) {
            return Err(Refusal::new(400, 50_159, "Voice messages do not support additional content"));
        }
        *voice = Some((length, waveform.to_owned()));
    }
    let named = parts.iter().map(|(at, file)| {
        let name = told(*at).and_then(|told| told["filename"].as_str()).unwrap_or(&file.name);
        (*at, SeenFile { name: name.to_owned(), ..file.clone() })
    });
    Ok(named.collect())
}

/// A thread that begins with a message; it has the message's id.
impl Platform {
    pub(super) fn start_thread(&mut self, of: u64, at: u64, fields: &Value) -> Result<Value, Refusal> {
        let name = fields["name"].as_str().unwrap_or_default().to_owned();
        if !(1..=100).contains(&name.chars().count()) {
            return Err(Refusal::body(
                "name",
                "BASE_TYPE_BAD_LENGTH",
                "Must be between 1 and 100 in length.",
            ));
        }
        let room = self.reach(of)?;
        if room.sort != Sort::Channel {
            return Err(Refusal::new(400, 50_024, "Cannot execute action on this channel type"));
        }
        room.message(at).ok_or_else(Refusal::unknown_message)?;
        if self.rooms.contains_key(&at) {
            return Err(Refusal::new(400, 160_004, "A thread has already been created for this message"));
        }
        self.make(at, Sort::Thread { of, is_locked: false }, &name);
        self.tell_room("THREAD_CREATE", at);
        Ok(self.rooms.get(&at).map(|room| self.channel(room)).unwrap_or_else(|| json!({})))
    }
}
