//! A page for stand-ins that have none: one types as a person and sees what the person sees.
//!
//! It is for trying a bot on this machine. Whatever it does must carry a header of its own, which a page
//! of somebody else's cannot send along.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use sb_net::model::{Chat, Person};
use serde::Deserialize;
use serde_json::{Value, json};

use super::StandIn;

const PAGE: &str = include_str!("page.html");
const HEADER: &str = "x-standin";

struct Shown {
    standin: Arc<dyn StandIn>,
    label: String,
    person: Person,
    chat: Chat,
}

/// A stand-in's addresses, with a page at `/` where one types as this person in this chat: its own, if it has one.
pub fn with_page(standin: Arc<dyn StandIn>, label: &str, person: &Person, chat: &Chat) -> Router {
    let addresses = standin.router();
    if standin.has_page() {
        return addresses;
    }
    let (label, person, chat) = (label.to_owned(), person.clone(), chat.clone());
    let page = Router::new()
        .route("/", get(|| async { Html(PAGE) }))
        .route("/standin/state", get(state))
        .route("/standin/act", post(act))
        .with_state(Arc::new(Shown { standin, label, person, chat }));
    addresses.merge(page)
}

async fn state(State(shown): State<Arc<Shown>>) -> Json<Value> {
    let seen = shown.standin.seen(&shown.chat);
    let messages = seen.messages.iter().map(|message| {
        let files: Vec<&str> = message.files.iter().map(|file| file.name.as_str()).collect();
        json!({
            "ours": message.ours,
            "text": message.text,
            "buttons": message.buttons,
            "files": files,
            "mark": message.mark,
        })
    });
    Json(json!({
        "label": shown.label,
        "person": shown.person.name,
        "messages": messages.collect::<Vec<_>>(),
        "growing": seen.growing,
        "typing": seen.typing,
    }))
}

/// What the person does.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Deed {
    Say { text: String },
    Press { label: String },
}

async fn act(State(shown): State<Arc<Shown>>, headers: HeaderMap, Json(deed): Json<Deed>) -> StatusCode {
    if !headers.contains_key(HEADER) {
        return StatusCode::FORBIDDEN;
    }
    match deed {
        Deed::Say { text } => drop(shown.standin.say(&shown.chat, &shown.person, &text)),
        Deed::Press { label } => drop(shown.standin.press(&shown.chat, &shown.person, &label)),
    }
    StatusCode::NO_CONTENT
}
