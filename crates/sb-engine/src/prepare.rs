//! Files of a message, put where the agent's tools can open them: the workspace's `inbox/`.
//!
//! A file's name never leads out of `inbox/`, and nothing that is there is overwritten. The folder is
//! opened as a capability, so a link the agent planted cannot lead us elsewhere.

use std::io::{self, Read};

use async_trait::async_trait;
use bytes::Bytes;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use sb_core::Prepared;
use sb_core::model::{Attachment, Digest, Message};
use sb_harness::Blobs;
use sb_store::Store;
use tokio::io::AsyncReadExt;

use crate::Engine;
use crate::bridge::{Fetched, fetch_all};

/// The store's blobs, as harnesses reach them.
pub(crate) struct StoreBlobs(pub Store);

#[async_trait]
impl Blobs for StoreBlobs {
    async fn read(&self, digest: &Digest) -> io::Result<Bytes> {
        let mut bytes = Vec::new();
        let most = Attachment::LARGEST_PICTURE;
        self.open(digest).await?.take(most).read_to_end(&mut bytes).await?;
        Ok(bytes.into())
    }
    async fn keep(&self, file: tokio::fs::File) -> io::Result<(Digest, u64)> {
        self.0.keep_blob_file(file).await.map_err(io::Error::other)
    }
    async fn open(&self, digest: &Digest) -> io::Result<tokio::fs::File> {
        self.0.open_blob(digest).await.map_err(io::Error::other)
    }
}

/// Makes a message's files ready: those still on their platform are fetched, all are put into the inbox.
pub(crate) async fn prepare(engine: &Engine, workspace: Option<&str>, message: &Message) -> Prepared {
    let fetched = match message.origin.as_deref().filter(|o| !o.files.is_empty()) {
        Some(origin) => fetch_all(engine, origin).await,
        None => Fetched::default(),
    };
    let all: Vec<Attachment> = message.files.iter().chain(&fetched.files).cloned().collect();
    let mut lines = into_inbox(engine.store(), workspace, &all).await;
    lines.extend(fetched.lines);
    Prepared { lines, files: fetched.files }
}

/// Puts the files into the workspace's `inbox/`; a line for each says where it is, or why it is not there.
pub(crate) async fn into_inbox(store: &Store, workspace: Option<&str>, files: &[Attachment]) -> Vec<String> {
    let mut lines = Vec::with_capacity(files.len());
    for file in files {
        let what = if file.is_picture() { "picture" } else { "file" };
        let facts = format!("{}, {} bytes", file.media_type, file.size);
        lines.push(match workspace {
            None => format!(
                "(A {what} came with this: {}, {facts}. There is no workspace to put it in.)",
                file.name
            ),
            Some(folder) => match copy(store, folder.to_owned(), file.clone()).await {
                Ok(name) => {
                    format!("(A {what} came with this. It is in your workspace as inbox/{name}: {facts}.)")
                }
                Err(e) => {
                    tracing::warn!(error = %e, "a file could not be put into the inbox");
                    format!(
                        "(A {what} came with this, but it could not be put into the workspace: {}, {facts}.)",
                        file.name
                    )
                }
            },
        });
    }
    lines
}

async fn copy(store: &Store, workspace: String, file: Attachment) -> io::Result<String> {
    let blob = store.open_blob(&file.digest).await.map_err(io::Error::other)?.into_std().await;
    tokio::task::spawn_blocking(move || copy_blocking(blob, &workspace, &file))
        .await
        .map_err(io::Error::other)?
}

fn copy_blocking(mut blob: std::fs::File, workspace: &str, file: &Attachment) -> io::Result<String> {
    std::fs::create_dir_all(workspace)?;
    let root = Dir::open_ambient_dir(workspace, ambient_authority())?;
    root.create_dir_all("inbox")?;
    let inbox = root.open_dir("inbox")?;
    for attempt in 1..=999 {
        let name = numbered(&file.name, attempt);
        match inbox.open_with(&name, OpenOptions::new().write(true).create_new(true)) {
            Ok(mut new) => {
                io::copy(&mut blob, &mut new)?;
                return Ok(name);
            }
            // Prepared before a restart: the same bytes are there already.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && holds(&inbox, &name, file) => {
                return Ok(name);
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("too many files of this name are there already"))
}

fn holds(inbox: &Dir, name: &str, file: &Attachment) -> bool {
    let read = || -> io::Result<bool> {
        let mut options = OpenOptions::new();
        // Without this, a named pipe of that name would be waited for, and a thread with it.
        options.read(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
        let found = inbox.open_with(name, &options)?;
        let facts = found.metadata()?;
        if !facts.is_file() || facts.len() != file.size {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        found.take(file.size).read_to_end(&mut bytes)?;
        Ok(Digest::of(&bytes) == file.digest)
    };
    read().unwrap_or(false)
}

/// `report.pdf`, `report-2.pdf`, …
fn numbered(name: &str, attempt: u32) -> String {
    if attempt == 1 {
        return name.to_owned();
    }
    match name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
        Some((stem, ending)) => format!("{stem}-{attempt}.{ending}"),
        None => format!("{name}-{attempt}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One file of a name that cannot be read must not hold up a thread of the pool.
    #[test]
    fn a_pipe_of_the_same_name_is_passed_over_not_waited_for() {
        let workspace = tempfile::tempdir().unwrap();
        let inbox = workspace.path().join("inbox");
        std::fs::create_dir(&inbox).unwrap();
        nix::unistd::mkfifo(&inbox.join("r"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let blob = workspace.path().join("blob");
        std::fs::write(&blob, "hi").unwrap();
        let file = Attachment {
            name: "r".into(),
            media_type: "text/plain".into(),
            size: 2,
            digest: Digest::of(b"hi"),
        };
        let put = |_| {
            copy_blocking(std::fs::File::open(&blob).unwrap(), workspace.path().to_str().unwrap(), &file)
                .unwrap()
        };
        assert_eq!([0, 1].map(put), ["r-2", "r-2"], "and the same bytes are not put there twice");
    }

    #[test]
    fn a_taken_name_gets_a_number_before_its_ending() {
        assert_eq!(numbered("a.tar.gz", 1), "a.tar.gz");
        assert_eq!(numbered("a.tar.gz", 2), "a.tar-2.gz");
        assert_eq!(numbered(".env", 3), ".env-3");
        assert_eq!(numbered("notes", 2), "notes-2");
    }
}
