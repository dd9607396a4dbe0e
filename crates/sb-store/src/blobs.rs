//! Blobs: files named by their SHA-256, under `blobs/ab/<digest>`.
//!
//! They are streamed in and out, never whole in memory. Invariant: a blob that has its name is whole
//! and on disk: it is written under another one, synced, and only then renamed. Blobs are only ever
//! added, so whatever a row names stays.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sb_model::Digest;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt;

use crate::error::Result;
use crate::home::{Home, sync_folder};
use crate::store::{Store, blocking};

/// Read and written at once when a file is copied.
const PIECE: usize = 64 * 1024;

/// The folder of blobs, and which files in it are being written.
pub(crate) struct Blobs {
    folder: PathBuf,
    unfinished: PathBuf,
    writing: Mutex<Writing>,
}

#[derive(Default)]
struct Writing {
    last: u64,
    now: HashSet<u64>,
}

impl Blobs {
    /// Opens the folder. Whatever is unfinished in it was left by a process that ended.
    pub(crate) fn open(home: &Home) -> Result<Arc<Self>> {
        let blobs =
            Self { folder: home.blobs(), unfinished: home.blobs_unfinished(), writing: Mutex::default() };
        blobs.remove_abandoned()?;
        Ok(Arc::new(blobs))
    }

    pub(crate) fn path(&self, of: &Digest) -> PathBuf {
        let name = of.to_string();
        self.folder.join(&name[..2]).join(name)
    }

    /// Removes files that nobody is writing any more; how many.
    pub(crate) fn remove_abandoned(&self) -> Result<u64> {
        let mut removed = 0;
        for file in fs::read_dir(&self.unfinished)? {
            let file = file?;
            let number = file.file_name().to_str().and_then(|name| name.parse::<u64>().ok());
            // Under the lock: a file is listed as being written before it exists.
            let writing = self.writing();
            if number.is_some_and(|n| writing.now.contains(&n)) {
                continue;
            }
            match fs::remove_file(file.path()) {
                Ok(()) => removed += 1,
                // Finished since the folder was listed.
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(removed)
    }

    /// A new unfinished file.
    fn begin(self: &Arc<Self>) -> Result<(Unfinished, File)> {
        let number = {
            let mut writing = self.writing();
            writing.last += 1;
            let number = writing.last;
            writing.now.insert(number);
            number
        };
        let place = Unfinished { blobs: Arc::clone(self), number };
        let file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(place.path())?;
        Ok((place, file))
    }

    /// Gives a whole, synced file its name.
    fn name(&self, place: &Unfinished, digest: &Digest) -> Result<()> {
        let path = self.path(digest);
        let folder = path.parent().unwrap_or(&self.folder);
        if !folder.exists() {
            fs::create_dir_all(folder)?;
            sync_folder(&self.folder)?;
        }
        fs::rename(place.path(), &path)?;
        sync_folder(folder)
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file being written. Dropped, it is gone, unless it was named.
struct Unfinished {
    blobs: Arc<Blobs>,
    number: u64,
}

impl Unfinished {
    fn path(&self) -> PathBuf {
        self.blobs.unfinished.join(self.number.to_string())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Not there if it was named; if it cannot be removed, the next purge tries again.
        let _ = fs::remove_file(self.path());
        self.blobs.writing().now.remove(&self.number);
    }
}

/// Takes a blob in, piece by piece. Dropped before its end it leaves nothing.
pub struct BlobWriter {
    place: Unfinished,
    file: tokio::fs::File,
    hash: Sha256,
    size: u64,
}

impl BlobWriter {
    /// Appends a piece.
    pub async fn write(&mut self, piece: &[u8]) -> Result<()> {
        self.hash.update(piece);
        self.size += piece.len() as u64;
        self.file.write_all(piece).await.map_err(|e| failed(e.into()))
    }

    /// Ends the blob: durable, and readable under its digest, once this returns. With its size in bytes.
    pub async fn finish(mut self) -> Result<(Digest, u64)> {
        self.file.flush().await.map_err(|e| failed(e.into()))?;
        let file = self.file.into_std().await;
        let digest = Digest(self.hash.finalize().into());
        let place = self.place;
        blocking(move || {
            file.sync_all()?;
            place.blobs.name(&place, &digest)
        })
        .await
        .map_err(failed)?;
        Ok((digest, self.size))
    }
}

impl Store {
    /// Begins a blob.
    pub async fn blob_writer(&self) -> Result<BlobWriter> {
        let blobs = Arc::clone(self.blobs());
        let (place, file) = blocking(move || blobs.begin()).await.map_err(failed)?;
        Ok(BlobWriter { place, file: file.into(), hash: Sha256::new(), size: 0 })
    }

    /// Copies an open file, from its beginning, into a blob: its digest and its size in bytes.
    pub async fn keep_blob_file(&self, file: tokio::fs::File) -> Result<(Digest, u64)> {
        let blobs = Arc::clone(self.blobs());
        let file = file.into_std().await;
        blocking(move || copy_in(&blobs, file)).await.map_err(failed)
    }

    /// Opens a blob for reading; `NotFound` if there is none of this digest.
    pub async fn open_blob(&self, digest: &Digest) -> Result<tokio::fs::File> {
        let file = tokio::fs::File::open(self.blobs().path(digest)).await;
        file.map_err(|e| crate::StoreError::from(e).while_doing("opening a stored file"))
    }

    /// Whether there is a blob of this digest.
    pub async fn has_blob(&self, digest: &Digest) -> Result<bool> {
        let found = tokio::fs::try_exists(self.blobs().path(digest)).await;
        found.map_err(|e| crate::StoreError::from(e).while_doing("looking for a stored file"))
    }
}

fn copy_in(blobs: &Arc<Blobs>, mut from: File) -> Result<(Digest, u64)> {
    use std::io::{Seek, Write};
    // A pipe has no beginning to go back to.
    let _ = from.rewind();
    let (place, mut to) = blobs.begin()?;
    let (mut hash, mut size, mut piece) = (Sha256::new(), 0, vec![0; PIECE]);
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(e.into()),
        };
        hash.update(&piece[..read]);
        to.write_all(&piece[..read])?;
        size += read as u64;
    }
    to.sync_all()?;
    let digest = Digest(hash.finalize().into());
    blobs.name(&place, &digest)?;
    Ok((digest, size))
}

/// Copies every blob into `to`, by a second name where the file system can.
pub(crate) fn copy_all(blobs: &Blobs, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for shelf in fs::read_dir(&blobs.folder)? {
        let shelf = shelf?.path();
        if shelf == blobs.unfinished {
            continue;
        }
        let target = to.join(shelf.file_name().unwrap_or_default());
        fs::create_dir_all(&target)?;
        for blob in fs::read_dir(&shelf)? {
            let blob = blob?;
            copy_one(&blob.path(), &target.join(blob.file_name()))?;
        }
        sync_folder(&target)?;
    }
    sync_folder(to)
}

fn copy_one(from: &Path, to: &Path) -> Result<()> {
    // Named by its content, so one that is there already is the same.
    if to.exists() || fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    Ok(File::open(to)?.sync_all()?)
}

fn failed(e: crate::StoreError) -> crate::StoreError {
    e.while_doing("storing a file")
}
