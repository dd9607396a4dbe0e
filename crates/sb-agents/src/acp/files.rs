//! Files that an agent asks us to read or write: beneath its folder only, followed by the system, never as
//! text that was checked before.

use std::io::{self, Read, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};

/// Largest file that is shared with a person.
const LARGEST: u64 = 100 * 1024 * 1024;
/// Longest text that is read for it.
const LONGEST: u64 = 8 * 1024 * 1024;

/// Reads lines of a text file of the workspace. `line` counts from 1.
pub(super) async fn read(
    workspace: &Path,
    path: &str,
    line: Option<u64>,
    limit: Option<u64>,
) -> Result<String, String> {
    let (workspace, path) = (workspace.to_owned(), path.to_owned());
    blocking(move || {
        let dir = Dir::open_ambient_dir(&workspace, ambient_authority())?;
        let mut options = OpenOptions::new();
        // Without this, opening a named pipe waits for its writer.
        options.read(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
        let file = dir.open_with(&path, &options)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no ordinary file"));
        }
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text)?;
        let from = usize::try_from(line.unwrap_or(1).saturating_sub(1)).unwrap_or(usize::MAX);
        let most = limit.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        if line.is_none() && limit.is_none() {
            return Ok(text);
        }
        Ok(text.split_inclusive('\n').skip(from).take(most).collect())
    })
    .await
}

/// Opens an ordinary file of the workspace, to be read from its beginning.
pub(super) async fn open(workspace: &Path, path: &str) -> io::Result<tokio::fs::File> {
    let (workspace, path) = (workspace.to_owned(), path.to_owned());
    let opened = tokio::task::spawn_blocking(move || {
        let dir = Dir::open_ambient_dir(&workspace, ambient_authority())?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
        let file = dir.open_with(&path, &options)?;
        match file.metadata()? {
            facts if !facts.is_file() => Err(io::Error::other("it is no ordinary file")),
            facts if facts.len() > LARGEST => Err(io::Error::other("it is too large")),
            _ => Ok(tokio::fs::File::from_std(file.into_std())),
        }
    });
    opened.await.map_err(io::Error::other)?
}

/// Writes a text file of the workspace whole, with the folders it needs.
pub(super) async fn write(workspace: &Path, path: &str, content: String) -> Result<(), String> {
    let (workspace, path) = (workspace.to_owned(), path.to_owned());
    blocking(move || {
        let dir = Dir::open_ambient_dir(&workspace, ambient_authority())?;
        if let Some(folder) = Path::new(&path).parent().filter(|f| !f.as_os_str().is_empty()) {
            dir.create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
        dir.open_with(&path, &options)?.write_all(content.as_bytes())
    })
    .await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|why| why.to_string()),
        Err(_) => Err("this is our mistake".to_owned()),
    }
}
