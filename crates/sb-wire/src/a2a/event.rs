//! What a stream tells: the task, then each change; or one message that is all there is.

use serde_json::{Map, Value};

use super::{Artifact, Message, State, Status, Task, Unreadable, Version, field, needed, put, text};

/// One thing a stream tells, or the one answer to a message that was sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Task(Task),
    /// An answer without a task.
    Message(Message),
    Status {
        task: String,
        context: String,
        status: Status,
    },
    Artifact {
        task: String,
        context: String,
        artifact: Artifact,
        /// Its parts follow those it has already.
        append: bool,
        last: bool,
    },
}

impl Event {
    /// Reads an event of either version.
    ///
    /// # Errors
    /// If it is none that is known.
    pub fn read(event: &Value) -> Result<Self, Unreadable> {
        for (wrapper, kind) in [
            ("task", "task"),
            ("message", "message"),
            ("statusUpdate", "status-update"),
            ("artifactUpdate", "artifact-update"),
        ] {
            if let Some(inner) =
                field(event, wrapper).filter(|v| v.is_object() && event.get("kind").is_none())
            {
                return Self::of(kind, inner).map_err(|why| why.within(wrapper));
            }
        }
        match text(event, "kind") {
            Some(kind) => Self::of(kind, event),
            // Left out by some: what it is shows in what it holds.
            None if field(event, "artifact").is_some() => Self::of("artifact-update", event),
            None if field(event, "taskId").is_some() && field(event, "status").is_some() => {
                Self::of("status-update", event)
            }
            None if field(event, "status").is_some() => Self::of("task", event),
            None => Self::of("message", event),
        }
    }

    fn of(kind: &str, event: &Value) -> Result<Self, Unreadable> {
        let context = || text(event, "contextId").unwrap_or_default().to_owned();
        match kind {
            "task" => Task::read(event).map(Event::Task),
            "message" => Message::read(event).map(Event::Message),
            "status-update" => {
                let status =
                    field(event, "status").ok_or_else(|| Unreadable::new("status", "it is needed"))?;
                let status = Status::read(status).map_err(|why| why.within("status"))?;
                Ok(Event::Status { task: needed(event, "taskId")?, context: context(), status })
            }
            "artifact-update" => {
                let none = || Unreadable::new("artifact", "it is needed");
                let artifact = field(event, "artifact").ok_or_else(none)?;
                let artifact = Artifact::read(artifact).map_err(|why| why.within("artifact"))?;
                let is = |name| field(event, name).and_then(Value::as_bool).unwrap_or_default();
                let (append, last) = (is("append"), is("lastChunk"));
                Ok(Event::Artifact {
                    task: needed(event, "taskId")?,
                    context: context(),
                    artifact,
                    append,
                    last,
                })
            }
            _ => Err(Unreadable::new("kind", "it is no event that is known")),
        }
    }

    /// As a stream gives it, and in 1.0 the answer to a message too.
    pub fn write(&self, version: Version) -> Value {
        let (wrapper, kind, mut inner) = match self {
            Event::Task(task) => ("task", "task", task.write(version)),
            Event::Message(message) => ("message", "message", message.write(version)),
            Event::Status { task, context, status } => {
                let mut update = head(task, context);
                update.insert("status".to_owned(), status.write(version));
                put(&mut update, "final", (version == Version::V0_3).then(|| status.state.is_final()));
                ("statusUpdate", "status-update", update.into())
            }
            Event::Artifact { task, context, artifact, append, last } => {
                let mut update = head(task, context);
                update.insert("artifact".to_owned(), artifact.write(version));
                update.insert("append".to_owned(), (*append).into());
                update.insert("lastChunk".to_owned(), (*last).into());
                ("artifactUpdate", "artifact-update", update.into())
            }
        };
        match version {
            Version::V0_3 => {
                inner["kind"] = kind.into();
                inner
            }
            Version::V1_0 => Value::Object(Map::from_iter([(wrapper.to_owned(), inner)])),
        }
    }

    /// The state it tells, if it tells one.
    pub fn state(&self) -> Option<&State> {
        match self {
            Event::Task(task) => Some(&task.status.state),
            Event::Status { status, .. } => Some(&status.state),
            Event::Message(_) | Event::Artifact { .. } => None,
        }
    }
}

fn head(task: &str, context: &str) -> Map<String, Value> {
    Map::from_iter([("taskId".to_owned(), task.into()), ("contextId".to_owned(), context.into())])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::a2a::{Part, Role};

    fn events() -> Vec<Event> {
        let (task, context) = ("t1".to_owned(), "c1".to_owned());
        let artifact = Artifact {
            id: "a1".into(),
            name: None,
            description: None,
            parts: vec![Part::text("85 ")],
            metadata: None,
        };
        let status = Status::of(State::Completed);
        vec![
            Event::Task(Task {
                id: task.clone(),
                context: context.clone(),
                status: Status::of(State::Submitted),
                artifacts: vec![],
                history: vec![],
                metadata: None,
            }),
            Event::Message(Message::words("m", Role::Agent, "hi")),
            Event::Status { task: task.clone(), context: context.clone(), status },
            Event::Artifact { task, context, artifact, append: true, last: false },
        ]
    }

    #[test]
    fn an_event_is_read_as_it_is_written_in_either_version() {
        for version in [Version::V0_3, Version::V1_0] {
            for event in events() {
                assert_eq!(Event::read(&event.write(version)).as_ref(), Ok(&event));
            }
        }
    }

    #[test]
    fn only_the_older_version_says_which_status_is_the_last() {
        let [.., status, _] = &events()[..] else { panic!("four events") };
        assert_eq!(status.write(Version::V0_3)["final"], true);
        assert_eq!(status.write(Version::V1_0)["statusUpdate"].get("final"), None);
    }

    #[test]
    fn an_event_without_its_kind_is_known_by_what_it_holds() {
        let status = json!({"taskId": "t", "status": {"state": "working"}});
        assert!(matches!(Event::read(&status), Ok(Event::Status { .. })));
        let task = json!({"id": "t", "status": {"state": "working"}});
        assert!(matches!(Event::read(&task), Ok(Event::Task(_))));
        for odd in [json!(null), json!({}), json!({"kind": "dance"}), json!({"statusUpdate": {}})] {
            assert!(Event::read(&odd).is_err(), "{odd}");
        }
    }
}
