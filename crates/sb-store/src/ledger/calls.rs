//! The ledger's house calls.
//!
//! Invariant: a payment is never made twice: its entry names the call, and no two entries name the same.

use rusqlite::Connection;
use sb_ledger::{Entry, HouseDone, Sealed, balance, paid, payment};
use sb_model::{AccountKey, Call, Timestamp, TurnId};

use super::Books;
use crate::error::{Result, StoreErrorKind};
use crate::house::no;
use crate::rows;
use crate::store::Store;

impl Store {
    /// Why this payment could not be made now, whoever allowed it.
    pub(crate) fn payment_cannot(&self, agent: AccountKey, call: &Call) -> Option<String> {
        self.look_at_ledger(|ledger| payment(ledger, agent, &call.input, String::new()).err())
            .map(|refused| refused.text)
    }
}

impl Books {
    /// What an agent has left.
    pub(crate) fn balance(&self, db: &Connection, agent: AccountKey) -> Result<HouseDone> {
        Ok(balance(&*self.caught_up(db)?, agent))
    }

    /// Pays, once for each call, or says why not.
    pub(crate) fn pay(
        &self,
        db: &Connection,
        now: Timestamp,
        turn: TurnId,
        agent: AccountKey,
        call: &Call,
    ) -> Result<HouseDone> {
        let once = format!("{turn} {}", call.digest());
        if let Some(made) = made(db, &once)? {
            return Ok(paid(&*self.caught_up(db)?, &made));
        }
        let mut ledger = self.caught_up(db)?;
        let payment = match payment(&ledger, agent, &call.input, once) {
            Ok(payment) => payment,
            Err(refused) => return Ok(refused),
        };
        let key = match self.key(db, &ledger, payment.from) {
            Ok(key) => key,
            // A key that cannot be opened is told, like any other refusal; a failing disk is a failure.
            Err(why) if why.kind == StoreErrorKind::Refused => {
                return Ok(no(&format!("No payment was made. {why}")));
            }
            Err(why) => return Err(why),
        };
        let entry = self.append(db, &mut ledger, now, &key, payment.act)?;
        Ok(paid(&ledger, &entry))
    }
}

/// The payment that was made for this call already.
fn made(db: &Connection, once: &str) -> Result<Option<Entry>> {
    let mut found = db.prepare_cached("select entry, signature from ledger where once = $1")?;
    let made: Option<Sealed> = rows::first(&mut found, [once], super::sealed)?;
    Ok(made.and_then(|sealed| sealed.read().ok()))
}
