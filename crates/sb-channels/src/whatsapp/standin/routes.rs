//! Its addresses, and what it refuses there.

use axum::body::Bytes;
use axum::extract::{FromRequest, Multipart, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use sb_channel::model::Chat;
use sb_channel::standin::{Breakage, Platform, Post, SeenFile, StandIn};
use sb_channel::Marks;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::calls::{ADDRESS, is_wanted};
use super::refusal::{BAD, NO_TOKEN, NOT_HERE, Refusal, TOO_LATE};
use super::{ACCOUNT_ID, NAME, NUMBER, PHONE_NUMBER_ID, TOKEN, chat_of, told};

/// The longest texts, in characters; and what fits something to tap.
const LONGEST: usize = 4096;
const LONGEST_QUESTION: usize = 1024;
const LONGEST_CAPTION: usize = 1024;
/// How long typing is shown, and an address of a file is good.
const TYPING_MS: i64 = 25_000;
const FILE_MS: i64 = 5 * 60 * 1000;
/// How long after a person's words they may be written to.
const WINDOW_MS: i64 = 24 * 60 * 60 * 1000;
const LARGEST: usize = 100 * 1024 * 1024;

/// Why something is not done.
enum Not {
    Refused(Refusal),
    Planned(Breakage),
}

impl From<Refusal> for Not {
    fn from(refusal: Refusal) -> Self {
        Not::Refused(refusal)
    }
}
impl From<Breakage> for Not {
    fn from(how: Breakage) -> Self {
        Not::Planned(how)
    }
}

type Done = Result<Value, Not>;

pub(super) fn router(platform: Platform) -> Router {
    Router::new()
        .route("/{version}/{id}/{what}", post(act))
        .route("/{version}/{id}", get(look).delete(forget))
        .route("/files/{name}", get(file))
        .route("/standin/tell", post(tell))
        .layer(axum::extract::DefaultBodyLimit::max(LARGEST))
        .with_state(platform)
}

async fn act(
    State(platform): State<Platform>,
    Path((version, id, what)): Path<(String, String, String)>,
    request: Request,
) -> Response {
    let allowed = is_allowed(&version, request.headers());
    let done = async {
        allowed?;
        match (id.as_str(), what.as_str()) {
            (PHONE_NUMBER_ID, "messages") => message(&platform, &json_of(request).await?),
            (PHONE_NUMBER_ID, "media") => upload(&platform, request).await,
            (ACCOUNT_ID, "subscribed_apps") => subscribe(&platform, &json_of(request).await?).await,
            _ => Err(NOT_HERE.into()),
        }
    };
    answer(&platform, done).await
}

async fn look(
    State(platform): State<Platform>,
    Path((version, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let done = async {
        is_allowed(&version, &headers)?;
        if id == PHONE_NUMBER_ID {
            return Ok(json!({
                "id": id, "display_phone_number": format!("+{NUMBER}"), "verified_name": NAME,
                "quality_rating": "GREEN", "status": "CONNECTED",
            }));
        }
        let file = any_file(&platform, &id).ok_or(NOT_HERE)?;
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("platform.invalid");
        Ok(json!({
            "messaging_product": "whatsapp",
            "id": id,
            "url": format!("http://{host}/files/{id}?until={}", platform.now().plus_ms(FILE_MS).0),
            "mime_type": file.media_type,
            "sha256": hex::encode(Sha256::digest(&file.bytes)),
            "file_size": file.bytes.len(),
        }))
    };
    answer(&platform, done).await
}

async fn forget(
    State(platform): State<Platform>,
    Path((version, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let done = async {
        is_allowed(&version, &headers)?;
        any_file(&platform, &id).map(|_| json!({"success": true})).ok_or(Not::Refused(NOT_HERE))
    };
    answer(&platform, done).await
}

/// How long an address of a file is good.
#[derive(Deserialize)]
struct Until {
    until: i64,
}

async fn file(
    State(platform): State<Platform>,
    Path(name): Path<String>,
    Query(Until { until }): Query<Until>,
    headers: HeaderMap,
) -> Response {
    match any_file(&platform, &name).filter(|_| is_known(&headers) && platform.now().0 <= until) {
        Some(file) => ([(header::CONTENT_TYPE, file.media_type)], file.bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Has the webhook told anything at all, such as what never happened here.
async fn tell(State(platform): State<Platform>, headers: HeaderMap, Json(update): Json<Value>) -> StatusCode {
    if !headers.contains_key("x-standin") {
        return StatusCode::FORBIDDEN;
    }
    platform.tell_aside(update);
    StatusCode::NO_CONTENT
}

async fn answer(platform: &Platform, done: impl Future<Output = Done>) -> Response {
    match done.await {
        // What is refused for what it asks counts as asked too.
        Err(Not::Refused(refusal)) => {
            platform.answer(async { Ok(Value::Null) }).await;
            refusal.into_response()
        }
        Err(Not::Planned(how)) => platform.answer(async { Err(how) }).await,
        Ok(done) => platform.answer(async { Ok(done) }).await,
    }
}

fn is_allowed(version: &str, headers: &HeaderMap) -> Result<(), Not> {
    let numbers = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let parts = version.strip_prefix('v').and_then(|rest| rest.split_once('.'));
    if !parts.is_some_and(|(major, minor)| numbers(major) && numbers(minor)) {
        return Err(NOT_HERE.into());
    }
    is_known(headers).then_some(()).ok_or(Not::Refused(NO_TOKEN))
}

fn is_known(headers: &HeaderMap) -> bool {
    headers.get(header::AUTHORIZATION).is_some_and(|value| *value == format!("Bearer {TOKEN}"))
}

async fn json_of(request: Request) -> Result<Value, Not> {
    let bytes = Bytes::from_request(request, &()).await.map_err(|_| BAD)?;
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&bytes).map_err(|_| BAD.into())
}

/// A file of anybody's.
fn any_file(platform: &Platform, id: &str) -> Option<SeenFile> {
    platform.file(id).or_else(|| platform.uploaded(id))
}

async fn upload(platform: &Platform, request: Request) -> Done {
    // A field may stand in the address too, as everywhere there.
    let named = request.uri().query().is_some_and(|query| query.contains("messaging_product=whatsapp"));
    let mut form = Multipart::from_request(request, &()).await.map_err(|_| BAD)?;
    let (mut product, mut file) = (None, None);
    while let Some(part) = form.next_field().await.map_err(|_| BAD)? {
        match part.name() {
            Some("messaging_product") => product = part.text().await.ok(),
            Some("file") => {
                let name = part.file_name().unwrap_or("file").to_owned();
                let media_type = part.content_type().unwrap_or_default().to_owned();
                file = Some(SeenFile { name, media_type, bytes: part.bytes().await.map_err(|_| BAD)? });
            }
            _ => {}
        }
    }
    let file = file.filter(|_| named || product.as_deref() == Some("whatsapp")).ok_or(BAD)?;
    Ok(json!({"id": platform.upload(file)}))
}

/// Whether it is wanted there is asked first.
async fn subscribe(platform: &Platform, with: &Value) -> Done {
    if let Some(address) = with["override_callback_uri"].as_str() {
        let word = with["verify_token"].as_str().ok_or(BAD)?;
        if let Some(outside) = platform.outside()
            && !is_wanted(&outside, address, word).await
        {
            return Err(Refusal(2_200, "Callback verification failed").into());
        }
        platform.keep(ADDRESS, address);
    } else {
        platform.keep(ADDRESS, "");
    }
    Ok(json!({"success": true}))
}

fn message(platform: &Platform, with: &Value) -> Done {
    let text = |at: &str| with.pointer(at).and_then(Value::as_str);
    if text("/messaging_product") != Some("whatsapp") {
        return Err(BAD.into());
    }
    if text("/status") == Some("read") {
        let chat = platform.read_up_to(text("/message_id").ok_or(BAD)?, Marks::READ).ok_or(BAD)?;
        if with.get("typing_indicator").is_some() {
            platform.typing(&chat, TYPING_MS)?;
        }
        return Ok(json!({"success": true}));
    }
    let group = text("/recipient_type") == Some("group");
    let recipient = text("/recipient").or_else(|| text("/to")).ok_or(BAD)?;
    let chat = if group { recipient.to_owned() } else { chat_of(recipient) };
    let fresh = |at: sb_channel::model::Timestamp| platform.now().ms_since(at) <= WINDOW_MS;
    if !platform.spoken(&chat).is_some_and(fresh) {
        // A chat that is not there is refused by what follows.
        if platform.spoken(&chat).is_some() {
            return Err(TOO_LATE.into());
        }
    }
    if text("/type") == Some("reaction") {
        let emoji = text("/reaction/emoji").filter(|emoji| !emoji.is_empty());
        let marked = platform.mark(text("/reaction/message_id").ok_or(BAD)?, emoji);
        return if marked { Ok(sent(recipient, "wamid.reaction")) } else { Err(BAD.into()) };
    }
    let post = Post { answers: text("/context/message_id").map(str::to_owned), ..posted(platform, with, group)? };
    let posted = platform.post(&chat, post);
    let there = Chat { id: chat.clone(), ..if group { Chat::group("") } else { Chat::direct("") } };
    let newest = || platform.seen(&there).ours().last().map(|message| message.reference.0.clone());
    let placed = match &posted {
        Ok(id) => Some(id.clone()),
        // It is there all the same, and told of.
        Err(Breakage::LostAnswer) => newest(),
        Err(_) => None,
    };
    for status in placed.iter().flat_map(|id| ["delivered", "sent"].map(|status| (id, status))) {
        let key = text("/biz_opaque_callback_data");
        platform.tell_aside(told::status(status.0, key, status.1, recipient, platform.now()));
    }
    Ok(sent(recipient, &posted?))
}

fn sent(recipient: &str, id: &str) -> Value {
    let known_by = if recipient.contains('.') { "user_id" } else { "wa_id" };
    json!({
        "messaging_product": "whatsapp",
        "contacts": [{"input": recipient, known_by: recipient}],
        "messages": [{"id": id}],
    })
}

/// What a person sees of such a message.
fn posted(platform: &Platform, with: &Value, group: bool) -> Result<Post, Not> {
    let sort = with["type"].as_str().unwrap_or("text");
    let content = &with[sort];
    let within = |text: &str, most: usize| (1..=most).contains(&text.encode_utf16().count());
    match sort {
        "text" => {
            let body = content["body"].as_str().filter(|body| within(body, LONGEST)).ok_or(BAD)?;
            Ok(Post::text(body))
        }
        "interactive" if !group => {
            let body = content["body"]["text"].as_str().filter(|body| within(body, LONGEST_QUESTION));
            Ok(Post { buttons: tapped(content)?, ..Post::text(body.ok_or(BAD)?) })
        }
        "image" | "document" | "audio" | "video" => {
            let id = content["id"].as_str().ok_or(BAD)?;
            let mut file = platform.uploaded(id).ok_or(BAD)?;
            if let Some(name) = content["filename"].as_str() {
                name.clone_into(&mut file.name);
            }
            if sort == "image" && !matches!(file.media_type.as_str(), "image/jpeg" | "image/png") {
                return Err(Refusal(131_053, "Media upload error").into());
            }
            let caption = content["caption"].as_str().unwrap_or_default();
            if caption.encode_utf16().count() > LONGEST_CAPTION {
                return Err(BAD.into());
            }
            Ok(Post { files: vec![file], ..Post::text(caption) })
        }
        _ => Err(Refusal(131_051, "Unsupported message type").into()),
    }
}

/// What can be tapped: titles, and what a press is told by: the sort of what was tapped, its title and its id.
fn tapped(content: &Value) -> Result<Vec<(String, String)>, Not> {
    let action = &content["action"];
    let fits = |text: &str, most: usize| (1..=most).contains(&text.chars().count());
    let (sort, all, most, longest_title, longest_id) = match content["type"].as_str() {
        Some("button") => {
            let buttons = action["buttons"].as_array().ok_or(BAD)?;
            ("button", buttons.iter().map(|button| &button["reply"]).collect::<Vec<_>>(), 3, 20, 256)
        }
        Some("list") if action["button"].as_str().is_some_and(|label| fits(label, 20)) => {
            let sections = action["sections"].as_array().ok_or(BAD)?;
            let rows = sections.iter().filter_map(|section| section["rows"].as_array()).flatten();
            ("list", rows.collect(), 10, 24, 200)
        }
        _ => return Err(BAD.into()),
    };
    let shown = all.iter().map(|one| {
        let title = one["title"].as_str().filter(|title| fits(title, longest_title))?;
        let id = one["id"].as_str().filter(|id| fits(id, longest_id) && id.trim() == *id)?;
        let below = one["description"].as_str().is_none_or(|below| fits(below, 72));
        below.then(|| (title.to_owned(), format!("{sort}\n{title}\n{id}")))
    });
    let shown: Vec<(String, String)> = shown.collect::<Option<_>>().ok_or(BAD)?;
    let titles: std::collections::BTreeSet<_> = shown.iter().map(|(title, _)| title).collect();
    match titles.len() == shown.len() && (1..=most).contains(&shown.len()) {
        true => Ok(shown),
        false => Err(BAD.into()),
    }
}
