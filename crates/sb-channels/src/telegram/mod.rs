//! Telegram, by its Bot API.
//!
//! Translates and nothing else: [`parse`] reads updates, [`outgoing`] writes calls, [`faults`] sorts
//! refusals, [`facts`] says what the platform can. Invariant: the token stands in addresses only, which
//! are secrets, so it reaches no log and no error.

mod api;
mod content;
mod facts;
mod faults;
mod feed;
mod hook;
mod outgoing;
mod parse;
#[cfg(feature = "standins")]
pub mod standin;
mod wire;

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use sb_channel::model::text::Rendered;
use sb_channel::model::{Chat, ChatSort, FaultKind, FileRef, MessageRef};
use sb_channel::{
    Account, Attempt, Channel, ChannelContext, Command, Features, Gesture, Inlet, Kind, LiveReply, Mark,
    Piece, Result, Settings,
};
use serde_json::{Value, json};
use tokio::io::AsyncWrite;

use self::api::Api;
use self::faults::{About, GET_A_TOKEN};
use self::outgoing::As;
use self::parse::Me;

/// This kind of messenger.
pub const KIND: Kind = Kind { manifest: facts::manifest, open };

/// Where the Bot API is, unless the settings say otherwise.
const API: &str = "https://api.telegram.org";
/// Calls of the webhook that Telegram may have open at once.
const WEBHOOK_CALLS: u32 = 20;
/// The longest description of a command.
const LONGEST_HELP: usize = 256;

/// What adapter, feed and webhook share.
struct Bot {
    api: Api,
    me: RwLock<Arc<Me>>,
}

/// One bot.
struct Telegram {
    bot: Arc<Bot>,
    polls: feed::Polls,
    /// There is one if updates come by webhook.
    hook: Option<hook::Hook>,
}

fn open(context: ChannelContext, settings: &Settings) -> Result<Arc<dyn Channel>> {
    let no_token = "set `token` to what @BotFather gave you, such as 123456:AAH…";
    let token = settings.get("token").ok_or_else(|| faults::refused(no_token))?;
    let Some((id, _)) = token.expose().split_once(':').filter(|_| api::is_token(token.expose())) else {
        return Err(faults::refused(&format!("this is no token of a bot: {no_token}")));
    };
    // A token begins with the bot's id, so our own messages are known before anything was asked.
    let me = Me { id: id.parse().unwrap_or_default(), username: None };
    let root = settings.api_url(API);
    if !(root.starts_with("https://") || root.starts_with("http://")) {
        return Err(faults::refused("`api_url` must begin with https:// or http://"));
    }
    let secret = settings.get("secret_token");
    if secret.is_some_and(|secret| !hook::is_secret(secret.expose())) {
        return Err(faults::refused("`secret_token` may hold letters, digits, - and _ only, 256 at most"));
    }
    if context.by_webhook && secret.is_none() {
        return Err(faults::refused(
            "updates by webhook need `secret_token`, by which Telegram's calls are known: set it to a long random word",
        ));
    }
    let bot = Arc::new(Bot { api: Api::new(context.http, &root, token), me: RwLock::new(Arc::new(me)) });
    let hook = secret.filter(|_| context.by_webhook).cloned();
    let hook = hook.map(|secret| hook::Hook { bot: bot.clone(), secret });
    Ok(Arc::new(Telegram { polls: feed::Polls(bot.clone()), bot, hook }))
}

impl Bot {
    fn me(&self) -> Arc<Me> {
        self.me.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks who we are, and keeps it.
    async fn ask_me(&self) -> Result<wire::User> {
        let user: wire::User = api::read(self.api.call("getMe", About::Account, json!({})).await?, "a user")?;
        let id = user.id.unwrap_or_else(|| self.me().id);
        let me = Arc::new(Me { id, username: user.username.clone() });
        *self.me.write().unwrap_or_else(PoisonError::into_inner) = me;
        Ok(user)
    }

    /// Sees to it that our name is known: mentions of us are told by it.
    async fn know_me(&self) -> Result<()> {
        if self.me().username.is_none() {
            self.ask_me().await?;
        }
        Ok(())
    }
}

#[async_trait]
impl Channel for Telegram {
    async fn check(&self) -> Result<Account> {
        let user = self.bot.ask_me().await.map_err(|mut fault| {
            // Every server knows this method, so what it does not know is the token.
            if fault.kind == FaultKind::Unsupported {
                fault.kind = FaultKind::Auth;
                GET_A_TOKEN.clone_into(&mut fault.detail);
            }
            fault
        })?;
        Ok(facts::account(&user))
    }

    fn features(&self, chat: &Chat) -> Features {
        facts::features(chat.sort)
    }

    fn inlet(&self) -> Inlet<'_> {
        match &self.hook {
            Some(hook) => Inlet::Webhook(hook),
            None => Inlet::Feeds(vec![("updates", &self.polls)]),
        }
    }

    async fn send(&self, to: &Chat, piece: Piece<'_>, _: &Attempt) -> Result<MessageRef> {
        match piece {
            Piece::Text { words, choices, answers } => {
                let mut fields = outgoing::to(to, answers)?;
                outgoing::put_words(&mut fields, "text", "entities", words);
                fields.insert("link_preview_options".to_owned(), json!({"is_disabled": true}));
                if let Some(buttons) = outgoing::buttons(choices) {
                    fields.insert("reply_markup".to_owned(), buttons);
                }
                placed(&self.bot.api.call("sendMessage", About::Chat, fields.into()).await?)
            }
            Piece::Files { files, caption, answers } => {
                let sort = As::fits(files);
                match self.upload(to, files, caption, answers, sort).await {
                    // Only the platform can tell that a picture is too wide, too long, or none.
                    Err(why) if sort == As::Photo && faults::says(&why, &facts::NO_PHOTO) => {
                        self.upload(to, files, caption, answers, As::Document).await
                    }
                    sent => sent,
                }
            }
        }
    }

    async fn edit(&self, to: &Chat, at: &MessageRef, piece: Piece<'_>) -> Result<()> {
        let Piece::Text { words, choices, .. } = piece else {
            return Err(faults::local(FaultKind::Unsupported, "a message's files cannot be changed"));
        };
        let mut fields = here(to, at)?;
        outgoing::put_words(&mut fields, "text", "entities", words);
        fields.insert("link_preview_options".to_owned(), json!({"is_disabled": true}));
        // Without the field, Telegram takes the buttons away.
        if let Some(buttons) = outgoing::buttons(choices) {
            fields.insert("reply_markup".to_owned(), buttons);
        }
        done_or(
            self.bot.api.call("editMessageText", About::Chat, fields.into()).await,
            "message is not modified",
        )
    }

    async fn gesture(&self, to: &Chat, gesture: Gesture<'_>) -> Result<()> {
        match gesture {
            // It ends by itself after five seconds, or with our next message.
            Gesture::Typing(false) => Ok(()),
            Gesture::Typing(true) => {
                let mut fields = outgoing::to(to, None)?;
                fields.insert("action".to_owned(), "typing".into());
                self.bot.api.call("sendChatAction", About::Chat, fields.into()).await.map(drop)
            }
            Gesture::Mark(at, mark) => {
                let emoji = mark.map(|mark| match mark {
                    Mark::Taken => facts::TAKEN,
                    Mark::Failed => facts::FAILED,
                });
                let mut fields = here(to, at)?;
                let reaction: Vec<Value> =
                    emoji.iter().map(|emoji| json!({"type": "emoji", "emoji": emoji})).collect();
                fields.insert("reaction".to_owned(), reaction.into());
                self.bot.api.call("setMessageReaction", About::Chat, fields.into()).await.map(drop)
            }
            Gesture::Heard(press) => {
                let answer = json!({"callback_query_id": press});
                // The press counts all the same.
                done_or(
                    self.bot.api.call("answerCallbackQuery", About::Chat, answer).await,
                    "query is too old",
                )
            }
        }
    }

    async fn fetch(
        &self,
        file: &FileRef,
        into: &mut (dyn AsyncWrite + Unpin + Send),
        most: u64,
    ) -> Result<u64> {
        let asked = json!({"file_id": file.reference});
        let told = self.bot.api.call("getFile", About::Account, asked).await.map_err(|mut fault| {
            if faults::says(&fault, &["file is too big"]) {
                "Telegram gives bots files of 20 MB at most".clone_into(&mut fault.detail);
            }
            fault
        })?;
        match told.get("file_path").and_then(Value::as_str) {
            Some(path) if is_path(path) => self.bot.api.pour(path, into, most).await,
            // A server started with `--local` names a file of its own machine.
            Some(_) => {
                Err(faults::refused("the Bot API server keeps its files where they cannot be fetched from"))
            }
            None => Err(faults::refused("Telegram does not have this file any more")),
        }
    }

    async fn offer(&self, commands: &[Command]) -> Result<()> {
        let menu: Vec<Value> =
            commands.iter().filter(|command| is_command(&command.name)).map(in_menu).collect();
        self.bot.api.call("setMyCommands", About::Account, json!({"commands": menu})).await.map(drop)
    }

    async fn register(&self, url: Option<&str>) -> Result<()> {
        let (Some(url), Some(hook)) = (url, &self.hook) else {
            return self.bot.api.call("deleteWebhook", About::Account, json!({})).await.map(drop);
        };
        let with = json!({
            "url": url,
            "secret_token": hook.secret.expose(),
            "allowed_updates": feed::WANTED,
            "max_connections": WEBHOOK_CALLS,
        });
        self.bot.api.call("setWebhook", About::Account, with).await.map(drop)
    }

    fn live(&self) -> Option<&dyn LiveReply> {
        Some(self)
    }
}

#[async_trait]
impl LiveReply for Telegram {
    async fn grow(&self, to: &Chat, id: u32, words: &Rendered) -> Result<()> {
        let unsupported = |detail| faults::local(FaultKind::Unsupported, detail);
        if to.sort != ChatSort::Direct {
            return Err(unsupported("only private chats show a growing reply"));
        }
        let mut fields = outgoing::to(to, None)?;
        fields.insert("draft_id".to_owned(), id.into());
        fields.insert("can_stop".to_owned(), true.into());
        outgoing::put_words(&mut fields, "text", "entities", words);
        let grown = self.bot.api.call("sendMessageDraft", About::Chat, fields.into()).await;
        grown.map(drop).map_err(|mut fault| {
            // An older server, or a chat of a sort that has none: no draft will do there.
            if fault.status == Some(400)
                && matches!(fault.kind, FaultKind::Refused | FaultKind::Lost | FaultKind::Format)
            {
                fault.kind = FaultKind::Unsupported;
            }
            fault
        })
    }
}

impl Telegram {
    async fn upload(
        &self,
        to: &Chat,
        files: &[sb_channel::OutFile],
        caption: Option<&Rendered>,
        answers: Option<&MessageRef>,
        sort: As,
    ) -> Result<MessageRef> {
        let (method, parts) = outgoing::upload(outgoing::to(to, answers)?, files, caption, sort).await?;
        placed(&self.bot.api.upload(method, parts).await?)
    }
}

/// The fields that name one of a chat's messages.
fn here(to: &Chat, at: &MessageRef) -> Result<outgoing::Fields> {
    let Some((chat, message)) = outgoing::split(at) else {
        return Err(faults::refused("this is no message of Telegram's"));
    };
    if chat != to.id {
        return Err(faults::local(FaultKind::Lost, "the message stayed behind when its chat moved"));
    }
    let mut fields = outgoing::Fields::new();
    fields.insert("chat_id".to_owned(), outgoing::number(chat)?.into());
    fields.insert("message_id".to_owned(), message.into());
    Ok(fields)
}

/// Where the message is that a call has put; the first one of an album.
fn placed(result: &Value) -> Result<MessageRef> {
    let message = result.get(0).unwrap_or(result);
    let id = |value: Option<&Value>| value.and_then(Value::as_i64);
    let chat = id(message.get("chat").and_then(|chat| chat.get("id")));
    match chat.zip(id(message.get("message_id"))) {
        Some((chat, message)) => Ok(MessageRef(format!("{chat}:{message}"))),
        None => api::read(Value::Null, "a message"),
    }
}

/// A refusal that says `so` is as good as a success.
fn done_or(called: Result<Value>, so: &str) -> Result<()> {
    match called {
        Err(fault) if !faults::says(&fault, &[so]) => Err(fault),
        _ => Ok(()),
    }
}

/// Whether it names a file below the file server's own folder.
fn is_path(path: &str) -> bool {
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['?', '#', '\\']);
    path.split('/').all(plain)
}

fn is_command(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    (1..=32).contains(&name.len()) && name.bytes().all(allowed)
}

fn in_menu(command: &Command) -> Value {
    json!({"command": command.name, "description": sb_channel::text::one_line(&command.help, LONGEST_HELP)})
}
