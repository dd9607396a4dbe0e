//! Calls on their way, and the stream on which each waits for its answer.
//!
//! An answer may take as long as a person takes to decide. So that nobody's patience ends before, something is said
//! every few seconds. An agent gives up by closing the stream or by saying so; either is seen where its call waits.

use std::convert::Infallible;
use std::sync::Mutex;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use sb_wire::jsonrpc::{self, Message};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{Given, locked};

/// Calls of one session at once.
const MOST: usize = 16;
/// How often an agent that waits hears something.
const BEAT: Duration = Duration::from_secs(10);
const ENDED: &str = "The turn ended before this was decided, so it was not done.";

/// Those of one session that wait, by the ids the agent gave them.
#[derive(Default)]
pub(super) struct InFlight(Mutex<Vec<(Value, oneshot::Sender<()>)>>);

impl InFlight {
    /// A call waits from now on; what is given resolves when it is given up. None: too many wait already.
    pub fn enter(&self, id: &Value) -> Option<oneshot::Receiver<()>> {
        let mut waiting = locked(&self.0);
        waiting.retain(|(_, gone)| !gone.is_closed());
        if waiting.len() >= MOST {
            return None;
        }
        let (gone, given_up) = oneshot::channel();
        waiting.push((id.clone(), gone));
        Some(given_up)
    }

    /// The agent says that it waits for this call no longer.
    pub fn give_up(&self, id: &Value) {
        locked(&self.0).retain(|(known, _)| known != id);
    }
}

/// One call that waits.
pub(super) struct Waiting {
    pub id: Value,
    /// By which the agent wants to hear how it goes.
    pub token: Option<Value>,
    pub given: oneshot::Receiver<Given>,
    pub given_up: oneshot::Receiver<()>,
}

/// The stream on which a call's answer comes.
pub(super) fn answering(call: Waiting) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let stream = futures_util::stream::unfold((Some(call), 0u64), |(call, beats)| async move {
        let mut call = call?;
        tokio::select! {
            biased;
            given = &mut call.given => {
                let given = given.unwrap_or_else(|_| Given { ok: false, text: ENDED.to_owned() });
                let answer = Message::Answer { id: call.id, result: Ok(result(&given)) };
                Some((event(&answer), (None, beats)))
            }
            _ = &mut call.given_up => None,
            () = tokio::time::sleep(BEAT) => {
                let beats = beats + 1;
                let said = match &call.token {
                    Some(token) => {
                        let params = json!({"progressToken": token, "progress": beats,
                            "message": "This may wait for a person's approval."});
                        event(&Message::Notification { method: "notifications/progress".to_owned(), params })
                    }
                    None => Ok(Event::default().comment("")),
                };
                Some((said, (Some(call), beats)))
            }
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

/// A call's outcome as MCP has it.
pub(super) fn result(given: &Given) -> Value {
    json!({"content": [{"type": "text", "text": given.text}], "isError": !given.ok})
}

fn event(message: &Message) -> Result<Event, Infallible> {
    Ok(Event::default().event("message").data(jsonrpc::line(message)))
}
