//! House calls, performed in the transaction that allows them: what came of one is a record of the log.
//!
//! Invariant: what a call does and the record that tells of it are one commit, so neither is there without
//! the other, and nothing is done twice.

use rusqlite::{Connection, params};
use sb_ledger::HouseDone;
use sb_model::text::one_line;
use sb_model::{
    AccountKey, Address, Call, ConversationId, Origin, Post, PostKey, ProfileName, Record, Timestamp, TurnId,
};

use crate::error::Result;
use crate::jobs::{self, ConversationPlace};
use crate::ledger::Books;
use crate::posting;
use crate::rows;
use crate::store::Store;

/// Conversations that are named where none of the name asked for is.
const NAMED: i64 = 20;
/// Messages of one conversation that its agent is still to be told of.
const MOST_NOTED: i64 = 20;
/// Characters that it is told of each.
const SHOWN: usize = 1_000;
/// The longest message that is sent so, in bytes.
const LONGEST: usize = 32 * 1024;

/// A call, whose it is, and where it stands.
pub(crate) struct HouseCall<'a> {
    pub now: Timestamp,
    pub conversation: &'a ConversationId,
    pub turn: TurnId,
    pub agent: Option<AccountKey>,
    pub call: &'a Call,
}

impl Store {
    /// Why the house could not do this call now, whoever allowed it; none if it could, or is not asked to.
    pub async fn house_cannot(
        &self,
        profile: &ProfileName,
        agent: Option<AccountKey>,
        call: &Call,
    ) -> Result<Option<String>> {
        match call.tool.as_str() {
            "ledger_pay" => Ok(agent.and_then(|agent| self.payment_cannot(agent, call))),
            "send_message" => {
                let (profile, call) = (profile.clone(), call.clone());
                self.read("finding where to write", move |db| Ok(to_send(db, &profile, &call)?.err())).await
            }
            _ => Ok(None),
        }
    }
}

/// Does the call, or says why not; either is a record for the log.
pub(crate) fn perform(db: &Connection, books: &Books, of: &HouseCall<'_>) -> Result<Record> {
    let HouseDone { ok, text } = match (of.agent, of.call.tool.as_str()) {
        (_, "send_message") => send(db, of)?,
        (None, _) => no("This profile has no agent, so it has no budget either."),
        (Some(agent), "ledger_balance") => books.balance(db, agent)?,
        (Some(agent), "ledger_pay") => books.pay(db, of.now, of.turn, agent, of.call)?,
        (Some(_), other) => no(&format!("The house has no tool {other:?}.")),
    };
    Ok(Record::Result { call: of.call.id.clone(), ok, text, files: Vec::new(), outside: false })
}

fn send(db: &Connection, of: &HouseCall<'_>) -> Result<HouseDone> {
    let profile = of.conversation.profile();
    let (to, at, text) = match to_send(db, &profile, of.call)? {
        Ok(found) => found,
        Err(why) => return Ok(no(&why)),
    };
    let key = PostKey::sent(of.turn, &of.call.id);
    let post = Post { text, ..Post::new(key, at) };
    posting::post(db, &to, &post, Some(of.now))?;
    note_sent(db, &to, &post.text, of.now)?;
    Ok(HouseDone { ok: true, text: format!("The message is on its way to {to}.") })
}

fn note_sent(db: &Connection, to: &ConversationId, words: &str, at: Timestamp) -> Result<()> {
    db.prepare_cached("insert into sent_words (conversation, at, words) values ($1, $2, $3)")?
        .execute(params![to.as_str(), at.0, words])?;
    db.prepare_cached(
        "delete from sent_words where conversation = $1 and number <=
             (select number from sent_words where conversation = $1 order by number desc limit 1 offset $2)",
    )?
    .execute(params![to.as_str(), MOST_NOTED])?;
    Ok(())
}

/// A message comes in where the agent wrote from elsewhere: it goes along, since the person may be answering it.
pub(crate) fn told_with(db: &Connection, of: &ConversationId, origin: &mut Origin) -> Result<()> {
    let mut taken =
        db.prepare_cached("delete from sent_words where conversation = $1 returning number, words")?;
    let mut sent: Vec<(i64, String)> =
        rows::collect(&mut taken, [of.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    sent.sort_unstable();
    let line = |(_, words): &(i64, String)| {
        format!("(You wrote here, from another conversation: \"{}\")", one_line(words, SHOWN))
    };
    origin.context.splice(0..0, sent.iter().map(line));
    Ok(())
}

/// Where a message goes and what it says, or a sentence for the model that says why it cannot.
fn to_send(
    db: &Connection,
    profile: &ProfileName,
    call: &Call,
) -> Result<std::result::Result<(ConversationId, Address, String), String>> {
    let input = |name: &str| call.input.get(name).and_then(|v| v.as_str()).unwrap_or_default();
    let (to, text) = (input("to"), input("text"));
    if text.trim().is_empty() {
        return Ok(Err("Nothing was sent: \"text\" is empty.".to_owned()));
    }
    if text.len() > LONGEST {
        return Ok(Err(format!("Nothing was sent: a message has at most {LONGEST} bytes.")));
    }
    let id = ConversationId(to.to_owned());
    let found = jobs::place(db, &id)?.filter(|place| place.profile == *profile);
    if let Some((at, place)) = found.as_ref().and_then(|place| Some((place.address()?, place))) {
        return Ok(Ok((place.id.clone(), at, text.to_owned())));
    }
    let why = match found {
        Some(_) => format!("Nothing was sent: nobody can be written to first in {to}."),
        None => format!("Nothing was sent: you have no conversation {to:?}."),
    };
    let others: Vec<String> = jobs::places(db, profile, NAMED)?.iter().filter_map(named).collect();
    Ok(Err(match others.is_empty() {
        true => format!("{why} There is none that you could write to."),
        false => format!("{why} You can write to: {}.", others.join(", ")),
    }))
}

/// A conversation that can be written to, with whom it is.
fn named(place: &ConversationPlace) -> Option<String> {
    let origin = place.origin.as_ref()?;
    let who = one_line(&origin.person.name, 40);
    Some(if who.is_empty() { place.id.to_string() } else { format!("{} ({who})", place.id) })
}

pub(crate) fn no(text: &str) -> HouseDone {
    HouseDone { ok: false, text: text.to_owned() }
}
