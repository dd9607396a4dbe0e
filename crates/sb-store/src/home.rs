//! The home: a folder that belongs to one running program, and the files in it.
//!
//! Invariant: whoever holds the lock is the only one who writes here. The lock is the operating
//! system's, on an open file, so it is free again however its holder ended; the number inside only
//! serves the error that another one gets.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError, StoreErrorKind};

/// The files of a home.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    folder: PathBuf,
}

impl Home {
    /// Makes the folder (for its owner only) if it is not there.
    pub(crate) fn make(folder: &Path) -> Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let home = Self { folder: folder.canonicalize()? };
        if let Some(parent) = home.folder.parent() {
            // Some folders may be passed through and not read; then there is nothing to sync them by.
            let _ = sync_folder(parent);
        }
        DirBuilder::new().recursive(true).mode(0o700).create(home.blobs_unfinished())?;
        Ok(home)
    }
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
    pub(crate) fn database(&self) -> PathBuf {
        self.folder.join("switchboard.db")
    }
    /// Makes the database's file, readable by its owner only, before SQLite would with looser rights.
    /// Refuses one that has lost everything, which SQLite would take for a new one.
    pub(crate) fn make_database(&self) -> Result<()> {
        let empty = self.database().metadata().is_ok_and(|found| found.len() == 0);
        let mut left = Vec::new();
        if empty && self.machine_key().exists() {
            left.push("machine.key");
        }
        if empty && self.has_blobs()? {
            left.push("files in blobs");
        }
        if !left.is_empty() {
            let cause = format!(
                "the database switchboard.db is empty although the home has {}; go back to a backup, or to begin anew, move them and switchboard.db elsewhere",
                left.join(" and ")
            );
            return Err(StoreError::new(StoreErrorKind::Corrupt, cause));
        }
        OpenOptions::new().create(true).append(true).mode(0o600).open(self.database())?;
        sync_folder(&self.folder)
    }
    pub(crate) fn machine_key(&self) -> PathBuf {
        self.folder.join("machine.key")
    }
    pub(crate) fn blobs(&self) -> PathBuf {
        self.folder.join("blobs")
    }
    /// Whether any file was ever kept here.
    fn has_blobs(&self) -> Result<bool> {
        let unfinished = self.blobs_unfinished();
        for folder in std::fs::read_dir(self.blobs())? {
            let folder = folder?.path();
            if folder != unfinished && folder.is_dir() && std::fs::read_dir(folder)?.next().is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
    /// Where files are while they are being written.
    pub(crate) fn blobs_unfinished(&self) -> PathBuf {
        self.folder.join("blobs/tmp")
    }
    /// Takes the home for this process. The lock holds as long as the file is open.
    pub(crate) fn lock(&self) -> Result<File> {
        let path = self.folder.join("lock");
        let mut file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(&mut file)),
            Err(TryLockError::Error(e)) => return Err(e.into()),
        }
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())?;
        Ok(file)
    }
}

/// The error for a home that is held, naming the process if it wrote its number.
fn held(file: &mut File) -> StoreError {
    let mut text = String::new();
    let number = match file.take(20).read_to_string(&mut text) {
        Ok(_) => text.trim().parse::<u32>().ok(),
        Err(_) => None,
    };
    let source = number.map(|n| format!("process {n}").into());
    StoreError { kind: StoreErrorKind::Locked, doing: String::new(), source }
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    Ok(File::open(folder)?.sync_all()?)
}
