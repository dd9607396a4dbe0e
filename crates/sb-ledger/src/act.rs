//! [`Act`]: what can be done in the ledger. The form in which it is signed is its JSON.
//!
//! An act that this program does not know (a charter, say, of a later one) is refused when it is read,
//! never passed over: it may bound what is allowed.

use sb_model::AccountKey;
use serde::{Deserialize, Serialize};

use crate::Usd;

/// Whose account it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    Person,
    Agent,
}

/// One thing that somebody signs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// A new account. A person's signs for itself and has no parent; an agent's is signed by its parent.
    Opened {
        account: AccountKey,
        name: String,
        sort: Sort,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<AccountKey>,
    },
    /// Money came in from outside, to the person who signs. Nothing else makes money.
    BroughtIn { amount: Usd },
    /// The one who signs gives an agent of its money.
    Funded { agent: AccountKey, amount: Usd },
    /// The one who signs pays. `once` names what asked for it: no two payments have the same.
    Paid {
        to: AccountKey,
        amount: Usd,
        purpose: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        once: Option<String>,
    },
    /// The agent and all below it sign nothing from now on.
    Suspended { agent: AccountKey },
    /// What the one who signs, or one below it, had suspended may sign again.
    Resumed { agent: AccountKey },
}

impl Act {
    /// What a payment is for, so that it is made once.
    pub fn once(&self) -> Option<&str> {
        match self {
            Act::Paid { once, .. } => once.as_deref(),
            _ => None,
        }
    }
}
