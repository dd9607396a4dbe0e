//! Calls about the ledger.

use reqwest::Method;

use super::{Desk, Result, json, query, segment};
use crate::local::wire::{BeforeSigning, EntryInfo, KeptEntry, LedgerAccount, Verified, WishInfo};

impl Desk {
    /// All accounts of the ledger.
    pub async fn accounts(&self) -> Result<Vec<LedgerAccount>> {
        self.get("/desk/ledger/accounts").await
    }

    /// One account, by its name, its key or the beginning of that.
    pub async fn account(&self, named: &str) -> Result<LedgerAccount> {
        self.get(&format!("/desk/ledger/accounts/{}", segment(named))).await
    }

    /// What would be signed, and by whom.
    pub async fn before_signing(&self, wish: &WishInfo) -> Result<BeforeSigning> {
        json(self.send(self.ask(Method::POST, "/desk/ledger/before").json(wish), true).await?).await
    }

    /// Signs it.
    pub async fn sign(&self, wish: &WishInfo) -> Result<Vec<EntryInfo>> {
        json(self.send(self.ask(Method::POST, "/desk/ledger/entries").json(wish), false).await?).await
    }

    /// Entries after a place.
    pub async fn ledger_log(&self, after: u64, most: usize) -> Result<Vec<EntryInfo>> {
        self.get(&from("/desk/ledger/entries", after, most)).await
    }

    /// Entries after a place, as they were signed.
    pub async fn ledger_kept(&self, after: u64, most: usize) -> Result<Vec<KeptEntry>> {
        self.get(&from("/desk/ledger/kept", after, most)).await
    }

    /// Follows the whole chain.
    pub async fn verify_ledger(&self) -> Result<Verified> {
        json(self.send(self.ask(Method::POST, "/desk/ledger/verify"), true).await?).await
    }
}

fn from(path: &str, after: u64, most: usize) -> String {
    let (after, most) = (after.to_string(), most.to_string());
    query(path, &[("after", Some(&after)), ("most", Some(&most))])
}
