//! The values that pass between the engine and a running turn, whichever harness runs it.
//!
//! They are values only, so that a turn can be recorded, replayed, scripted and put over a pipe.

use crate::{Attachment, Call, CallId, MessageId, Record, Usage, Ways};

/// What a harness is told of a call that a person declined without giving a reason.
pub const DECLINED: &str = "The person declined this call.";

/// What the engine tells a running turn. Sent in order; sending never waits.
#[derive(Debug, Clone, PartialEq)]
pub enum HarnessInput {
    /// A person said more. Takes effect before the next step; confirm with [`HarnessEvent::Took`].
    /// `record` is the `Said` record to confirm it with.
    Steer(MessageId, Record),
    /// The call may act now; its permission is committed.
    Go(CallId),
    /// As [`Go`](Self::Go), in the way of this number among those of [`HarnessEvent::CallBy`].
    GoBy(CallId, usize),
    /// The call may not act, and why, for the model.
    No(CallId, String),
    /// A person must decide the call: park if you can, else keep waiting for `Go` or `No`.
    Wait(CallId),
    /// The engine did the call itself. Its result stands in the log already: it is not to be logged again.
    Done(CallId, Record),
    /// Stop now: end streams, end process groups, then return [`StopReason::Stopped`]. Within ten seconds.
    Stop,
}

/// One thing a tool did, for people who watch.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUpdate {
    pub call: CallId,
    pub tool: String,
    /// `calling`, `running`, `waiting` or `done`.
    pub state: &'static str,
}

/// What a harness tells the engine during a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum HarnessEvent {
    /// Words of the answer being written; appended to those before.
    Text(String),
    /// The answer is whole; what comes next is another one, a paragraph apart.
    Break,
    /// The words since the last `Break` are void (an attempt failed); where they were shown and cannot
    /// be taken back, they stay.
    Void,
    /// Steered words have reached the agent.
    Took(MessageId),
    /// It wants to do this. Wait for `Go`, `No`, `Wait` or `Done` before anything else about it.
    Call(Call),
    /// As [`Call`](Self::Call), with the agent's own words for how it may be decided. Where it may in several ways, a
    /// person is asked whatever else holds, and [`HarnessInput::GoBy`] says which.
    CallBy(Call, Ways),
    Tool(ToolUpdate),
    /// Reasoning; never part of a reply.
    Thought(String),
    /// A file for the person, after the reply.
    File(Attachment),
    Usage(Usage),
    /// A record for the session's log, in order. Committed no later than the next `Go` of an acting
    /// call, or the turn's end; a result of an acting call at once.
    Log(Record),
}
