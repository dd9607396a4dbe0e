//! [`Store`]: opening and closing a home, and the two ways to its data: `read` and `write`.
//!
//! Every other file of this crate adds the functions of one subject to it. Invariant: what `write`
//! returned is durable and seen by every later `read`; what it refused changed nothing.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use crate::blobs::Blobs;
use crate::dialect::{self, Durability};
use crate::error::{Result, StoreError, StoreErrorKind};
use crate::home::Home;
use crate::ledger::Books;
use crate::migrate::migrate;
use crate::readers::Readers;
use crate::writer::Writer;

/// Everything durable of one home. Cheap to clone; the home is free again once it is closed or the
/// last clone is gone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    // Before the writer: the connection that closes last folds the log in, and readers cannot.
    readers: Arc<Readers>,
    writer: Arc<Writer>,
    blobs: Arc<Blobs>,
    books: Arc<Books>,
    home: Home,
}

impl Store {
    /// Opens the home in `folder`, making it and its tables as needed. `Locked` if another process
    /// has it, `Newer` if a later program wrote it, `Corrupt` if its ledger is not as it was signed.
    pub async fn open(folder: &Path, durability: Durability) -> Result<Self> {
        let doing = format!("opening the home {}", folder.display());
        let folder = folder.to_path_buf();
        blocking(move || Self::open_now(&folder, durability)).await.map_err(|e| e.while_doing(&doing))
    }

    fn open_now(folder: &Path, durability: Durability) -> Result<Self> {
        let home = Home::make(folder)?;
        let lock = home.lock()?;
        home.make_database()?;
        let mut db = dialect::open_writer(&home.database(), durability)?;
        migrate(&mut db)?;
        let blobs = Blobs::open(&home)?;
        let books = Books::open(&db, &home)?;
        let readers = Readers::new(home.database());
        Ok(Self { inner: Arc::new(Inner { readers, writer: Writer::new(db, lock), blobs, books, home }) })
    }

    /// Ends cleanly: what was accepted is committed, the log is folded into the one file, the home is
    /// free. Other clones answer with an error from now on.
    pub async fn close(self) -> Result<()> {
        self.inner.readers.close().await;
        let writer = Arc::clone(&self.inner.writer);
        blocking(move || writer.close()).await.map_err(|e| e.while_doing("closing the home"))
    }

    /// Lets the database grow to about `bytes` and no further: beyond, changes are refused as on a
    /// full disk.
    pub async fn limit_size(&self, bytes: u64) -> Result<()> {
        self.write("limiting the home's size", move |db| dialect::limit_size(db, bytes)).await
    }

    /// One job of the writer's; see [`crate::writer`].
    pub(crate) async fn write<T, F>(&self, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.inner.writer.write(doing, work).await
    }

    /// One read; see [`crate::readers`].
    pub(crate) async fn read<T, F>(&self, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.inner.readers.read(doing, work).await
    }

    pub(crate) fn blobs(&self) -> &Arc<Blobs> {
        &self.inner.blobs
    }

    pub(crate) fn books(&self) -> &Arc<Books> {
        &self.inner.books
    }

    pub(crate) fn home(&self) -> &Home {
        &self.inner.home
    }
}

/// Runs file work where it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) => Err(StoreError::new(StoreErrorKind::Io, e)),
    }
}
