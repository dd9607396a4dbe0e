//! The ledger in the store: its entries as rows, the keys as secrets, and what the rows add up to in memory.
//!
//! An entry is appended within the transaction of whatever allows it, after the fold has caught up with the
//! rows that this very transaction sees. So the fold may run ahead of a transaction that then fails; it
//! knows itself by its last digest, and is folded anew when the rows have another one there.
//!
//! The end of the chain is sealed under the machine's key with every entry. At a start it vouches for all
//! before it, so that signatures need not be looked at again, and shows when entries were cut off.

mod acts;
mod calls;
mod opening;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use sb_ledger::{Act, Entry, Ledger, Refused, Sealed, SigningKey};
use sb_model::{AccountKey, Digest, Secret, Timestamp};

pub use acts::{NewAccount, OPERATOR};

use crate::error::{Result, StoreError, StoreErrorKind};
use crate::home::Home;
use crate::rows;
use crate::secrets::{self, keep, opening_key, seal, sealing_key};
use crate::store::Store;

/// Under which name the chain's end is sealed.
const END: &str = "ledger/end";

/// The fold of the rows, and what it takes to add to them.
pub(crate) struct Books {
    ledger: Mutex<Ledger>,
    home: Home,
}

impl From<Refused> for StoreError {
    fn from(why: Refused) -> Self {
        Self::new(StoreErrorKind::Refused, why.to_string())
    }
}

impl Books {
    /// Folds what is there; `Corrupt` if it is not as it was signed.
    pub(crate) fn open(db: &Connection, home: &Home) -> Result<Arc<Self>> {
        let ledger = Mutex::new(opening::open(db, home)?);
        Ok(Arc::new(Self { ledger, home: home.clone() }))
    }

    /// The fold as it is now.
    fn now(&self) -> MutexGuard<'_, Ledger> {
        // Whatever panicked left a fold that knows itself by its last digest.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fold of exactly the rows that `db` sees.
    fn caught_up(&self, db: &Connection) -> Result<MutexGuard<'_, Ledger>> {
        let mut ledger = self.now();
        if ledger.length() > 0 && digest_at(db, ledger.length())? != Some(ledger.last()) {
            *ledger = Ledger::new();
        }
        follow(db, ledger.length(), |sealed, _| {
            ledger.follow_known(&sealed).map(drop).map_err(opening::is_bad)
        })?;
        Ok(ledger)
    }

    /// Signs an act and appends it, in the transaction under way.
    fn sign(&self, db: &Connection, now: Timestamp, by: AccountKey, act: Act) -> Result<Entry> {
        let mut ledger = self.caught_up(db)?;
        ledger.allow(by, &act)?;
        let key = self.key(db, &ledger, by)?;
        self.append(db, &mut ledger, now, &key, act)
    }

    fn append(
        &self,
        db: &Connection,
        ledger: &mut Ledger,
        now: Timestamp,
        key: &SigningKey,
        act: Act,
    ) -> Result<Entry> {
        let (sealed, entry) = ledger.append(now, key, act)?;
        db.prepare_cached(
            "insert into ledger (number, entry, signature, digest, once) values ($1, $2, $3, $4, $5)",
        )?
        .execute(rusqlite::params![
            place(entry.number),
            sealed.entry,
            sealed.signature,
            entry.digest.to_string(),
            entry.act.once(),
        ])?;
        let end = Secret::new(format!("{} {}", entry.number, entry.digest));
        keep(db, END, Some(&seal(&sealing_key(&self.home)?, END, &end)?))?;
        Ok(entry)
    }

    /// What an account signs with; none of it leaves this crate.
    fn key(&self, db: &Connection, ledger: &Ledger, of: AccountKey) -> Result<SigningKey> {
        let name = key_name(of);
        let mut found = db.prepare_cached("select sealed from secrets where name = $1")?;
        let sealed: Option<String> = rows::first(&mut found, [&name], |row| Ok(row.get(0)?))?;
        let who = ledger.account(of).map_or_else(|| of.short(), |a| a.name.clone());
        let Some(sealed) = sealed else {
            return Err(refused(format!("The key of {who} is not on this machine, so it cannot sign here.")));
        };
        let opened = opening_key(&self.home, &name).and_then(|key| secrets::open(&key, &name, &sealed));
        let key = opened.ok().as_ref().and_then(SigningKey::open).filter(|key| key.account() == of);
        key.ok_or_else(|| {
            refused(format!(
                "The key of {who} was sealed on another machine, so it cannot sign here: bring the machine.key it was sealed with into this home."
            ))
        })
    }
}

impl Store {
    /// Looks at the ledger as it is now. Does not block but for another such look.
    pub fn look_at_ledger<T>(&self, look: impl FnOnce(&Ledger) -> T) -> T {
        look(&self.books().now())
    }

    /// The entries after number `after`, as they were signed.
    pub async fn ledger_entries(&self, after: u64, most: usize) -> Result<Vec<Sealed>> {
        self.read("reading the ledger", move |db| {
            let mut found = db.prepare_cached(
                "select entry, signature from ledger where number > $1 order by number limit $2",
            )?;
            rows::collect(&mut found, (place(after), i64::try_from(most).unwrap_or(i64::MAX)), sealed)
        })
        .await
    }

    /// Follows the whole chain anew, every signature: how many entries there are. `Corrupt` names the first
    /// that is not as it was signed.
    pub async fn verify_ledger(&self) -> Result<u64> {
        let home = self.home().clone();
        self.read("verifying the ledger", move |db| Ok(opening::verify(db, &home)?.length())).await
    }
}

/// The name of a private key among the secrets.
fn key_name(of: AccountKey) -> String {
    format!("ledger/key/{of}")
}

fn refused(said: String) -> StoreError {
    StoreError::new(StoreErrorKind::Refused, said)
}

/// A number as its column holds it.
fn place(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn sealed(row: &rusqlite::Row<'_>) -> Result<Sealed> {
    Ok(Sealed { entry: row.get(0)?, signature: row.get(1)? })
}

fn digest_at(db: &Connection, number: u64) -> Result<Option<Digest>> {
    let mut found = db.prepare_cached("select digest from ledger where number = $1")?;
    rows::first(&mut found, [place(number)], |row| rows::id(row, 0))
}

/// The columns beside an entry's text: there to be found by, and to say what the text says.
struct Beside {
    number: i64,
    digest: String,
    once: Option<String>,
}

impl Beside {
    fn says(&self, entry: &Entry) -> bool {
        self.number == place(entry.number)
            && self.digest == entry.digest.to_string()
            && self.once.as_deref() == entry.act.once()
    }
}

/// Hands on the rows after `after`, one by one.
fn follow(db: &Connection, after: u64, mut each: impl FnMut(Sealed, Beside) -> Result<()>) -> Result<()> {
    let mut found = db.prepare_cached(
        "select entry, signature, number, digest, once from ledger where number > $1 order by number",
    )?;
    let mut rows = found.query([place(after)])?;
    while let Some(row) = rows.next()? {
        let beside = Beside { number: row.get(2)?, digest: row.get(3)?, once: row.get(4)? };
        each(sealed(row)?, beside)?;
    }
    Ok(())
}
