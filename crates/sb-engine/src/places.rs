//! The places for running turns, shared by all actors: the core's [`Slots`] behind a lock.

use std::sync::Mutex;

use sb_core::Slots;
use sb_core::model::ConversationId;

/// See [`Slots`].
pub(crate) struct Places(Mutex<Slots>);

impl Places {
    pub fn new(parallel: usize) -> Self {
        Self(Mutex::new(Slots::new(parallel)))
    }
    pub fn want(&self, who: &ConversationId, urgent: bool) -> bool {
        self.slots().want(who, urgent)
    }
    /// Gives a place back; whoever is to be told that it has it now.
    pub fn release(&self) -> Option<ConversationId> {
        self.slots().release()
    }
    /// It no longer wants the place it asked for.
    pub fn forget(&self, who: &ConversationId) {
        self.slots().forget(who)
    }
    pub fn waiting(&self) -> usize {
        self.slots().waiting()
    }
    fn slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        // The lock is held for queue operations only, which do not panic half-way.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
