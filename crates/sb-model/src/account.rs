//! [`AccountKey`]: who an account of the ledger is. Its public key is its name for ever.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::BadId;

/// An Ed25519 public key, printed as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountKey(pub [u8; 32]);

impl AccountKey {
    /// The first eight hex digits, for people; where it must be exact, the whole key is printed.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..4])
    }
}

impl fmt::Display for AccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}
impl fmt::Debug for AccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AccountKey({})", self.short())
    }
}
impl FromStr for AccountKey {
    type Err = BadId;
    fn from_str(s: &str) -> Result<Self, BadId> {
        let mut bytes = [0; 32];
        let lower = !s.bytes().any(|b| b.is_ascii_uppercase());
        match hex::decode_to_slice(s, &mut bytes) {
            Ok(()) if lower => Ok(Self(bytes)),
            _ => Err(BadId(s.chars().take(70).collect(), "account key")),
        }
    }
}
impl Serialize for AccountKey {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for AccountKey {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}
