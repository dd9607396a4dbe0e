//! What is said over the socket, and the answer as it comes: whole, or as events while it is written.

use std::collections::VecDeque;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use sb_wire::sse::Decoder;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use super::{DeskError, DeskErrorKind, Result};

/// The largest event that is read: an answer's files ride in it.
const LARGEST: usize = 256 * 1024 * 1024;

/// A message as it is sent.
#[derive(Debug, Serialize)]
pub(super) struct Words<'a> {
    pub text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<&'a str>,
    pub stream: bool,
    /// A person types it.
    pub terminal: bool,
}

/// What came of a message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    #[serde(default)]
    pub conversation: Option<String>,
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub said: String,
    /// The run in order, a line each.
    #[serde(default)]
    pub lines: Vec<String>,
    #[serde(default)]
    pub files: Vec<SharedFile>,
    /// `done`, `waiting`, `failed`, `stopped`, `silent` or `dropped`.
    #[serde(default)]
    pub state: String,
    /// The request that waits for a person, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

impl Answer {
    /// A person must decide before it goes on.
    pub fn waits(&self) -> bool {
        self.request.is_some()
    }
}

/// A file the agent shared, as its answer tells of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedFile {
    pub name: String,
    #[serde(default)]
    pub media_type: String,
    #[serde(default)]
    pub size: u64,
}

/// One thing that happens while an answer is written.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyStep {
    /// The turn begins, in this session.
    Session(String),
    /// More words.
    Delta(String),
    /// A tool, and `calling`, `running`, `waiting` or `done`.
    Tool { name: String, state: String },
    /// The whole answer; the last step.
    Done(Answer),
}

/// Asks anew for the same answer.
pub(super) type Resend =
    Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = Result<reqwest::Response>> + Send>> + Send>;

/// An answer as it is written.
pub struct Replies {
    body: Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>,
    decoder: Decoder,
    ready: VecDeque<sb_wire::sse::Event>,
    ended: bool,
    /// Something of the answer was given out, so it cannot begin anew.
    seen: bool,
    resend: Option<Resend>,
    /// On a task of its own, so that it goes on while the person is listened to.
    resending: Option<JoinHandle<Result<reqwest::Response>>>,
}

impl Replies {
    pub(super) fn new(response: reqwest::Response, resend: Option<Resend>) -> Self {
        Self {
            body: Box::pin(response.bytes_stream()),
            decoder: Decoder::new(LARGEST),
            ready: VecDeque::new(),
            ended: false,
            seen: false,
            resend,
            resending: None,
        }
    }

    /// The next step; `None` after the answer. A stream that ends without one is an error. Cancel-safe.
    /// One that ends before anything of the answer was seen is asked for anew, once.
    pub async fn next(&mut self) -> Result<Option<ReplyStep>> {
        loop {
            if let Some(task) = &mut self.resending {
                let response = task.await.unwrap_or_else(|_| Err(lost()));
                self.resending = None;
                *self = Self::new(response?, None);
            }
            match (self.step().await, &mut self.resend) {
                (Err(why), resend) if why.is_ending() && !self.seen && resend.is_some() => {
                    self.resending = resend.take().map(|again| tokio::spawn(again()));
                }
                (step, _) => {
                    self.seen |= matches!(step, Ok(Some(ReplyStep::Delta(_) | ReplyStep::Tool { .. })));
                    return step;
                }
            }
        }
    }

    async fn step(&mut self) -> Result<Option<ReplyStep>> {
        while !self.ended {
            if let Some(event) = self.ready.pop_front() {
                match read(&event.name, &event.data)? {
                    Some(ReplyStep::Done(answer)) => {
                        self.ended = true;
                        return Ok(Some(ReplyStep::Done(answer)));
                    }
                    Some(step) => return Ok(Some(step)),
                    None => continue,
                }
            }
            match self.body.next().await {
                Some(Ok(bytes)) => {
                    let whole = self.decoder.push(&bytes);
                    self.ready.extend(std::iter::from_fn(|| self.decoder.pull()));
                    whole.map_err(|why| {
                        DeskError::new(DeskErrorKind::Garbled, format!("In the answer, {why}."))
                    })?;
                }
                Some(Err(why)) => return Err(DeskError::of(&why)),
                None => {
                    self.ended = true;
                    return Err(lost());
                }
            }
        }
        Ok(None)
    }
}

fn lost() -> DeskError {
    DeskError::new(
        DeskErrorKind::Lost,
        "The server ended before the answer was whole. Your message is kept, and is answered when it starts again.",
    )
}

#[derive(Deserialize)]
struct SessionData {
    session: String,
}
#[derive(Deserialize)]
struct DeltaData {
    text: String,
}
#[derive(Deserialize)]
struct ToolData {
    #[serde(alias = "name")]
    tool: String,
    state: String,
}
#[derive(Deserialize)]
struct ErrorData {
    error: String,
    #[serde(default)]
    code: String,
}

/// One event of the stream; unknown ones are skipped, so that a newer server can say more.
fn read(name: &str, data: &str) -> Result<Option<ReplyStep>> {
    Ok(Some(match name {
        "session" => ReplyStep::Session(parse::<SessionData>(data)?.session),
        "delta" => ReplyStep::Delta(parse::<DeltaData>(data)?.text),
        "tool" => {
            let tool = parse::<ToolData>(data)?;
            ReplyStep::Tool { name: tool.tool, state: tool.state }
        }
        "done" => ReplyStep::Done(parse(data)?),
        "error" => {
            let why = parse::<ErrorData>(data)?;
            return Err(DeskError::new(DeskErrorKind::Refused { status: 0, code: why.code }, why.error));
        }
        _ => return Ok(None),
    }))
}

fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T> {
    serde_json::from_str(data).map_err(|_| {
        DeskError::new(
            DeskErrorKind::Garbled,
            "The server's answer could not be read. Is it of the same version as this program?",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_of_an_answer_are_told_apart() {
        let step = |name, data| read(name, data).expect("well formed");
        assert_eq!(step("delta", r#"{"text":"Hi"}"#), Some(ReplyStep::Delta("Hi".into())));
        assert_eq!(step("later", "whatever"), None);
        let done = step("done", r#"{"conversation":"c","session":"s","said":"Hi","lines":[],"files":[]}"#);
        assert!(matches!(done, Some(ReplyStep::Done(answer)) if answer.said == "Hi"));
        let refused = read("error", r#"{"error":"No.","code":"no"}"#).expect_err("an error");
        assert_eq!(refused.to_string(), "No.");
        assert!(read("delta", "{").is_err());
    }
}
