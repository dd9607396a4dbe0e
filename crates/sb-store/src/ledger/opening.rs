//! Reading the ledger at a start, and verifying it from its first entry.
//!
//! Where the chain leads to the end that this machine sealed, its digests vouch for every byte. Where it
//! does not, it is followed again with every signature, to name the first entry that is wrong.

use rusqlite::Connection;
use sb_ledger::{BadEntry, Entry, Ledger};
use sb_model::Digest;

use super::{Beside, END, follow};
use crate::error::{Result, StoreError, StoreErrorKind};
use crate::home::Home;
use crate::{rows, secrets};

/// What to do about a ledger that cannot be trusted.
const REMEDY: &str = "nothing was started; go back to a backup from before it was changed";

/// What is known of the chain's end.
enum End {
    /// This machine sealed it.
    Known(u64, Digest),
    /// It was sealed under another machine's key.
    Foreign,
    /// Nothing was sealed.
    None,
}

pub(super) fn is_bad(why: BadEntry) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, format!("{why}; {REMEDY}"))
}

/// The fold of what is there, if that is as it was signed.
pub(super) fn open(db: &Connection, home: &Home) -> Result<Ledger> {
    if let End::Known(number, digest) = end(db, home)? {
        let mut ledger = Ledger::new();
        let quick = follow(db, 0, |sealed, beside| {
            let entry = ledger.follow_known(&sealed).map_err(is_bad)?;
            is_same(&entry, &beside)
        });
        if quick.is_ok() && ledger.length() == number && ledger.last() == digest {
            return Ok(ledger);
        }
    }
    verify(db, home)
}

/// Follows the chain with every signature, and to the end that was sealed.
pub(super) fn verify(db: &Connection, home: &Home) -> Result<Ledger> {
    let mut ledger = Ledger::new();
    follow(db, 0, |sealed, beside| {
        let entry = ledger.follow(&sealed).map_err(is_bad)?;
        is_same(&entry, &beside)
    })?;
    match end(db, home)? {
        End::None if ledger.length() == 0 => Ok(ledger),
        End::None => Err(is_wrong("the seal of the ledger's end was taken away".to_owned())),
        End::Known(number, digest) if ledger.length() != number || ledger.last() != digest => {
            Err(is_wrong(format!(
                "entry {} of the ledger is gone: the chain ends at entry {}, but {number} were made on this machine",
                ledger.length() + 1,
                ledger.length()
            )))
        }
        End::Known(..) => Ok(ledger),
        End::Foreign => {
            tracing::warn!(
                entries = ledger.length(),
                "the ledger was kept on another machine: every signature holds, but whether entries are missing at its end cannot be told"
            );
            Ok(ledger)
        }
    }
}

fn is_same(entry: &Entry, beside: &Beside) -> Result<()> {
    match beside.says(entry) {
        true => Ok(()),
        false => Err(is_wrong(format!("the row of entry {} of the ledger was changed", entry.number))),
    }
}

fn is_wrong(what: String) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, format!("{what}; {REMEDY}"))
}

fn end(db: &Connection, home: &Home) -> Result<End> {
    let mut found = db.prepare_cached("select sealed from secrets where name = $1")?;
    let sealed: Option<String> = rows::first(&mut found, [END], |row| Ok(row.get(0)?))?;
    let Some(sealed) = sealed else { return Ok(End::None) };
    let opened = secrets::opening_key(home, END).and_then(|key| secrets::open(&key, END, &sealed));
    let Ok(words) = opened else { return Ok(End::Foreign) };
    let words = words.expose().split_once(' ').and_then(|(n, d)| Some((n.parse().ok()?, d.parse().ok()?)));
    Ok(words.map_or(End::Foreign, |(number, digest)| End::Known(number, digest)))
}
