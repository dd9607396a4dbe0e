//! An agent that speaks Agent2Agent and does what its messages say, badly too.
//!
//! The last words of a message name what it does; else it repeats them, with how many messages the context
//! has had and how many files came along.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::State as Given;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use futures_util::StreamExt;
use sb_wire::a2a::*;
use sb_wire::jsonrpc::{self, Failure};
use sb_wire::sse;
use serde_json::Value;
use tokio::sync::Notify;

/// How it is set up.
#[derive(Clone)]
pub struct Manner {
    pub version: Version,
    pub streaming: bool,
    pub key: Option<&'static str>,
    /// What its card says instead of where it is.
    pub elsewhere: Option<String>,
    pub inputs: Vec<String>,
    /// What its card says it speaks, if not what it speaks.
    pub says: Option<&'static str>,
}

/// A running one.
#[derive(Clone)]
pub struct Peer {
    pub address: String,
    state: Arc<Shared>,
}

struct Shared {
    manner: Manner,
    address: String,
    seen: Mutex<Seen>,
    changed: Notify,
}

#[derive(Default)]
struct Seen {
    /// Messages it was sent.
    sent: Vec<Message>,
    asked: Vec<String>,
    tasks: BTreeMap<String, Task>,
    contexts: HashMap<String, usize>,
    cancelled: Vec<String>,
    /// Tasks that are done when they are looked up the next time.
    ending: bool,
    down: usize,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            version: Version::V1_0,
            streaming: true,
            key: None,
            elsewhere: None,
            inputs: vec![],
            says: None,
        }
    }
}

impl Peer {
    pub async fn start(manner: Manner) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let seen = Mutex::default();
        let state = Arc::new(Shared { manner, address: address.clone(), seen, changed: Notify::new() });
        let router = axum::Router::new().fallback(any(answer)).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, state }
    }

    pub fn sent(&self) -> Vec<Message> {
        self.state.seen.lock().unwrap().sent.clone()
    }
    pub fn asked(&self, method: Operation) -> usize {
        let seen = self.state.seen.lock().unwrap();
        let named = method.method(self.state.manner.version).unwrap();
        seen.asked.iter().filter(|asked| *asked == named).count()
    }
    pub fn cancelled(&self) -> Vec<String> {
        self.state.seen.lock().unwrap().cancelled.clone()
    }
    /// Whatever hangs is done.
    pub fn finish(&self) {
        self.state.seen.lock().unwrap().ending = true;
        self.state.changed.notify_waiters();
    }
    /// It forgets everything, as a restart of it would.
    pub fn forget(&self) {
        let mut seen = self.state.seen.lock().unwrap();
        seen.tasks.clear();
        seen.contexts.clear();
    }
    /// So many requests are answered with 503.
    pub fn down(&self, requests: usize) {
        self.state.seen.lock().unwrap().down = requests;
    }
}

async fn answer(Given(shared): Given<Arc<Shared>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let manner = &shared.manner;
    let given = headers.get("authorization").and_then(|v| v.to_str().ok());
    if manner.key.is_some_and(|key| given != Some(&format!("Bearer {key}"))) {
        return (StatusCode::UNAUTHORIZED, "who are you?").into_response();
    }
    match uri.path() {
        "/.well-known/agent-card.json" => return card(&shared).to_string().into_response(),
        "/moved/.well-known/agent-card.json" => {
            return (StatusCode::TEMPORARY_REDIRECT, [("location", "/.well-known/agent-card.json")])
                .into_response();
        }
        "/garbage.json" => return "<html>".into_response(),
        "/a2a" => {}
        _ => return StatusCode::NOT_FOUND.into_response(),
    }
    {
        let mut seen = shared.seen.lock().unwrap();
        if seen.down > 0 {
            seen.down -= 1;
            return (StatusCode::SERVICE_UNAVAILABLE, "come back later").into_response();
        }
    }
    let Some(jsonrpc::Message::Request { id, method, params }) =
        jsonrpc::read(std::str::from_utf8(&body).unwrap())
    else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    assert_eq!(headers["a2a-version"], manner.version.name());
    let Some((operation, version)) = Operation::named(&method) else {
        return one(&id, Err(Failure::new(-32601, "no such method")));
    };
    assert_eq!(version, manner.version, "{method}");
    shared.seen.lock().unwrap().asked.push(method);
    match operation {
        Operation::Send | Operation::Stream => sent(&shared, &id, &params),
        Operation::Get => one(&id, shared.look_up(&params).map(|task| task.write(manner.version))),
        Operation::Cancel => {
            let task = shared.look_up(&params).map(|task| {
                let mut seen = shared.seen.lock().unwrap();
                seen.cancelled.push(task.id.clone());
                Task { status: Status::of(State::Canceled), ..task }.write(manner.version)
            });
            one(&id, task)
        }
        Operation::Follow => match shared.look_up(&params) {
            Ok(task) => {
                let last = Event::Status {
                    task: task.id.clone(),
                    context: task.context.clone(),
                    status: Status::of(State::Completed),
                };
                let more = piece(&task, "three", true);
                let whole = Task {
                    status: Status::of(State::Completed),
                    artifacts: vec![artifact("one two three")],
                    ..task.clone()
                };
                shared.seen.lock().unwrap().tasks.insert(task.id.clone(), whole);
                stream(&shared, &id, vec![Event::Task(task), more, last], End::Closed)
            }
            Err(failure) => one(&id, Err(failure)),
        },
        _ => one(&id, Err(Failure::new(-32601, "not offered"))),
    }
}

fn card(shared: &Shared) -> Value {
    let manner = &shared.manner;
    let url = manner.elsewhere.clone().unwrap_or_else(|| format!("{}/a2a", shared.address));
    let interface = Interface {
        url,
        binding: "JSONRPC".into(),
        version: manner.says.unwrap_or(manner.version.name()).into(),
        tenant: None,
    };
    let card = Card {
        name: "peer".into(),
        description: "Does as it is told.".into(),
        version: "1".into(),
        interfaces: vec![interface],
        streaming: manner.streaming,
        push: false,
        extended: false,
        bearer: manner.key.is_some(),
        extensions: vec![],
        inputs: manner.inputs.clone(),
        outputs: vec![],
        skills: vec![],
    };
    card.write(if manner.says.is_some() { Shape::Merged } else { Shape::Only(manner.version) })
}

impl Shared {
    fn look_up(&self, params: &Value) -> Result<Task, Failure> {
        let query = Query::read(params).unwrap();
        let mut seen = self.seen.lock().unwrap();
        let ending = seen.ending;
        let task = seen.tasks.get_mut(&query.task);
        let task =
            task.ok_or_else(|| failure(Code::TaskNotFound, "no such task", &[], self.manner.version))?;
        if ending && task.status.state == State::Working {
            task.status = Status::of(State::Completed);
            task.artifacts = vec![artifact("In the end.")];
        }
        Ok(task.clone())
    }
}

enum End {
    Closed,
    Aborted,
    Hanging,
}

fn sent(shared: &Arc<Shared>, id: &Value, params: &Value) -> Response {
    let send = Send::read(params).unwrap();
    let message = send.message.clone();
    let said = message.parts.iter().rev().find_map(|part| match &part.content {
        Content::Text(words) => Some(words.clone()),
        _ => None,
    });
    let said = said.unwrap_or_default();
    let mut seen = shared.seen.lock().unwrap();
    seen.sent.push(message.clone());
    let version = shared.manner.version;
    if message.task.as_ref().is_some_and(|task| !seen.tasks.contains_key(task)) {
        return one(id, Err(failure(Code::TaskNotFound, "no such task", &[], version)));
    }
    if message.context.as_ref().is_some_and(|context| !seen.contexts.contains_key(context)) {
        return one(id, Err(failure(Code::TaskNotFound, "no such context", &[], version)));
    }
    let context = message.context.clone().unwrap_or_else(|| format!("ctx-{}", seen.sent.len()));
    *seen.contexts.entry(context.clone()).or_default() += 1;
    let count = seen.contexts[&context];
    let task = message.task.clone().unwrap_or_else(|| format!("task-{}", seen.sent.len()));
    let mut kept = Task {
        id: task.clone(),
        context: context.clone(),
        status: Status::of(State::Working),
        artifacts: vec![],
        history: vec![],
        metadata: None,
    };
    let status = |state: State, words: &str| Event::Status {
        task: task.clone(),
        context: context.clone(),
        status: Status { message: Some(Message::words("s", Role::Agent, words)), ..Status::of(state) },
    };
    let first = Event::Task(kept.clone());
    let files = message.parts.iter().filter(|p| matches!(p.content, Content::Raw(_))).count();
    let (events, end) = match said.as_str() {
        "stream" => {
            let pieces = ["85 ", "USD ", "left."].into_iter().enumerate();
            let pieces = pieces.map(|(at, words)| piece(&kept, words, at > 0));
            let begins = [first, status(State::Working, "looking")];
            (begins.into_iter().chain(pieces).chain([status(State::Completed, "")]).collect(), End::Closed)
        }
        "break" => {
            kept.artifacts = vec![artifact("one two ")];
            (vec![first, piece(&kept, "one ", false)], End::Aborted)
        }
        "break early" => (vec![], End::Aborted),
        "hang" => (vec![first, piece(&kept, "Working on it.", false)], End::Hanging),
        "ask" => {
            kept.status = Status {
                message: Some(Message::words("q", Role::Agent, "Which one?")),
                ..Status::of(State::InputRequired)
            };
            (vec![first, status(State::InputRequired, "Which one?")], End::Closed)
        }
        "auth" => (vec![first, status(State::AuthRequired, "Log in at the desk.")], End::Closed),
        "fail" => (vec![first, status(State::Failed, "The disk is on fire.")], End::Closed),
        "reject" => (vec![first, status(State::Rejected, "Not my job.")], End::Closed),
        "message" => {
            let message =
                Message { context: Some(context.clone()), ..Message::words("m", Role::Agent, "Just words.") };
            (vec![Event::Message(message)], End::Closed)
        }
        "file" => {
            let made = Artifact {
                parts: vec![
                    Part::text("Here."),
                    Part::raw("aGVsbG8=".into(), "../note.txt", "text/plain"),
                    Part::raw("not base64!".into(), "odd.bin", "text/plain"),
                ],
                ..artifact("")
            };
            let made = Event::Artifact {
                task: task.clone(),
                context: context.clone(),
                artifact: made,
                append: false,
                last: true,
            };
            (vec![first, made, status(State::Completed, "")], End::Closed)
        }
        "odd" => {
            kept.status = Status::of(State::Unknown("daydreaming".into()));
            (vec![Event::Task(kept.clone())], End::Closed)
        }
        "flood" => {
            let many = (0..40).map(|at| piece(&kept, &"x".repeat(64 * 1024), at > 0));
            (std::iter::once(first).chain(many).collect(), End::Hanging)
        }
        "refuse" => return one(id, Err(Failure::new(-32603, "my head hurts"))),
        "garbage" => {
            return ([("content-type", "text/event-stream")], "data: {oh\n\ndata: 7\n\n").into_response();
        }
        words => {
            let words = format!("message {count}, {files} files: {words}");
            kept.artifacts = vec![artifact(&words)];
            (vec![first, piece(&kept, &words, false), status(State::Completed, "")], End::Closed)
        }
    };
    if let Some(Event::Status { status, .. }) = events.last() {
        kept.status = status.clone();
    }
    seen.tasks.insert(task.clone(), kept.clone());
    drop(seen);
    if !shared.manner.streaming {
        // Asked not to wait, it says that it has begun.
        assert!(send.at_once);
        return one(
            id,
            Ok(Event::Task(Task { status: Status::of(State::Working), artifacts: vec![], ..kept })
                .write(version)),
        );
    }
    stream(shared, id, events, end)
}

fn artifact(words: &str) -> Artifact {
    Artifact { id: "a".into(), name: None, description: None, parts: vec![Part::text(words)], metadata: None }
}

fn piece(task: &Task, words: &str, append: bool) -> Event {
    let artifact = artifact(words);
    Event::Artifact { task: task.id.clone(), context: task.context.clone(), artifact, append, last: false }
}

fn one(id: &Value, result: Result<Value, Failure>) -> Response {
    let answer = jsonrpc::Message::Answer { id: id.clone(), result };
    ([("content-type", "application/json")], jsonrpc::line(&answer)).into_response()
}

fn stream(shared: &Arc<Shared>, id: &Value, events: Vec<Event>, end: End) -> Response {
    let version = shared.manner.version;
    let lines: Vec<Bytes> = events
        .iter()
        .map(|event| {
            let answer = jsonrpc::Message::Answer { id: id.clone(), result: Ok(event.write(version)) };
            Bytes::from(sse::encode("", &jsonrpc::line(&answer)))
        })
        .collect();
    let pieces = futures_util::stream::iter(lines).map(Ok::<_, std::io::Error>);
    let shared = shared.clone();
    let after = futures_util::stream::once(async move {
        match end {
            End::Closed => Ok(Bytes::new()),
            End::Aborted => {
                // What was written before goes out first.
                tokio::task::yield_now().await;
                Err(std::io::Error::other("broke off"))
            }
            End::Hanging => {
                shared.changed.notified().await;
                Err(std::io::Error::other("broke off"))
            }
        }
    });
    ([("content-type", "text/event-stream")], Body::from_stream(pieces.chain(after))).into_response()
}
