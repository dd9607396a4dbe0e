//! The two wire versions, and what each calls the operations.

/// A version of the wire; a patch number says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V0_3,
    V1_0,
}

impl Version {
    /// As a header names it.
    pub fn name(self) -> &'static str {
        match self {
            Version::V0_3 => "0.3",
            Version::V1_0 => "1.0",
        }
    }

    /// Reads `1.0`, `1.0.1`, `0.3.0`; none: a version that is not spoken here.
    pub fn read(text: &str) -> Option<Version> {
        let mut numbers = text.trim().split('.').map(str::parse::<u16>);
        match (numbers.next()?.ok()?, numbers.next()?.ok()?) {
            (0, 3) => Some(Version::V0_3),
            (1, 0) => Some(Version::V1_0),
            _ => None,
        }
    }
}

/// What may be asked of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Follow,
    PushSet,
    PushGet,
    PushList,
    PushDelete,
    ExtendedCard,
}

/// Each with its names in 0.3 and in 1.0; empty: that version has it not.
const NAMES: [(Operation, &str, &str); 11] = [
    (Operation::Send, "message/send", "SendMessage"),
    (Operation::Stream, "message/stream", "SendStreamingMessage"),
    (Operation::Get, "tasks/get", "GetTask"),
    (Operation::List, "", "ListTasks"),
    (Operation::Cancel, "tasks/cancel", "CancelTask"),
    (Operation::Follow, "tasks/resubscribe", "SubscribeToTask"),
    (Operation::PushSet, "tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"),
    (Operation::PushGet, "tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"),
    (Operation::PushList, "tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"),
    (Operation::PushDelete, "tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"),
    (Operation::ExtendedCard, "agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"),
];

impl Operation {
    /// What a method's name means, and whose name it is; the versions' names never overlap.
    pub fn named(method: &str) -> Option<(Operation, Version)> {
        let known = |(operation, old, new): &(Operation, &str, &str)| match method {
            "" => None,
            m if m == *old => Some((*operation, Version::V0_3)),
            m if m == *new => Some((*operation, Version::V1_0)),
            _ => None,
        };
        NAMES.iter().find_map(known)
    }

    /// Its name in a version; none: it has none there.
    pub fn method(self, version: Version) -> Option<&'static str> {
        let (_, old, new) = NAMES.iter().find(|(operation, ..)| *operation == self)?;
        let name = match version {
            Version::V0_3 => old,
            Version::V1_0 => new,
        };
        Some(*name).filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_known_by_its_first_two_numbers() {
        for (text, version) in [
            ("0.3", Version::V0_3),
            ("0.3.0", Version::V0_3),
            (" 1.0 ", Version::V1_0),
            ("1.0.1", Version::V1_0),
        ] {
            assert_eq!(Version::read(text), Some(version), "{text}");
        }
        for odd in ["", "1", "0.5", "2.0", "9.9", "1.x", "v1.0"] {
            assert_eq!(Version::read(odd), None, "{odd}");
        }
    }

    #[test]
    fn every_name_leads_back_to_its_operation_and_version() {
        for (operation, ..) in NAMES {
            for version in [Version::V0_3, Version::V1_0] {
                if let Some(name) = operation.method(version) {
                    assert_eq!(Operation::named(name), Some((operation, version)), "{name}");
                }
            }
        }
        assert_eq!(Operation::List.method(Version::V0_3), None);
        for odd in ["", "message/Send", "tasks", "sendMessage"] {
            assert_eq!(Operation::named(odd), None, "{odd}");
        }
    }
}
