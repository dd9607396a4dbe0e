//! What somebody asks who sends all that was said each time, and names no conversation.
//!
//! Digests stand for what was said: of everything up to a place, made by the way in. Which conversation is
//! meant is found by them, in the transaction that takes the message.

use crate::{Digest, Principal};

/// How such a message finds its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Whose talks are looked through first.
    pub owner: Principal,
    /// Whether the talks of others count too, if none of the owner's fits.
    pub others: bool,
    /// What was said before; none: this is the first message of a talk.
    pub before: Option<Before>,
    /// Of all that was said, this message included.
    pub whole: Digest,
    /// Of what this message holds, its files included.
    pub body: Digest,
    /// Its sender says that it was sent before.
    pub retried: bool,
    /// It is a command, which is about the talk as it stands, however much was said meanwhile.
    pub command: bool,
    /// The message names its conversation, so one that is there is meant whatever was said before.
    pub named: bool,
    /// What was said before, in words, for a session that does not know it.
    pub told: Option<String>,
    /// What the talk asks of the agent from now on; none: as it was.
    pub system: Option<String>,
}

/// What was said before a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// Of all of it.
    pub digest: Digest,
    /// If it ends with an answer: of what came before that, and the answer's letters, without white space. So
    /// an answer is known that was cut off before its reader had all of it.
    pub answer: Option<(Digest, String)>,
}

/// Where a message was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The very message is there already.
    Repeated,
    /// It goes on where the talk stands.
    Continued,
    /// Something else was said after that place before: another session goes on from a copy.
    Branched,
    /// Nobody here knows what was said before: a new session is told.
    Told,
    /// A talk begins.
    Begun,
}
