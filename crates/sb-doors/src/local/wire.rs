//! The JSON of the `/desk` routes; both ends use these types, and `--json` prints them.
//!
//! | route | takes | gives |
//! |---|---|---|
//! | `GET /desk/server` | | [`ServerInfo`] |
//! | `GET /desk/profiles` · `GET /desk/profiles/{name}` | | `[ProfileInfo]` · [`ProfileInfo`] |
//! | `PUT /desk/profiles/{name}` | [`PutProfile`] | [`ProfileInfo`] |
//! | `DELETE /desk/profiles/{name}` | | 204 |
//! | `PUT /desk/profiles/{name}/mcp/{server}` | [`PutMcp`] | `McpFound` |
//! | `POST /desk/profiles/{name}/mcp/{server}/test` | [`TestMcp`] | `McpFound` |
//! | `DELETE /desk/profiles/{name}/mcp/{server}` | | 204 |
//! | `GET /desk/tokens?profile=` | | `[TokenInfo]` |
//! | `POST /desk/profiles/{name}/tokens` | [`AddToken`] | [`NewToken`] |
//! | `DELETE /desk/profiles/{name}/tokens/{id}` | | 204 |
//! | `GET /desk/sessions?profile=&most=` | | `[SessionInfo]` |
//! | `GET /desk/sessions/{id}` | | [`Trace`] |
//! | `POST /desk/sessions/{id}/messages` | as `POST /v1/profiles/{p}/messages`, no `conversation` | the same answer or stream |
//! | `GET /desk/profiles/{name}/memos` | | `[MemoInfo]` |
//! | `DELETE /desk/profiles/{name}/memos` · `DELETE /desk/profiles/{name}/memos/{id}` | | 204 |
//! | `POST /desk/backup` | [`Backup`] | [`Backup`] |
//! | `GET /desk/doctor` | | [`Doctor`] |
//! | `GET /desk/kinds` | | `[KindInfo]` |
//! | `GET /desk/channels` · `GET /desk/channels/{slug}` | | `[ChannelInfo]` · [`ChannelInfo`] |
//! | `PUT /desk/channels/{slug}` | [`PutChannel`] | [`ChannelInfo`], once it started or did not |
//! | `POST /desk/channels/{slug}/enabled` | [`EnableChannel`] | the same |
//! | `DELETE /desk/channels/{slug}` | | 204 |
//! | `GET /desk/pairings` | | `[PairingInfo]` |
//! | `POST /desk/pairings/{code}` | [`ApprovePairing`] | [`PersonInfo`] |
//! | `DELETE /desk/pairings/{code}` | | 204 |
//! | `GET /desk/people?channel=` | | `[PersonInfo]` |
//! | `DELETE /desk/people/{channel}/{id}` | | 204 |
//! | `GET /desk/outbox?channel=&all=` | | `[PostInfo]` |
//! | `POST /desk/outbox/{number}` · `DELETE /desk/outbox/{number}` | | tried again · given up: 204 |
//! | `GET /desk/inbox?channel=` | | `[InboxInfo]` |
//! | `POST /desk/inbox/{number}` | | [`ReplayedInfo`] |
//! | `GET /desk/trust?all=` | | `[TrustInfo]` |
//! | `GET /desk/ledger/accounts` · `GET /desk/ledger/accounts/{account}` | | `[LedgerAccount]` · [`LedgerAccount`] |
//! | `POST /desk/ledger/before` | [`WishInfo`] | [`BeforeSigning`], nothing is signed |
//! | `POST /desk/ledger/entries` | [`WishInfo`] | `[EntryInfo]`, signed |
//! | `GET /desk/ledger/entries?after=&most=` | | `[EntryInfo]` |
//! | `GET /desk/ledger/kept?after=&most=` | | `[KeptEntry]` |
//! | `POST /desk/ledger/verify` | | [`Verified`] |
//! | `GET /desk/jobs` · `GET /desk/jobs/{name}` | | `[JobInfo]` · [`JobInfo`] |
//! | `POST /desk/jobs` | [`AddJob`] | [`JobInfo`] |
//! | `POST /desk/jobs/{name}/runs` | | [`JobInfo`], once the run has ended or a person must decide |
//! | `DELETE /desk/jobs/{name}` | | 204 |
//!
//! Errors are the HTTP channel's: `{"error": sentence, "code": word}`.

mod channels;
mod jobs;
mod ledger;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use channels::{
    AccountInfo, ApprovePairing, ChannelInfo, EnableChannel, FieldInfo, InboxInfo, KindInfo, LineInfo,
    PairingInfo, PersonInfo, PostInfo, PutChannel, ReplayedInfo, StatusInfo, TrustInfo,
};

pub use jobs::{AddJob, JobInfo, JobTimeInfo, RunInfo};
pub use ledger::{AgentInfo, BeforeSigning, EntryInfo, KeptEntry, LedgerAccount, Verified, WishInfo};

use crate::model::{Entry, McpServer, Profile};

/// One thing an agent noted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoInfo {
    pub id: i64,
    pub at: String,
    pub words: String,
    /// Noted after content from outside was read, so it is treated as such content.
    pub outside: bool,
}

/// The running server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerInfo {
    pub version: String,
    pub pid: u32,
    pub home: String,
    /// The public listener's address; none while a command holds the home by itself.
    pub listen: Option<String>,
    /// Enabled channels run there.
    #[serde(default)]
    pub channels: bool,
    /// The one channel that is all this process serves.
    #[serde(default)]
    pub bridge: Option<String>,
}

/// A profile as shown: everything but its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileInfo {
    #[serde(flatten)]
    pub profile: Profile,
    /// It has an API key of its own.
    pub has_key: bool,
    /// Its own API key cannot be opened: it was sealed with another machine.key.
    #[serde(default)]
    pub key_is_sealed: bool,
    /// The tools it gives its agent.
    pub available_tools: Vec<String>,
    /// The agent behind it, by name and whole key.
    #[serde(default)]
    pub identity: Option<AgentInfo>,
}

/// Adds or changes a profile. A key left out keeps the stored one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PutProfile {
    pub profile: Profile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// Its own API key is forgotten.
    #[serde(default)]
    pub no_api_key: bool,
    /// Only if there is none of this name yet: 409 otherwise.
    #[serde(default)]
    pub new: bool,
}

/// Adds an MCP server to a profile, or puts it in place of the one of its name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PutMcp {
    pub server: McpServer,
    /// Values of its variables or headers; one left out keeps the value it has.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// Only if there is none of this name yet.
    #[serde(default)]
    pub new: bool,
}

/// Looks at an MCP server's tools.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct TestMcp {
    /// What is found counts as seen from now on.
    #[serde(default)]
    pub accept: bool,
}

/// Rights of a new token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddToken {
    /// May approve and decline, and instruct.
    #[serde(default)]
    pub approve: bool,
    /// May change what a conversation chose.
    #[serde(default)]
    pub instruct: bool,
}

/// A token as listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenInfo {
    pub id: String,
    pub profile: String,
    pub approve: bool,
    pub instruct: bool,
    /// The agent behind the profile, by name and whole key.
    #[serde(default)]
    pub agent: Option<AgentInfo>,
    /// RFC 3339.
    pub created: String,
}

/// A token just made; `token` is shown this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewToken {
    pub token: String,
    #[serde(flatten)]
    pub info: TokenInfo,
}

/// A session as listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionInfo {
    pub id: String,
    pub profile: String,
    pub conversation: String,
    pub title: Option<String>,
    /// RFC 3339.
    pub began: String,
    pub last_active: String,
    /// `idle`, `running` or `waiting`.
    pub state: String,
    pub current: bool,
    pub turns: u64,
}

/// A session with everything that happened, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    #[serde(flatten)]
    pub session: SessionInfo,
    /// The request that waits, if any: its id, call and reason.
    pub waiting: Option<serde_json::Value>,
    pub entries: Vec<Entry>,
}

/// Where to put a backup (an absolute path), or where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    pub to: String,
}

/// What `doctor` found: nothing is healthy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doctor {
    /// One sentence each, with what to do about it.
    pub problems: Vec<String>,
    /// Facts worth knowing that are no problem.
    pub notes: Vec<String>,
}
