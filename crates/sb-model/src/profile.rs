//! Profiles: how an agent answers on this installation.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{AccountKey, Budgets, HarnessRef, McpServer, ProfileName, Rule};

/// Autonomy, L1 to L6, each a superset of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// Talk only.
    L1,
    /// Reads.
    L2,
    /// Workspace writes and programs ask.
    L3,
    /// Workspace writes and allowed programs are free; the outside asks.
    L4,
    /// The outside is free; spending asks.
    L5,
    /// Spending within the budget is free.
    L6,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
impl FromStr for Level {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        Ok(match s.to_ascii_uppercase().as_str() {
            "L1" | "1" => Level::L1,
            "L2" | "2" => Level::L2,
            "L3" | "3" => Level::L3,
            "L4" | "4" => Level::L4,
            "L5" | "5" => Level::L5,
            "L6" | "6" => Level::L6,
            _ => return Err(format!("{s:?} is not an autonomy level; use L1 to L6")),
        })
    }
}

/// One model, as `provider:id`: `anthropic:claude-sonnet-5-5`, `openai:gpt-6`, `scripted`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelRef {
    pub provider: String,
    /// Empty where the provider has one model only.
    pub id: String,
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id.is_empty() {
            true => f.write_str(&self.provider),
            false => write!(f, "{}:{}", self.provider, self.id),
        }
    }
}
impl FromStr for ModelRef {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        let (provider, id) = s.split_once(':').unwrap_or((s, ""));
        if provider.is_empty() || s.ends_with(':') {
            return Err(format!(
                "{s:?} is not a model; write provider:id, such as anthropic:claude-sonnet-5-5"
            ));
        }
        Ok(Self { provider: provider.to_owned(), id: id.to_owned() })
    }
}
impl Serialize for ModelRef {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for ModelRef {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Which tools a profile gives its agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolSet {
    /// All that its set-up allows (no workspace, no file tools).
    #[default]
    All,
    /// These only.
    Only(Vec<String>),
}

impl ToolSet {
    /// Whether `tool` is in the set.
    pub fn has(&self, tool: &str) -> bool {
        match self {
            ToolSet::All => true,
            ToolSet::Only(names) => names.iter().any(|n| n == tool),
        }
    }
}

/// How an agent answers on this installation. Its API key is not here: secrets are sealed apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub name: ProfileName,
    /// What runs its turns.
    #[serde(default)]
    pub harness: HarnessRef,
    /// The mode in which an outside agent asks before it acts, where no preset knows it; `asks` says that its own
    /// set-up makes it ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_mode: Option<String>,
    /// The identity behind it, in the ledger; every profile of a running engine has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AccountKey>,
    /// The first is the default; later ones are asked when one is overloaded.
    pub models: Vec<ModelRef>,
    /// Overrides the providers' base address, for compatible servers.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The operator's instructions.
    #[serde(default)]
    pub instructions: String,
    /// Absolute path of the folder the file tools work in.
    #[serde(default)]
    pub workspace: Option<String>,
    #[serde(default)]
    pub tools: ToolSet,
    pub autonomy: Level,
    /// What runs unasked at L4 and above: rules of the operator.
    #[serde(default)]
    pub allowed: Vec<Rule>,
    /// Where further tools come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServer>,
    /// Makes pictures for `image_generate`; none: the profile makes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_model: Option<ModelRef>,
    /// Hosts of a private network that `web_fetch` may ask, as `host` or `host:port`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub web_hosts: Vec<String>,
    /// What it may use.
    #[serde(default, skip_serializing_if = "Budgets::is_none")]
    pub budgets: Budgets,
    /// A turn's deadline in seconds, not counting the time it waits for people.
    #[serde(default = "Profile::default_deadline_s")]
    pub deadline_s: u32,
}

impl Profile {
    /// What is left of a profile that was removed: a name, no models, no tools.
    pub fn gone(name: ProfileName) -> Self {
        Self {
            name,
            harness: HarnessRef::Loop,
            harness_mode: None,
            agent: None,
            models: Vec::new(),
            base_url: None,
            instructions: String::new(),
            workspace: None,
            tools: ToolSet::Only(Vec::new()),
            autonomy: Level::L1,
            allowed: Vec::new(),
            mcp: Vec::new(),
            image_model: None,
            web_hosts: Vec::new(),
            budgets: Budgets::default(),
            deadline_s: Self::default_deadline_s(),
        }
    }
    /// Where its models are asked, if not at their providers' own address.
    pub fn served_at(&self) -> Option<&str> {
        match &self.harness {
            HarnessRef::OpenAi(url) => Some(url),
            HarnessRef::Loop | HarnessRef::Acp(_) | HarnessRef::A2a(_) | HarnessRef::Pi(_) => {
                self.base_url.as_deref()
            }
        }
    }
    /// Ten minutes.
    pub fn default_deadline_s() -> u32 {
        600
    }
}
