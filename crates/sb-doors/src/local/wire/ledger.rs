//! The JSON of the `/desk` routes about the ledger.

use serde::{Deserialize, Serialize};

/// Something to be signed. Accounts are named by name, key, or the first eight digits of that or more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "wish", rename_all = "snake_case", deny_unknown_fields)]
pub enum WishInfo {
    Open {
        name: String,
        /// A person's account, not an agent's.
        #[serde(default)]
        person: bool,
        /// Whose agent it is; left out: the operator's.
        #[serde(default)]
        parent: Option<String>,
        /// A decimal string.
        #[serde(default)]
        budget: Option<String>,
    },
    Fund {
        account: String,
        amount: String,
        /// Left out: the agent's parent.
        #[serde(default)]
        from: Option<String>,
    },
    Suspend {
        by: String,
        agent: String,
    },
    Resume {
        by: String,
        agent: String,
    },
}

/// What will be signed, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeforeSigning {
    pub said: String,
}

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryInfo {
    /// Its place in the chain.
    pub number: u64,
    /// RFC 3339.
    pub at: String,
    /// Who signed, the whole key.
    pub by: String,
    /// What it says.
    pub said: String,
    pub act: serde_json::Value,
    /// A payment's receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    pub digest: String,
}

/// An account, by name and whole key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    pub name: String,
    pub key: String,
}

impl AgentInfo {
    /// The name, and the first eight digits of the key.
    pub fn short(&self) -> String {
        format!("{} ({})", self.name, self.key.get(..8).unwrap_or(&self.key))
    }
}

/// An account as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerAccount {
    #[serde(flatten)]
    pub account: AgentInfo,
    /// `person` or `agent`.
    pub sort: String,
    pub parent: Option<AgentInfo>,
    /// What it has left, a decimal string.
    pub budget_remaining_usd: String,
    /// Why it signs nothing and answers nobody.
    pub suspended: Option<String>,
    /// The profiles whose agent it is.
    pub profiles: Vec<String>,
}

/// The whole chain was followed, and every entry is as it was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    pub entries: u64,
}

/// An entry as it is kept, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptEntry {
    pub entry: String,
    pub signature: String,
}
