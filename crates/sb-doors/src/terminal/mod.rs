//! The terminal: a person who types, and a pipe that stands for one, as clients of the home's socket.
//!
//! Everything here is what a person sees and may answer; it decides nothing about the conversation.
//! Line editing and signals belong to the program, which hands a [`Person`] in. Invariant: nothing an
//! agent writes can move the cursor, change colours or hide a part of what is to be approved.

mod approval;
mod person;
mod pipe;
mod plain;
mod screen;
mod talk;

pub use approval::WAITING;
pub use person::{Person, Typed};
pub use pipe::pipe;
pub use plain::plain;
pub use talk::{Partner, TalkError, talk};
