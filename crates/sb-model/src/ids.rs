//! Ids: newtypes, so that one can never be passed for another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// Text that is not the id it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a valid {1}")]
pub struct BadId(pub String, pub &'static str);

/// An id of 64 random bits, printed as 16 hex digits, never with a hyphen.
macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u64);
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:016x}", self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:016x})", stringify!($name), self.0)
            }
        }
        impl FromStr for $name {
            type Err = BadId;
            fn from_str(s: &str) -> Result<Self, BadId> {
                let valid = s.len() == 16 && s.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
                let bits = if valid { u64::from_str_radix(s, 16).ok() } else { None };
                bits.map($name).ok_or_else(|| BadId(s.chars().take(40).collect(), $what))
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

hex_id!(
    /// Names one session for ever; what `trace` and `continue` take.
    SessionId,
    "session id"
);
hex_id!(
    /// Names one run of a harness.
    TurnId,
    "turn id"
);
hex_id!(
    /// Names one request of the agent for approval. People are shown its [`short`](RequestId::short)
    /// form; any unique prefix names it.
    RequestId,
    "request id"
);

impl RequestId {
    /// The first eight hex digits, as chats show it.
    pub fn short(&self) -> String {
        self.to_string()[..8].to_owned()
    }
    /// Whether what a person typed names this request: a prefix of at least four hex digits.
    pub fn is_named_by(&self, typed: &str) -> bool {
        typed.len() >= 4 && self.to_string().starts_with(&typed.to_ascii_lowercase())
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl From<&str> for $name {
            fn from(s: &str) -> Self {
                Self(s.to_owned())
            }
        }
    };
}

text_id!(
    /// One conversation: `<door or channel slug>:<profile>:<name>`, so that equal names on two ways
    /// in, or of two profiles, never meet.
    ConversationId
);
text_id!(
    /// A profile's name, as people type it: lower-case letters, digits and `-`.
    ProfileName
);
text_id!(
    /// A call's id as the harness gave it; unique within its turn.
    CallId
);
text_id!(
    /// A token's public id: eight hex digits.
    TokenId
);

text_id!(
    /// A channel's slug, as its operator named it: lower-case letters, digits and `-`.
    Slug
);
text_id!(
    /// What a platform calls one message, ours or a person's: enough to answer, edit and mark it, also after a
    /// restart. Opaque to all but its adapter.
    MessageRef
);

impl Slug {
    /// Whether the slug is one a channel may have: 1 to 40 of `a-z`, `0-9`, `-`.
    pub fn is_valid(&self) -> bool {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        (1..=40).contains(&self.0.len()) && self.0.bytes().all(allowed)
    }
}

impl ConversationId {
    /// The id of conversation `name` of `profile` on the way in called `door`.
    pub fn new(door: &str, profile: &ProfileName, name: &str) -> Self {
        Self(format!("{door}:{profile}:{name}"))
    }
    /// The profile it is with.
    pub fn profile(&self) -> ProfileName {
        ProfileName(self.0.split(':').nth(1).unwrap_or_default().to_owned())
    }
    /// The name part, as the door's user gave it.
    pub fn name(&self) -> &str {
        self.0.splitn(3, ':').nth(2).unwrap_or(&self.0)
    }
    /// Whether other agents talk here: then each message is a task, and somebody may want to be told how it stands.
    pub fn is_of_agents(&self) -> bool {
        self.0.starts_with("a2a:")
    }
}

impl ProfileName {
    /// Whether the name is one a profile may have: 1 to 64 of `a-z`, `0-9`, `-`, `_`.
    pub fn is_valid(&self) -> bool {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
        (1..=64).contains(&self.0.len()) && self.0.bytes().all(allowed)
    }
}

/// One taken message, numbered by the store in the order of taking; also its receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub i64);

/// A place in a session's log; the first entry is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub i64);

impl Seq {
    /// A place no log reaches: from it on, nothing was said.
    pub const NEVER: Seq = Seq(i64::MAX);
    /// The place after this one.
    pub fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}

/// SHA-256 of some bytes: names a blob, binds an approval to a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}
impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
impl FromStr for Digest {
    type Err = BadId;
    fn from_str(s: &str) -> Result<Self, BadId> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(s, &mut bytes).map_err(|_| BadId(s.chars().take(70).collect(), "digest"))?;
        Ok(Self(bytes))
    }
}
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}
