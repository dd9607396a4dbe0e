//! The outside, injected: HTTP, streams, sockets, child processes, the clock and chance.
//!
//! Nothing else in the program opens a socket, starts a program, or asks the machine for the time or
//! for random bits; so tests put doubles here, and every failure is sorted in one place. Invariant: no
//! error that leaves this crate holds a key, a header or more of an address than its host.

mod away;
pub mod child;
mod companion;
mod dial;
mod doubles;
mod fault;
pub mod guard;
mod hold;
mod http;
mod machine;
pub mod media;
mod redact;
mod request;
mod socket;
pub mod talk;
mod watch;

pub use away::{Away, Cleared, Fetch, Fetched, Looking, Resolve, SystemNames};
pub use companion::{Companion, CompanionLines, Spoken, write_line};
pub use dial::{Remote, Stream, Tls};
pub use doubles::{FixedDice, ManualClock, RuntimeClock};
pub use http::{Answer, Answering, Ask, Body, Http, Lost, Service};
pub use machine::{SystemClock, SystemDice};
pub use redact::{host_of, redact};
pub use request::{Content, Method, Part, Reply, Request};
pub use sb_model as model;
pub use socket::{Frame, Socket};
