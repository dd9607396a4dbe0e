//! [`Person`]: whoever types, as the terminal needs them.

use std::future::Future;
use std::io;

/// What came from the keyboard or the pipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    Line(String),
    /// Ctrl-C at the prompt.
    Interrupt,
    /// Ctrl-D, or the end of the input.
    End,
}

/// Whoever types.
pub trait Person: Send {
    /// The next line, asked for with `prompt`.
    fn read(&mut self, prompt: &str) -> impl Future<Output = io::Result<Typed>> + Send;
    /// Returns when they press Ctrl-C while the agent works. May be dropped at any await.
    fn interrupted(&mut self) -> impl Future<Output = ()> + Send;
}
