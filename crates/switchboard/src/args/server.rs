//! The flags of `up` and `serve`, which are the keys of `switchboard.toml` too.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Deserialize;

/// How a server runs. Every flag may stand in `<home>/switchboard.toml` under the same name, with `_`
/// for `-`; a flag goes before the file.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerFlags {
    /// Where to listen, as address:port; port 0 takes any free one [default: 127.0.0.1:8790]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// Turns that run at once; more wait their turn [default: 64]
    #[arg(long, value_name = "N")]
    pub parallel: Option<usize>,
    /// How log lines on stderr look [default: text]
    #[arg(long)]
    pub log: Option<LogForm>,
    /// What an accepted message survives: a loss of power, or only the end of the process, which is
    /// faster [default: power]
    #[arg(long)]
    pub durability: Option<Survives>,
    /// Speak TLS with this certificate (PEM, those that vouch for it after it), so another address than
    /// loopback may be listened on
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM, without a password)
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// A proxy that speaks TLS stands in front, so another address than loopback may be listened on
    #[arg(long, num_args = 0, default_missing_value = "true", value_name = "BOOL")]
    pub behind_proxy: Option<bool>,
    /// Where messengers and agents that call us reach this server, as https://host: its proxy's or tunnel's address
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// Let pages of this origin use OpenAI's API here, as https://host; * for any; may be given several times
    #[arg(long, value_name = "ORIGIN")]
    pub cors_origin: Option<Vec<String>>,
    /// Offer a profile to other agents, over A2A; again for more. The first one's card is at the well-known place
    #[arg(long, value_name = "PROFILE")]
    pub a2a: Vec<String>,
    /// Let A2A webhooks be on this machine or its own network, and without TLS: for tests
    #[arg(long, num_args = 0, default_missing_value = "true", value_name = "BOOL")]
    pub a2a_push_private: Option<bool>,
    /// The model of the first profile, where `up` makes one, as provider:id [environment: SWITCHBOARD_MODEL; default: the
    /// provider's own choice]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogForm {
    /// For people.
    #[default]
    Text,
    /// For programs, an object a line.
    Json,
}

/// What accepted work survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Survives {
    /// A loss of power.
    #[default]
    Power,
    /// The end of the process, `kill -9` included; not a loss of power.
    Process,
}

impl ServerFlags {
    /// These flags, and where one is not given the other's.
    pub fn or(self, other: Self) -> Self {
        Self {
            listen: self.listen.or(other.listen),
            parallel: self.parallel.or(other.parallel),
            log: self.log.or(other.log),
            durability: self.durability.or(other.durability),
            tls_cert: self.tls_cert.or(other.tls_cert),
            tls_key: self.tls_key.or(other.tls_key),
            behind_proxy: self.behind_proxy.or(other.behind_proxy),
            public_url: self.public_url.or(other.public_url),
            cors_origin: self.cors_origin.or(other.cors_origin),
            a2a: if self.a2a.is_empty() { other.a2a } else { self.a2a },
            a2a_push_private: self.a2a_push_private.or(other.a2a_push_private),
            model: self.model.or(other.model),
        }
    }
}
