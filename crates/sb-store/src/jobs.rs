//! Jobs: what is due when, and the messages that became of it.
//!
//! Invariant: a run is taken in as a message in the transaction that says when the next one is due, so a
//! due time becomes one message, whatever crashes and however many look at the clock. Of each job the
//! newest [`Job::RUNS_KEPT`] runs are remembered.

use rusqlite::{Connection, Row, params};
use sb_model::{
    Address, ConversationId, EndKind, Ending, Inbound, Job, JobRun, MessageId, Origin, ProfileName, Timestamp,
};

use crate::error::{Result, StoreError, StoreErrorKind};
use crate::intake::{self, Taken};
use crate::outbox::PostState;
use crate::parts::PartState;
use crate::rows::{self, MessageBody, json};
use crate::store::Store;

/// How far back, in messages of the whole home, a conversation's place is looked for.
const LOOKED_BACK: i64 = 10_000;

/// A conversation with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationPlace {
    pub id: ConversationId,
    pub profile: ProfileName,
    /// Its newest message that came by a messenger, where one did.
    pub origin: Option<Origin>,
    /// When its newest message was taken.
    pub last: Timestamp,
}

impl ConversationPlace {
    /// Where it can be written to without an answer's means: the chat alone.
    pub fn address(&self) -> Option<Address> {
        let address = &self.origin.as_ref()?.address;
        Some(Address { message: None, handle: None, ..address.clone() })
    }
}

/// A run as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRunStood {
    pub run: JobRun,
    /// How its message ended, if it has.
    pub ending: Option<Ending>,
    /// How its words stand in the outbox, where it has any: the worst of them, and why.
    pub post: Option<(PostState, Option<String>)>,
    /// What the platform calls the last message of its reply: with it, the reply counts as delivered.
    pub sent: Option<String>,
}

impl Store {
    /// Keeps a new job. `Refused` if there is one of its name, or as many as there may be.
    pub async fn add_job(&self, job: Job) -> Result<()> {
        self.write("keeping a job", move |db| {
            let count: i64 = db.prepare_cached("select count(*) from jobs")?.query_row([], |r| r.get(0))?;
            let refused = |why: String| StoreError::new(StoreErrorKind::Refused, why);
            if usize::try_from(count).unwrap_or(usize::MAX) >= Job::MOST {
                return Err(refused(format!("there are {} jobs already, which is the most", Job::MOST)));
            }
            let added = db
                .prepare_cached(
                    "insert into jobs (name, body, next) values ($1, $2, $3) on conflict (name) do nothing",
                )?
                .execute(params![job.name, json(&job)?, job.next.map(|t| t.0)])?;
            match added {
                1 => Ok(()),
                _ => Err(refused(format!("there is a job {} already", job.name))),
            }
        })
        .await
    }

    /// All jobs, by name.
    pub async fn jobs(&self) -> Result<Vec<Job>> {
        self.read("listing jobs", |db| {
            rows::collect(&mut *db.prepare_cached("select body, next from jobs order by name")?, [], job)
        })
        .await
    }

    /// One job.
    pub async fn job(&self, name: &str) -> Result<Option<Job>> {
        let name = name.to_owned();
        self.read("reading a job", move |db| {
            rows::first(&mut *db.prepare_cached("select body, next from jobs where name = $1")?, [name], job)
        })
        .await
    }

    /// Removes a job, with what is remembered of its runs; whether there was one. What it said stays said.
    pub async fn remove_job(&self, name: &str) -> Result<bool> {
        let name = name.to_owned();
        self.write("removing a job", move |db| {
            db.prepare_cached("delete from job_runs where job = $1")?.execute([&name])?;
            Ok(db.prepare_cached("delete from jobs where name = $1")?.execute([&name])? > 0)
        })
        .await
    }

    /// The earliest time at which any job is due.
    pub async fn next_job(&self) -> Result<Option<Timestamp>> {
        self.read("finding the next job", |db| {
            let mut found = db.prepare_cached("select min(next) from jobs where next is not null")?;
            Ok(found.query_row([], |row| row.get::<_, Option<i64>>(0))?.map(Timestamp))
        })
        .await
    }

    /// The jobs that are due by now, the longest due first.
    pub async fn due_jobs(&self, now: Timestamp) -> Result<Vec<Job>> {
        self.read("finding what jobs are due", move |db| {
            let mut found =
                db.prepare_cached("select body, next from jobs where next <= $1 order by next, name")?;
            rows::collect(&mut found, [now.0], job)
        })
        .await
    }

    /// Takes in the run that is due at `due` and says when the next is, in one transaction; none if the job is
    /// gone, if somebody was faster, or if a former run has no end yet, so that runs do not pile up.
    pub async fn run_job(
        &self,
        name: &str,
        due: Timestamp,
        next: Option<Timestamp>,
        inbound: Inbound,
        now: Timestamp,
    ) -> Result<Option<sb_model::Message>> {
        let name = name.to_owned();
        self.write("running a job", move |db| {
            let moved = db
                .prepare_cached("update jobs set next = $1 where name = $2 and next = $3")?
                .execute(params![next.map(|t| t.0), name, due.0])?;
            match moved {
                1 => take(db, &name, due, inbound, now),
                _ => Ok(None),
            }
        })
        .await
    }

    /// Takes in a run that somebody asked for; when the job is due stays as it is. None if the job is gone
    /// or a former run has no end yet.
    pub async fn run_job_now(
        &self,
        name: &str,
        inbound: Inbound,
        now: Timestamp,
    ) -> Result<Option<sb_model::Message>> {
        let name = name.to_owned();
        self.write("running a job", move |db| {
            match db.prepare_cached("select 1 from jobs where name = $1")?.exists([&name])? {
                true => take(db, &name, now, inbound, now),
                false => Ok(None),
            }
        })
        .await
    }

    /// The newest runs of a job, the newest first.
    pub async fn job_runs(&self, name: &str, most: usize) -> Result<Vec<JobRunStood>> {
        let (name, most) = (name.to_owned(), i64::try_from(most).unwrap_or(i64::MAX));
        self.read("reading the runs of a job", move |db| {
            let mut found = db.prepare_cached(
                "select r.due, r.message, m.ending, m.turn, r.sent
                 from job_runs r join messages m on m.id = r.message
                 where r.job = $1 order by r.due desc limit $2",
            )?;
            rows::collect(&mut found, params![name, most], |row| stood(db, row))
        })
        .await
    }

    /// A conversation and where it is, if there is such a one.
    pub async fn conversation_place(&self, of: &ConversationId) -> Result<Option<ConversationPlace>> {
        let of = of.clone();
        self.read("finding a conversation", move |db| place(db, &of)).await
    }

    /// At most `most` conversations of a profile, the last spoken in first.
    pub async fn conversations_of(
        &self,
        profile: &ProfileName,
        most: usize,
    ) -> Result<Vec<ConversationPlace>> {
        let (profile, most) = (profile.clone(), i64::try_from(most).unwrap_or(i64::MAX));
        self.read("listing conversations", move |db| places(db, &profile, most)).await
    }
}

fn take(
    db: &Connection,
    name: &str,
    due: Timestamp,
    inbound: Inbound,
    now: Timestamp,
) -> Result<Option<sb_model::Message>> {
    let is_at_work = "select 1 from job_runs r join messages m on m.id = r.message
         where r.job = $1 and m.ending is null";
    if db.prepare_cached(is_at_work)?.exists([name])? {
        return Ok(None);
    }
    if let Some(Taken::Known(_) | Taken::OtherBody(_)) = intake::known(db, inbound.key.as_ref(), now)? {
        return Ok(None);
    }
    let message = intake::insert(db, inbound, now)?;
    db.prepare_cached(
        "insert into job_runs (job, due, message) values ($1, $2, $3)
         on conflict (job, due) do update set message = excluded.message, sent = null",
    )?
    .execute(params![name, due.0, message.id.0])?;
    db.prepare_cached(
        "delete from job_runs where job = $1 and due <=
             (select due from job_runs where job = $1 order by due desc limit 1 offset $2)",
    )?
    .execute(params![name, Job::RUNS_KEPT as i64])?;
    Ok(Some(message))
}

/// A reply is about to be cleared away: that it was delivered stays with the run it answered.
pub(crate) fn keep_sent(db: &Connection, key: &str) -> Result<()> {
    let Some(turn) = key.strip_prefix("turn:").and_then(|rest| rest.split(':').next()) else {
        return Ok(());
    };
    let Some(sent) = last_sent(db, "key = $1", key)? else { return Ok(()) };
    db.prepare_cached(
        "update job_runs set sent = $1 where sent is null and exists
             (select 1 from messages m where m.id = job_runs.message and m.turn = $2)",
    )?
    .execute([&sent, turn])?;
    Ok(())
}

fn last_sent(db: &Connection, condition: &str, key: &str) -> Result<Option<String>> {
    let sql = format!(
        "select message from parts where {condition} and state = $2 and message is not null
         order by at desc, part desc limit 1"
    );
    let sent = rows::Word::word(PartState::Sent);
    rows::first(&mut *db.prepare_cached(&sql)?, [key, sent], |row| Ok(row.get(0)?))
}

fn job(row: &Row<'_>) -> Result<Job> {
    let mut job: Job = rows::parsed(row, 0)?;
    job.next = row.get::<_, Option<i64>>(1)?.map(Timestamp);
    Ok(job)
}

fn stood(db: &Connection, row: &Row<'_>) -> Result<JobRunStood> {
    let run = JobRun { due: Timestamp(row.get(0)?), message: MessageId(row.get(1)?) };
    let ending: Option<Ending> = rows::ending(row, 2)?;
    let turn: Option<String> = row.get(3)?;
    // A command has no turn: its answer is under the message's own key.
    let key = match turn {
        Some(turn) => format!("turn:{turn}"),
        None => sb_model::PostKey::answer(run.message).0,
    };
    let mut sent: Option<String> = row.get(4)?;
    if sent.is_none() && ending.as_ref().is_some_and(|e| e.kind != EndKind::Waiting) {
        sent = last_sent(db, "(key = $1 or (key > $1 || ':' and key < $1 || ';'))", &key)?;
    }
    let mut posts = db.prepare_cached(
        "select state, why from posts where key = $1 or (key > $1 || ':' and key < $1 || ';')
         order by case state when 'refused' then 0 when 'dropped' then 1 when 'perhaps' then 2
                             when 'open' then 3 else 4 end limit 1",
    )?;
    let post = rows::first(&mut posts, [&key], |row| Ok((rows::word(row, 0)?, row.get(1)?)))?;
    Ok(JobRunStood { run, ending, post, sent })
}

const PLACE: &str =
    "select c.id, c.profile, m.at, m.body, m.id from conversations c join messages m on m.id = c.newest";

pub(crate) fn place(db: &Connection, of: &ConversationId) -> Result<Option<ConversationPlace>> {
    let sql = format!("{PLACE} where c.id = $1");
    rows::first(&mut *db.prepare_cached(&sql)?, [of.as_str()], |row| placed(db, row))
}

pub(crate) fn places(db: &Connection, profile: &ProfileName, most: i64) -> Result<Vec<ConversationPlace>> {
    let sql = format!("{PLACE} where c.profile = $1 order by c.newest desc limit $2");
    rows::collect(&mut *db.prepare_cached(&sql)?, params![profile.as_str(), most], |row| placed(db, row))
}

fn placed(db: &Connection, row: &Row<'_>) -> Result<ConversationPlace> {
    let (id, newest): (ConversationId, i64) = (ConversationId(row.get(0)?), row.get(4)?);
    let origin = match rows::parsed::<MessageBody>(row, 3)?.origin() {
        Some(origin) => Some(*origin),
        // Somebody spoke here by other means than the messenger.
        None => earlier_origin(db, &id, newest)?,
    };
    Ok(ConversationPlace { id, profile: ProfileName(row.get(1)?), origin, last: Timestamp(row.get(2)?) })
}

fn earlier_origin(db: &Connection, of: &ConversationId, newest: i64) -> Result<Option<Origin>> {
    let mut found = db.prepare_cached(
        "select body from messages
         where id < $1 and id > $2 and conversation = $3 and body like '%\"origin\"%' order by id desc limit 1",
    )?;
    let of = params![newest, newest - LOOKED_BACK, of.as_str()];
    let body: Option<MessageBody> = rows::first(&mut found, of, |row| rows::parsed(row, 0))?;
    Ok(body.and_then(MessageBody::origin).map(|origin| *origin))
}
