//! The platform's things as Discord writes them.

use serde_json::{Value, json};

use super::BOT;
use super::platform::{GUILD, Message, Platform, ROLE, Room, Sort};

/// A moment as Discord writes it.
pub(super) fn moment(ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    format!("{}+00:00", at.strftime("%Y-%m-%dT%H:%M:%S%.6f"))
}

impl Platform {
    pub(super) fn user(&self, id: u64) -> Value {
        let name = self.named(id);
        json!({
            "id": id.to_string(),
            "username": name.to_lowercase().replace(' ', "_"),
            "global_name": name,
            "discriminator": "0",
            "avatar": null,
            "bot": id == BOT,
            "public_flags": 0,
        })
    }

    pub(super) fn member(&self) -> Value {
        json!({"nick": null, "roles": [], "joined_at": moment(self.now().0), "deaf": false, "mute": false, "flags": 0})
    }

    pub(super) fn channel(&self, room: &Room) -> Value {
        let last = room.messages.back().map(|message| message.id.to_string());
        let id = room.id.to_string();
        match room.sort {
            Sort::Direct(person) => {
                json!({"id": id, "type": 1, "last_message_id": last, "recipients": [self.user(person)], "flags": 0})
            }
            Sort::Channel => json!({
                "id": id, "type": 0, "guild_id": GUILD.to_string(), "name": room.name, "position": 0,
                "permission_overwrites": [], "parent_id": null, "topic": null, "nsfw": false,
                "last_message_id": last, "rate_limit_per_user": 0, "flags": 0,
            }),
            Sort::Thread { of, is_locked } => json!({
                "id": id, "type": 11, "guild_id": GUILD.to_string(), "name": room.name, "parent_id": of.to_string(),
                "owner_id": BOT.to_string(), "last_message_id": last, "message_count": room.messages.len(),
                "member_count": 1, "rate_limit_per_user": 0, "flags": 0,
                "thread_metadata": {
                    "archived": room.is_archived, "locked": is_locked, "auto_archive_duration": 1440,
                    "archive_timestamp": moment(self.now().0),
                },
            }),
        }
    }

    pub(super) fn guild(&self) -> Value {
        let rooms = |wanted: fn(&Room) -> bool| {
            let there = self.rooms.values().filter(|room| !room.is_gone && wanted(room));
            there.map(|room| self.channel(room)).collect::<Vec<_>>()
        };
        let owner = self.people.keys().next().copied().unwrap_or(BOT);
        let mut me = self.member();
        me["user"] = self.user(BOT);
        let mut guild = json!({
            "id": GUILD.to_string(), "name": "The server", "icon": null, "splash": null, "discovery_splash": null,
            "owner_id": owner.to_string(), "afk_channel_id": null, "afk_timeout": 300, "verification_level": 0,
            "default_message_notifications": 0, "explicit_content_filter": 0, "emojis": [], "features": [],
            "mfa_level": 0, "application_id": null, "system_channel_id": null, "system_channel_flags": 0,
            "rules_channel_id": null, "vanity_url_code": null, "description": null, "banner": null,
            "premium_tier": 0, "preferred_locale": "en-US", "public_updates_channel_id": null, "nsfw_level": 0,
            "premium_progress_bar_enabled": false, "safety_alerts_channel_id": null, "stickers": [],
            "joined_at": moment(self.now().0), "large": false, "unavailable": false, "member_count": self.people.len() + 1,
            "voice_states": [], "presences": [], "stage_instances": [], "guild_scheduled_events": [],
            "soundboard_sounds": [], "members": [me],
        });
        guild["roles"] = self.roles();
        guild["channels"] = rooms(|room| matches!(room.sort, Sort::Channel)).into();
        guild["threads"] = rooms(|room| matches!(room.sort, Sort::Thread { .. })).into();
        guild
    }

    /// Everybody's role, and the one that the bot has by itself.
    pub(super) fn roles(&self) -> Value {
        let role = |id: u64, tags: Value| {
            let mut role = json!({
                "id": id.to_string(), "name": "role", "color": 0, "hoist": false, "position": 0, "permissions": "0",
                "managed": id == ROLE, "mentionable": false, "flags": 0,
                "colors": {"primary_color": 0, "secondary_color": null, "tertiary_color": null},
            });
            if !tags.is_null() {
                role["tags"] = tags;
            }
            role
        };
        json!([role(GUILD, Value::Null), role(ROLE, json!({"bot_id": BOT.to_string()}))])
    }

    /// A message as a request gives it.
    pub(super) fn message(&self, room: &Room, message: &Message) -> Value {
        let mentions = self.mentioned(&message.text);
        let files = message.files.iter().map(|(id, file)| {
            let name: String =
                file.name.chars().filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).collect();
            let url = format!(
                "http://{}/attachments/{}/{id}/{name}?ex=6a&is=6b&hm={}",
                self.host, room.id, self.links
            );
            let mut told = json!({
                "id": id.to_string(), "filename": file.name, "size": file.bytes.len(),
                "content_type": file.media_type, "url": url, "proxy_url": url,
            });
            if let Some((seconds, waveform)) = &message.voice {
                told["duration_secs"] = (*seconds).into();
                told["waveform"] = waveform.clone().into();
            }
            told
        });
        let mut told = json!({
            "id": message.id.to_string(), "channel_id": room.id.to_string(), "channel_type": kind(room),
            "author": self.user(message.author), "content": message.text, "timestamp": moment(message.at),
            "edited_timestamp": message.edited_at.map(moment), "tts": false, "mention_everyone": false,
            "mentions": mentions.iter().map(|id| self.user(*id)).collect::<Vec<_>>(),
            "mention_roles": if message.text.contains(&format!("<@&{ROLE}>")) { json!([ROLE.to_string()]) } else { json!([]) },
            "attachments": files.collect::<Vec<_>>(), "embeds": [], "pinned": false,
            "type": if message.answers.is_some() { 19 } else { 0 }, "flags": message.flags,
            "components": message.components,
        });
        if let Some(nonce) = &message.nonce {
            told["nonce"] = nonce.clone().into();
        }
        if !message.marks.is_empty() {
            let marks = message.marks.iter().map(|mark| {
                json!({
                    "count": 1, "me": true, "me_burst": false, "burst_colors": [],
                    "count_details": {"burst": 0, "normal": 1}, "emoji": {"id": null, "name": mark},
                })
            });
            told["reactions"] = marks.collect::<Vec<_>>().into();
        }
        if let Some(words) = &message.forwarded {
            let passed_on = json!({"type": 0, "content": words, "mentions": [], "mention_roles": [], "attachments": [],
                "embeds": [], "timestamp": moment(message.at), "edited_timestamp": null, "flags": 0, "components": []});
            told["message_snapshots"] = json!([{"message": passed_on}]);
        }
        if let Some(answered) = message.answers {
            let found = room.messages.iter().find(|other| other.id == answered);
            let bare = found.map(|found| self.message(room, &Message { answers: None, ..found.clone() }));
            told["message_reference"] =
                json!({"type": 0, "message_id": answered.to_string(), "channel_id": room.id.to_string()});
            told["referenced_message"] = bare.unwrap_or_default();
        }
        told
    }

    /// The same as the gateway tells it.
    pub(super) fn told(&self, room: &Room, message: &Message) -> Value {
        let mut told = self.message(room, message);
        if !room.is_direct() {
            told["guild_id"] = GUILD.to_string().into();
            told["member"] = self.member();
        }
        told
    }

    pub(super) fn mentioned(&self, text: &str) -> Vec<u64> {
        let all = std::iter::once(BOT).chain(self.people.keys().copied());
        all.filter(|id| text.contains(&format!("<@{id}>")) || text.contains(&format!("<@!{id}>"))).collect()
    }

    pub(super) fn interaction(&self, room: &Room, person: u64, id: u64, token: &str) -> Value {
        let mut told = json!({
            "id": id.to_string(), "application_id": BOT.to_string(), "token": token, "version": 1,
            "channel_id": room.id.to_string(), "channel": self.channel(room), "locale": "en-US",
            "app_permissions": "562949953421311", "entitlements": [], "attachment_size_limit": 10_485_760,
            "authorizing_integration_owners": {"0": if room.is_direct() { "0".to_owned() } else { GUILD.to_string() }},
            "context": if room.is_direct() { 1 } else { 0 },
        });
        if room.is_direct() {
            told["user"] = self.user(person);
        } else {
            let mut member = self.member();
            member["user"] = self.user(person);
            member["permissions"] = "562949953421311".into();
            told["member"] = member;
            told["guild_id"] = GUILD.to_string().into();
            told["guild_locale"] = "en-US".into();
            told["guild"] = json!({"id": GUILD.to_string(), "features": [], "locale": "en-US"});
        }
        told
    }

    pub(super) fn application(&self) -> Value {
        let flags: u64 = if self.content_intent { 1 << 19 } else { 0 };
        json!({
            "id": BOT.to_string(), "name": "Switchboard", "icon": null, "description": "", "bot_public": true,
            "bot_require_code_grant": false, "verify_key": "00", "flags": flags, "team": null, "rpc_origins": [],
            "owner": self.user(BOT), "approximate_guild_count": 1, "tags": [], "interactions_endpoint_url": null,
        })
    }
}

fn kind(room: &Room) -> u64 {
    match room.sort {
        Sort::Direct(_) => 1,
        Sort::Channel => 0,
        Sort::Thread { .. } => 11,
    }
}
