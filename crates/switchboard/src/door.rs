//! The home's own socket, served by whoever holds the home: a server, or a command for its duration.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use anyhow::{Result, anyhow};
use nix::unistd::{Uid, User};
use sb_doors::local::wire::ServerInfo;
use sb_doors::local::{LocalDoor, bind, router, serve};
use sb_engine::Engine;
use tokio_util::sync::CancellationToken;

use crate::home::{Home, short_folder};

/// What whoever holds the home does for others; nothing, where a command holds it for itself.
#[derive(Debug, Default)]
pub struct Serves {
    /// Where it listens.
    pub listen: Option<String>,
    /// It runs all enabled channels.
    pub channels: bool,
    /// It runs this one alone.
    pub bridge: Option<String>,
}

/// Makes the home's socket; what is returned serves it until `closing` is cancelled.
pub fn open(
    home: &Home,
    engine: &Engine,
    serves: Serves,
    closing: &CancellationToken,
) -> Result<impl Future<Output = std::io::Result<()>> + Send + use<>> {
    let folder = home.socket_folder();
    if folder != home.folder {
        own_folder(&short_folder()).and_then(|()| own_folder(&folder))?;
    }
    let listener = bind(&folder)
        .map_err(|why| anyhow!("The socket {} cannot be made: {why}.", home.socket().display()))?;
    let server = ServerInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        home: home.folder.display().to_string(),
        listen: serves.listen,
        channels: serves.channels,
        bridge: serves.bridge,
    };
    let door = LocalDoor { engine: engine.clone(), user: user(), server, closing: closing.clone() };
    Ok(serve(listener, router(door), closing.clone()))
}

/// Makes a folder that only this user enters, or finds it. Anybody may make one under `/tmp`, so one
/// that is another's, or that others may enter, is not used.
fn own_folder(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().mode(0o700).create(folder);
    if let Err(why) =
        made.or_else(|why| if why.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(why) })
    {
        return Err(anyhow!("The folder {} cannot be made: {why}.", folder.display()));
    }
    check_own(folder)
}

/// Refuses a socket elsewhere than in the home whose folder is not this user's alone.
pub fn check(home: &Home) -> Result<()> {
    let folder = home.socket_folder();
    if folder == home.folder || !folder.exists() {
        return Ok(());
    }
    check_own(&short_folder()).and_then(|()| check_own(&folder))
}

fn check_own(folder: &Path) -> Result<()> {
    let found = std::fs::symlink_metadata(folder);
    let own = found.is_ok_and(|f| f.is_dir() && f.uid() == Uid::current().as_raw() && f.mode() & 0o077 == 0);
    if own {
        return Ok(());
    }
    Err(anyhow!(
        "The folder {} is for the socket of a home with a long path, and it is not yours alone. Remove it, or name a home whose path has 85 bytes or fewer.",
        folder.display()
    ))
}

/// Takes the socket away. To be called while the home is still held.
pub fn remove(home: &Home) {
    // If it stays, the next holder replaces it.
    drop(std::fs::remove_file(home.socket()));
    if home.socket_folder() != home.folder {
        drop(std::fs::remove_dir(home.socket_folder()));
    }
}

/// What the operating system calls whoever runs this.
fn user() -> String {
    let id = Uid::current();
    User::from_uid(id).ok().flatten().map_or_else(|| id.to_string(), |user| user.name)
}
