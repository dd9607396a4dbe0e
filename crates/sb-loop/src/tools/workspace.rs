//! The workspace as an opened folder: the only way tools reach files.
//!
//! Paths are followed beneath the opened folder by the system or component by component, never as text
//! that was checked before, so a link swapped in between is no way out. Blocking; for the blocking pool.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};

/// Opens the folder itself, by the path the operator gave.
pub(super) fn open(workspace: &Path) -> Result<Dir, String> {
    Dir::open_ambient_dir(workspace, ambient_authority())
        .map_err(|why| format!("The workspace cannot be opened: {}.", plain(&why)))
}

/// Opens a file for reading; what is no regular file is refused, not waited for.
pub(super) fn open_file(workspace: &Path, path: &str) -> Result<File, String> {
    let dir = open(workspace)?;
    let mut options = OpenOptions::new();
    // Without this, opening a named pipe waits for its writer.
    options.read(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    let file = dir.open_with(beneath(path)?, &options).map_err(|why| told(path, &why))?;
    let kind = file.metadata().map_err(|why| told(path, &why))?.file_type();
    match (kind.is_file(), kind.is_dir()) {
        (true, _) => Ok(file),
        (_, true) => Err(format!("{path} is a folder, not a file.")),
        _ => Err(format!("{path} is no ordinary file.")),
    }
}

/// The path relative to the workspace. Refuses what can only be meant to lead elsewhere; what else
/// leads out is refused when it is followed.
pub(super) fn beneath(path: &str) -> Result<PathBuf, String> {
    if path.contains('\0') {
        return Err("A path holds no zero bytes.".to_owned());
    }
    if path.starts_with('/') {
        return Err(format!(
            "{path} leads outside the workspace: paths are relative to it, without a leading slash."
        ));
    }
    Ok(if path.is_empty() { PathBuf::from(".") } else { PathBuf::from(path) })
}

/// What went wrong with a path, in words for the model.
pub(super) fn told(path: &str, why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::NotFound => format!("There is no {path}."),
        io::ErrorKind::PermissionDenied if why.raw_os_error().is_none() => {
            format!("{path} leads outside the workspace.")
        }
        _ => format!("{path}: {}.", plain(why)),
    }
}

/// The error without the number the system adds.
pub(super) fn plain(why: &io::Error) -> String {
    let text = why.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// Runs blocking work on the blocking pool.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err("The tool failed; this is our mistake.".to_owned()))
}
