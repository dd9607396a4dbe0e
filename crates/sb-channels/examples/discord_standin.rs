//! Serves the imitated Discord, so that anything can be pointed at it:
//! `cargo run -p sb-channels --features standins --example discord_standin -- --port 9103`.
//!
//! Its people do what is posted to `/standin/act`, which wants a header of its own: a page of somebody else's cannot
//! send it along.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use sb_channel::model::{Chat, Person};
use sb_channel::net::SystemClock;
use sb_channel::standin::{Breakage, SeenFile, StandIn, serve};
use sb_channels::discord::standin::{self, Calls, DiscordStandIn};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

const HEADER: &str = "x-standin";

/// What somebody does, or what goes wrong.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Deed {
    Person { name: String },
    Direct { person: Person },
    Channel { name: String },
    Thread { of: Chat, name: String },
    EndThread { chat: Chat, locked: bool },
    ShutOut { chat: Chat, out: bool },
    Say { chat: Chat, person: Person, text: String },
    Answer { chat: Chat, person: Person, to: String, text: String },
    File { chat: Chat, person: Person, text: String, name: String, media_type: String, content: String },
    Press { chat: Chat, person: Person, label: String },
    Choose { chat: Chat, person: Person, command: String, words: Option<String> },
    Edit { message: String, text: String },
    Delete { message: String },
    Break { what: String, times: u32 },
    ContentIntent { on: bool },
    Heartbeats { on: bool },
    HeartbeatEvery { ms: u64 },
    Forget,
    Drop,
    Reconnect,
    Close { code: u16 },
    Look { chat: Chat },
    Count,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => 0,
        (Some("--port"), Some(port)) => port.parse().map_err(std::io::Error::other)?,
        _ => return Err(std::io::Error::other("use --port <number>")),
    };
    let platform = DiscordStandIn::new(Arc::new(SystemClock));
    let people = Router::new().route("/standin/act", post(act)).with_state(platform.clone());
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("the bot's token is {}", standin::TOKEN);
    println!("listening on http://{}", listener.local_addr()?);
    serve(listener, platform.router().merge(people)).await
}

async fn act(State(platform): State<DiscordStandIn>, headers: HeaderMap, Json(deed): Json<Deed>) -> Response {
    if !headers.contains_key(HEADER) {
        return StatusCode::FORBIDDEN.into_response();
    }
    Json(done(&platform, deed)).into_response()
}

fn done(on: &DiscordStandIn, deed: Deed) -> Value {
    match deed {
        Deed::Person { name } => json!(on.person(&name)),
        Deed::Direct { person } => json!(on.direct(&person)),
        Deed::Channel { name } => json!(on.channel(&name)),
        Deed::Thread { of, name } => json!(on.thread(&of, &name)),
        Deed::EndThread { chat, locked } => json!(on.end_thread(&chat, locked)),
        Deed::ShutOut { chat, out } => json!(on.shut_out(&chat, out)),
        Deed::Say { chat, person, text } => json!(on.say(&chat, &person, &text)),
        Deed::Answer { chat, person, to, text } => json!(on.answer(&chat, &person, &to, &text)),
        Deed::File { chat, person, text, name, media_type, content } => {
            let file = SeenFile { name, media_type, bytes: content.into() };
            json!(on.send_files(&chat, &person, &text, &[file]))
        }
        Deed::Press { chat, person, label } => json!(on.press(&chat, &person, &label)),
        Deed::Choose { chat, person, command, words } => {
            json!(on.choose(&chat, &person, &command, words.as_deref()))
        }
        Deed::Edit { message, text } => json!(on.edit(&message, &text)),
        Deed::Delete { message } => json!(on.delete(&message)),
        Deed::Break { what, times } => {
            let how = match what.as_str() {
                "flaky" => Breakage::Flaky,
                "rate_limit" => Breakage::RateLimit(1),
                "revoked" => Breakage::Revoked,
                "chat_gone" => Breakage::ChatGone,
                "lost_answer" => Breakage::LostAnswer,
                _ => Breakage::Refused,
            };
            json!(on.break_calls(Calls::Posts, how, times))
        }
        Deed::ContentIntent { on: allowed } => json!(on.set_content_intent(allowed)),
        Deed::Heartbeats { on: answered } => json!(on.answer_heartbeats(answered)),
        Deed::HeartbeatEvery { ms } => json!(on.set_heartbeat(ms)),
        Deed::Forget => json!(on.forget_sessions()),
        Deed::Drop => json!(on.drop_connections()),
        Deed::Reconnect => json!(on.ask_to_reconnect()),
        Deed::Close { code } => json!(on.close_gateway(code)),
        Deed::Look { chat } => {
            let seen = on.seen(&chat);
            let shown = seen.messages.iter().map(|message| {
                let id = message.reference.0.split(':').next_back().unwrap_or_default();
                let files = message.files.iter().map(|file| {
                    json!({"name": file.name, "type": file.media_type, "text": String::from_utf8_lossy(&file.bytes)})
                });
                json!({
                    "id": id, "ours": message.ours, "text": message.text, "buttons": message.buttons,
                    "mark": message.mark, "files": files.collect::<Vec<_>>(), "pings": on.pings(id),
                })
            });
            json!({"typing": seen.typing, "messages": shown.collect::<Vec<_>>()})
        }
        Deed::Count => {
            let (begun, resumed) = on.begun_and_resumed();
            json!({"begun": begun, "resumed": resumed, "answers": on.answers(), "menu": on.menu()})
        }
    }
}
