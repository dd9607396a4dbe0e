//! One connection as the rest of the adapter knows it: what it is asked to do, and what was heard over it.
//!
//! A task of its own keeps it ([`Keeper`]), so that pings are answered while the engine is busy.
//! Invariant: dropping a [`Link`] closes its connection at once, so there are never two.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use sb_channel::Result;
use sb_channel::model::{Clock, Fault};
use sb_channel::net::Stream;
use tokio::io::{ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};

use super::faults;
use super::keeper::Keeper;
use super::lines::Lines;
use super::parse::Heard;
use super::session::Session;

/// Orders, and heard things, that may wait.
pub const MOST_ORDERS: usize = 64;
const MOST_HEARD: usize = 512;

/// What the task is asked to do.
pub enum Order {
    /// Words into a chat, a line each. The answer is the last line's own name, where the server gives one.
    Post { target: String, tags: Vec<(&'static str, String)>, lines: Vec<String>, done: Done<Option<String>> },
    /// Which account uses a nick.
    WhoIs { nick: String, done: Done<Option<String>> },
    /// A line that is to leave in its turn.
    Line(String),
    /// A line that leaves only if nothing waits.
    InPassing(String),
}
/// Where the answer to an order goes.
pub type Done<T> = oneshot::Sender<Result<T>>;

/// What a connection is asked through; clones share it.
#[derive(Clone)]
pub struct Live {
    pub orders: mpsc::Sender<Order>,
    session: Arc<Mutex<Session>>,
}

impl Live {
    pub fn look<T>(&self, read: impl FnOnce(&Session) -> T) -> T {
        read(&self.session.lock().unwrap_or_else(PoisonError::into_inner))
    }
    pub fn is_open(&self) -> bool {
        !self.orders.is_closed()
    }
    /// Asks the task, and waits for what came of it.
    pub async fn ask<T>(&self, order: impl FnOnce(Done<T>) -> Order) -> Result<T> {
        let (done, answer) = oneshot::channel();
        self.orders.send(order(done)).await.map_err(|_| faults::away())?;
        answer.await.unwrap_or_else(|_| Err(faults::away()))
    }
    /// Without waiting; forgotten if too much waits.
    pub fn tell(&self, order: Order) {
        let _ = self.orders.try_send(order);
    }
}

/// See the module.
pub struct Link {
    pub live: Live,
    pub heard: mpsc::Receiver<Heard>,
    ended: Arc<Mutex<Option<Fault>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What a connection is told to mind.
#[derive(Clone)]
pub struct Habits {
    pub pace_ms: u64,
    /// Channels we are to be in, folded, each with its line of joining.
    pub channels: BTreeMap<String, String>,
    pub commands: Arc<Mutex<Vec<String>>>,
    pub clock: Arc<dyn Clock>,
    /// Tells this connection's nameless messages from those of others.
    pub nonce: u64,
}

impl Link {
    /// Looks after a connection that was welcomed.
    pub fn keep(
        lines: Lines<ReadHalf<Box<dyn Stream>>>,
        output: WriteHalf<Box<dyn Stream>>,
        session: Session,
        habits: Habits,
    ) -> Link {
        let (orders, ordered) = mpsc::channel(MOST_ORDERS);
        let (hears, heard) = mpsc::channel(MOST_HEARD);
        let session = Arc::new(Mutex::new(session));
        let ended = Arc::new(Mutex::new(None));
        let keeper = Keeper::new(output, Arc::clone(&session), habits, hears);
        let end = Arc::clone(&ended);
        let task = tokio::spawn(async move {
            let why = keeper.run(lines, ordered).await;
            *end.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        });
        Link { live: Live { orders, session }, heard, ended, task }
    }

    /// Why it ended, once nothing more is heard.
    pub fn why(&self) -> Fault {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.clone().unwrap_or_else(|| faults::lost("it broke off"))
    }
}
