//! Taking a message that comes with all that was said before: which conversation it goes on with is found
//! in the transaction that takes it, so two that come at once cannot both be the first.
//!
//! A place that is no tip is never gone back to, since what was done after it stays done: a copy of the log
//! up to there is a session of its own. Nothing a person allowed goes along. What nobody here knows is told
//! as content from outside, whoever it says said it.

use rusqlite::{Connection, params};
use sb_model::{
    Asked, Choices, ConversationId, Digest, Ending, Entry, Inbound, Message, MessageId, Place, Principal,
    Record, Rights, Seq, SessionId, Timestamp,
};

use crate::error::Result;
use crate::intake::{self, MOST_WAITING, Taken};
use crate::points::{self, Point};
use crate::rows::{self, json};
use crate::store::Store;

/// How long after its answer a message that says it was sent before is that one again, in milliseconds.
pub const RETRY_WITHIN_MS: i64 = 10_000;

/// What became of such a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub taken: Taken,
    pub place: Place,
    pub conversation: ConversationId,
    /// The session it was put into.
    pub session: Option<SessionId>,
    /// The command that gave the conversation its system text, if that changed: it goes before the message.
    pub system: Option<Message>,
}

impl Store {
    /// Takes one message in where it belongs. A new conversation has the id that the message names, and this
    /// session. `at_once`: it is taken however much waits.
    pub async fn take_asked(
        &self,
        inbound: Inbound,
        asked: Asked,
        session: SessionId,
        at_once: bool,
        now: Timestamp,
    ) -> Result<Placed> {
        let most = if at_once { i64::MAX } else { MOST_WAITING };
        self.write("taking in what was asked", move |db| take(db, inbound, &asked, session, most, now)).await
    }
}

/// Where a message goes.
enum Where {
    Known(Point),
    On(ConversationId),
    Copy(SessionId, Seq),
    New,
}

fn take(
    db: &Connection,
    mut inbound: Inbound,
    asked: &Asked,
    fresh: SessionId,
    most: i64,
    now: Timestamp,
) -> Result<Placed> {
    if let Some(known) = intake::known(db, inbound.key.as_ref(), now)? {
        return repeated(db, known, inbound.conversation);
    }
    let place = match find(db, &inbound, asked, now)? {
        Where::Known(point) => {
            return repeated(db, Taken::Known(point.message), point.conversation);
        }
        Where::On(conversation) => {
            inbound.conversation = conversation;
            Place::Continued
        }
        Where::Copy(parent, to) => {
            if exists(db, &inbound.conversation)? {
                // Of a talk that is named: a conversation of its own beside that.
                inbound.conversation.0.push_str(&format!("/{fresh}"));
            }
            begin(db, &inbound, chosen(db, parent)?, asked, fresh, now)?;
            copy(db, parent, to, fresh, &asked.owner, now)?;
            Place::Branched
        }
        Where::New => {
            begin(db, &inbound, Choices::default(), asked, fresh, now)?;
            match &asked.told {
                Some(told) => {
                    tell(db, fresh, told, now)?;
                    Place::Told
                }
                None => Place::Begun,
            }
        }
    };
    let conversation = inbound.conversation.clone();
    if intake::unfinished(db, &conversation)? >= most {
        return Ok(Placed { taken: Taken::Full, place, conversation, session: None, system: None });
    }
    let session = current(db, &conversation)?.unwrap_or(fresh);
    let system = match place {
        Place::Continued if !asked.command => ask_otherwise(db, &inbound, asked, now)?,
        _ => None,
    };
    let message = intake::insert(db, inbound, now)?;
    points::add(db, &asked.whole, &asked.owner, &conversation, message.id, session, &asked.body)?;
    Ok(Placed { taken: Taken::New(message), place, conversation, session: Some(session), system })
}

fn repeated(db: &Connection, taken: Taken, conversation: ConversationId) -> Result<Placed> {
    let found = match &taken {
        Taken::Known(message) => points::of_message(db, *message)?,
        _ => None,
    };
    let (conversation, session) = match found {
        Some(point) => (point.conversation, Some(point.session)),
        None => (conversation, None),
    };
    Ok(Placed { taken, place: Place::Repeated, conversation, session, system: None })
}

fn find(db: &Connection, inbound: &Inbound, asked: &Asked, now: Timestamp) -> Result<Where> {
    if let Some(point) = retried(db, inbound, asked, now)? {
        return Ok(Where::Known(point));
    }
    let look = |digest: &Digest| points::find(db, digest, &asked.owner, asked.others);
    if let Some(before) = &asked.before {
        if let Some(point) = look(&before.digest)? {
            return go_on(db, point, asked);
        }
        if let Some((digest, letters)) = &before.answer
            && let Some(point) = look(digest)?
            && point.seq.is_none()
            && is_cut_off(db, point.message, letters)?
        {
            return go_on(db, point, asked);
        }
    }
    // A talk of this name goes on whatever its sender still has of it.
    let is_there = asked.named && exists(db, &inbound.conversation)?;
    Ok(if is_there { Where::On(inbound.conversation.clone()) } else { Where::New })
}

/// The message that this one is again. Who says nothing of having sent it before is believed to mean the one
/// at work, but not at the beginning of a talk: there two people may say the same.
fn retried(db: &Connection, inbound: &Inbound, asked: &Asked, now: Timestamp) -> Result<Option<Point>> {
    let may_be = asked.retried || (asked.before.is_some() && inbound.key.is_none());
    if !may_be {
        return Ok(None);
    }
    let Some(point) = points::find(db, &asked.whole, &asked.owner, false)? else { return Ok(None) };
    if point.body.as_deref() != Some(asked.body.to_string().as_str()) {
        return Ok(None);
    }
    let is_over = match point.ended {
        Some(ended) => !asked.retried || now.0 > ended.plus_ms(RETRY_WITHIN_MS).0,
        // Nobody noted its answer, as when we ended right after it.
        None => !asked.retried && ending(db, point.message)?.is_some(),
    };
    Ok((!is_over).then_some(point))
}

fn go_on(db: &Connection, point: Point, asked: &Asked) -> Result<Where> {
    if point.tip || asked.command {
        return Ok(Where::On(point.conversation));
    }
    let (session, seq) = match point.seq {
        Some(seq) => (point.session, seq),
        // What was said there got an answer that its sender does not have.
        None => match ending(db, point.message)? {
            Some(ending) if ending.turn.is_some() => (ending.session.unwrap_or(point.session), ending.to),
            _ => return Ok(Where::On(point.conversation)),
        },
    };
    Ok(Where::Copy(session, seq))
}

/// Whether these letters are the beginning of what was answered, or what was answered is theirs.
fn is_cut_off(db: &Connection, message: MessageId, letters: &str) -> Result<bool> {
    let Some(ending) = ending(db, message)? else {
        // It is being written, and only who reads it knows how it begins.
        return Ok(true);
    };
    let said: String = ending.said.chars().filter(|c| !c.is_whitespace()).collect();
    Ok(said.starts_with(letters) || letters.starts_with(&said))
}

fn ending(db: &Connection, message: MessageId) -> Result<Option<Ending>> {
    let mut found = db.prepare_cached("select ending from messages where id = $1")?;
    Ok(rows::first(&mut found, [message.0], |row| rows::ending(row, 0))?.flatten())
}

fn exists(db: &Connection, conversation: &ConversationId) -> Result<bool> {
    let mut found = db.prepare_cached("select 1 from conversations where id = $1")?;
    Ok(rows::first(&mut found, [conversation.as_str()], |_| Ok(()))?.is_some())
}

fn current(db: &Connection, conversation: &ConversationId) -> Result<Option<SessionId>> {
    let mut found = db.prepare_cached("select session from conversations where id = $1")?;
    Ok(rows::first(&mut found, [conversation.as_str()], |row| rows::id_or_none(row, 0))?.flatten())
}

/// A new conversation with an empty session. What it chose is as given, but for the system text that is asked.
fn begin(
    db: &Connection,
    inbound: &Inbound,
    chosen: Choices,
    asked: &Asked,
    id: SessionId,
    now: Timestamp,
) -> Result<()> {
    let choices = Choices { system: asked.system.clone().or(chosen.system), ..chosen };
    db.prepare_cached("insert into conversations (id, profile, session, choices) values ($1, $2, $3, $4)")?
        .execute([
            inbound.conversation.as_str(),
            inbound.profile.as_str(),
            &id.to_string(),
            &json(&choices)?,
        ])?;
    db.prepare_cached("insert into sessions (id, conversation, began, last_active) values ($1, $2, $3, $3)")?
        .execute(params![id.to_string(), inbound.conversation.as_str(), now.0])?;
    Ok(())
}

/// What the conversation of a session chose.
fn chosen(db: &Connection, session: SessionId) -> Result<Choices> {
    let mut found = db.prepare_cached(
        "select c.choices from conversations c join sessions s on s.conversation = c.id where s.id = $1",
    )?;
    let chosen = rows::first(&mut found, [session.to_string()], |row| rows::parsed_or_default(row, 0))?;
    Ok(chosen.unwrap_or_default())
}

/// Copies a log up to a place. That something was read from outside goes along, what was allowed does not.
fn copy(
    db: &Connection,
    parent: SessionId,
    to: Seq,
    id: SessionId,
    by: &Principal,
    now: Timestamp,
) -> Result<()> {
    let (id_text, parent_text) = (id.to_string(), parent.to_string());
    db.prepare_cached(
        "insert into records (session, seq, at, turn, kind, body)
         select $1, seq, at, turn, kind, body from records where session = $2 and seq <= $3",
    )?
    .execute(params![id_text, parent_text, to.0])?;
    db.prepare_cached(
        "update sessions set tainted = (select tainted from sessions where id = $1),
             last_seq = coalesce((select max(seq) from records where session = $2), 0)
         where id = $2",
    )?
    .execute([&parent_text, &id_text])?;
    let text = format!("went on from session {parent}, entry {}", to.0);
    note(db, id, Record::Noted { text, by: by.clone(), told: false }, now)
}

/// Gives a session what was said before it, as content from outside.
fn tell(db: &Connection, id: SessionId, told: &str, now: Timestamp) -> Result<()> {
    db.prepare_cached("update sessions set tainted = 1 where id = $1")?.execute([id.to_string()])?;
    note(db, id, Record::Summary { text: told.to_owned(), covers: Seq(0) }, now)
}

/// Appends one record that belongs to no turn.
fn note(db: &Connection, id: SessionId, record: Record, now: Timestamp) -> Result<()> {
    let seq: i64 = db
        .prepare_cached("update sessions set last_seq = last_seq + 1 where id = $1 returning last_seq")?
        .query_row([id.to_string()], |row| row.get(0))?;
    crate::commit::append(db, id, &Entry { seq: Seq(seq), at: now, turn: None, record })
}

/// The command that changes what the conversation asks of the agent, if it asks something else now.
fn ask_otherwise(
    db: &Connection,
    inbound: &Inbound,
    asked: &Asked,
    now: Timestamp,
) -> Result<Option<Message>> {
    let Some(system) = &asked.system else { return Ok(None) };
    let mut found = db.prepare_cached("select choices from conversations where id = $1")?;
    let choices = rows::first(&mut found, [inbound.conversation.as_str()], |row| {
        rows::parsed_or_default::<Choices>(row, 0)
    })?;
    if choices.unwrap_or_default().system.as_deref() == Some(system) {
        return Ok(None);
    }
    let mut manner = inbound.manner.clone();
    manner.commands_wait = true;
    let command = Inbound {
        key: None,
        text: format!("/system {system}"),
        files: Vec::new(),
        rights: Rights { instruct: true, ..inbound.rights },
        manner,
        ..inbound.clone()
    };
    intake::insert(db, command, now).map(Some)
}
