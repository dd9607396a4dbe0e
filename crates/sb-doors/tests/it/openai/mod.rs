//! OpenAI's chat API, asked as apps ask: with all that was said, each time.

mod asides;
mod bad_requests;
mod finding;
mod pages;
mod responses;
mod retries;
mod streams;
mod talking;

use reqwest::RequestBuilder;
use sb_wire::sse::Decoder;
use serde_json::{Value, json};

use crate::server::{MACHINE, Reply, Server, reply};

/// A talk as an app keeps it.
#[derive(Clone, Default)]
pub struct Talk(pub Vec<Value>);

impl Talk {
    pub fn new() -> Self {
        Self::default()
    }
    /// With a person's words at its end.
    pub fn with(&self, text: impl Into<Value>) -> Self {
        let mut messages = self.0.clone();
        messages.push(json!({"role": "user", "content": text.into()}));
        Self(messages)
    }
    /// With an answer as the app has it.
    pub fn answered(&self, text: &str) -> Self {
        let mut messages = self.0.clone();
        messages.push(json!({"role": "assistant", "content": text}));
        Self(messages)
    }
    pub fn system(&self, text: &str) -> Self {
        let mut messages = self.0.clone();
        messages.insert(0, json!({"role": "system", "content": text}));
        Self(messages)
    }
    pub fn body(&self) -> Value {
        json!({"model": "assistant", "messages": self.0})
    }
}

/// A request to the chat, not yet sent.
pub fn post(server: &Server, token: &str, body: &Value) -> RequestBuilder {
    server.request(reqwest::Method::POST, "/v1/chat/completions").bearer_auth(token).body(body.to_string())
}

/// Asks, and gives the whole answer.
pub async fn ask(server: &Server, talk: &Talk) -> Answered {
    Answered(reply(post(server, MACHINE, &talk.body())).await.succeeded().json)
}

/// Says something more, and gives the talk with the answer, and the session it was given in.
pub async fn say(server: &Server, talk: &Talk, text: &str) -> (Talk, String) {
    let talk = talk.with(text);
    let answer = ask(server, &talk).await;
    (talk.answered(answer.text()), answer.session())
}

/// A whole answer.
pub struct Answered(pub Value);

impl Answered {
    pub fn text(&self) -> &str {
        self.0["choices"][0]["message"]["content"].as_str().unwrap()
    }
    pub fn id(&self) -> &str {
        self.0["id"].as_str().unwrap()
    }
    pub fn session(&self) -> String {
        self.id().split('-').nth(1).unwrap().to_owned()
    }
}

/// What was said to the agent in a session, in order.
pub async fn said(server: &Server, session: &str) -> Vec<String> {
    let shown = server.get(MACHINE, &format!("/v1/sessions/{session}")).await.succeeded().json;
    let lines = shown["transcript"].as_array().unwrap();
    let said = lines.iter().filter(|line| line["kind"] == "said");
    said.map(|line| line["text"].as_str().unwrap().to_owned()).collect()
}

/// How many sessions there are.
pub async fn sessions(server: &Server) -> usize {
    server.app.engine.sessions(None, 1000).await.unwrap().len()
}

/// Insists on an error in OpenAI's shape.
pub fn is_error(found: &Reply, status: u16, kind: &str, code: Value, param: Value) {
    let error = &found.json["error"];
    assert_eq!(found.status, status, "{}", found.json);
    assert_eq!(error.as_object().map(|e| e.len()), Some(4), "{}", found.json);
    assert_eq!((&error["type"], &error["code"], &error["param"]), (&json!(kind), &code, &param), "{error}");
    let sentence = error["message"].as_str().unwrap();
    assert!(sentence.len() > 10 && sentence.ends_with('.'), "no sentence: {sentence}");
}

/// The chunks of a stream, as they come.
pub struct Chunks {
    response: reqwest::Response,
    decoder: Decoder,
}

impl Chunks {
    pub async fn of(server: &Server, token: &str, mut body: Value) -> Self {
        body["stream"] = json!(true);
        Self::from(post(server, token, &body).send().await.unwrap())
    }
    pub fn from(response: reqwest::Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, decoder: Decoder::new(1024 * 1024) }
    }
    /// The data of the next event; none at the end.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(event) = self.decoder.pull() {
                assert_eq!(event.name, "", "no event has a name");
                return Some(event.data);
            }
            let piece = self.response.chunk().await.ok()??;
            self.decoder.push(&piece).unwrap();
        }
    }
    /// All that is left; the mark of the end must be the last.
    pub async fn rest(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(data) = self.next().await {
            if data == "[DONE]" {
                assert!(self.next().await.is_none(), "nothing comes after the end");
                return all;
            }
            all.push(serde_json::from_str(&data).unwrap());
        }
        panic!("the stream has no end: {all:?}");
    }
    /// The first words.
    pub async fn first_words(&mut self) -> Value {
        while let Some(data) = self.next().await {
            let chunk: Value = serde_json::from_str(&data).unwrap();
            if chunk["choices"][0]["delta"]["content"].as_str().is_some_and(|text| !text.is_empty()) {
                return chunk;
            }
        }
        panic!("no words came");
    }
}

/// All words of some chunks.
pub fn words(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|c| c["choices"][0]["delta"]["content"].as_str()).collect()
}
