//! What is known of us and of servers: which channel a thread belongs to, which role is ours.
//!
//! The gateway tells it with each server once a session begins, and never when a session is resumed; what is
//! not known then is asked for, once. Everything is bounded: what is forgotten is asked for again.

use std::collections::BTreeMap;

use sb_channel::Result;
use serde_json::{Value, json};

use super::Bot;
use super::faults::About;
use super::missed::known;
use super::parse::{all, text};

const MOST_CHANNELS: usize = 20_000;
const MOST_GUILDS: usize = 5_000;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    pub us: String,
    /// Of a server's channel: the server, and the channel it is a thread of.
    channels: BTreeMap<String, (String, Option<String>)>,
    /// Of a server: the role that is ours there.
    roles: BTreeMap<String, Option<String>>,
}

impl Places {
    pub(super) fn parent(&self, channel: &str) -> Option<&str> {
        self.channels.get(channel)?.1.as_deref()
    }
    pub(super) fn guild(&self, channel: &str) -> Option<&str> {
        self.channels.get(channel).map(|(guild, _)| guild.as_str())
    }
    pub(super) fn knows_roles(&self, guild: &str) -> bool {
        self.roles.contains_key(guild)
    }
    pub(super) fn our_role(&self, guild: &str) -> Option<&str> {
        self.roles.get(guild)?.as_deref()
    }

    /// Notes what an event tells of a server.
    pub(super) fn note(&mut self, kind: &str, data: &Value) {
        let guild = text(data, "/guild_id").or(text(data, "/id")).unwrap_or_default();
        match kind {
            "GUILD_CREATE" | "THREAD_LIST_SYNC" => {
                all(data, "/channels")
                    .chain(all(data, "/threads"))
                    .for_each(|channel| self.is_there(guild, channel));
                if data.get("roles").is_some() {
                    self.has_roles(guild, all(data, "/roles"));
                }
            }
            "CHANNEL_CREATE" | "THREAD_CREATE" | "THREAD_UPDATE" => self.is_there(guild, data),
            "INTERACTION_CREATE" if data.get("guild_id").is_some() => self.is_there(guild, &data["channel"]),
            _ => {}
        }
    }

    pub(super) fn is_there(&mut self, guild: &str, channel: &Value) {
        let Some(id) = text(channel, "/id") else { return };
        if self.channels.len() >= MOST_CHANNELS {
            self.channels.pop_first();
        }
        let parent = text(channel, "/parent_id").filter(|_| is_thread(&channel["type"])).map(str::to_owned);
        self.channels.insert(id.to_owned(), (guild.to_owned(), parent));
    }

    pub(super) fn has_roles<'a>(&mut self, guild: &str, mut roles: impl Iterator<Item = &'a Value>) {
        if self.roles.len() >= MOST_GUILDS {
            self.roles.pop_first();
        }
        let ours = roles.find(|role| text(role, "/tags/bot_id") == Some(&self.us));
        self.roles.insert(guild.to_owned(), ours.and_then(|role| text(role, "/id")).map(str::to_owned));
    }
}

impl Bot {
    /// Asks what must be known to say where a message was said, and whether it mentions us.
    pub(super) async fn learn(&self, guild: &str, channel: &str, data: &Value) -> Result<()> {
        let (place, roles) =
            self.places(|places| (places.guild(channel).is_some(), places.knows_roles(guild)));
        if !place {
            let sort = &data["channel_type"];
            let told = json!({"id": channel, "type": sort});
            let found = match sort.is_null() || is_thread(sort) {
                true => known(self.api.get(&format!("channels/{channel}"), About::Account).await)?,
                false => None,
            };
            self.places(|places| places.is_there(guild, found.as_ref().unwrap_or(&told)));
        }
        if !roles && all(data, "/mention_roles").next().is_some() {
            let found = known(self.api.get(&format!("guilds/{guild}/roles"), About::Account).await)?;
            self.places(|places| places.has_roles(guild, all(&found.unwrap_or_default(), "")));
        }
        Ok(())
    }
}

/// Whether that is the type of a thread.
fn is_thread(sort: &Value) -> bool {
    matches!(sort.as_u64(), Some(10..=12))
}
