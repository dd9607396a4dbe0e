//! One module for each task; each has one `run`, which prints what it does and fails with a sentence.
//!
//! A task may call another's building blocks, never another's `run`, except `test`, which is the sum.

pub mod agents;
pub mod bench;
pub mod docs;
pub mod fuzz;
pub mod interop;
pub mod new_channel;
pub mod requirements;
pub mod simulate;
pub mod soak;
pub mod test;
pub mod transcript;
