//! [`Settings`]: the values of a channel's fields.

use std::collections::BTreeMap;

use sb_net::model::{Fault, FaultKind, Secret};

use crate::Result;

/// A channel's settings by field. Secrets print as dots.
#[derive(Debug, Clone, Default)]
pub struct Settings(BTreeMap<String, Secret>);

impl Settings {
    pub fn new(values: impl IntoIterator<Item = (String, Secret)>) -> Self {
        Self(values.into_iter().collect())
    }
    /// A field's value; an empty one is none.
    pub fn get(&self, key: &str) -> Option<&Secret> {
        self.0.get(key).filter(|value| !value.expose().is_empty())
    }
    /// The value of a field that is no secret.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).map(Secret::expose)
    }
    /// The value of a field that a channel cannot be without.
    ///
    /// # Errors
    /// If it is not set.
    pub fn needed(&self, key: &str) -> Result<&Secret> {
        let missing =
            || Fault::new(FaultKind::Refused, "reading the settings", format!("`{key}` is not set"));
        self.get(key).ok_or_else(missing)
    }
    /// The root of the platform's address: the field `api_url`, or else the platform's own; without a slash at its end.
    pub fn api_url(&self, otherwise: &str) -> String {
        self.text("api_url").unwrap_or(otherwise).trim_end_matches('/').to_owned()
    }
}
