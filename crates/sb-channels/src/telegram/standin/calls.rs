//! The Bot API's methods that answer at once, and the way to them.

use serde_json::{Value, json};

use super::params::{Params, Refusal};
use super::platform::Platform;
use super::rules;

/// How long a press may be answered, in milliseconds.
const QUERY_LIVES_MS: i64 = 15_000;
/// The largest file a bot is given.
const LARGEST_GIVEN: usize = 20 * 1024 * 1024;

impl Platform {
    /// Acts on a call. `method` is in lower case.
    pub(super) fn act(&mut self, method: &str, params: &Params) -> Result<Value, Refusal> {
        match method {
            "getme" => Ok(self.me()),
            "setmycommands" => {
                let commands = params.list("commands")?;
                rules::commands(&commands)?;
                self.commands = commands.into();
                Ok(true.into())
            }
            "getmycommands" => Ok(self.commands.clone()),
            "deletemycommands" => {
                self.commands = json!([]);
                Ok(true.into())
            }
            "getchat" => self.reach(params.int("chat_id")).map(|room| room.wire()),
            "getfile" => self.get_file(params),
            "getwebhookinfo" => Ok(self.webhook_info()),
            "sendmessage" => self.send_message(params),
            "sendphoto" => self.send_file(params, "photo"),
            "senddocument" => self.send_file(params, "document"),
            "sendvoice" => self.send_file(params, "voice"),
            "sendaudio" => self.send_file(params, "audio"),
            "sendvideo" => self.send_file(params, "video"),
            "sendmediagroup" => self.send_album(params),
            "editmessagetext" => self.edit_text(params),
            "editmessagereplymarkup" => self.edit_keyboard(params),
            "deletemessage" => self.delete(params),
            "sendmessagedraft" => self.draft(params),
            "sendchataction" => self.chat_action(params),
            "setmessagereaction" => self.react(params),
            "answercallbackquery" => self.answer_press(params),
            "logout" | "close" => Ok(true.into()),
            _ => Err(Refusal::new(404, "Not Found: method not found")),
        }
    }

    fn get_file(&mut self, params: &Params) -> Result<Value, Refusal> {
        let id = params.text("file_id").unwrap_or_default();
        // The small size of a photo ends in `s`; it is the same file here.
        let file = self.files.iter().find(|file| file.id == id || format!("{}s", file.id) == id);
        let file =
            file.ok_or_else(|| Refusal::bad("wrong file_id or the file is temporarily unavailable"))?;
        if file.bytes.len() > LARGEST_GIVEN {
            return Err(Refusal::bad("file is too big"));
        }
        Ok(json!({
            "file_id": file.id,
            "file_unique_id": format!("Qu{}", file.id),
            "file_size": file.bytes.len(),
            "file_path": file.path,
        }))
    }

    fn webhook_info(&self) -> Value {
        let url = self.hook.as_ref().map(|hook| hook.url.clone()).unwrap_or_default();
        let mut info =
            json!({"url": url, "has_custom_certificate": false, "pending_update_count": self.updates.len()});
        if let Some(why) = self.hook.as_ref().and_then(|hook| hook.last_error.clone()) {
            info["last_error_message"] = why.into();
            info["last_error_date"] = (self.now().0 / 1000).into();
        }
        info
    }

    fn draft(&mut self, params: &Params) -> Result<Value, Refusal> {
        let now = self.now();
        let text = params.text("text").unwrap_or_default();
        let (text, entities) =
            rules::words(text, &params.list("entities")?, rules::LONGEST_TEXT, "message is too long")?;
        let room = self.reach(params.int("chat_id"))?;
        if room.sort != super::platform::Sort::Private {
            return Err(Refusal::bad("TEXTDRAFT_PEER_INVALID"));
        }
        let id = params.int("draft_id").filter(|id| *id != 0);
        let id = id.ok_or_else(|| Refusal::bad("RANDOM_ID_INVALID"))?;
        let thread = room.thread(params.int("message_thread_id"))?;
        let can_stop = params.flag("can_stop");
        room.draft = Some(super::platform::Draft { id, thread, text, entities, can_stop, at: now });
        Ok(true.into())
    }

    fn chat_action(&mut self, params: &Params) -> Result<Value, Refusal> {
        let now = self.now();
        rules::action(params.text("action"))?;
        let room = self.reach(params.int("chat_id"))?;
        room.thread(params.int("message_thread_id"))?;
        room.typing = Some(now);
        Ok(true.into())
    }

    fn react(&mut self, params: &Params) -> Result<Value, Refusal> {
        let mark = rules::reaction(&params.list("reaction")?)?;
        let room = self.reach(params.int("chat_id"))?;
        let message = room.message(params.int("message_id").unwrap_or_default());
        message.ok_or_else(|| Refusal::bad("message to react not found"))?.mark = mark;
        Ok(true.into())
    }

    fn answer_press(&mut self, params: &Params) -> Result<Value, Refusal> {
        let (now, id) = (self.now(), params.text("callback_query_id").unwrap_or_default());
        let known =
            self.queries.iter().position(|(known, at)| known == id && now.ms_since(*at) < QUERY_LIVES_MS);
        let known = known.ok_or_else(|| {
            Refusal::bad("query is too old and response timeout expired or query ID is invalid")
        })?;
        self.queries.remove(known);
        Ok(true.into())
    }
}
