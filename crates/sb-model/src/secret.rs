//! [`Secret`]: text that cannot be printed, logged or serialised by accident.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// A key, token or password. It has no `Display`, its `Debug` is dots, and its memory is wiped.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }
    /// The text itself, for the one place that sends or seals it. Never pass it to a log or an error.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}
