//! What is asked: the parameters of the operations.

use serde_json::{Map, Value, json};

use super::{Message, Push, State, Unreadable, Version, field, needed, number, put, text, texts};

/// The most of a task's history that may be asked for.
const MOST_HISTORY: u64 = 1_000_000;

/// The parameters of sending a message, streamed or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Send {
    pub message: Message,
    /// The media types that are taken; empty: all.
    pub accepts: Vec<String>,
    /// Answer at once instead of when the task has ended or waits.
    pub at_once: bool,
    pub history: Option<u64>,
    pub push: Option<Push>,
}

/// The parameters of whatever is about one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub task: String,
    pub history: Option<u64>,
}

/// The parameters of a list of tasks, which only 1.0 has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListTasks {
    pub context: Option<String>,
    pub state: Option<State>,
    /// 1 to 100.
    pub page_size: u64,
    /// Empty: the first page.
    pub page_token: String,
    pub history: Option<u64>,
    /// Only tasks whose state changed at this time or later, as RFC 3339.
    pub since: Option<String>,
    pub artifacts: bool,
}

impl Send {
    /// Reads the parameters of either version.
    ///
    /// # Errors
    /// Which field is wrong, and why.
    pub fn read(params: &Value) -> Result<Self, Unreadable> {
        let message = field(params, "message").ok_or_else(|| Unreadable::new("message", "it is needed"))?;
        let message = Message::read(message).map_err(|why| why.within("message"))?;
        let nothing = Value::Null;
        let how = field(params, "configuration").unwrap_or(&nothing);
        let is = |name| field(how, name).and_then(Value::as_bool);
        let push = field(how, "taskPushNotificationConfig").or_else(|| field(how, "pushNotificationConfig"));
        let push = push.map(Push::read).transpose();
        let within = |why: Unreadable| why.within("configuration");
        Ok(Self {
            message,
            accepts: texts(how, "acceptedOutputModes"),
            at_once: is("returnImmediately").or(is("blocking").map(|waits| !waits)).unwrap_or_default(),
            history: number(how, "historyLength", 0, MOST_HISTORY).map_err(within)?,
            push: push.map_err(within)?,
        })
    }

    pub fn write(&self, version: Version) -> Value {
        let mut how = Map::new();
        put(&mut how, "acceptedOutputModes", (!self.accepts.is_empty()).then(|| self.accepts.clone()));
        match version {
            Version::V0_3 => put(&mut how, "blocking", Some(!self.at_once)),
            Version::V1_0 => put(&mut how, "returnImmediately", Some(self.at_once)),
        }
        put(&mut how, "historyLength", self.history);
        let name = match version {
            Version::V0_3 => "pushNotificationConfig",
            Version::V1_0 => "taskPushNotificationConfig",
        };
        put(&mut how, name, self.push.as_ref().map(|push| push.write_bare(version)));
        json!({"message": self.message.write(version), "configuration": how})
    }
}

impl Query {
    /// About a task, with as much of its history as the other side likes.
    pub fn of(task: impl Into<String>) -> Self {
        Self { task: task.into(), history: None }
    }

    /// Reads the parameters of either version.
    ///
    /// # Errors
    /// Which field is wrong, and why.
    pub fn read(params: &Value) -> Result<Self, Unreadable> {
        Ok(Self { task: needed(params, "id")?, history: number(params, "historyLength", 0, MOST_HISTORY)? })
    }

    pub fn write(&self) -> Value {
        let mut params = Map::new();
        params.insert("id".to_owned(), self.task.as_str().into());
        put(&mut params, "historyLength", self.history);
        params.into()
    }
}

impl ListTasks {
    /// Reads the parameters.
    ///
    /// # Errors
    /// Which field is wrong, and why.
    pub fn read(params: &Value) -> Result<Self, Unreadable> {
        let state = match text(params, "status").map(State::read) {
            // The first of the schema's values means that none was chosen.
            Some(State::Unknown(name)) if name == "TASK_STATE_UNSPECIFIED" => None,
            Some(State::Unknown(_)) => return Err(Unreadable::new("status", "it is no state that is known")),
            state => state,
        };
        Ok(Self {
            context: text(params, "contextId").map(str::to_owned),
            state,
            page_size: number(params, "pageSize", 1, 100)?.unwrap_or(50),
            page_token: text(params, "pageToken").unwrap_or_default().to_owned(),
            history: number(params, "historyLength", 0, MOST_HISTORY)?,
            since: text(params, "statusTimestampAfter").map(str::to_owned),
            artifacts: field(params, "includeArtifacts").and_then(Value::as_bool).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::Role;

    #[test]
    fn what_is_sent_is_read_as_it_is_written() {
        let send = Send {
            message: Message::words("m", Role::User, "hi"),
            accepts: vec!["text/plain".into()],
            at_once: true,
            history: Some(0),
            push: Some(Push { url: "https://x/hook".into(), ..Push::default() }),
        };
        for version in [Version::V0_3, Version::V1_0] {
            assert_eq!(Send::read(&send.write(version)).as_ref(), Ok(&send));
        }
        let bare = json!({"message": send.message.write(Version::V1_0)});
        let read = Send::read(&bare).expect("enough");
        assert_eq!((read.at_once, read.history, read.push), (false, None, None));
        assert_eq!(Query::read(&Query::of("t").write()), Ok(Query::of("t")));
    }

    #[test]
    fn what_is_wrong_with_it_is_named() {
        let message = Message::words("m", Role::User, "hi").write(Version::V1_0);
        for (params, field) in [
            (json!({}), "message"),
            (json!({"message": {}}), "message.role"),
            (
                json!({"message": message, "configuration": {"historyLength": -1}}),
                "configuration.historyLength",
            ),
            (
                json!({"message": message, "configuration": {"pushNotificationConfig": {}}}),
                "configuration.url",
            ),
        ] {
            assert_eq!(Send::read(&params).expect_err("wrong").field, field, "{params}");
        }
        for (params, field) in [
            (json!({"pageSize": 0}), "pageSize"),
            (json!({"pageSize": 101}), "pageSize"),
            (json!({"status": "daydreaming"}), "status"),
            (json!({"historyLength": 1.5}), "historyLength"),
        ] {
            assert_eq!(ListTasks::read(&params).expect_err("wrong").field, field, "{params}");
        }
        assert_eq!(ListTasks::read(&Value::Null).map(|l| l.page_size), Ok(50));
    }
}
