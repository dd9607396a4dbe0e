//! Who reads which answer at the moment, and what becomes of an answer whose reader goes away.
//!
//! A whole answer goes on without its reader. A stream's turn is stopped after two seconds, unless somebody
//! reads it by then, or reads another answer of its conversation, which a stop would end too. Invariant:
//! the book holds only those who read now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::words::{Side, Trail};
use crate::engine::Engine;
use crate::http::Door;
use crate::model::{
    Busy, ConversationId, Digest, Ending, Inbound, Manner, MessageId, Principal, ProfileName, Rights,
};

/// How long a turn that was streamed goes on without anybody reading.
const LEFT_FOR: Duration = Duration::from_secs(2);

/// How many read the answers of each conversation.
#[derive(Debug, Default)]
pub(crate) struct Readers(Mutex<HashMap<ConversationId, usize>>);

impl Readers {
    fn come(&self, conversation: &ConversationId) {
        *self.book().entry(conversation.clone()).or_default() += 1;
    }
    fn go(&self, conversation: &ConversationId) {
        let mut book = self.book();
        if let Some(count) = book.get_mut(conversation) {
            *count -= 1;
            if *count == 0 {
                book.remove(conversation);
            }
        }
    }
    fn any(&self, conversation: &ConversationId) -> bool {
        self.book().contains_key(conversation)
    }
    fn book(&self) -> std::sync::MutexGuard<'_, HashMap<ConversationId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is read, and by whom.
#[derive(Clone)]
pub(super) struct Reading {
    pub message: MessageId,
    pub conversation: ConversationId,
    pub profile: ProfileName,
    pub from: Principal,
    pub rights: Rights,
    /// All that was said, the message included.
    pub trail: Trail,
    /// More of an answer was asked for: all that was said before that answer, and the answer. Apps put both
    /// together, or keep them as two.
    pub more_of: Option<(Trail, String)>,
    /// Its turn is stopped when nobody reads any more.
    pub streams: bool,
}

impl Reading {
    /// The talk with this answer, in every way in which its reader may have it.
    pub fn with(&self, text: &str) -> Vec<Digest> {
        let mut ways = vec![self.trail.then(Side::Agent, text)];
        if let Some((before, answer)) = &self.more_of {
            ways.push(before.then(Side::Agent, &format!("{answer}{text}")));
            ways.push(before.then(Side::Agent, answer).then(Side::Agent, text));
        }
        ways.into_iter().map(Trail::digest).collect()
    }
}

/// One reader; dropped before its answer was whole, it sees to the rest.
pub(super) struct Reader {
    door: Arc<Door>,
    pub of: Reading,
    is_done: bool,
}

impl Reader {
    pub fn new(door: Arc<Door>, of: Reading) -> Self {
        door.readers.come(&of.conversation);
        Self { door, of, is_done: false }
    }
    /// The answer was given whole, or was refused: nothing is left to see to.
    pub fn done(&mut self) {
        self.is_done = true;
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.door.readers.go(&self.of.conversation);
        if !self.is_done && !self.door.closing.is_cancelled() {
            tokio::spawn(left(self.door.clone(), self.of.clone()));
        }
    }
}

/// Sees an answer to its end after its reader went away.
async fn left(door: Arc<Door>, of: Reading) {
    let seen = async {
        let mut ending = std::pin::pin!(door.engine.follow_message(of.message).ending());
        if of.streams {
            tokio::select! {
                ended = &mut ending => return ended.map(Some),
                () = tokio::time::sleep(LEFT_FOR) => {}
            }
            if !door.readers.any(&of.conversation) {
                stop(&door.engine, &of).await?;
            }
        }
        ending.await.map(Some)
    };
    let ended = tokio::select! {
        ended = seen => ended,
        () = door.closing.cancelled() => Ok(None),
    };
    let noted = match ended {
        Ok(Some(ending)) => note(&door.engine, &of, &ending, &ending.said).await,
        Ok(None) => Ok(()),
        Err(why) => Err(why),
    };
    if let Err(why) = noted {
        tracing::warn!(error = %why, "an answer whose reader left was not seen to its end");
    }
}

/// What its reader has of an answer is where the next message goes on.
pub(super) async fn note(
    engine: &Engine,
    of: &Reading,
    ending: &Ending,
    text: &str,
) -> crate::engine::Result<()> {
    for digest in of.with(text) {
        engine.note_answer(of.message, digest, ending).await?;
    }
    Ok(())
}

/// Stops what is at work, as its reader could.
async fn stop(engine: &Engine, of: &Reading) -> crate::engine::Result<()> {
    let inbound = Inbound {
        conversation: of.conversation.clone(),
        profile: of.profile.clone(),
        session: None,
        key: None,
        from: of.from.clone(),
        rights: of.rights,
        text: "/stop".to_owned(),
        files: Vec::new(),
        manner: manner(),
        origin: None,
    };
    engine.submit(inbound).await.map(drop)
}

/// How messages of this door are treated: each is answered in its turn.
pub(super) fn manner() -> Manner {
    Manner {
        busy: Busy::Queue,
        debounce_ms: 0,
        commands_wait: false,
        stop_words: false,
        names_writers: false,
        ask_expiry_ms: None,
    }
}
