//! House calls, performed in the transaction that allows them: what came of one is a record of the log.
//!
//! Invariant: a payment and the record that tells of it are one commit, so neither is there without the
//! other, and a payment is never made twice: its entry names the call, and no two entries name the same.

use rusqlite::Connection;
use sb_ledger::{Entry, HouseDone, Sealed, balance, paid, payment};
use sb_model::{AccountKey, Call, Record, Timestamp, TurnId};

use super::Books;
use crate::error::{Result, StoreErrorKind};
use crate::rows;
use crate::store::Store;

impl Store {
    /// Why the house could not do this call now, whoever allowed it; none if it could, or is not asked to.
    pub fn house_cannot(&self, agent: Option<AccountKey>, call: &Call) -> Option<String> {
        let agent = agent.filter(|_| call.tool == "ledger_pay")?;
        self.look_at_ledger(|ledger| payment(ledger, agent, &call.input, String::new()).err())
            .map(|refused| refused.text)
    }
}

impl Books {
    /// Does the call for the agent, or says why not; either is a record for the log.
    pub(crate) fn perform(
        &self,
        db: &Connection,
        now: Timestamp,
        turn: TurnId,
        agent: Option<AccountKey>,
        call: &Call,
    ) -> Result<Record> {
        let HouseDone { ok, text } = match (agent, call.tool.as_str()) {
            (None, _) => no("This profile has no agent, so it has no budget either."),
            (Some(agent), "ledger_balance") => balance(&*self.caught_up(db)?, agent),
            (Some(agent), "ledger_pay") => self.pay(db, now, turn, agent, call)?,
            (Some(_), other) => no(&format!("The house has no tool {other:?}.")),
        };
        Ok(Record::Result { call: call.id.clone(), ok, text, files: Vec::new(), outside: false })
    }

    fn pay(
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

fn no(text: &str) -> HouseDone {
    HouseDone { ok: false, text: text.to_owned() }
}
