//! The contract of an agent: what the engine and a harness say to each other during one turn.
//!
//! Two queues of values and one future, so a turn is easy to record, replay, script and put over a
//! pipe. A harness never learns which way in a message came through, and never decides what it may do:
//! it asks with [`HarnessEvent::Call`] and acts only after [`HarnessInput::Go`].

mod contract;
mod lent;
mod script;

pub use contract::{Blobs, Events, Harness, HarnessFeatures, Inputs, Memory, TurnSpec, channel};
pub use lent::{Borrower, Done, Lender, Outcome, ToolDef};
pub use sb_net as net;
pub use sb_net::model;
pub use sb_net::model::{HarnessEvent, HarnessInput, ToolUpdate};
pub use script::{FailKind, Script, Step};
