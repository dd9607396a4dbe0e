//! [`Usage`]: a fault of the command line, which has an exit code of its own.

/// What was typed cannot be used; the sentence says why, and what can.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The error of a command line that cannot be used.
pub fn usage(said: impl Into<String>) -> anyhow::Error {
    Usage(said.into()).into()
}
