//! What senders used of a profile in a day: added to by commits, read when they write again.
//!
//! Bounded: yesterday's rows go with the first one of a new day.

use rusqlite::{Connection, params};
use sb_model::{ConversationId, Principal, ProfileName, Timestamp, Usage};

use crate::error::Result;
use crate::rows;
use crate::store::Store;

const DAY_MS: i64 = 86_400_000;

impl Store {
    /// What somebody used of a profile on the day of `now`. Tokens read and written are told as read.
    pub async fn spent(&self, profile: &ProfileName, by: &Principal, now: Timestamp) -> Result<Usage> {
        let (profile, by) = (profile.clone(), by.clone());
        self.read("reading what somebody used", move |db| {
            let mut found = db.prepare_cached(
                "select tokens, cost_micros, tools from spent where profile = $1 and sender = $2 and day = $3",
            )?;
            let of = params![profile.as_str(), by.0, day(now)];
            let used = rows::first(&mut found, of, |row| {
                let number = |at| -> Result<u64> { Ok(row.get::<_, i64>(at)?.unsigned_abs()) };
                let (input, cost_micros, tools) = (number(0)?, number(1)?, number(2)?);
                Ok(Usage { input, cost_micros, tools, ..Usage::default() })
            })?;
            Ok(used.unwrap_or_default())
        })
        .await
    }
}

/// Adds to what somebody used today.
pub(crate) fn add(
    db: &Connection,
    of: &ConversationId,
    by: &Principal,
    at: Timestamp,
    used: &Usage,
) -> Result<()> {
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    db.prepare_cached("delete from spent where day < $1")?.execute([day(at)])?;
    db.prepare_cached(
        "insert into spent (profile, sender, day, tokens, cost_micros, tools)
         select profile, $1, $2, $3, $4, $5 from conversations where id = $6
         on conflict (profile, sender, day) do update
         set tokens = spent.tokens + excluded.tokens, cost_micros = spent.cost_micros + excluded.cost_micros,
             tools = spent.tools + excluded.tools",
    )?
    .execute(params![
        by.0,
        day(at),
        number(used.input.saturating_add(used.output)),
        number(used.cost_micros),
        number(used.tools),
        of.as_str(),
    ])?;
    Ok(())
}

fn day(at: Timestamp) -> i64 {
    at.0.div_euclid(DAY_MS)
}
