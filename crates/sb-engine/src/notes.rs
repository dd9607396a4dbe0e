//! The store's notes, as harnesses reach them, and as people look at them.

use std::sync::Arc;

use async_trait::async_trait;
use sb_core::model::{Clock, Memo, ProfileName};
use sb_harness::Memory;
use sb_store::{Store, StoreError, StoreErrorKind};

use crate::Engine;
use crate::error::{EngineError, EngineErrorKind, Result};

/// See the module.
pub(crate) struct StoreNotes {
    store: Store,
    clock: Arc<dyn Clock>,
}

impl StoreNotes {
    pub fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }
}

#[async_trait]
impl Memory for StoreNotes {
    async fn remember(
        &self,
        profile: &ProfileName,
        words: &str,
        outside: bool,
    ) -> std::result::Result<Memo, String> {
        self.store.remember(profile, words, outside, self.clock.now()).await.map_err(|why| told(&why))
    }

    async fn recall(
        &self,
        profile: &ProfileName,
        words: &str,
        most: usize,
    ) -> std::result::Result<Vec<Memo>, String> {
        self.store.recall(profile, words, most).await.map_err(|why| told(&why))
    }
}

/// What a model can do something about is told; the rest is our own matter.
fn told(why: &StoreError) -> String {
    if why.kind == StoreErrorKind::TooLong {
        return format!(
            "There are {} notes already, which is the most: one must be forgotten by a person first.",
            Memo::MOST
        );
    }
    tracing::warn!(error = %why, "notes could not be reached");
    "The notes cannot be reached just now.".to_owned()
}

impl Engine {
    /// The notes of a profile, newest first.
    pub async fn memos(&self, profile: &ProfileName) -> Result<Vec<Memo>> {
        if !self.has_profile(profile) {
            return Err(EngineError::no_profile(profile));
        }
        Ok(self.store().memos(profile).await?)
    }

    /// Forgets one note of a profile, or all of them (`None`): how many.
    pub async fn forget(&self, profile: &ProfileName, id: Option<i64>) -> Result<usize> {
        if !self.has_profile(profile) {
            return Err(EngineError::no_profile(profile));
        }
        let forgotten = self.store().forget(profile, id).await?;
        match (id, forgotten) {
            (Some(id), 0) => Err(EngineError::new(
                EngineErrorKind::NotFound,
                format!("{profile} has no note {id}; `switchboard memory list {profile}` shows what it has."),
            )),
            _ => Ok(forgotten),
        }
    }
}
