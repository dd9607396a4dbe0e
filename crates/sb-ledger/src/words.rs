//! Acts and accounts as people read them.

use sb_model::AccountKey;

use crate::{Account, Act, Ledger, Sort};

impl Ledger {
    /// An account's name and the beginning of its key.
    pub fn who(&self, key: AccountKey) -> String {
        self.account(key).map_or_else(|| key.short(), Account::shown)
    }

    /// What an act does, after its signer's name: `pays bob (77aa0011) 2.50 USD for "cake"`.
    pub fn words(&self, act: &Act) -> String {
        match act {
            Act::Opened { name, sort: Sort::Person, .. } => format!("opens the person's account {name}"),
            Act::Opened { name, .. } => format!("opens the account of its agent {name}"),
            Act::BroughtIn { amount } => format!("brings in {amount} USD"),
            Act::Funded { agent, amount } => format!("gives {} {amount} USD", self.who(*agent)),
            Act::Paid { to, amount, purpose, .. } => {
                format!("pays {} {amount} USD for {purpose:?}", self.who(*to))
            }
            Act::Suspended { agent } => {
                format!("suspends {} and every agent below it", self.who(*agent))
            }
            Act::Resumed { agent } => format!("lets {} go on", self.who(*agent)),
        }
    }
}
