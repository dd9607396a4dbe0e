//! Messages and what they are made of.

use serde_json::{Map, Value, json};

use super::{Unreadable, Version, field, needed, put, text, texts};

/// Who speaks: whoever asks, or the agent asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Agent,
}

/// One part of a message or an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub content: Content,
    /// A file's name.
    pub name: Option<String>,
    pub media_type: Option<String>,
    pub metadata: Option<Value>,
}

/// What a part holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Text(String),
    /// A file's bytes, as base64.
    Raw(String),
    /// A file by its address.
    Url(String),
    /// Any JSON; in 0.3 an object.
    Data(Value),
}

/// One message of either side.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub id: String,
    pub role: Role,
    pub parts: Vec<Part>,
    pub context: Option<String>,
    pub task: Option<String>,
    pub references: Vec<String>,
    pub metadata: Option<Value>,
}

impl Part {
    /// Plain words.
    pub fn text(words: impl Into<String>) -> Self {
        Self { content: Content::Text(words.into()), name: None, media_type: None, metadata: None }
    }

    /// A file's bytes, as base64.
    pub fn raw(base64: String, name: &str, media_type: &str) -> Self {
        let (name, media_type) = (Some(name.to_owned()), Some(media_type.to_owned()));
        Self { content: Content::Raw(base64), name, media_type, metadata: None }
    }

    /// Reads a part of either version.
    ///
    /// # Errors
    /// If it holds nothing that is known.
    pub fn read(part: &Value) -> Result<Self, Unreadable> {
        // In 0.3 a file's facts are in an object of their own.
        let file = field(part, "file").filter(|file| file.is_object());
        let holder = file.unwrap_or(part);
        let content = if let Some(words) = field(part, "text") {
            let words = words.as_str().ok_or_else(|| Unreadable::new("text", "it is no text"))?;
            Content::Text(words.to_owned())
        } else if let Some(bytes) = text(holder, "bytes").or_else(|| text(holder, "fileWithBytes")) {
            Content::Raw(bytes.to_owned())
        } else if let Some(bytes) = field(part, "raw").and_then(Value::as_str) {
            Content::Raw(bytes.to_owned())
        } else if let Some(url) =
            text(holder, "uri").or_else(|| text(holder, "fileWithUri")).or_else(|| text(part, "url"))
        {
            Content::Url(url.to_owned())
        } else if let Some(data) = part.get("data") {
            Content::Data(data.clone())
        } else {
            return Err(Unreadable::new("part", "it holds neither text, file nor data"));
        };
        let name = text(holder, "name").or_else(|| text(part, "filename")).map(str::to_owned);
        let media_type = text(holder, "mimeType").or_else(|| text(part, "mediaType")).map(str::to_owned);
        let metadata = field(part, "metadata").filter(|m| m.is_object()).cloned();
        Ok(Self { content, name, media_type, metadata })
    }

    pub fn write(&self, version: Version) -> Value {
        let mut part = Map::new();
        match version {
            Version::V0_3 => {
                let (kind, holds) = match &self.content {
                    Content::Text(words) => ("text", ("text", words.as_str().into())),
                    Content::Raw(bytes) => ("file", ("file", self.file("bytes", bytes))),
                    Content::Url(url) => ("file", ("file", self.file("uri", url))),
                    // An object there, so what is none is put into one.
                    Content::Data(data @ Value::Object(_)) => ("data", ("data", data.clone())),
                    Content::Data(data) => ("data", ("data", json!({"value": data}))),
                };
                part.insert("kind".to_owned(), kind.into());
                part.insert(holds.0.to_owned(), holds.1);
            }
            Version::V1_0 => {
                let (name, value) = match &self.content {
                    Content::Text(words) => ("text", words.as_str().into()),
                    Content::Raw(bytes) => ("raw", bytes.as_str().into()),
                    Content::Url(url) => ("url", url.as_str().into()),
                    Content::Data(data) => ("data", data.clone()),
                };
                part.insert(name.to_owned(), value);
                put(&mut part, "filename", self.name.as_deref());
                put(&mut part, "mediaType", self.media_type.as_deref());
            }
        }
        put(&mut part, "metadata", self.metadata.clone());
        part.into()
    }

    fn file(&self, holder: &str, holds: &str) -> Value {
        let mut file = Map::new();
        file.insert(holder.to_owned(), holds.into());
        put(&mut file, "name", self.name.as_deref());
        put(&mut file, "mimeType", self.media_type.as_deref());
        file.into()
    }
}

/// Reads a list of parts, which holds at least one.
pub(super) fn read_parts(of: &Value) -> Result<Vec<Part>, Unreadable> {
    let all = field(of, "parts").and_then(Value::as_array);
    let all = all.filter(|all| !all.is_empty()).ok_or_else(|| Unreadable::new("parts", "there are none"))?;
    let read = |(at, part)| Part::read(part).map_err(|why| why.within(&format!("parts[{at}]")));
    all.iter().enumerate().map(read).collect()
}

pub(super) fn write_parts(parts: &[Part], version: Version) -> Value {
    parts.iter().map(|part| part.write(version)).collect()
}

impl Message {
    /// Plain words of one side.
    pub fn words(id: impl Into<String>, role: Role, words: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            role,
            parts: vec![Part::text(words)],
            context: None,
            task: None,
            references: Vec::new(),
            metadata: None,
        }
    }

    /// Reads a message of either version.
    ///
    /// # Errors
    /// If it has no id, nobody who says it, or nothing that is said.
    pub fn read(message: &Value) -> Result<Self, Unreadable> {
        let role = match field(message, "role").and_then(Value::as_str) {
            Some("user" | "ROLE_USER") => Role::User,
            Some("agent" | "ROLE_AGENT") => Role::Agent,
            _ => return Err(Unreadable::new("role", "it is user or agent")),
        };
        Ok(Self {
            id: needed(message, "messageId")?,
            role,
            parts: read_parts(message)?,
            context: text(message, "contextId").map(str::to_owned),
            task: text(message, "taskId").map(str::to_owned),
            references: texts(message, "referenceTaskIds"),
            metadata: field(message, "metadata").filter(|m| m.is_object()).cloned(),
        })
    }

    pub fn write(&self, version: Version) -> Value {
        let mut message = Map::new();
        let role = match (version, self.role) {
            (Version::V0_3, Role::User) => "user",
            (Version::V0_3, Role::Agent) => "agent",
            (Version::V1_0, Role::User) => "ROLE_USER",
            (Version::V1_0, Role::Agent) => "ROLE_AGENT",
        };
        put(&mut message, "kind", (version == Version::V0_3).then_some("message"));
        message.insert("messageId".to_owned(), self.id.as_str().into());
        message.insert("role".to_owned(), role.into());
        message.insert("parts".to_owned(), write_parts(&self.parts, version));
        put(&mut message, "contextId", self.context.as_deref());
        put(&mut message, "taskId", self.task.as_deref());
        put(&mut message, "referenceTaskIds", (!self.references.is_empty()).then(|| self.references.clone()));
        put(&mut message, "metadata", self.metadata.clone());
        message.into()
    }

    /// Its words, parts a line apart.
    pub fn said(&self) -> String {
        let words = |part: &Part| match &part.content {
            Content::Text(words) => Some(words.clone()),
            _ => None,
        };
        self.parts.iter().filter_map(words).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(part: &Part) -> [Value; 2] {
        [part.write(Version::V0_3), part.write(Version::V1_0)]
    }

    #[test]
    fn each_version_has_its_own_form_of_a_part() {
        assert_eq!(both(&Part::text("hi")), [json!({"kind": "text", "text": "hi"}), json!({"text": "hi"})]);
        let picture = Part::raw("aGk=".into(), "a.png", "image/png");
        assert_eq!(
            both(&picture),
            [
                json!({"kind": "file", "file": {"bytes": "aGk=", "mimeType": "image/png", "name": "a.png"}}),
                json!({"raw": "aGk=", "mediaType": "image/png", "filename": "a.png"})
            ]
        );
        let data = Part { content: Content::Data(json!([1])), ..Part::text("") };
        assert_eq!(both(&data), [json!({"kind": "data", "data": {"value": [1]}}), json!({"data": [1]})]);
        let far = Part { content: Content::Url("https://x/y".into()), ..Part::text("") };
        assert_eq!(
            both(&far),
            [json!({"kind": "file", "file": {"uri": "https://x/y"}}), json!({"url": "https://x/y"})]
        );
        for part in [Part::text(""), picture, far] {
            for written in both(&part) {
                assert_eq!(Part::read(&written).as_ref(), Ok(&part), "{written}");
            }
        }
    }

    #[test]
    fn a_message_is_read_as_it_is_written_in_either_version() {
        let mut message = Message::words("m1", Role::Agent, "hello");
        (message.context, message.task) = (Some("c".into()), Some("t".into()));
        message.references = vec!["t0".into()];
        for version in [Version::V0_3, Version::V1_0] {
            assert_eq!(Message::read(&message.write(version)).as_ref(), Ok(&message));
        }
        let snake =
            json!({"message_id": "m", "role": "ROLE_USER", "context_id": "c", "parts": [{"text": "x"}]});
        assert_eq!(Message::read(&snake).map(|m| m.context), Ok(Some("c".into())));
    }

    #[test]
    fn what_is_no_message_names_the_field_that_is_wrong() {
        for (value, field) in [
            (json!(7), "role"),
            (json!({"role": "user", "parts": [{"text": "x"}]}), "messageId"),
            (json!({"role": "boss", "messageId": "m", "parts": [{"text": "x"}]}), "role"),
            (json!({"role": "user", "messageId": "m", "parts": []}), "parts"),
            (json!({"role": "user", "messageId": "m", "parts": [{"kind": "dance"}]}), "parts[0].part"),
            (json!({"role": "user", "messageId": "m", "parts": [{"text": 7}]}), "parts[0].text"),
        ] {
            assert_eq!(Message::read(&value).expect_err("no message").field, field, "{value}");
        }
    }
}
