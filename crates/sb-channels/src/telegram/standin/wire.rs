//! The platform's things as the Bot API writes them.

use serde_json::{Value, json};

use super::platform::{Human, Media, Message, Platform, Room, Sort};

impl Human {
    pub(super) fn wire(&self) -> Value {
        let mut user = json!({"id": self.id, "is_bot": self.is_bot, "first_name": self.name});
        if let Some(username) = &self.username {
            user["username"] = username.clone().into();
        }
        if !self.is_bot {
            user["language_code"] = "en".into();
        }
        user
    }
}

impl Room {
    pub(super) fn wire(&self) -> Value {
        match self.sort {
            Sort::Private => json!({"id": self.id, "type": "private", "first_name": self.title}),
            Sort::Group => json!({"id": self.id, "type": "group", "title": self.title}),
            Sort::Supergroup => {
                let mut chat = json!({"id": self.id, "type": "supergroup", "title": self.title});
                if !self.topics.is_empty() {
                    chat["is_forum"] = true.into();
                }
                chat
            }
        }
    }
}

impl Media {
    fn wire(&self) -> Value {
        let unique = format!("Qu{}", self.file_id);
        let mut file = json!({"file_id": self.file_id, "file_unique_id": unique, "file_size": self.size});
        match self.sort.as_str() {
            "photo" => {
                file["width"] = 640.into();
                file["height"] = 480.into();
                let small = json!({"file_id": format!("{}s", self.file_id), "file_unique_id": format!("{unique}s"), "width": 90, "height": 67, "file_size": 900});
                return json!([small, file]);
            }
            "voice" => {}
            _ => file["file_name"] = self.name.clone().into(),
        }
        file["mime_type"] = self.media_type.clone().into();
        if let Some(duration) = self.duration {
            file["duration"] = duration.into();
        }
        if matches!(self.sort.as_str(), "video" | "animation") {
            file["width"] = 640.into();
            file["height"] = 480.into();
            file["duration"] = self.duration.unwrap_or(1).into();
        }
        file
    }
}

impl Platform {
    /// The bot, as it sees itself.
    pub(super) fn me(&self) -> Value {
        let mut me = self.bot.wire();
        me["can_join_groups"] = true.into();
        me["can_read_all_group_messages"] = self.reads_all.into();
        me["supports_inline_queries"] = false.into();
        me["can_connect_to_business"] = false.into();
        me["has_main_web_app"] = false.into();
        me["has_topics_enabled"] = true.into();
        me
    }

    /// A message, with what it answers.
    pub(super) fn wire(&self, room: &Room, message: &Message) -> Value {
        let mut wire = self.bare(room, message);
        let answered = message.answers.and_then(|id| room.messages.iter().find(|other| other.id == id));
        if let Some(answered) = answered {
            wire["reply_to_message"] = self.bare(room, answered);
        } else if let Some((id, topic)) = message.thread.and_then(|id| Some((id, room.topics.get(&id)?))) {
            // In a topic, what answers nothing "answers" the service message that began it.
            let begun = json!({"name": topic.name, "icon_color": 7_322_096});
            wire["reply_to_message"] = json!({
                "message_id": id,
                "date": message.at,
                "chat": room.wire(),
                "from": self.bot.wire(),
                "message_thread_id": id,
                "is_topic_message": true,
                "forum_topic_created": begun,
            });
        }
        wire
    }

    fn bare(&self, room: &Room, message: &Message) -> Value {
        let mut wire = json!({
            "message_id": message.id,
            "date": message.at,
            "chat": room.wire(),
            "from": message.from.wire(),
        });
        if let Some(thread) = message.thread {
            wire["message_thread_id"] = thread.into();
            wire["is_topic_message"] = true.into();
        }
        let (text, entities) = match &message.media {
            Some(_) => ("caption", "caption_entities"),
            None => ("text", "entities"),
        };
        if !message.text.is_empty() {
            wire[text] = message.text.clone().into();
        }
        if !message.entities.is_empty() {
            wire[entities] = message.entities.clone().into();
        }
        if let Some(media) = &message.media {
            wire[&media.sort] = media.wire();
            if media.sort == "animation" {
                wire["document"] = media.wire();
            }
        }
        if let Some(album) = &message.album {
            wire["media_group_id"] = album.clone().into();
        }
        if let Some(keyboard) = &message.keyboard {
            wire["reply_markup"] = keyboard.clone();
        }
        if message.edits > 0 {
            wire["edit_date"] = message.at.into();
        }
        for (name, value) in &message.besides {
            wire[name] = value.clone();
        }
        wire
    }
}
