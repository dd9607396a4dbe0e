//! A page where one types as a person and sees what the person sees.
//!
//! It is for trying a bot on this machine. Whatever it does must carry a header of its own, which a page
//! of somebody else's cannot send along.

use std::sync::Arc;

use axum::extract::{Multipart, Query, State};
use axum::http::{HeaderMap, StatusCode, header::CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use sb_channel::model::{Chat, ChatSort, Person};
use serde::Deserialize;
use serde_json::{Value, json};

use super::faults::{Break, Calls, Planned};
use super::people::{SaidFile, Saying, number};
use super::seen::buttons;
use super::{Shared, TelegramStandIn};

const PAGE: &str = include_str!("page.html");
const HEADER: &str = "x-standin";
/// Messages shown at once.
const SHOWN: usize = 200;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/", get(|| async { Html(PAGE) }))
        .route("/standin/state", get(state))
        .route("/standin/picture", get(picture))
        .route("/standin/act", post(act))
        .route("/standin/upload", post(upload))
}

impl TelegramStandIn {
    /// Somebody to begin with: a person with a private chat, and a group.
    pub(super) fn welcome(&self) {
        let is_empty = self.shared.look(|platform| platform.rooms.is_empty());
        if is_empty {
            let ann = self.person("Ann");
            self.direct(&ann);
            self.person("Ben");
            self.group("The lab", false);
        }
    }
}

#[derive(Deserialize)]
struct Which {
    #[serde(default)]
    chat: String,
}

/// All that the page shows.
async fn state(State(shared): State<Arc<Shared>>, Query(which): Query<Which>) -> Json<Value> {
    Json(shared.look(|platform| {
        let chats = platform.rooms.values().filter(|room| room.moved_to.is_none());
        let topics = |room: &super::platform::Room| {
            room.topics.iter().map(|(id, topic)| json!({"id": id.to_string(), "name": topic.name})).collect::<Vec<_>>()
        };
        let chats: Vec<Value> = chats
            .map(|room| {
                let is_direct = room.sort == super::platform::Sort::Private;
                json!({"id": room.id.to_string(), "title": room.title, "direct": is_direct, "topics": topics(room)})
            })
            .collect();
        let people: Vec<Value> = platform
            .people
            .values()
            .map(|person| json!({"id": person.id.to_string(), "name": person.name}))
            .collect();
        let now = platform.now();
        let room = platform.rooms.get(&number(&which.chat));
        let messages: Vec<Value> = room
            .map(|room| room.messages.iter().skip(room.messages.len().saturating_sub(SHOWN)))
            .into_iter()
            .flatten()
            .map(|message| {
                let file = message.media.as_ref().map(|file| json!({"id": file.file_id, "sort": file.sort, "name": file.name, "size": file.size}));
                json!({
                    "id": message.id,
                    "ours": message.from.id == platform.bot.id,
                    "from": message.from.name,
                    "person": message.from.id.to_string(),
                    "thread": message.thread.map(|thread| thread.to_string()),
                    "text": message.text,
                    "entities": message.entities,
                    "buttons": buttons(message.keyboard.as_ref()).into_iter().map(|(label, _)| label).collect::<Vec<_>>(),
                    "file": file,
                    "mark": message.mark,
                    "answers": message.answers,
                    "edited": message.edits > 0,
                })
            })
            .collect();
        let draft = room.and_then(|room| room.shown_draft(now));
        let draft = draft.map(|draft| json!({
            "text": draft.text,
            "entities": draft.entities,
            "stop": draft.can_stop,
            "thread": draft.thread.map(|thread| thread.to_string()),
        }));
        json!({
            "bot": platform.bot.name,
            "chats": chats,
            "people": people,
            "messages": messages,
            "draft": draft,
            "typing": room.is_some_and(|room| room.is_typing(now)),
            "commands": platform.commands,
        })
    }))
}

/// A file of a message.
async fn picture(State(shared): State<Arc<Shared>>, Query(which): Query<Which>) -> Response {
    let file = shared.look(|platform| platform.files.iter().find(|file| file.id == which.chat).cloned());
    match file {
        // Only pictures are shown as what they are; anything else could be a page with a script.
        Some(file) if file.media_type.starts_with("image/") && file.media_type != "image/svg+xml" => {
            ([(CONTENT_TYPE, file.media_type)], file.bytes).into_response()
        }
        Some(file) => ([(CONTENT_TYPE, "application/octet-stream".to_owned())], file.bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// What somebody does.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Deed {
    Person {
        name: String,
    },
    Group {
        title: String,
        #[serde(default)]
        basic: bool,
    },
    Topic {
        chat: String,
        name: String,
    },
    Say {
        chat: String,
        person: String,
        text: String,
        thread: Option<String>,
        answers: Option<i64>,
    },
    Press {
        chat: String,
        person: String,
        label: String,
    },
    Stop {
        chat: String,
    },
    Block {
        chat: String,
    },
    Unblock {
        chat: String,
    },
    Migrate {
        chat: String,
    },
    Break {
        what: String,
        #[serde(default)]
        number: u32,
        #[serde(default)]
        of: String,
        times: u32,
    },
    Mend,
}

async fn act(State(shared): State<Arc<Shared>>, headers: HeaderMap, Json(deed): Json<Deed>) -> Response {
    if !headers.contains_key(HEADER) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let standin = TelegramStandIn { shared };
    let chat = |id: &str, thread: Option<String>| Chat {
        id: id.to_owned(),
        thread,
        sort: if id.starts_with('-') { ChatSort::Group } else { ChatSort::Direct },
    };
    let done = match deed {
        Deed::Person { name } => {
            let person = standin.person(&name);
            standin.direct(&person);
            json!({"id": person.id})
        }
        Deed::Group { title, basic } => json!({"id": standin.group(&title, basic).id}),
        Deed::Topic { chat: id, name } => json!({"id": standin.topic(&chat(&id, None), &name).thread}),
        Deed::Say { chat: id, person, text, thread, answers } => {
            let answers = answers.map(|message| sb_channel::model::MessageRef(format!("{id}:{message}")));
            let saying = Saying { text, answers, ..Saying::default() };
            json!({"key": standin.post(&chat(&id, thread), &somebody(&standin, &person), saying)})
        }
        Deed::Press { chat: id, person, label } => {
            json!({"pressed": standin.press(&chat(&id, None), &somebody(&standin, &person), &label)})
        }
        Deed::Stop { chat: id } => json!({"stopped": standin.stop_draft(&chat(&id, None))}),
        Deed::Block { chat: id } => json!(standin.block(&chat(&id, None))),
        Deed::Unblock { chat: id } => json!(standin.unblock(&chat(&id, None))),
        Deed::Migrate { chat: id } => json!({"id": standin.migrate(&chat(&id, None)).id}),
        Deed::Break { what, number, of, times } => {
            let of = match of.as_str() {
                "gestures" => Calls::Gestures,
                "polls" => Calls::Polls,
                "any" => Calls::Any,
                _ => Calls::Posts,
            };
            let Some(what) = Break::named(&what, number).filter(|_| times > 0) else {
                return StatusCode::BAD_REQUEST.into_response();
            };
            standin.shared.with(|platform| platform.planned.push(Planned { what, of, times }));
            Value::Null
        }
        Deed::Mend => json!(standin.mend()),
    };
    Json(done).into_response()
}

fn somebody(standin: &TelegramStandIn, id: &str) -> Person {
    let known =
        standin.shared.look(|platform| platform.people.get(&number(id)).map(|person| person.name.clone()));
    Person { id: Some(id.to_owned()), name: known.unwrap_or_else(|| "Somebody".to_owned()), bot: false }
}

/// A file somebody sends: the fields `chat`, `person`, `thread`, `text`, and the file.
async fn upload(State(shared): State<Arc<Shared>>, headers: HeaderMap, mut parts: Multipart) -> Response {
    if !headers.contains_key(HEADER) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let standin = TelegramStandIn { shared };
    let (mut fields, mut file) = (std::collections::BTreeMap::new(), None);
    while let Ok(Some(part)) = parts.next_field().await {
        let name = part.name().unwrap_or_default().to_owned();
        let Some(file_name) = part.file_name().map(ToOwned::to_owned) else {
            fields.insert(name, part.text().await.unwrap_or_default());
            continue;
        };
        let media_type = part.content_type().unwrap_or("application/octet-stream").to_owned();
        let is_photo = ["image/jpeg", "image/png", "image/webp"].contains(&media_type.as_str());
        let sort = match media_type.as_str() {
            _ if is_photo => "photo",
            "audio/ogg" => "voice",
            _ => "document",
        };
        let Ok(bytes) = part.bytes().await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
        file = Some(SaidFile {
            sort,
            name: file_name,
            media_type,
            bytes,
            duration: (sort == "voice").then_some(3),
        });
    }
    let mut field = |name: &str| fields.remove(name).filter(|text| !text.is_empty());
    let (Some(chat), Some(person), Some(file)) = (field("chat"), field("person"), file) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let sort = if chat.starts_with('-') { ChatSort::Group } else { ChatSort::Direct };
    let chat = Chat { id: chat, thread: field("thread"), sort };
    let saying = Saying { text: field("text").unwrap_or_default(), file: Some(file), ..Saying::default() };
    Json(json!({"key": standin.post(&chat, &somebody(&standin, &person), saying)})).into_response()
}
