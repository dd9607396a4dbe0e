//! What was said while no session could be resumed: fetched from the history.
//!
//! Servers tell their channels, each with its last message, when a new session begins; direct chats are known by
//! having spoken here before. What is fetched and told besides has one key, so it is taken once.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use sb_channel::model::{FaultKind, Timestamp};
use sb_channel::{Result, State};
use serde_json::Value;
use tokio::time::Instant;

use super::faults::About;
use super::parse::{all, text};
use super::{Bot, snowflake};

/// Messages fetched at once.
const AT_ONCE: usize = 100;
const MOST_CHANNELS: usize = 10_000;
/// Direct chats that are remembered; they must fit what an adapter may keep.
const MOST_DIRECTS: usize = 1_000;
/// How far back is looked.
const OLDEST_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Ids of different channels are in order but for a moment.
const DISORDER_MS: u64 = 5_000;
/// How long the servers may take to tell of themselves.
const GUILDS_TELL: Duration = Duration::from_secs(60);

/// See the module.
pub(super) struct Missed {
    /// The last message that was told before.
    pub last: u64,
    since: u64,
    /// Where to look, and after which message.
    pub channels: VecDeque<(String, u64)>,
    /// Servers that have not told of themselves yet, and until when that is waited for.
    guilds: BTreeSet<String>,
    told_until: Instant,
    /// Nothing is asked before.
    pub not_before: Instant,
}

impl Missed {
    /// All that came after `last` is missed.
    pub(super) fn begin(last: u64, now: Timestamp, directs: &Directs, ready: &Value) -> Self {
        let since = last.saturating_sub(DISORDER_MS << 22).max(snowflake::at(now.plus_ms(-OLDEST_MS)));
        Self {
            last,
            since,
            channels: directs.channels.iter().map(|channel| (channel.clone(), since)).collect(),
            guilds: all(ready, "/guilds").filter_map(|guild| text(guild, "/id")).map(str::to_owned).collect(),
            told_until: Instant::now() + GUILDS_TELL,
            not_before: Instant::now(),
        }
    }

    /// A server tells of itself.
    pub(super) fn note(&mut self, kind: &str, data: &Value) {
        if kind != "GUILD_CREATE" || !self.guilds.remove(text(data, "/id").unwrap_or_default()) {
            return;
        }
        let last = |channel: &Value| text(channel, "/last_message_id").and_then(|id| id.parse::<u64>().ok());
        let spoken = all(data, "/channels").chain(all(data, "/threads"));
        let spoken = spoken.filter(|channel| last(channel).is_some_and(|last| last > self.since));
        let room = MOST_CHANNELS.saturating_sub(self.channels.len());
        self.channels.extend(
            spoken.filter_map(|channel| Some((text(channel, "/id")?.to_owned(), self.since))).take(room),
        );
    }

    pub(super) fn is_done(&self) -> bool {
        self.channels.is_empty() && (self.guilds.is_empty() || Instant::now() >= self.told_until)
    }

    /// When to look again if nothing comes: for what waits, or for servers that stay silent.
    pub(super) fn wake_at(&self) -> Instant {
        if self.channels.is_empty() && !self.guilds.is_empty() { self.told_until } else { self.not_before }
    }

    /// This came from where was looked; a full page has more behind it.
    pub(super) fn got(&mut self, page: &[Value]) {
        let Some((channel, _)) = self.channels.pop_front() else { return };
        let last = page.iter().filter_map(|message| text(message, "/id")?.parse::<u64>().ok()).max();
        if let Some(last) = last.filter(|_| page.len() >= AT_ONCE) {
            self.channels.push_front((channel, last));
        }
    }
}

impl Bot {
    /// What was said in a channel after a message, the oldest first. Nothing where we may not look.
    pub(super) async fn history(&self, channel: &str, after: u64) -> Result<Vec<Value>> {
        let path = format!("channels/{channel}/messages?after={after}&limit={AT_ONCE}");
        let Some(Value::Array(mut page)) = known(self.api.get(&path, About::Chat { thread: false }).await)?
        else {
            return Ok(Vec::new());
        };
        page.reverse();
        // The history leaves out where a message is.
        if let Some(guild) = self.places(|places| places.guild(channel).map(str::to_owned)) {
            page.iter_mut().for_each(|message| message["guild_id"] = guild.clone().into());
        }
        Ok(page)
    }
}

/// The direct chats that have spoken here.
pub(super) struct Directs {
    channels: Vec<String>,
    is_kept: bool,
}

impl Directs {
    pub(super) async fn kept(state: &dyn State) -> Result<Self> {
        let kept = state.get().await?.and_then(|kept| serde_json::from_str(&kept).ok());
        Ok(Self { channels: kept.unwrap_or_default(), is_kept: true })
    }

    /// One has spoken.
    pub(super) fn note(&mut self, channel: &str) {
        if self.channels.iter().any(|known| known == channel) {
            return;
        }
        if self.channels.len() >= MOST_DIRECTS {
            self.channels.remove(0);
        }
        self.channels.push(channel.to_owned());
        self.is_kept = false;
    }

    pub(super) async fn keep(&mut self, state: &dyn State) -> Result<()> {
        if !self.is_kept {
            state.set(Value::from(self.channels.clone()).to_string()).await?;
            self.is_kept = true;
        }
        Ok(())
    }
}

/// What may be known; nothing where we may not look.
pub(super) fn known(asked: Result<Value>) -> Result<Option<Value>> {
    match asked {
        Err(why) if matches!(why.kind, FaultKind::ChatGone | FaultKind::Lost | FaultKind::Refused) => {
            Ok(None)
        }
        other => other.map(Some),
    }
}
