//! Following a chain from its first entry, and naming the first that is not as it was signed.

use std::collections::HashSet;

use sb_model::Digest;

use crate::{Entry, Ledger, Refused, Sealed};

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("it cannot be read: it was changed, or a newer switchboard wrote it")]
    Unreadable,
    #[error("its signature is not its signer's: its words, its signer or its signature were changed")]
    Signature,
    #[error("it says that it is entry {0}: one was taken out, put in or moved")]
    Place(u64),
    #[error("it does not follow the entry before it: that one was changed, or one was taken out or put in")]
    Before,
    #[error("it is older than the entry before it")]
    Older,
    #[error("it could not have been done: {0}")]
    Act(Refused),
    #[error("it makes a payment for the second time")]
    Twice,
}

/// The first entry that is not as it was signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {number} of the ledger is not as it was signed: {flaw}")]
pub struct BadEntry {
    pub number: u64,
    pub flaw: Flaw,
}

impl Ledger {
    /// Adds the next entry of a chain, if it is what was signed and could be done then.
    pub fn follow(&mut self, sealed: &Sealed) -> Result<Entry, BadEntry> {
        let entry = sealed.open().map_err(|flaw| BadEntry { number: self.length() + 1, flaw })?;
        self.take(entry)
    }

    /// As [`follow`](Self::follow), without looking at the signature: for a chain whose last digest is
    /// known to be the right one, which vouches for every byte before it.
    pub fn follow_known(&mut self, sealed: &Sealed) -> Result<Entry, BadEntry> {
        let entry = sealed.read().map_err(|flaw| BadEntry { number: self.length() + 1, flaw })?;
        self.take(entry)
    }

    fn take(&mut self, entry: Entry) -> Result<Entry, BadEntry> {
        let number = self.length() + 1;
        let bad = |flaw| BadEntry { number, flaw };
        if entry.number != number {
            return Err(bad(Flaw::Place(entry.number)));
        }
        if entry.before != self.last() {
            return Err(bad(Flaw::Before));
        }
        if entry.at < self.at() {
            return Err(bad(Flaw::Older));
        }
        self.allow(entry.by, &entry.act).map_err(|why| bad(Flaw::Act(why)))?;
        self.add(&entry);
        Ok(entry)
    }

    /// Follows a whole chain.
    pub fn of<'a>(chain: impl IntoIterator<Item = &'a Sealed>) -> Result<Self, BadEntry> {
        let (mut ledger, mut made) = (Self::new(), HashSet::new());
        for sealed in chain {
            let entry = ledger.follow(sealed)?;
            if entry.act.once().is_some_and(|once| !made.insert(Digest::of(once.as_bytes()))) {
                return Err(BadEntry { number: entry.number, flaw: Flaw::Twice });
            }
        }
        Ok(ledger)
    }
}

#[cfg(test)]
mod tests {
    use sb_model::Timestamp;

    use super::*;
    use crate::{Act, SigningKey, Sort};

    #[test]
    fn what_was_well_signed_and_could_not_be_done_is_found() {
        let (alice, bob) = (SigningKey::of(&[1; 32]), SigningKey::of(&[2; 32]));
        let (mut ledger, mut chain) = (Ledger::new(), Vec::new());
        for (key, name) in [(&alice, "alice"), (&bob, "bob")] {
            let (account, name) = (key.account(), name.to_owned());
            let act = Act::Opened { account, name, sort: Sort::Person, parent: None };
            chain.push(ledger.append(Timestamp(1), key, act).expect("allowed").0);
        }
        let paid = |amount: &str, once: &str| Act::Paid {
            to: bob.account(),
            amount: amount.parse().expect("an amount"),
            purpose: "cake".into(),
            once: Some(once.into()),
        };
        let forged = |ledger: &Ledger, at, act| {
            Sealed::sign(ledger.length() + 1, ledger.last(), Timestamp(at), &alice, act).expect("signed")
        };
        let flaw = |chain: &[Sealed], last| Ledger::of(chain.iter().chain([&last])).expect_err("found").flaw;
        assert!(matches!(flaw(&chain, forged(&ledger, 1, paid("1", "a"))), Flaw::Act(_)));
        let brought = Act::BroughtIn { amount: "9".parse().expect("an amount") };
        assert_eq!(flaw(&chain, forged(&ledger, 0, brought.clone())), Flaw::Older);
        chain.push(ledger.append(Timestamp(1), &alice, brought).expect("allowed").0);
        chain.push(ledger.append(Timestamp(1), &alice, paid("1", "a")).expect("allowed").0);
        assert_eq!(flaw(&chain, forged(&ledger, 1, paid("1", "a"))), Flaw::Twice);
        let other = forged(&ledger, 1, paid("1", "b"));
        assert!(Ledger::of(chain.iter().chain([&other])).is_ok());
    }
}
