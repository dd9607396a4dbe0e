//! The environment: the one place where its variables are read.
//!
//! A variable that is set to nothing counts as not set. Which variables hold keys and addresses of
//! providers is the providers' data, not this file's.

use std::collections::HashMap;
use std::path::PathBuf;

use sb_engine::model::Secret;

use crate::keys::{A2A, A2A_KEY};

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `SWITCHBOARD_HOME`.
    pub home: Option<PathBuf>,
    /// `SWITCHBOARD_TOKEN`: the machine's token.
    pub token: Option<Secret>,
    /// `SWITCHBOARD_MODEL`: the first profile's model.
    pub model: Option<String>,
    /// Keys by provider.
    pub keys: HashMap<String, Secret>,
    /// Other base addresses by provider.
    pub base_urls: HashMap<String, String>,
    /// Where the platform keeps the data of programs.
    pub data: Option<PathBuf>,
}

impl Environment {
    /// Reads it, once, at the start.
    pub fn read() -> Self {
        let providers = sb_loop::providers();
        let of = |name: &Option<String>| name.as_deref().and_then(variable);
        let agents = || sb_agents::presets().iter().filter_map(|p| p.provider);
        Self {
            home: path("SWITCHBOARD_HOME"),
            token: variable("SWITCHBOARD_TOKEN").map(Secret::new),
            model: variable("SWITCHBOARD_MODEL"),
            keys: providers
                .iter()
                .filter_map(|p| Some((p.name.clone(), Secret::new(of(&p.key_env)?))))
                .chain(
                    agents()
                        .filter_map(|(name, key, _)| Some((name.to_owned(), Secret::new(variable(key)?)))),
                )
                .chain(variable(A2A_KEY).map(|key| (A2A.to_owned(), Secret::new(key))))
                .collect(),
            base_urls: providers
                .iter()
                .filter_map(|p| Some((p.name.clone(), of(&p.base_url_env)?)))
                .chain(agents().filter_map(|(name, _, base)| Some((name.to_owned(), variable(base)?))))
                .collect(),
            data: data_folder(),
        }
    }
}

/// One variable as text.
#[expect(clippy::disallowed_methods, reason = "the program's configuration is put together here")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[expect(clippy::disallowed_methods, reason = "a path may hold what is no text")]
fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|text| !text.is_empty()).map(PathBuf::from)
}

/// `~/Library/Application Support` on macOS; elsewhere `$XDG_DATA_HOME` or `~/.local/share`.
fn data_folder() -> Option<PathBuf> {
    let home = path("HOME").filter(|p| p.is_absolute());
    if cfg!(target_os = "macos") {
        return home.map(|home| home.join("Library/Application Support"));
    }
    // What is not absolute there is to be ignored, says the standard.
    let data = path("XDG_DATA_HOME").filter(|p| p.is_absolute());
    data.or_else(|| home.map(|home| home.join(".local/share")))
}
