//! [`Poll`]: a feed that asks again and again for what follows.

use async_trait::async_trait;

use crate::{Batch, Feed, Result, Updates};

/// A platform that is asked for what follows a cursor and forgets what is before it. Whatever polls is a [`Feed`].
///
/// It asks for what follows the last *stored* batch and for nothing later: so the next poll is the acknowledgement
/// of the one before, and dropping one half-way loses nothing.
#[async_trait]
pub trait Poll: Clone + Send + Sync + 'static {
    /// Before the first poll of an opened feed, and again until it succeeds.
    async fn begin(&self) -> Result<()> {
        Ok(())
    }

    /// What follows `after`; none: from where the platform begins. The batch's cursor is where to go on from; it may
    /// be none, or the same, if nothing came. Waits at the platform, not here.
    async fn poll(&self, after: Option<&str>) -> Result<Batch>;
}

#[async_trait]
impl<T: Poll> Feed for T {
    async fn open(&self, after: Option<&str>) -> Result<Box<dyn Updates>> {
        let stored = after.map(str::to_owned);
        Ok(Box::new(Polling { of: self.clone(), begun: false, stored, given: None }))
    }
}

/// A feed that polls.
struct Polling<T> {
    of: T,
    begun: bool,
    /// All up to here is stored.
    stored: Option<String>,
    /// The same once the batch given out last is stored.
    given: Option<String>,
}

#[async_trait]
impl<T: Poll> Updates for Polling<T> {
    async fn next(&mut self) -> Result<Batch> {
        if !self.begun {
            self.of.begin().await?;
            self.begun = true;
        }
        let mut batch = self.of.poll(self.stored.as_deref()).await?;
        batch.cursor = batch.cursor.filter(|cursor| self.stored.as_ref() != Some(cursor));
        self.given.clone_from(&batch.cursor);
        Ok(batch)
    }

    async fn ack(&mut self) -> Result<()> {
        self.stored = self.given.take().or_else(|| self.stored.take());
        Ok(())
    }
}
