//! The menu of commands, and how what people pressed and chose is answered.

use serde_json::{Value, json};

use super::BOT;
use super::platform::{Message, Platform};
use super::refusal::Refusal;

/// How long something may wait for its first answer, and its token be used, in milliseconds.
const ANSWER_WITHIN_MS: i64 = 3_000;
const TOKEN_LIVES_MS: i64 = 15 * 60 * 1000;
/// Only whoever pressed sees it.
const EPHEMERAL: u64 = 1 << 6;

impl Platform {
    /// The whole menu, anew.
    pub(super) fn set_menu(&mut self, commands: &Value) -> Result<Value, Refusal> {
        let Some(all) = commands.as_array().filter(|all| all.len() <= 100) else {
            return Err(Refusal::new(400, 30_032, "Maximum number of application commands reached (100)"));
        };
        let mut menu = Vec::new();
        for command in all {
            let length = |field: &str| command[field].as_str().unwrap_or_default().chars().count();
            let name = command["name"].as_str().unwrap_or_default();
            let fits = (1..=32).contains(&length("name"))
                && name.chars().all(|c| "-_".contains(c) || c.is_alphanumeric());
            if !fits || name.to_lowercase() != name {
                return Err(Refusal::body(
                    "name",
                    "APPLICATION_COMMAND_INVALID_NAME",
                    "Command name is invalid",
                ));
            }
            if !(1..=100).contains(&length("description")) {
                let why = "Must be between 1 and 100 in length.";
                return Err(Refusal::body("description", "BASE_TYPE_BAD_LENGTH", why));
            }
            let mut command = command.clone();
            let known = self.commands.iter().find(|known| known["name"] == command["name"]);
            let id = known.and_then(|known| known["id"].as_str()).map(str::to_owned);
            command["id"] = id.unwrap_or_else(|| self.next().to_string()).into();
            command["application_id"] = BOT.to_string().into();
            command["version"] = self.next().to_string().into();
            command["default_member_permissions"] = Value::Null;
            command["nsfw"] = false.into();
            menu.push(command);
        }
        self.commands = menu;
        Ok(self.commands.clone().into())
    }

    /// The first answer to what somebody pressed or chose.
    pub(super) fn answer(&mut self, id: u64, token: &str, answer: &Value) -> Result<Value, Refusal> {
        let now = self.now();
        let known = self.interactions.iter_mut().find(|known| known.id == id && known.token == token);
        let known =
            known.filter(|known| known.answered.is_some() || now.ms_since(known.at) <= ANSWER_WITHIN_MS);
        let known = known.ok_or_else(|| Refusal::new(404, 10_062, "Unknown interaction"))?;
        if known.answered.is_some() {
            return Err(Refusal::new(400, 40_060, "Interaction has already been acknowledged."));
        }
        let Some(sort) = answer["type"].as_u64().filter(|sort| (4..=9).contains(sort)) else {
            return Err(Refusal::body(
                "type",
                "BASE_TYPE_CHOICES",
                "Value must be one of {4, 5, 6, 7, 8, 9}.",
            ));
        };
        known.answered = Some(sort);
        // What changes the message with the button is said there.
        known.said = known.on.filter(|_| matches!(sort, 6 | 7));
        let (room, on) = (known.room, known.on);
        let data = &answer["data"];
        let hidden = data["flags"].as_u64().is_some_and(|flags| flags & EPHEMERAL != 0);
        let message = match (sort, on) {
            (4, _) if !hidden => Some(self.written(data, None)?),
            (7, Some(on)) => {
                let before = self.reach(room)?.message(on).ok_or_else(Refusal::unknown_message)?.clone();
                let changed = self.written(data, Some(&before))?;
                if let Some(known) = self.reach(room)?.message(on) {
                    *known = changed.clone();
                }
                self.tell_message("MESSAGE_UPDATE", room, &changed);
                None
            }
            _ => None,
        };
        if let Some(message) = message {
            self.speak(room, id, message);
        }
        Ok(Value::Null)
    }

    /// A later answer, as a message of its own or as the first one changed.
    pub(super) fn follow_up(&mut self, token: &str, first: bool, fields: &Value) -> Result<Value, Refusal> {
        let now = self.now();
        let known = self.interactions.iter().find(|known| known.token == token);
        let known =
            known.filter(|known| known.answered.is_some() && now.ms_since(known.at) <= TOKEN_LIVES_MS);
        let known = known.ok_or_else(|| Refusal::new(404, 10_015, "Unknown Webhook"))?;
        let (room, id, said) = (known.room, known.id, known.said);
        let message = match said.filter(|_| first) {
            Some(said) => return self.change(room, said, fields),
            None => self.written(fields, None)?,
        };
        let message = self.speak(room, id, message);
        Ok(self.shown(room, &message))
    }

    fn speak(&mut self, room: u64, interaction: u64, message: Message) -> Message {
        let message = self.put(room, message);
        if let Some(known) = self.interactions.iter_mut().find(|known| known.id == interaction) {
            known.said = Some(message.id);
        }
        self.tell_message("MESSAGE_CREATE", room, &message);
        message
    }

    /// What is told of an answer to whoever wants to know.
    pub(super) fn answered(&self, id: u64) -> Value {
        let known = self.interactions.iter().find(|known| known.id == id);
        let said = known.and_then(|known| known.said);
        let sort = known.map(|known| if known.on.is_some() { 3 } else { 2 });
        let kind = known.and_then(|known| known.answered);
        let mut told = json!({"interaction": {
            "id": id.to_string(), "type": sort, "response_message_id": said.map(|said| said.to_string()),
            "response_message_loading": kind == Some(5), "response_message_ephemeral": false,
        }});
        if let Some((known, said)) = known.zip(said) {
            let message =
                self.rooms.get(&known.room).and_then(|room| room.messages.iter().find(|one| one.id == said));
            told["resource"] =
                json!({"type": kind, "message": message.map(|message| self.shown(known.room, message))});
        }
        told
    }
}
