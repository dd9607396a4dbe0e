//! The people of the soak: what each said, and what each saw and when.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anyhow::Result;
use sb_core::model::Dice;

use crate::soak::telegram::Telegram;

/// Messages of one person that may wait for their answers before the next is written.
const AHEAD: usize = 4;

/// A message of the bot, as last seen.
#[derive(Debug, Clone)]
struct Answer {
    text: String,
    /// Kills before it was there.
    life: u32,
}

/// One person's chat.
#[derive(Debug, Default)]
struct Record {
    said: Vec<String>,
    seen: BTreeMap<i64, Answer>,
}

impl Record {
    /// Those that hold this word, the oldest first.
    fn holding<'a>(&'a self, word: &'a str) -> impl Iterator<Item = (&'a i64, &'a Answer)> {
        self.seen.iter().filter(move |(_, answer)| answer.text.split_whitespace().any(|w| w == word))
    }
    fn given_up(&self) -> usize {
        self.seen.values().filter(|answer| answer.text.contains("it was given up")).count()
    }
    fn open(&self) -> Vec<&String> {
        let open: Vec<_> = self.said.iter().filter(|word| self.holding(word).next().is_none()).collect();
        open[self.given_up().min(open.len())..].to_vec()
    }
}

/// Everybody.
pub(super) struct Crowd {
    telegram: Arc<Telegram>,
    ids: Vec<String>,
    records: Vec<Mutex<Record>>,
    kills: AtomicU32,
    closed: AtomicBool,
}

impl Crowd {
    pub async fn meet(telegram: Arc<Telegram>, many: u32) -> Result<Self> {
        let mut ids = Vec::new();
        for n in 0..many {
            ids.push(telegram.person(&format!("Person {n}")).await?);
        }
        let records = ids.iter().map(|_| Mutex::default()).collect();
        Ok(Self { telegram, ids, records, kills: AtomicU32::new(0), closed: AtomicBool::new(false) })
    }

    fn record(&self, n: usize) -> MutexGuard<'_, Record> {
        self.records[n].lock().expect("no holder panics")
    }

    /// Nothing was there that has not been looked at; from here on a new life counts.
    pub fn killed(&self) {
        self.kills.fetch_add(1, Ordering::SeqCst);
    }

    /// No new messages from now on.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    async fn look(&self, n: usize) -> Result<()> {
        let shown = self.telegram.shown(&self.ids[n]).await?;
        let life = self.kills.load(Ordering::SeqCst);
        let mut record = self.record(n);
        for message in shown.into_iter().filter(|message| message.ours) {
            let seen = record.seen.entry(message.id);
            seen.or_insert(Answer { text: String::new(), life }).text = message.text;
        }
        Ok(())
    }

    pub async fn look_everywhere(&self) -> Result<()> {
        for n in 0..self.ids.len() {
            self.look(n).await?;
        }
        Ok(())
    }

    async fn say(&self, n: usize, script: &str, word: &str) -> Result<()> {
        self.record(n).said.push(word.to_owned());
        self.telegram.say(&self.ids[n], &format!("{script}!say {word}")).await
    }

    /// Messages that are not answered yet.
    pub fn open(&self) -> Vec<String> {
        (0..self.ids.len())
            .flat_map(|n| self.record(n).open().into_iter().cloned().collect::<Vec<_>>())
            .collect()
    }

    pub fn unanswered(&self) -> usize {
        (0..self.ids.len()).map(|n| self.record(n).open().len()).sum()
    }

    /// A last message in each chat, and its answer.
    pub async fn say_last(&self) -> Result<()> {
        for n in 0..self.ids.len() {
            self.say(n, "", &format!("last{n}.")).await?;
        }
        while self.unanswered() > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            self.look_everywhere().await?;
        }
        Ok(())
    }

    pub fn judge(&self, kills: u32, at_work: u32) -> Verdict {
        let mut verdict = Verdict { kills, at_work, ..Verdict::default() };
        for n in 0..self.ids.len() {
            let record = self.record(n);
            verdict.said += record.said.len();
            verdict.given_up += record.given_up();
            let told = record.seen.values().filter(|answer| answer.text.contains("I was restarted")).count();
            verdict.told += told;
            if told > kills as usize {
                verdict.wrong.push(format!("chat {n} was told {told} times of {kills} restarts"));
            }
            let mut newest = 0;
            for word in &record.said {
                let there: Vec<_> = record.holding(word).collect();
                match there[..] {
                    // Given up, or it would have been waited for.
                    [] => {}
                    [(_, _)] => verdict.once += 1,
                    [(_, first), (_, second)] if first.life < second.life => verdict.repeats += 1,
                    _ => verdict.wrong.push(format!("{word} is there {} times: {there:?}", there.len())),
                }
                let Some((at, _)) = there.first() else { continue };
                if **at < newest {
                    verdict.wrong.push(format!("{word} stands before what was said before it"));
                }
                newest = newest.max(**at);
                let strange = (0..self.ids.len()).find(|m| *m != n && self.strange(*m, word));
                verdict.wrong.extend(strange.map(|m| format!("{word} is shown in chat {m} too")));
            }
        }
        verdict
    }

    fn strange(&self, n: usize, word: &str) -> bool {
        self.record(n).holding(word).next().is_some()
    }
}

/// One person writes until the soak ends, and never more than a few messages ahead.
pub(super) async fn write(crowd: Arc<Crowd>, n: usize, dice: Arc<impl Dice>) -> Result<()> {
    let mut many = 0;
    while !crowd.closed.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(150 + dice.roll() % 500)).await;
        crowd.look(n).await?;
        if crowd.record(n).open().len() >= AHEAD {
            continue;
        }
        let script = match dice.roll() % 8 {
            0 => "!stream 10 25\n",
            1 => "!wait 0.2\n",
            // Longer than one message of the platform's.
            2 => "!stream 700 0\n",
            _ => "",
        };
        crowd.say(n, script, &format!("m{n}x{many}.")).await?;
        many += 1;
    }
    Ok(())
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Verdict {
    pub kills: u32,
    /// Kills that fell while at least one message was unanswered.
    pub at_work: u32,
    pub said: usize,
    /// Answered, and that stands there once.
    pub once: usize,
    /// Answered, and that stands there twice, with a kill in between.
    pub repeats: usize,
    /// Answered by the word that it was cut off too often.
    pub given_up: usize,
    /// Times that somebody was told of a restart.
    pub told: usize,
    /// Everything that must not be; empty is a pass.
    pub wrong: Vec<String>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} kills, {} of them on chats at work; {} messages said: {} answered once, {} twice with a kill between, {} given up after three crashes; told {} times of a restart",
            self.kills, self.at_work, self.said, self.once, self.repeats, self.given_up, self.told
        )?;
        self.wrong.iter().try_for_each(|w| writeln!(f, "WRONG: {w}"))
    }
}
