//! The home's own socket: how commands on this machine reach the running server.
//!
//! It speaks HTTP over a Unix socket (mode 0600, `<home>/socket`): the `/v1` routes of the HTTP
//! channel without a token, as `cli:<user>` with every right, and the `/desk` routes that run things.
//! Whoever may open the socket's file may do all of this: the file's mode is the whole of its lock.

pub mod client;
mod desk;
pub mod wire;

use std::future::{pending, ready};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::serve::Listener;
use tokio::net::unix::SocketAddr;
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::http::{Door, Limits, Peer, Reach, Who, envelope, serve_within, v1};
use crate::model::{Principal, Rights};
use wire::ServerInfo;

/// What the home's socket is made of.
pub struct LocalDoor {
    pub engine: Engine,
    /// Who runs the commands: the operating system's name for the user.
    pub user: String,
    /// What `GET /desk/server` says.
    pub server: ServerInfo,
    /// Cancelled when the server closes.
    pub closing: CancellationToken,
}

/// What the `/desk` handlers have.
pub(crate) struct Desk {
    pub door: Arc<Door>,
    pub server: ServerInfo,
}

/// The routes of the home's socket.
pub fn router(local: LocalDoor) -> Router {
    let door = Door::new(local.engine, local.closing, false);
    let who = Who {
        principal: Principal(format!("cli:{}", local.user)),
        rights: Rights::ALL,
        reach: Reach::All,
        own: ("cli", local.user),
        types: true,
    };
    let desk = Arc::new(Desk { door: door.clone(), server: local.server });
    envelope(v1(door).merge(desk::routes(desk)).layer(from_fn_with_state(who, known)))
}

/// Everybody here is the one user.
async fn known(State(who): State<Who>, mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(who);
    next.run(request).await
}

/// Where a home's socket is.
pub fn socket_path(home: &Path) -> PathBuf {
    home.join("socket")
}

/// Makes the home's socket, for its owner only. The caller holds the home's lock, so a socket that is
/// there already was left by a process that ended, and is replaced. Anything else there is an error.
pub fn bind(home: &Path) -> io::Result<UnixListener> {
    let path = socket_path(home);
    match std::fs::symlink_metadata(&path) {
        Ok(found) if found.file_type().is_socket() => std::fs::remove_file(&path)?,
        Ok(_) => {
            let said = format!("{} is in the way: it is no socket. Move it elsewhere.", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, said));
        }
        Err(why) if why.kind() == io::ErrorKind::NotFound => {}
        Err(why) => return Err(why),
    }
    // Bound under another name and renamed once it is private: nobody else can open it in between,
    // even in a home whose folder others may enter.
    let fresh = home.join(format!("socket.{}", std::process::id()));
    match std::fs::remove_file(&fresh) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
        _ => {}
    }
    let listener = UnixListener::bind(&fresh)?;
    std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(0o600))?;
    std::fs::rename(&fresh, &path)?;
    Ok(listener)
}

/// So long whoever connected last may take to be noticed.
const LAST: Duration = Duration::from_millis(10);

/// Serves the socket until `closing` is cancelled, and no more than five seconds beyond. Whoever has
/// connected by then is still served, so that no command loses what it asked for: the socket's name is
/// to be taken away before.
pub async fn serve(listener: UnixListener, router: Router, closing: CancellationToken) -> io::Result<()> {
    let limits = Limits { connections: 100, head_within: Duration::from_secs(30) };
    let served = CancellationToken::new();
    let listener = UntilEmpty { listener, closing, served: served.clone() };
    serve_within(limits, listener, |io, _| ready(Some((io, Peer(None)))), router, served).await;
    Ok(())
}

/// A listener that, once `closing` is cancelled, says when nobody is left who has connected.
struct UntilEmpty {
    listener: UnixListener,
    closing: CancellationToken,
    served: CancellationToken,
}

impl Listener for UntilEmpty {
    type Io = UnixStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (UnixStream, SocketAddr) {
        let nobody = async {
            self.closing.cancelled().await;
            tokio::time::sleep(LAST).await;
        };
        tokio::select! {
            biased;
            accepted = Listener::accept(&mut self.listener) => return accepted,
            () = nobody => self.served.cancel(),
        }
        pending().await
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
