//! [`Entry`]: an act in its place in the chain; [`Sealed`]: the same as it is kept, byte for byte.
//!
//! What is signed is the text that is kept, not a second encoding of it, so every byte of it counts. An
//! entry's digest covers text and signature, and the next entry's text names it.

use sb_model::{AccountKey, Digest, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::{self, SigningKey};
use crate::verify::Flaw;
use crate::{Act, Usd};

/// Signed with the words, so that no signature of another program's passes for one of the ledger's.
const DOMAIN: &str = "switchboard ledger 1\n";
/// The longest text of an entry.
const LONGEST: usize = 4096;

/// One act in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place; the first is 1.
    pub number: u64,
    /// The digest of the entry before; of nothing, for the first.
    pub before: Digest,
    pub at: Timestamp,
    /// Who signs.
    pub by: AccountKey,
    pub act: Act,
    /// Its own digest.
    pub digest: Digest,
}

/// An entry as it is kept and given away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// JSON.
    pub entry: String,
    /// 128 hex digits.
    pub signature: String,
}

/// The text's form. `act` comes last, so that a reader sees place and signer first.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    number: u64,
    before: Digest,
    at: Timestamp,
    by: AccountKey,
    act: Act,
}

impl Entry {
    /// The chain's beginning: what the first entry follows.
    pub fn nothing() -> Digest {
        Digest::of(DOMAIN.as_bytes())
    }
    /// A payment's receipt: 16 hex digits that name it for ever.
    pub fn receipt(&self) -> Option<String> {
        matches!(self.act, Act::Paid { .. }).then(|| self.digest.to_string()[..16].to_owned())
    }
    /// The amount it moves, if it moves any.
    pub fn amount(&self) -> Option<Usd> {
        match self.act {
            Act::BroughtIn { amount } | Act::Funded { amount, .. } | Act::Paid { amount, .. } => Some(amount),
            _ => None,
        }
    }
}

impl Sealed {
    /// The act, signed into its place. The caller has it allowed before.
    pub(crate) fn sign(
        number: u64,
        before: Digest,
        at: Timestamp,
        key: &SigningKey,
        act: Act,
    ) -> Option<Self> {
        let words = Words { number, before, at, by: key.account(), act };
        let entry = serde_json::to_string(&words).ok()?;
        let signature = hex::encode(key.sign(&signed(&entry)));
        Some(Self { entry, signature })
    }

    /// Names the entry, and binds the next one to it.
    pub fn digest(&self) -> Digest {
        Digest::of(format!("{DOMAIN}{}\n{}", self.entry, self.signature).as_bytes())
    }

    /// What it says, once its signature was found to be its signer's.
    pub fn open(&self) -> Result<Entry, Flaw> {
        let entry = self.read()?;
        let mut signature = [0; 64];
        hex::decode_to_slice(&self.signature, &mut signature).map_err(|_| Flaw::Signature)?;
        let is_plain = !self.signature.bytes().any(|b| b.is_ascii_uppercase());
        match is_plain && key::is_signed(entry.by, &signed(&self.entry), &signature) {
            true => Ok(entry),
            false => Err(Flaw::Signature),
        }
    }

    /// What it says, whoever signed it.
    pub fn read(&self) -> Result<Entry, Flaw> {
        if self.entry.len() > LONGEST {
            return Err(Flaw::Unreadable);
        }
        let words: Words = serde_json::from_str(&self.entry).map_err(|_| Flaw::Unreadable)?;
        let Words { number, before, at, by, act } = words;
        Ok(Entry { number, before, at, by, act, digest: self.digest() })
    }
}

fn signed(entry: &str) -> Vec<u8> {
    [DOMAIN.as_bytes(), entry.as_bytes()].concat()
}
