//! The door by which agents elsewhere call tools of ours: an MCP server on this machine's own address.
//!
//! It is there only while somebody holds a [`Pass`]. Each session has a pass with a secret of its own, and whoever
//! shows none is refused. What is called is handed to the turn that runs under the pass, which puts it before the
//! gate; between turns nothing can be called. Nothing is decided here, and nothing is run.

mod calls;
mod wire;

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sb_harness::ToolDef;
use sb_harness::model::{Dice, Digest, Secret};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use self::calls::InFlight;

/// What agents know it as.
pub(crate) const NAME: &str = "switchboard";
/// Calls of one turn that wait to be looked at.
const WAITING: usize = 8;

/// A call of a tool of ours, and where what came of it goes. That the agent waits no longer shows at `answer`.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub tool: String,
    pub input: Value,
    pub answer: oneshot::Sender<Given>,
}

/// What came of a call, in words for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub ok: bool,
    pub text: String,
}

/// Where passes are had. Starts the door with the first, and closes it with the last.
pub(crate) struct Lending {
    dice: Arc<dyn Dice>,
    version: &'static str,
    door: tokio::sync::Mutex<Weak<Door>>,
}

/// The server while it runs.
struct Door {
    port: u16,
    passes: Arc<Passes>,
    task: AbortHandle,
}

/// Who may come in, by the digest of what they show: so no comparison tells how near a guess was.
struct Passes {
    known: Mutex<HashMap<Digest, Arc<Slot>>>,
    version: &'static str,
}

/// What one pass leads to.
#[derive(Default)]
struct Slot {
    lent: Mutex<Vec<ToolDef>>,
    turn: Mutex<Option<mpsc::Sender<Wanted>>>,
    in_flight: InFlight,
}

/// One session's way in. Dropping it closes it.
pub(crate) struct Pass {
    door: Arc<Door>,
    slot: Arc<Slot>,
    secret: Secret,
}

impl Lending {
    pub fn new(dice: Arc<dyn Dice>, version: &'static str) -> Self {
        Self { dice, version, door: tokio::sync::Mutex::default() }
    }

    /// A pass for one session.
    ///
    /// # Errors
    /// If this machine gives no port.
    pub async fn pass(&self) -> io::Result<Pass> {
        let mut known = self.door.lock().await;
        let door = match known.upgrade() {
            Some(door) => door,
            None => {
                let door = Arc::new(Door::open(self.version).await?);
                *known = Arc::downgrade(&door);
                door
            }
        };
        let mut bytes = [0; 32];
        self.dice.fill(&mut bytes);
        let secret = Secret::new(Digest(bytes).to_string());
        let slot = Arc::new(Slot::default());
        locked(&door.passes.known).insert(Digest::of(secret.expose().as_bytes()), Arc::clone(&slot));
        Ok(Pass { door, slot, secret })
    }
}

impl Door {
    async fn open(version: &'static str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let passes = Arc::new(Passes { known: Mutex::default(), version });
        let router = wire::router(Arc::clone(&passes));
        let serving = tokio::spawn(async move {
            if let Err(why) = axum::serve(listener, router).await {
                tracing::warn!(error = %why, "the tools for agents elsewhere are served no longer");
            }
        });
        Ok(Self { port, passes, task: serving.abort_handle() })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Pass {
    /// The server, as agents are told of one. `variable`: the key is in this variable of theirs, and only named.
    pub fn server(&self, variable: Option<&str>) -> Value {
        let url = format!("http://127.0.0.1:{}/mcp", self.door.port);
        let key = variable.map_or_else(|| self.secret.expose().to_owned(), |name| format!("${{{name}}}"));
        let headers = json!([{"name": "Authorization", "value": format!("Bearer {key}")}]);
        json!({"type": "http", "name": NAME, "url": url, "headers": headers})
    }

    /// What must be shown there, as a bearer's token.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// What is listed to whoever comes with this pass.
    pub fn lend(&self, tools: Vec<ToolDef>) {
        *locked(&self.slot.lent) = tools;
    }

    /// A turn runs from now on, until what is given here is dropped: it is brought the calls.
    pub fn begin(&self) -> mpsc::Receiver<Wanted> {
        let (bring, wanted) = mpsc::channel(WAITING);
        *locked(&self.slot.turn) = Some(bring);
        wanted
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        locked(&self.door.passes.known).remove(&Digest::of(self.secret.expose().as_bytes()));
    }
}

impl Passes {
    fn of(&self, shown: &str) -> Option<Arc<Slot>> {
        locked(&self.known).get(&Digest::of(shown.as_bytes())).cloned()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
