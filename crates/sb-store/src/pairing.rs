//! Pairing: a stranger is shown a code, an operator approves it, the stranger is a guest.
//!
//! Invariants: a code is used once, in the transaction that lets its person in. It lives an hour, and a
//! channel has three at most, so that strangers cannot fill anything. Ten wrong guesses close approving
//! for the rest of their hour: of 2^40 codes that leaves nothing to find by guessing.

use rusqlite::{Connection, Row, params};
use sb_model::{Chat, Dice, Guest, Pairing, Slug, Timestamp};

use crate::error::{Result, StoreError};
use crate::people;
use crate::rows::{self, json};
use crate::store::Store;

/// 32 characters nobody mistakes for one another: without `0`, `O`, `1` and `I`.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH: u32 = 8;
const HOUR_MS: i64 = 3_600_000;
/// Codes of one channel at a time.
const MOST_OPEN: i64 = 3;
/// Wrong codes within an hour.
const MOST_WRONG: u32 = 10;

/// What somebody who asks to be let in gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairingOffer {
    New(Pairing),
    /// They asked before; that code still lives.
    Again(Pairing),
    /// Too many others ask already.
    TooMany,
}

/// What became of a code that was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairingAnswer {
    LetIn(Guest),
    /// Nobody was shown this code, or it is too old; `left`: guesses left in this hour.
    NoSuchCode {
        left: u32,
    },
    /// Too many wrong codes; no code is looked at before.
    Closed {
        until: Timestamp,
    },
}

const COLUMNS: &str = "channel, code, id, name, chat, asked, until";

impl Store {
    /// Offers a code to somebody who is not let in, to be shown in their direct chat.
    pub async fn offer_pairing(
        &self,
        channel: &Slug,
        id: &str,
        name: &str,
        chat: &Chat,
        now: Timestamp,
        dice: &dyn Dice,
    ) -> Result<PairingOffer> {
        // A second one serves where the first is taken.
        let codes = [dice.roll(), dice.roll(), dice.roll()].map(code);
        let asks = Pairing {
            channel: channel.clone(),
            code: String::new(),
            id: id.to_owned(),
            name: name.to_owned(),
            chat: chat.clone(),
            asked: now,
            until: now.plus_ms(HOUR_MS),
        };
        self.write("offering a pairing", move |db| offer(db, asks, codes)).await
    }

    /// The codes that live, the oldest first.
    pub async fn pairings(&self, now: Timestamp) -> Result<Vec<Pairing>> {
        self.read("listing pairings", move |db| {
            let sql = format!("select {COLUMNS} from pairings where until > $1 order by asked, code");
            rows::collect(&mut *db.prepare_cached(&sql)?, [now.0], pairing)
        })
        .await
    }

    /// Lets in whoever was shown the code, of this channel or of any. Case and blanks around it do not
    /// matter.
    pub async fn approve_pairing(
        &self,
        code: &str,
        channel: Option<&Slug>,
        now: Timestamp,
    ) -> Result<PairingAnswer> {
        let (code, channel) = (typed(code), channel.cloned());
        self.write("approving a pairing", move |db| approve(db, &code, channel.as_ref(), now)).await
    }

    /// Withdraws a code; whether there was one.
    pub async fn revoke_pairing(&self, code: &str) -> Result<bool> {
        let code = typed(code);
        self.write("withdrawing a pairing", move |db| {
            Ok(db.prepare_cached("delete from pairings where code = $1")?.execute([code])? > 0)
        })
        .await
    }
}

/// Eight characters of five bits each.
fn code(bits: u64) -> String {
    (0..LENGTH).map(|n| char::from(ALPHABET[(bits >> (5 * n) & 31) as usize])).collect()
}

fn typed(code: &str) -> String {
    code.trim().to_ascii_uppercase()
}

fn offer(db: &Connection, asks: Pairing, codes: [String; 3]) -> Result<PairingOffer> {
    db.prepare_cached("delete from pairings where until <= $1")?.execute([asks.asked.0])?;
    let sql = format!("select {COLUMNS} from pairings where channel = $1 and id = $2");
    let before = rows::first(&mut *db.prepare_cached(&sql)?, [asks.channel.as_str(), &asks.id], pairing)?;
    if let Some(before) = before {
        return Ok(PairingOffer::Again(before));
    }
    let open: i64 = db
        .prepare_cached("select count(*) from pairings where channel = $1")?
        .query_row([asks.channel.as_str()], |row| row.get(0))?;
    if open >= MOST_OPEN {
        return Ok(PairingOffer::TooMany);
    }
    let code = free(db, codes)?;
    db.prepare_cached(
        "insert into pairings (channel, code, id, name, chat, asked, until)
         values ($1, $2, $3, $4, $5, $6, $7)",
    )?
    .execute(params![
        asks.channel.as_str(),
        code,
        asks.id,
        asks.name,
        json(&asks.chat)?,
        asks.asked.0,
        asks.until.0,
    ])?;
    Ok(PairingOffer::New(Pairing { code, ..asks }))
}

fn free(db: &Connection, codes: [String; 3]) -> Result<String> {
    let mut taken = db.prepare_cached("select 1 from pairings where code = $1")?;
    for code in codes {
        if !taken.exists([&code])? {
            return Ok(code);
        }
    }
    Err(StoreError::contradiction("three codes in a row are taken"))
}

fn approve(db: &Connection, code: &str, channel: Option<&Slug>, now: Timestamp) -> Result<PairingAnswer> {
    let (since, wrong) = guesses(db, now)?;
    if wrong >= MOST_WRONG {
        return Ok(PairingAnswer::Closed { until: since.plus_ms(HOUR_MS) });
    }
    let sql = format!(
        "select {COLUMNS} from pairings
         where code = $1 and until > $2 and ($3 is null or channel = $3)"
    );
    let of = params![code, now.0, channel.map(Slug::as_str)];
    let Some(found) = rows::first(&mut *db.prepare_cached(&sql)?, of, pairing)? else {
        let wrong = wrong + 1;
        note_guesses(db, since, wrong)?;
        return Ok(PairingAnswer::NoSuchCode { left: MOST_WRONG - wrong });
    };
    let Pairing { channel, id, name, .. } = found;
    let guest = Guest { channel, id, name, since: now };
    people::let_in(db, &guest)?;
    Ok(PairingAnswer::LetIn(guest))
}

/// When the present hour of guessing began, and how many were wrong in it.
fn guesses(db: &Connection, now: Timestamp) -> Result<(Timestamp, u32)> {
    let mut found = db.prepare_cached("select since, wrong from guesses where at_what = 'pairing'")?;
    let noted = rows::first(&mut found, [], |row| Ok((Timestamp(row.get(0)?), row.get(1)?)))?;
    Ok(noted.filter(|(since, _)| *since <= now && now.ms_since(*since) < HOUR_MS).unwrap_or((now, 0)))
}

fn note_guesses(db: &Connection, since: Timestamp, wrong: u32) -> Result<()> {
    db.prepare_cached(
        "insert into guesses (at_what, since, wrong) values ('pairing', $1, $2)
         on conflict (at_what) do update set since = excluded.since, wrong = excluded.wrong",
    )?
    .execute(params![since.0, wrong])?;
    Ok(())
}

fn pairing(row: &Row<'_>) -> Result<Pairing> {
    Ok(Pairing {
        channel: Slug(row.get(0)?),
        code: row.get(1)?,
        id: row.get(2)?,
        name: row.get(3)?,
        chat: rows::parsed(row, 4)?,
        asked: Timestamp(row.get(5)?),
        until: Timestamp(row.get(6)?),
    })
}
