//! The readers: a few connections, handed out on the blocking pool.
//!
//! Each read is one transaction, so it sees one moment, and that moment is never before a commit
//! that was answered when the read began. Readers never hold up the writer, nor the other way round.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::dialect;
use crate::error::{Result, StoreError, StoreErrorKind};

/// Reads at the same time; more of them wait.
const AT_ONCE: usize = 4;

/// The pool.
pub(crate) struct Readers {
    file: PathBuf,
    free: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn new(file: PathBuf) -> Arc<Self> {
        Arc::new(Self { file, free: Semaphore::new(AT_ONCE), idle: Mutex::default() })
    }

    /// Runs `work` on one of the connections.
    pub(crate) async fn read<T, F>(self: &Arc<Self>, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let failed = |cause: &str| StoreError::new(StoreErrorKind::Io, cause).while_doing(doing);
        let _place = self.free.acquire().await.map_err(|_| failed("the store is closed"))?;
        let readers = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || readers.read_now(work));
        match read.await {
            Ok(result) => result.map_err(|e| e.while_doing(doing)),
            Err(_) => Err(failed("the read panicked or the program is ending")),
        }
    }

    fn read_now<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let db = match idle {
            Some(db) => db,
            None => dialect::open_reader(&self.file)?,
        };
        db.prepare_cached("begin")?.execute([])?;
        let result = work(&db);
        // A connection that cannot even end its transaction is not handed out again.
        db.prepare_cached("rollback")?.execute([])?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
        result
    }

    /// Refuses new reads, waits for those under way, closes the connections.
    pub(crate) async fn close(&self) {
        if let Ok(all) = self.free.acquire_many(AT_ONCE as u32).await {
            self.free.close();
            drop(all);
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
