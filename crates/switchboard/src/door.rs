//! The home's own socket, served by whoever holds the home: a server, or a command for its duration.

use anyhow::{Result, anyhow};
use nix::unistd::{Uid, User};
use sb_doors::local::wire::ServerInfo;
use sb_doors::local::{LocalDoor, bind, router, serve};
use sb_engine::Engine;
use tokio_util::sync::CancellationToken;

use crate::home::Home;

/// Makes the home's socket; what is returned serves it until `closing` is cancelled.
pub fn open(
    home: &Home,
    engine: &Engine,
    listen: Option<String>,
    closing: &CancellationToken,
) -> Result<impl Future<Output = std::io::Result<()>> + Send + use<>> {
    let listener = bind(&home.folder).map_err(|why| {
        anyhow!(
            "The socket {} cannot be made: {why}. If its path is too long, name a home with a shorter one.",
            home.socket().display()
        )
    })?;
    let server = ServerInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        home: home.folder.display().to_string(),
        listen,
    };
    let door = LocalDoor { engine: engine.clone(), user: user(), server, closing: closing.clone() };
    Ok(serve(listener, router(door), closing.clone()))
}

/// Takes the socket away. To be called while the home is still held.
pub fn remove(home: &Home) {
    // If it stays, the next holder replaces it.
    drop(std::fs::remove_file(home.socket()));
}

/// What the operating system calls whoever runs this.
fn user() -> String {
    let id = Uid::current();
    User::from_uid(id).ok().flatten().map_or_else(|| id.to_string(), |user| user.name)
}
