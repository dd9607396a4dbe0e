//! What Telegram sends, as far as it is read.
//!
//! Every field may be missing, and unknown ones are passed over: the platform grows every month, and a
//! message must not be lost for a field that nobody here asks for. An update of another shape is no
//! error of the whole batch; see [`parse`](super::parse).

use serde::Deserialize;

/// A user, or us.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct User {
    pub id: Option<i64>,
    pub is_bot: Option<bool>,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub username: Option<String>,
    pub can_join_groups: Option<bool>,
    pub can_read_all_group_messages: Option<bool>,
    pub has_topics_enabled: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chat {
    pub id: Option<i64>,
    #[serde(rename = "type")]
    pub sort: Option<String>,
    pub title: Option<String>,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub username: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub message_id: Option<i64>,
    pub message_thread_id: Option<i64>,
    pub is_topic_message: Option<bool>,
    /// In seconds since 1970.
    pub date: Option<i64>,
    pub chat: Chat,
    pub from: Option<User>,
    pub sender_chat: Option<Chat>,
    pub text: Option<String>,
    pub entities: Vec<Entity>,
    pub caption: Option<String>,
    pub caption_entities: Vec<Entity>,
    pub media_group_id: Option<String>,
    pub reply_to_message: Option<Box<Message>>,
    pub external_reply: Option<ExternalReply>,
    pub quote: Option<TextQuote>,
    pub forward_origin: Option<ForwardOrigin>,
    pub is_automatic_forward: Option<bool>,
    pub guest_query_id: Option<String>,
    pub forum_topic_created: Option<serde_json::Value>,
    pub migrate_to_chat_id: Option<i64>,
    pub photo: Vec<Media>,
    pub document: Option<Media>,
    pub audio: Option<Media>,
    pub video: Option<Media>,
    pub video_note: Option<Media>,
    pub animation: Option<Media>,
    pub voice: Option<Media>,
    pub sticker: Option<Media>,
    pub location: Option<Location>,
    pub venue: Option<Venue>,
    pub contact: Option<Contact>,
    pub poll: Option<Poll>,
    pub dice: Option<Dice>,
}

/// A stretch of a text; offsets count UTF-16 units.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Entity {
    #[serde(rename = "type")]
    pub sort: Option<String>,
    pub offset: Option<i64>,
    pub length: Option<i64>,
    pub user: Option<User>,
}

/// A file of any sort: what it lacks, its sort does not have.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Media {
    pub file_id: Option<String>,
    pub file_unique_id: Option<String>,
    pub file_name: Option<String>,
    pub mime_type: Option<String>,
    pub file_size: Option<u64>,
    pub width: Option<u64>,
    pub height: Option<u64>,
    pub duration: Option<u32>,
    pub emoji: Option<String>,
    pub is_animated: Option<bool>,
    pub is_video: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Location {
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Venue {
    pub title: Option<String>,
    pub address: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Contact {
    pub phone_number: Option<String>,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Poll {
    pub question: Option<String>,
    pub options: Vec<PollOption>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct PollOption {
    pub text: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Dice {
    pub emoji: Option<String>,
    pub value: Option<i64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextQuote {
    pub text: Option<String>,
}

/// A reply to a message of another chat.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ExternalReply {
    pub origin: Option<ForwardOrigin>,
}

/// Whose words a forwarded message holds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ForwardOrigin {
    pub sender_user: Option<User>,
    pub sender_user_name: Option<String>,
    pub sender_chat: Option<Chat>,
    pub chat: Option<Chat>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallbackQuery {
    pub id: Option<String>,
    pub from: Option<User>,
    pub message: Option<Message>,
    pub data: Option<String>,
}

/// A person pressed the stop button of a growing reply.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct StoppedGeneration {
    pub chat: Chat,
    pub message_thread_id: Option<i64>,
    pub draft_id: Option<i64>,
}

/// Our own standing in a chat has changed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct MemberChange {
    pub chat: Chat,
    pub old_chat_member: Member,
    pub new_chat_member: Member,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Member {
    pub status: Option<String>,
    pub is_member: Option<bool>,
}

impl Member {
    /// Whether such a one is in the chat; nothing, if that is not told.
    pub(super) fn is_in(&self) -> Option<bool> {
        match self.status.as_deref()? {
            "left" | "kicked" => Some(false),
            // Quirk: member_restricted.json. A restricted member may have left.
            "restricted" => Some(self.is_member.unwrap_or(true)),
            _ => Some(true),
        }
    }
}

impl User {
    /// As people call them.
    pub(super) fn called(&self) -> String {
        let names = [self.first_name.as_deref(), self.last_name.as_deref()];
        let full: Vec<&str> = names.into_iter().flatten().filter(|name| !name.is_empty()).collect();
        match (full.is_empty(), &self.username, self.id) {
            (false, _, _) => full.join(" "),
            (true, Some(username), _) => format!("@{username}"),
            (true, None, Some(id)) => id.to_string(),
            (true, None, None) => "somebody".to_owned(),
        }
    }
}

impl Chat {
    pub(super) fn called(&self) -> String {
        if let Some(title) = self.title.as_deref().filter(|title| !title.is_empty()) {
            return title.to_owned();
        }
        let (first_name, last_name) = (self.first_name.clone(), self.last_name.clone());
        User { id: self.id, first_name, last_name, username: self.username.clone(), ..User::default() }
            .called()
    }
    pub(super) fn is_private(&self) -> bool {
        self.sort.as_deref() == Some("private")
    }
    /// Whether people talk in it; a channel only tells.
    pub(super) fn is_spoken_in(&self) -> bool {
        matches!(self.sort.as_deref(), Some("private" | "group" | "supergroup"))
    }
}
