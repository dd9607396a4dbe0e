//! Backups: a copy of a home as it is at one moment, made while it is in use.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::blobs;
use crate::dialect;
use crate::error::{Result, StoreError, StoreErrorKind};
use crate::home::{Home, sync_folder};
use crate::store::{Store, blocking};

impl Store {
    /// Copies everything into the new file `to`, while the home is in use.
    ///
    /// The file is a whole SQLite database: everything but the stored files (blobs), which go beside
    /// it into the folder `<to>.blobs`, by hard links where the file system allows. To go back to it,
    /// make a folder with the file as `switchboard.db` and the folder as `blobs`. Not copied is the
    /// home's `machine.key`, without which the sealed secrets do not open: keep it somewhere else, or
    /// set the secrets again. A file that exists is not overwritten. If `to` exists, it is complete.
    pub async fn backup(&self, to: &Path) -> Result<()> {
        let doing = format!("making the backup {}", to.display());
        let (home, blobs, to) = (self.home().clone(), self.blobs().clone(), to.to_path_buf());
        blocking(move || back_up(&home, &blobs, &to)).await.map_err(|e| e.while_doing(&doing))
    }
}

fn back_up(home: &Home, blobs: &blobs::Blobs, to: &Path) -> Result<()> {
    let refused = |why: String| Err(StoreError::new(StoreErrorKind::Io, why));
    if to.try_exists()? {
        return refused(format!("{} exists already; name another file", to.display()));
    }
    if let Some(folder) = to.parent().filter(|f| !f.as_os_str().is_empty() && !f.is_dir()) {
        return refused(format!("the folder {} does not exist; make it, or name another", folder.display()));
    }
    let unfinished = with_ending(to, ".unfinished");
    // Left behind by a backup that was cut off.
    if unfinished.try_exists()? {
        fs::remove_file(&unfinished)?;
    }
    let copied = copy(home, blobs, &unfinished, to);
    if copied.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&unfinished);
    }
    copied
}

fn copy(home: &Home, blobs: &blobs::Blobs, unfinished: &Path, to: &Path) -> Result<()> {
    fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(unfinished)?;
    // A connection of its own, so that a long copy keeps no reader from its work.
    dialect::copy_into(&dialect::open_reader(&home.database())?, unfinished)?;
    File::open(unfinished)?.sync_all()?;
    // After the rows: blobs are only ever added, so all that the rows name are there.
    blobs::copy_all(blobs, &with_ending(to, ".blobs"))?;
    // Unlike a rename this cannot replace a file that appeared meanwhile.
    fs::hard_link(unfinished, to)?;
    fs::remove_file(unfinished)?;
    match to.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => sync_folder(folder),
        _ => sync_folder(Path::new(".")),
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}
