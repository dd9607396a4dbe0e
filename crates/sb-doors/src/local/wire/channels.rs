//! The JSON of channels, of who is let in, and of what lies in outbox and inbox.
//!
//! No value here holds a secret: of a field that has one, its name is told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::engine::channel::Manifest;
use crate::model::ChannelConfig;

/// A kind of messenger: what commands must know of it, and whatever else its manifest says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindInfo {
    pub id: String,
    pub label: String,
    pub blurb: String,
    pub fields: Vec<FieldInfo>,
    /// How ids look, as `--allow` and `--approvers` take them.
    pub id_hint: String,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// One setting of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldInfo {
    pub key: String,
    pub label: String,
    /// Never shown again once set.
    pub secret: bool,
    pub required: bool,
    pub hint: String,
    /// The only values, if not empty.
    pub choices: Vec<String>,
}

impl KindInfo {
    /// A manifest as it is told.
    pub fn of(manifest: &Manifest) -> Self {
        let text = |field: &crate::engine::channel::Field| FieldInfo {
            key: field.key.to_owned(),
            label: field.label.to_owned(),
            secret: field.secret,
            required: field.required,
            hint: field.hint.to_owned(),
            choices: field.choices.iter().map(|c| (*c).to_owned()).collect(),
        };
        let rest = match serde_json::to_value(manifest) {
            Ok(Value::Object(mut all)) => {
                for told in ["id", "label", "blurb", "fields", "id_hint"] {
                    all.remove(told);
                }
                all
            }
            // A manifest is an object of plain values.
            _ => Map::new(),
        };
        Self {
            id: manifest.id.to_owned(),
            label: manifest.label.to_owned(),
            blurb: manifest.blurb.to_owned(),
            fields: manifest.fields.iter().map(text).collect(),
            id_hint: manifest.id_hint.to_owned(),
            rest,
        }
    }
}

/// A channel as it is configured and as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChannelInfo {
    #[serde(flatten)]
    pub config: ChannelConfig,
    /// Fields that have a secret.
    pub secrets: Vec<String>,
    /// Enabled channels run in the process that was asked.
    pub runs_here: bool,
    pub status: StatusInfo,
    /// What its operator should know about who may talk and decide: a sentence each.
    pub warnings: Vec<String>,
}

/// How a channel is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusInfo {
    /// `off`, `starting`, `running` or `failed`.
    pub state: String,
    /// Why it failed.
    pub why: Option<String>,
    /// When it is tried again; times are RFC 3339.
    pub again: Option<String>,
    pub account: Option<AccountInfo>,
    /// The platform last answered us.
    pub connected: Option<String>,
    /// Something last came from there.
    pub received: Option<String>,
    /// Something of ours was last taken there.
    pub sent: Option<String>,
    /// Nothing is sent until then.
    pub paused_until: Option<String>,
    /// Why receiving fails at the moment.
    pub trouble: Option<String>,
    pub lines: Vec<LineInfo>,
}

/// Who we are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountInfo {
    pub id: String,
    pub name: String,
    pub link: Option<String>,
    pub notes: Vec<String>,
}

/// One line of a channel's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineInfo {
    pub at: String,
    pub said: String,
}

/// Adds or changes a channel. A secret left out keeps the stored one; an empty one is removed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PutChannel {
    pub channel: ChannelConfig,
    #[serde(default)]
    pub secrets: BTreeMap<String, String>,
    /// Only if there is none of this slug yet.
    #[serde(default)]
    pub new: bool,
}

/// Switches a channel on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnableChannel {
    pub enabled: bool,
}

/// Somebody who asks to be let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairingInfo {
    pub channel: String,
    pub code: String,
    pub id: String,
    pub name: String,
    pub asked: String,
    pub until: String,
}

/// Lets in whoever was shown a code; without a channel, of whichever it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovePairing {
    #[serde(default)]
    pub channel: Option<String>,
}

/// Somebody who was let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonInfo {
    pub channel: String,
    pub id: String,
    pub name: String,
    pub since: String,
}

/// One post of the outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostInfo {
    pub number: i64,
    pub channel: String,
    pub chat: String,
    pub thread: Option<String>,
    pub conversation: String,
    /// `open`, `done`, `refused`, `perhaps` or `dropped`.
    pub state: String,
    pub at: String,
    /// Not to be tried before.
    pub due: String,
    pub tries: u32,
    pub why: Option<String>,
    pub text: String,
    pub files: Vec<String>,
    /// Parts that are out, and parts there are so far.
    pub sent: usize,
    pub parts: usize,
}

/// One thing that came and is not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxInfo {
    pub number: i64,
    pub channel: String,
    pub at: String,
    /// `unknown`, `not_let_in`, `failed` or `held`.
    pub why: String,
    pub detail: String,
    pub conversation: Option<String>,
}

/// What became of something taken in again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayedInfo {
    /// `taken`, `unknown`, `held` or `not_running`.
    pub outcome: String,
}

/// One thing the safety of this configuration rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustInfo {
    pub id: String,
    pub assumes: String,
    pub enforced: String,
    pub otherwise: String,
    /// The channels, or the kinds, it is about; none: the program as a whole.
    pub of: Vec<String>,
}
