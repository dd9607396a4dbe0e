//! The floor of durability: what the disk itself can do, with nothing of ours in between.
//!
//! Callers append small records to one file; whoever commits takes what is there, writes it and calls
//! fdatasync once, then answers all. It never waits to fill a group, as the store does not.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::sync::{mpsc, oneshot};

use super::figures::Spread;

const RECORD: [u8; 200] = [b'x'; 200];
/// About what SQLite writes of a turn's commit: a few pages.
const PAGES: [u8; 16 * 1024] = [b'p'; 16 * 1024];
/// How many times that lies in the file.
const PLACES: usize = 64;

type Waiting = oneshot::Sender<()>;

/// Durable appends a second for so many callers, each waiting for one before the next.
pub(super) async fn rate(folder: &Path, callers: usize, time: Duration) -> Result<f64> {
    let file = fresh(folder)?;
    let (to, jobs) = mpsc::unbounded_channel::<Waiting>();
    let committer = std::thread::spawn(move || commit_groups(file, jobs));
    let until = Instant::now() + time;
    let begin = Instant::now();
    let callers: Vec<_> = (0..callers).map(|_| tokio::spawn(append(to.clone(), until))).collect();
    drop(to);
    let mut appends = 0;
    for caller in callers {
        appends += caller.await?;
    }
    let rate = appends as f64 / begin.elapsed().as_secs_f64();
    committer.join().ok().context("the committer panicked")??;
    Ok(rate)
}

async fn append(to: mpsc::UnboundedSender<Waiting>, until: Instant) -> u32 {
    let mut done = 0;
    while Instant::now() < until {
        let (answer, answered) = oneshot::channel();
        if to.send(answer).is_err() || answered.await.is_err() {
            break;
        }
        done += 1;
    }
    done
}

fn commit_groups(mut file: File, mut jobs: mpsc::UnboundedReceiver<Waiting>) -> Result<()> {
    let mut bytes = Vec::new();
    while let Some(first) = jobs.blocking_recv() {
        let mut group = vec![first];
        while let Ok(more) = jobs.try_recv() {
            group.push(more);
        }
        bytes.clear();
        group.iter().for_each(|_| bytes.extend_from_slice(&RECORD));
        file.write_all(&bytes)?;
        file.sync_data()?;
        for waiting in group {
            // A caller whose time is up no longer waits.
            let _ = waiting.send(());
        }
    }
    Ok(())
}

/// The disk's own commit, timed between other things, so that both meet the same neighbours.
pub(super) struct Disk {
    file: File,
    appended: Vec<Duration>,
    rewritten: Vec<Duration>,
}

impl Disk {
    pub fn open(folder: &Path) -> Result<Self> {
        let mut file = fresh(folder)?;
        for _ in 0..PLACES {
            file.write_all(&PAGES)?;
        }
        file.sync_all()?;
        Ok(Self { file, appended: Vec::new(), rewritten: Vec::new() })
    }

    /// Times a small record at the end of the file, and a few pages over what is there.
    pub fn try_once(&mut self) -> Result<()> {
        let appended = self.commit(SeekFrom::End(0), &RECORD)?;
        let place = self.rewritten.len() % PLACES * PAGES.len();
        let rewritten = self.commit(SeekFrom::Start(place as u64), &PAGES)?;
        self.appended.push(appended);
        self.rewritten.push(rewritten);
        Ok(())
    }

    /// The median of the cheaper one, so that no excuse is too large.
    pub fn commit_ms(&self) -> f64 {
        Spread::of(self.appended.clone()).p50().min(Spread::of(self.rewritten.clone()).p50())
    }

    fn commit(&mut self, at: SeekFrom, bytes: &[u8]) -> Result<Duration> {
        self.file.seek(at)?;
        let begin = Instant::now();
        self.file.write_all(bytes)?;
        self.file.sync_data()?;
        Ok(begin.elapsed())
    }
}

fn fresh(folder: &Path) -> Result<File> {
    let options = OpenOptions::new().create(true).write(true).truncate(true).clone();
    Ok(options.open(folder.join("append.bench"))?)
}
