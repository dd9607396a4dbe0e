//! What the protocol's errors mean, and how each version writes them.

use serde_json::{Value, json};

use super::{Unreadable, Version};
use crate::jsonrpc::{BAD_PARAMS, Failure};

/// The protocol's own errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    TaskNotFound,
    TaskNotCancelable,
    PushNotSupported,
    UnsupportedOperation,
    ContentTypeNotSupported,
    InvalidAgentResponse,
    NoExtendedCard,
    ExtensionRequired,
    VersionNotSupported,
}

const CODES: [(Code, i64, &str); 9] = [
    (Code::TaskNotFound, -32001, "TASK_NOT_FOUND"),
    (Code::TaskNotCancelable, -32002, "TASK_NOT_CANCELABLE"),
    (Code::PushNotSupported, -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    (Code::UnsupportedOperation, -32004, "UNSUPPORTED_OPERATION"),
    (Code::ContentTypeNotSupported, -32005, "CONTENT_TYPE_NOT_SUPPORTED"),
    (Code::InvalidAgentResponse, -32006, "INVALID_AGENT_RESPONSE"),
    (Code::NoExtendedCard, -32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    (Code::ExtensionRequired, -32008, "EXTENSION_SUPPORT_REQUIRED"),
    (Code::VersionNotSupported, -32009, "VERSION_NOT_SUPPORTED"),
];

impl Code {
    /// Its number on the wire.
    pub fn number(self) -> i64 {
        self.row().1
    }

    /// What a number means; none: it is JSON-RPC's own, or nobody's.
    pub fn of(number: i64) -> Option<Code> {
        CODES.iter().find(|(_, known, _)| *known == number).map(|(code, ..)| *code)
    }

    fn row(self) -> &'static (Code, i64, &'static str) {
        CODES.iter().find(|(code, ..)| *code == self).unwrap_or(&CODES[0])
    }
}

/// An error of the protocol's; `about` are facts such as the task's id.
pub fn failure(code: Code, message: impl Into<String>, about: &[(&str, &str)], version: Version) -> Failure {
    let (_, number, reason) = code.row();
    let data = match version {
        Version::V0_3 => Value::Null,
        Version::V1_0 => {
            let facts: serde_json::Map<String, Value> =
                about.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
            json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason,
                "domain": "a2a-protocol.org", "metadata": facts}])
        }
    };
    Failure { data, ..Failure::new(*number, message) }
}

/// The error that says which parameter is wrong.
pub fn names_field(wrong: &Unreadable, version: Version) -> Failure {
    let data = match version {
        Version::V0_3 => Value::Null,
        Version::V1_0 => json!([{"@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": wrong.field, "description": wrong.why}]}]),
    };
    Failure { data, ..Failure::new(BAD_PARAMS, wrong.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_known_by_its_number() {
        for (code, number, _) in CODES {
            assert_eq!((code.number(), Code::of(number)), (number, Some(code)));
        }
        assert_eq!(Code::of(-32603), None);
    }

    #[test]
    fn the_newer_version_says_the_reason_in_the_form_machines_read() {
        let failed =
            failure(Code::TaskNotFound, "There is no such task.", &[("taskId", "t9")], Version::V1_0);
        assert_eq!(failed.code, -32001);
        assert_eq!(failed.data[0]["reason"], "TASK_NOT_FOUND");
        assert_eq!(failed.data[0]["metadata"]["taskId"], "t9");
        assert!(failure(Code::TaskNotFound, "x", &[], Version::V0_3).data.is_null());
        let wrong = Unreadable::new("historyLength", "it is a whole number");
        assert_eq!(
            names_field(&wrong, Version::V1_0).data[0]["fieldViolations"][0]["field"],
            "historyLength"
        );
        assert_eq!(names_field(&wrong, Version::V0_3).code, BAD_PARAMS);
    }
}
