//! The writer: every change goes through one connection, in groups that are committed together.
//!
//! There is no thread of its own. A job goes into a queue; whoever finds nobody draining it starts a
//! drain on the blocking pool, which takes what is there into one transaction, commits, answers, and
//! looks again until the queue is empty. It never waits to fill a group: while a group is being
//! committed the next one gathers by itself.
//!
//! Invariants: an answer is given only after the commit that holds it. Each job has a savepoint, so
//! one that fails or panics leaves no trace and harms no other. The queue is only found empty under
//! its lock, together with "nobody drains", so no job is ever left behind.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::dialect;
use crate::error::{Result, StoreError, StoreErrorKind};

/// The queue and the one connection that writes.
pub(crate) struct Writer {
    queue: Mutex<Queue>,
    seat: Mutex<Seat>,
}

#[derive(Default)]
struct Queue {
    jobs: Vec<Box<dyn Job>>,
    draining: bool,
    closed: bool,
}

/// Empty once closed. The lock on the home comes last, so that it outlives the connection.
struct Seat {
    db: Option<Connection>,
    lock: Option<File>,
}

/// One piece of work, whatever it returns.
trait Job: Send {
    /// Does the work and keeps what came of it; an error if it is not to be committed.
    fn run(&mut self, db: &Connection) -> Result<()>;
    /// Answers whoever waits: with what came of the work, or with why it was not committed.
    fn answer(&mut self, not_committed: Option<&StoreError>);
}

struct Work<T, F> {
    doing: &'static str,
    work: Option<F>,
    result: Option<Result<T>>,
    to: Option<oneshot::Sender<Result<T>>>,
}

impl<T: Send, F: FnOnce(&Connection) -> Result<T> + Send> Job for Work<T, F> {
    fn run(&mut self, db: &Connection) -> Result<()> {
        let Some(work) = self.work.take() else { return Ok(()) };
        let result = catch_unwind(AssertUnwindSafe(|| work(db)))
            .unwrap_or_else(|_| Err(StoreError::new(StoreErrorKind::Io, "the work panicked, a bug")))
            .map_err(|e| e.while_doing(self.doing));
        let outcome = result.as_ref().map(|_| ()).map_err(StoreError::again);
        self.result = Some(result);
        outcome
    }
    fn answer(&mut self, not_committed: Option<&StoreError>) {
        let result = match (self.result.take(), not_committed) {
            (Some(Err(own)), _) => Err(own),
            (_, Some(e)) => Err(e.again().while_doing(self.doing)),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => {
                Err(StoreError::new(StoreErrorKind::Io, "it was not begun").while_doing(self.doing))
            }
        };
        if let Some(to) = self.to.take() {
            // Whoever asked may have gone; the change stays.
            let _ = to.send(result);
        }
    }
}

impl Writer {
    pub(crate) fn new(db: Connection, lock: File) -> Arc<Self> {
        let seat = Seat { db: Some(db), lock: Some(lock) };
        Arc::new(Self { queue: Mutex::default(), seat: Mutex::new(seat) })
    }

    /// Runs `work` inside a transaction and returns once that is durable. Dropping the future does
    /// not undo it.
    pub(crate) async fn write<T, F>(self: &Arc<Self>, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let (to, answer) = oneshot::channel();
        let job = Work { doing, work: Some(work), result: None, to: Some(to) };
        let gone = || closed().while_doing(doing);
        let start = {
            let mut queue = locked(&self.queue);
            if queue.closed {
                return Err(gone());
            }
            queue.jobs.push(Box::new(job));
            !std::mem::replace(&mut queue.draining, true)
        };
        if start {
            let drain = Drain { writer: Arc::clone(self), done: false };
            tokio::task::spawn_blocking(move || drain.run());
        }
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Refuses new work, waits for what is under way, folds the log in and frees the home.
    pub(crate) fn close(&self) -> Result<()> {
        locked(&self.queue).closed = true;
        let mut seat = locked(&self.seat);
        // Jobs accepted before may still be queued; their drain finds no connection, so do them here.
        while let Some(jobs) = self.next_group() {
            commit_all(seat.db.as_ref(), jobs);
        }
        let folded = seat.db.as_ref().map_or(Ok(()), dialect::fold_log);
        if let Some(db) = seat.db.take() {
            db.close().map_err(|(_, e)| e)?;
        }
        seat.lock = None;
        folded
    }

    fn next_group(&self) -> Option<Vec<Box<dyn Job>>> {
        let mut queue = locked(&self.queue);
        Some(std::mem::take(&mut queue.jobs)).filter(|jobs| !jobs.is_empty())
    }
}

/// A drain under way. If it ends otherwise than by emptying the queue (the runtime is shutting down),
/// whoever waits is told, and the next job starts another one.
struct Drain {
    writer: Arc<Writer>,
    done: bool,
}

impl Drain {
    fn run(mut self) {
        loop {
            // The seat first: jobs taken from the queue are never kept from it by a closing.
            let seat = locked(&self.writer.seat);
            let jobs = {
                let mut queue = locked(&self.writer.queue);
                if queue.jobs.is_empty() {
                    queue.draining = false;
                    self.done = true;
                    return;
                }
                std::mem::take(&mut queue.jobs)
            };
            commit_all(seat.db.as_ref(), jobs);
        }
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        if !self.done {
            let mut queue = locked(&self.writer.queue);
            queue.draining = false;
            queue.jobs.clear();
        }
    }
}

/// Commits the jobs and answers them: as one group, unless the database gives one up on the way.
fn commit_all(db: Option<&Connection>, mut jobs: Vec<Box<dyn Job>>) {
    let mut rest = jobs.as_mut_slice();
    while !rest.is_empty() {
        let (tried, outcome) = match db {
            Some(db) => commit_group(db, rest),
            None => (rest.len(), Err(closed())),
        };
        let (answered, later) = rest.split_at_mut(tried);
        for job in answered {
            job.answer(outcome.as_ref().err());
        }
        rest = later;
    }
}

/// One transaction. Returns how many jobs it tried, and whether what they did is durable now.
fn commit_group(db: &Connection, jobs: &mut [Box<dyn Job>]) -> (usize, Result<()>) {
    let mut tried = 0;
    let outcome = match jobs {
        [alone] => commit_alone(db, alone.as_mut()),
        _ => commit_several(db, jobs, &mut tried),
    };
    // Some failures end the transaction by themselves; after the others it is still open.
    if outcome.is_err() && !db.is_autocommit() {
        // If even this fails, so does the next "begin", with the same cause.
        let _ = db.execute_batch("rollback");
    }
    let tried = if outcome.is_ok() || tried == 0 { jobs.len() } else { tried };
    (tried, outcome)
}

fn commit_alone(db: &Connection, job: &mut dyn Job) -> Result<()> {
    statement(db, "begin immediate")?;
    job.run(db)?;
    statement(db, "commit")
}

fn commit_several(db: &Connection, jobs: &mut [Box<dyn Job>], tried: &mut usize) -> Result<()> {
    statement(db, "begin immediate")?;
    for (at, job) in jobs.iter_mut().enumerate() {
        statement(db, "savepoint job")?;
        let outcome = job.run(db);
        // A full or failing disk makes SQLite give up the whole transaction, whoever met it. What was
        // done before is gone with it; what comes after gets a transaction of its own.
        if db.is_autocommit() {
            *tried = at + 1;
            return Err(outcome.err().unwrap_or_else(closed));
        }
        if outcome.is_err() {
            statement(db, "rollback to job")?;
        }
        statement(db, "release job")?;
    }
    statement(db, "commit")
}

fn statement(db: &Connection, text: &str) -> Result<()> {
    db.prepare_cached(text)?.execute([])?;
    Ok(())
}

fn closed() -> StoreError {
    StoreError::new(StoreErrorKind::Io, "the store is closed")
}

/// A panic elsewhere cannot leave these half changed, so a poisoned lock is as good as any.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
