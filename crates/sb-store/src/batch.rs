//! Batches of a messenger: what came, what is kept of the rest, and how far it was read, in one transaction.
//!
//! Invariants: a batch is taken whole with its cursor or not at all, so nothing is lost and nothing is
//! read twice. A person cannot be asked to come again later, so a conversation that is full loses
//! nothing: what it gets is held, and once something is held all that follows is held too, so that it
//! is released in the order in which it came.

use rusqlite::{Connection, params};
use sb_model::{ConversationId, Inbound, Message, Slug, Timestamp};

use crate::error::Result;
use crate::inbox::{self, Kept};
use crate::intake::{self, Taken};
use crate::rows;
use crate::store::Store;

/// Messages without an ending that one conversation of a messenger may have; further ones are held.
pub const MOST_WAITING_BRIDGED: i64 = 200;

/// What a feed or a webhook brought at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Intake {
    pub channel: Slug,
    /// Which of the channel's feeds brought it.
    pub feed: String,
    /// Where to go on after it; none leaves the cursor where it is.
    pub cursor: Option<String>,
    pub events: Vec<Inbound>,
    pub kept: Vec<Kept>,
}

impl Store {
    /// Makes a batch durable in one transaction: its messages, what is kept of the rest, its cursor. One
    /// answer for each of `events`, in order. `never_wait[n]`: the message is one that is taken however
    /// much waits (`/stop`, a decision); where nothing is said, it waits like others.
    ///
    /// Whoever is answered [`Taken::Held`] asks [`release_held`](Self::release_held) whenever a message
    /// of the conversation has ended, and once right away: there may be room again by now.
    pub async fn take_batch(
        &self,
        intake: Intake,
        never_wait: Vec<bool>,
        now: Timestamp,
    ) -> Result<Vec<Taken>> {
        self.write("taking in a batch", move |db| {
            let Intake { channel, feed, cursor, events, kept } = intake;
            let never_wait = never_wait.into_iter().chain(std::iter::repeat(false));
            let taken = events
                .into_iter()
                .zip(never_wait)
                .map(|(event, never_waits)| take_one(db, &channel, event, never_waits, now))
                .collect::<Result<_>>()?;
            inbox::keep(db, &channel, &kept, now)?;
            if let Some(cursor) = cursor {
                set_cursor(db, &channel, &feed, &cursor)?;
            }
            Ok(taken)
        })
        .await
    }

    /// Takes in what is held of a conversation, the oldest first, as far as there is room. What is known
    /// by now falls out.
    pub async fn release_held(&self, of: &ConversationId, now: Timestamp) -> Result<Vec<Message>> {
        let of = of.clone();
        self.write("taking in what was held", move |db| {
            let mut room = MOST_WAITING_BRIDGED.saturating_sub(intake::unfinished(db, &of)?);
            let mut released = Vec::new();
            while room > 0 {
                let Some((number, inbound)) = inbox::first_held(db, &of)? else { break };
                inbox::forget(db, number)?;
                if intake::known(db, inbound.key.as_ref(), now)?.is_none() {
                    released.push(intake::insert(db, inbound, now)?);
                    room -= 1;
                }
            }
            Ok(released)
        })
        .await
    }

    /// Conversations of which something is held.
    pub async fn held(&self) -> Result<Vec<ConversationId>> {
        self.read("finding what is held", |db| {
            let mut found = db.prepare_cached(
                "select distinct conversation from inbox where why = 'held' and conversation is not null
                 order by conversation",
            )?;
            rows::collect(&mut found, [], |row| Ok(ConversationId(row.get(0)?)))
        })
        .await
    }

    /// Where a feed of a channel goes on.
    pub async fn cursor(&self, slug: &Slug, feed: &str) -> Result<Option<String>> {
        let (slug, feed) = (slug.clone(), feed.to_owned());
        self.read("reading a cursor", move |db| {
            let mut found =
                db.prepare_cached("select cursor from cursors where channel = $1 and feed = $2")?;
            rows::first(&mut found, [slug.as_str(), &feed], |row| Ok(row.get(0)?))
        })
        .await
    }
}

fn take_one(
    db: &Connection,
    channel: &Slug,
    event: Inbound,
    never_waits: bool,
    now: Timestamp,
) -> Result<Taken> {
    if let Some(known) = intake::known(db, event.key.as_ref(), now)? {
        return Ok(known);
    }
    if inbox::is_held(db, event.key.as_ref())? {
        return Ok(Taken::Held { first: false });
    }
    if never_waits {
        return Ok(Taken::New(intake::insert(db, event, now)?));
    }
    let first = !inbox::holds_any(db, &event.conversation)?;
    if first && intake::unfinished(db, &event.conversation)? < MOST_WAITING_BRIDGED {
        return Ok(Taken::New(intake::insert(db, event, now)?));
    }
    inbox::hold(db, channel, event, now)?;
    Ok(Taken::Held { first })
}

fn set_cursor(db: &Connection, channel: &Slug, feed: &str, cursor: &str) -> Result<()> {
    db.prepare_cached(
        "insert into cursors (channel, feed, cursor) values ($1, $2, $3)
         on conflict (channel, feed) do update set cursor = excluded.cursor",
    )?
    .execute(params![channel.as_str(), feed, cursor])?;
    Ok(())
}
