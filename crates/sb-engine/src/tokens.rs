//! Tokens seen lately, so that a request by a known one asks no disk.
//!
//! Holds digests, never tokens. Every change of tokens or profiles empties it, and a look-up that was
//! under way meanwhile is not remembered: a token taken back opens nothing from then on.

use std::collections::HashMap;
use std::sync::RwLock;

use sb_core::model::{Digest, Secret};
use sb_store::{Store, TokenRecord};

use crate::error::Result;

/// Tokens remembered at once; with more in use, the disk is asked again.
const MOST: usize = 1024;

#[derive(Default)]
pub(crate) struct Tokens(RwLock<Seen>);

#[derive(Default)]
struct Seen {
    known: HashMap<Digest, TokenRecord>,
    /// How often it was emptied.
    emptied: u64,
}

impl Tokens {
    /// Whose token this is, if anybody's.
    pub async fn find(&self, store: &Store, token: &Secret) -> Result<Option<TokenRecord>> {
        let digest = Digest::of(token.expose().as_bytes());
        let emptied = {
            let seen = self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(record) = seen.known.get(&digest) {
                return Ok(Some(record.clone()));
            }
            seen.emptied
        };
        let Some(record) = store.find_token(token).await? else { return Ok(None) };
        let mut seen = self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if seen.emptied == emptied {
            if seen.known.len() >= MOST {
                seen.known.clear();
            }
            seen.known.insert(digest, record.clone());
        }
        Ok(Some(record))
    }

    /// Something about tokens changed.
    pub fn forget(&self) {
        let mut seen = self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        seen.known.clear();
        seen.emptied += 1;
    }
}
