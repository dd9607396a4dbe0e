//! Tasks: a message's work, its state, and what came of it.

use serde_json::{Map, Value};

use super::part::write_parts;
use super::{Content, Message, Part, Unreadable, Version, field, needed, put, text};

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Submitted,
    Working,
    InputRequired,
    AuthRequired,
    Completed,
    Canceled,
    Failed,
    Rejected,
    /// The agent cannot tell, or says what neither version knows.
    Unknown(String),
}

/// A state, since when, and words about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub state: State,
    pub message: Option<Message>,
    /// As the other side wrote it, or RFC 3339 with milliseconds.
    pub timestamp: Option<String>,
}

/// Something a task made.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    pub id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub parts: Vec<Part>,
    pub metadata: Option<Value>,
}

/// One task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: String,
    pub context: String,
    pub status: Status,
    pub artifacts: Vec<Artifact>,
    pub history: Vec<Message>,
    pub metadata: Option<Value>,
}

/// Each state's names in 0.3 and in 1.0.
const STATES: [(State, &str, &str); 8] = [
    (State::Submitted, "submitted", "TASK_STATE_SUBMITTED"),
    (State::Working, "working", "TASK_STATE_WORKING"),
    (State::InputRequired, "input-required", "TASK_STATE_INPUT_REQUIRED"),
    (State::AuthRequired, "auth-required", "TASK_STATE_AUTH_REQUIRED"),
    (State::Completed, "completed", "TASK_STATE_COMPLETED"),
    (State::Canceled, "canceled", "TASK_STATE_CANCELED"),
    (State::Failed, "failed", "TASK_STATE_FAILED"),
    (State::Rejected, "rejected", "TASK_STATE_REJECTED"),
];

impl State {
    /// Reads either version's name.
    pub fn read(name: &str) -> State {
        let known = STATES.iter().find(|(_, old, new)| name == *old || name == *new);
        known.map_or_else(|| State::Unknown(name.to_owned()), |(state, ..)| state.clone())
    }

    pub fn write(&self, version: Version) -> &'static str {
        let known = STATES.iter().find(|(state, ..)| state == self);
        match (version, known) {
            (Version::V0_3, Some((_, old, _))) => old,
            (Version::V1_0, Some((.., new))) => new,
            (Version::V0_3, None) => "unknown",
            (Version::V1_0, None) => "TASK_STATE_UNSPECIFIED",
        }
    }

    /// Nothing more comes of it, ever.
    pub fn is_terminal(&self) -> bool {
        matches!(self, State::Completed | State::Canceled | State::Failed | State::Rejected)
    }

    /// Nothing more comes of it until whoever asked does something.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, State::InputRequired | State::AuthRequired)
    }

    /// A stream about it ends here.
    pub fn is_final(&self) -> bool {
        self.is_terminal() || self.is_interrupted()
    }
}

impl Status {
    /// A state without words.
    pub fn of(state: State) -> Self {
        Self { state, message: None, timestamp: None }
    }

    /// Reads a status of either version; words that cannot be read are left out.
    ///
    /// # Errors
    /// If it names no state.
    pub fn read(status: &Value) -> Result<Self, Unreadable> {
        let state = State::read(&needed(status, "state")?);
        let message = field(status, "message").and_then(|message| Message::read(message).ok());
        Ok(Self { state, message, timestamp: text(status, "timestamp").map(str::to_owned) })
    }

    pub fn write(&self, version: Version) -> Value {
        let mut status = Map::new();
        status.insert("state".to_owned(), self.state.write(version).into());
        put(&mut status, "timestamp", self.timestamp.as_deref());
        put(&mut status, "message", self.message.as_ref().map(|message| message.write(version)));
        status.into()
    }

    /// What its message says.
    pub fn said(&self) -> String {
        self.message.as_ref().map(Message::said).unwrap_or_default()
    }
}

impl Artifact {
    /// Reads an artifact of either version; parts that cannot be read are left out.
    ///
    /// # Errors
    /// If it has no id.
    pub fn read(artifact: &Value) -> Result<Self, Unreadable> {
        let parts = field(artifact, "parts").and_then(Value::as_array).into_iter().flatten();
        Ok(Self {
            id: needed(artifact, "artifactId")?,
            name: text(artifact, "name").map(str::to_owned),
            description: text(artifact, "description").map(str::to_owned),
            parts: parts.filter_map(|part| Part::read(part).ok()).collect(),
            metadata: field(artifact, "metadata").cloned(),
        })
    }

    pub fn write(&self, version: Version) -> Value {
        let mut artifact = Map::new();
        artifact.insert("artifactId".to_owned(), self.id.as_str().into());
        put(&mut artifact, "name", self.name.as_deref());
        put(&mut artifact, "description", self.description.as_deref());
        artifact.insert("parts".to_owned(), write_parts(&self.parts, version));
        put(&mut artifact, "metadata", self.metadata.clone());
        artifact.into()
    }

    /// Its words; pieces of one text follow each other without anything between.
    pub fn said(&self) -> String {
        let words = |part: &Part| match &part.content {
            Content::Text(words) => Some(words.clone()),
            _ => None,
        };
        self.parts.iter().filter_map(words).collect()
    }
}

impl Task {
    /// Reads a task of either version, wrapped or not; what of it cannot be read is left out.
    ///
    /// # Errors
    /// If it has no id or no state.
    pub fn read(task: &Value) -> Result<Self, Unreadable> {
        let task = field(task, "task").filter(|inner| inner.is_object()).unwrap_or(task);
        let status = field(task, "status").ok_or_else(|| Unreadable::new("status", "it is needed"))?;
        let all = |name| field(task, name).and_then(Value::as_array).into_iter().flatten();
        Ok(Self {
            id: needed(task, "id")?,
            context: text(task, "contextId").unwrap_or_default().to_owned(),
            status: Status::read(status).map_err(|why| why.within("status"))?,
            artifacts: all("artifacts").filter_map(|artifact| Artifact::read(artifact).ok()).collect(),
            history: all("history").filter_map(|message| Message::read(message).ok()).collect(),
            metadata: field(task, "metadata").cloned(),
        })
    }

    /// As it is given bare: by a look-up, and in 0.3 everywhere.
    pub fn write(&self, version: Version) -> Value {
        let mut task = Map::new();
        put(&mut task, "kind", (version == Version::V0_3).then_some("task"));
        task.insert("id".to_owned(), self.id.as_str().into());
        task.insert("contextId".to_owned(), self.context.as_str().into());
        task.insert("status".to_owned(), self.status.write(version));
        let artifacts: Vec<Value> = self.artifacts.iter().map(|a| a.write(version)).collect();
        put(&mut task, "artifacts", (!artifacts.is_empty()).then_some(artifacts));
        let history: Vec<Value> = self.history.iter().map(|m| m.write(version)).collect();
        put(&mut task, "history", (!history.is_empty()).then_some(history));
        put(&mut task, "metadata", self.metadata.clone());
        task.into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::a2a::Role;

    fn task() -> Task {
        let message = Message::words("m", Role::Agent, "Which one?");
        Task {
            id: "t1".into(),
            context: "c1".into(),
            status: Status {
                state: State::InputRequired,
                message: Some(message),
                timestamp: Some("2026-11-30T10:00:00.000Z".into()),
            },
            artifacts: vec![Artifact {
                id: "a1".into(),
                name: Some("reply".into()),
                description: None,
                parts: vec![Part::text("85 "), Part::text("USD")],
                metadata: None,
            }],
            history: vec![Message::words("m0", Role::User, "How much?")],
            metadata: None,
        }
    }

    #[test]
    fn a_task_is_read_as_it_is_written_wrapped_or_not() {
        for version in [Version::V0_3, Version::V1_0] {
            let written = task().write(version);
            assert_eq!(Task::read(&written), Ok(task()));
            assert_eq!(Task::read(&json!({ "task": written })), Ok(task()));
            assert_eq!(written.get("kind").is_some(), version == Version::V0_3);
        }
        assert_eq!(task().artifacts[0].said(), "85 USD");
        assert_eq!(task().status.said(), "Which one?");
    }

    #[test]
    fn every_state_is_known_by_both_its_names_and_others_are_kept_as_they_are() {
        for (state, ..) in STATES {
            for version in [Version::V0_3, Version::V1_0] {
                assert_eq!(State::read(state.write(version)), state);
            }
            assert!(!(state.is_terminal() && state.is_interrupted()), "{state:?}");
        }
        let odd = State::read("daydreaming");
        assert_eq!(odd, State::Unknown("daydreaming".into()));
        assert_eq!(
            (odd.write(Version::V0_3), odd.write(Version::V1_0)),
            ("unknown", "TASK_STATE_UNSPECIFIED")
        );
        assert!(!odd.is_final());
    }

    #[test]
    fn what_cannot_be_read_of_a_task_is_left_out_but_not_its_id_and_state() {
        let odd = json!({"id": "t", "status": {"state": "working", "message": 7},
            "artifacts": [7, {"artifactId": "a", "parts": [{"kind": "dance"}, {"text": "x"}]}], "history": "none"});
        let read = Task::read(&odd).expect("a task");
        assert_eq!((read.artifacts.len(), read.artifacts[0].said().as_str()), (1, "x"));
        for (value, field) in [
            (json!({"status": {"state": "working"}}), "id"),
            (json!({"id": "t"}), "status"),
            (json!({"id": "t", "status": {}}), "status.state"),
            (json!("t"), "status"),
        ] {
            assert_eq!(Task::read(&value).expect_err("no task").field, field, "{value}");
        }
    }
}
