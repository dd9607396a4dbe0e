//! What this process knows of the turn at work; all of it can be derived again after a crash.

use sb_model::text::add_paragraph;
use sb_model::{
    Attachment, Call, CallId, Exchange, MessageId, Record, RequestId, Seq, SessionId, Timestamp, TurnFault,
    TurnId, Usage,
};

use crate::reply::{self, Piece};

/// Our place among the turns that may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    None,
    Wanted,
    Held,
}

/// What the next place is for.
#[derive(Debug)]
pub(super) enum Plan {
    /// Answer what waits; which messages is settled when the place is ours.
    Answer,
    /// Answer an exchange's prompts again, for the `/retry` that waits.
    Redo(MessageId, Exchange),
    Compact(MessageId),
    /// Go on with the snapshot's turn.
    GoOn,
    /// A waiting command is being handed in again; no place is needed.
    Recall(MessageId),
}

/// Why a turn was told to stop.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StopCause {
    /// Somebody said so.
    Asked,
    /// A newer message interrupts it.
    Interrupted,
    /// It took too long, or too much.
    Fault(TurnFault),
}

/// A harness at work on a turn.
#[derive(Debug)]
pub(super) struct Run {
    pub turn: TurnId,
    pub since: Timestamp,
    /// The turn's time spent before this run.
    pub worked_before_ms: i64,
    /// Logged by the harness, not yet committed.
    pub buffer: Vec<Record>,
    /// Used, not yet committed.
    pub used: Usage,
    /// Used by the turn so far.
    pub spent: Usage,
    /// The reply so far, from what is logged.
    pub pieces: Vec<Piece>,
    /// The answer being written.
    pub growing: String,
    /// The last request it put before people, and where the words after it begin.
    pub asked: Option<RequestId>,
    pub stretch: Seq,
    /// It goes on with what an earlier run began, and nobody was told yet.
    pub resumed: bool,
    /// Calls of the newest answer, to know what a result is of.
    pub calls: Vec<Call>,
    /// Calls that were let go and have no result yet.
    pub acting: Vec<CallId>,
    pub stop: Option<StopCause>,
    /// When a harness told to stop is dropped.
    pub drop_at: Option<Timestamp>,
    /// Told to the harness, not yet confirmed.
    pub steering: Vec<MessageId>,
    /// What a harness that keeps its turn open waits for.
    pub open: Option<Open>,
}

/// A call that a harness holds open until a person decides.
#[derive(Debug)]
pub(super) struct Open {
    pub call: Call,
    /// In which of the agent's own ways it was allowed, if it has several.
    pub way: Option<usize>,
    /// Why it may not act, once that was decided.
    pub refused: Option<String>,
    /// Where the log has what came of it, if the house did it when it was allowed.
    pub done: Option<(SessionId, Seq)>,
}

impl Run {
    pub fn new(turn: TurnId, since: Timestamp, worked_before_ms: i64) -> Self {
        Self {
            turn,
            since,
            worked_before_ms,
            buffer: Vec::new(),
            used: Usage::default(),
            spent: Usage::default(),
            pieces: Vec::new(),
            growing: String::new(),
            asked: None,
            stretch: Seq(0),
            resumed: false,
            calls: Vec::new(),
            acting: Vec::new(),
            stop: None,
            drop_at: None,
            steering: Vec::new(),
            open: None,
        }
    }

    /// It works again from now on, after it stood still while a person decided.
    pub fn goes_on(&mut self, now: Timestamp, worked_ms: i64) {
        (self.since, self.worked_before_ms) = (now, worked_ms);
    }

    /// All it said from `from` on, the answer being written included.
    pub fn words(&self, from: Seq) -> String {
        let mut words = reply::words(&self.pieces, from);
        if from != Seq::NEVER {
            add_paragraph(&mut words, &self.growing);
        }
        words
    }

    /// Whether it said anything from `from` on.
    pub fn answered(&self, from: Seq) -> bool {
        let growing = from != Seq::NEVER && !self.growing.trim().is_empty();
        growing || !reply::words_but_restarted(&self.pieces, from).is_empty()
    }

    /// What a record means for where the turn stands.
    pub fn note(&mut self, seq: Seq, record: &Record) {
        self.pieces.extend(reply::piece(seq, record));
        if let Record::Asked { request, .. } = record {
            self.asked = Some(*request);
            self.stretch = seq.next();
        }
    }

    /// What a messenger is told since the last question: all but that we were restarted, which it is told apart.
    pub fn stretch_words(&self) -> String {
        let mut words = reply::words_but_restarted(&self.pieces, self.stretch);
        add_paragraph(&mut words, &self.growing);
        words
    }

    /// The files shared since the last question.
    pub fn stretch_files(&self) -> Vec<Attachment> {
        reply::files(&self.pieces, self.stretch)
    }

    pub fn worked_ms(&self, now: Timestamp) -> i64 {
        self.worked_before_ms + now.ms_since(self.since)
    }

    /// The end of patience once it was told to end, else the deadline while it works.
    pub fn wake_at(&self, working: bool, deadline_ms: i64) -> Option<Timestamp> {
        let deadline = self.since.plus_ms((deadline_ms - self.worked_before_ms).max(0));
        self.drop_at.or(working.then_some(deadline))
    }
}
