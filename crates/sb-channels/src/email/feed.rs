//! New mail, by IDLE: what lies behind the stored place is read, and then waited for.
//!
//! The place is the mailbox's UIDVALIDITY and the last UID. UIDs mean nothing once the mailbox was made
//! anew; then the mail of three days is read again, and what is known falls out by its key. `next` may be
//! dropped anywhere: a session is taken out while it is used, and one that is not put back is opened anew.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_imap::extensions::idle::IdleResponse;
use async_imap::types::{Flag, UnsolicitedResponse};
use async_trait::async_trait;
use futures_util::StreamExt;
use sb_channel::model::{Fault, FaultKind, Timestamp};
use sb_channel::{Batch, Event, Feed, Result, Updates};

use super::Email;
use super::imap::{self, Session, timed};
use super::parse::{self, Filed};

/// How far back UIDs are looked at: a late one may turn up below an early one.
const LOOK_BACK: u32 = 50;
/// What came so shortly before the first start, and nobody has read, is answered.
const FIRST_LOOK_MS: i64 = 15 * 60 * 1000;
/// How far back is read when the mailbox was made anew.
const ANEW_MS: i64 = 3 * 24 * 60 * 60 * 1000;
/// Mails in one batch, and bytes.
const MOST_AT_ONCE: usize = 10;
const MOST_BYTES: u64 = 32 * 1024 * 1024;
/// A larger mail is read without what is attached.
const LARGEST: u64 = 36 * 1024 * 1024;
const BEGINNING: u64 = 256 * 1024;
/// Some servers forget to tell, and some networks to say that a connection is dead.
const IDLE: Duration = Duration::from_secs(270);
/// Between two looks where the server cannot tell.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// What a mail that was taken bears for other programs to see.
const DONE: &str = "$SwitchboardDone";

/// The feed of one mailbox.
pub(super) struct Inbox(pub Arc<Email>);

/// Up to where all is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    validity: u32,
    last: u32,
}

impl Place {
    fn read(text: &str) -> Option<Self> {
        let (validity, last) = text.split_once(':')?;
        Some(Self { validity: validity.parse().ok()?, last: last.parse().ok()? })
    }
    fn written(self) -> String {
        format!("{}:{}", self.validity, self.last)
    }
}

#[async_trait]
impl Feed for Inbox {
    async fn open(&self, after: Option<&str>) -> Result<Box<dyn Updates>> {
        let mut reading = Reading {
            email: Arc::clone(&self.0),
            session: None,
            place: after.and_then(Place::read),
            pending: BTreeSet::new(),
            known: BTreeSet::new(),
            since: None,
            is_catching_up: false,
            news: Vec::new(),
            given: Vec::new(),
            keyword: false,
            idles: false,
        };
        let session = reading.connect().await?;
        reading.session = Some(session);
        Ok(Box::new(reading))
    }
}

struct Reading {
    email: Arc<Email>,
    session: Option<Session>,
    place: Option<Place>,
    /// Found and not read yet.
    pending: BTreeSet<u32>,
    /// Read, or there before; within what is looked back over.
    known: BTreeSet<u32>,
    /// What came before is passed over.
    since: Option<Timestamp>,
    /// The place is told only once nothing is pending.
    is_catching_up: bool,
    /// What the operator should know.
    news: Vec<Event>,
    /// Given out and not stored yet.
    given: Vec<u32>,
    /// The mailbox takes keywords.
    keyword: bool,
    /// The server tells of new mail.
    idles: bool,
}

#[async_trait]
impl Updates for Reading {
    async fn next(&mut self) -> Result<Batch> {
        loop {
            let session = match self.session.take() {
                Some(session) => session,
                None => self.connect().await?,
            };
            let (session, batch) = self.step(session).await?;
            self.session = Some(session);
            if let Some(batch) = batch {
                return Ok(batch);
            }
        }
    }

    async fn ack(&mut self) -> Result<()> {
        let given = std::mem::take(&mut self.given);
        if given.is_empty() {
            return Ok(());
        }
        let Some(mut session) = self.session.take() else { return Ok(()) };
        let uids: Vec<String> = given.iter().map(u32::to_string).collect();
        let flags = if self.keyword { format!("\\Seen {DONE}") } else { "\\Seen".to_owned() };
        let marking = async {
            let mut told = session.uid_store(uids.join(","), format!("+FLAGS.SILENT ({flags})")).await?;
            while let Some(one) = told.next().await {
                one?;
            }
            Ok(())
        };
        match timed("marking mail as read", marking).await {
            // A mailbox that cannot be written to: the place alone counts.
            Err(why) if why.kind == FaultKind::Refused => {}
            marked => marked?,
        }
        self.session = Some(session);
        Ok(())
    }
}

impl Reading {
    /// A session with the folder open, and what is to be read there.
    async fn connect(&mut self) -> Result<Session> {
        let (email, doing) = (Arc::clone(&self.email), "opening the folder");
        let mut session = email.session().await?;
        let can = timed(doing, session.capabilities()).await?;
        self.idles = can.has_str("IDLE");
        let folder = timed(doing, session.select(&email.mailbox.folder)).await?;
        self.keyword = folder.permanent_flags.contains(&Flag::MayCreate);
        let passing = FaultKind::Passing { wait_ms: None };
        let validity = folder.uid_validity.ok_or_else(|| Fault::new(passing, doing, "the server names no UIDVALIDITY"))?;
        let now = email.clock.now();
        let found = |uids: std::collections::HashSet<u32>| uids.into_iter().collect::<BTreeSet<u32>>();
        let stored = self.place.filter(|place| place.validity == validity);
        if let Some(place) = stored {
            let window = found(search(&mut session, &behind(place.last)).await?);
            if !self.is_catching_up {
                self.known = window.into_iter().filter(|uid| *uid <= place.last).collect();
            }
            return Ok(session);
        }
        let next = folder.uid_next.unwrap_or(1).max(1);
        self.known = found(search(&mut session, &behind(next - 1)).await?);
        self.known.retain(|uid| *uid < next);
        let (query, since_ms) = match self.place {
            None => (format!("UNSEEN SINCE {}", day(now.plus_ms(-FIRST_LOOK_MS))), FIRST_LOOK_MS),
            Some(_) => (format!("SINCE {}", day(now.plus_ms(-ANEW_MS))), ANEW_MS),
        };
        self.pending = found(search(&mut session, &query).await?);
        self.since = Some(now.plus_ms(-since_ms));
        if let Some(before) = self.place {
            let what = format!(
                "the mailbox was made anew (UIDVALIDITY {} is {validity} now): its mail of three days is read again, and what is known falls out",
                before.validity
            );
            self.news.push(Event::Noted { what });
        }
        self.given.clear();
        self.place = Some(Place { validity, last: next - 1 });
        self.is_catching_up = true;
        Ok(session)
    }

    /// Reads what is pending; else looks for more; else waits.
    async fn step(&mut self, mut session: Session) -> Result<(Session, Option<Batch>)> {
        let Some(place) = self.place else { return Ok((session, None)) };
        while session.unsolicited_responses.try_recv().is_ok() {}
        if self.pending.is_empty() && !self.is_catching_up {
            let window = search(&mut session, &behind(place.last)).await?;
            self.pending = window.into_iter().filter(|uid| !self.known.contains(uid)).collect();
        }
        if !self.pending.is_empty() || self.is_catching_up {
            let batch = self.read(&mut session, place).await?;
            return Ok((session, Some(batch)));
        }
        let session = self.wait(session).await?;
        Ok((session, None))
    }

    async fn read(&mut self, session: &mut Session, mut place: Place) -> Result<Batch> {
        let uids: Vec<u32> = self.pending.iter().copied().take(MOST_AT_ONCE).collect();
        let (mut events, mut read, mut bytes) = (self.news.clone(), Vec::new(), 0);
        let filed = filed(session, place.validity, &uids).await?;
        for uid in uids {
            if bytes > MOST_BYTES {
                break;
            }
            read.push(uid);
            let Some(mut filed) = filed.iter().find(|filed| filed.uid == uid).copied() else { continue };
            if self.since.is_some_and(|since| filed.at < since) {
                continue;
            }
            filed.is_cut = filed.size > LARGEST;
            let most = filed.is_cut.then_some(BEGINNING);
            if let Some(raw) = imap::body(session, uid, most).await? {
                bytes += raw.len() as u64;
                events.push(parse::event(&raw, &filed, &self.email.mailbox, |id, to| self.email.is_sent(id, to)));
            }
        }
        // Nothing of this is kept before all of it was read: dropped half-way, it is read again.
        self.news.clear();
        for uid in &read {
            self.pending.remove(uid);
            self.known.insert(*uid);
            place.last = place.last.max(*uid);
        }
        self.place = Some(place);
        self.given.extend(read);
        self.known = self.known.split_off(&place.last.saturating_sub(LOOK_BACK));
        let whole = !self.is_catching_up || self.pending.is_empty();
        if whole {
            (self.is_catching_up, self.since) = (false, None);
        }
        Ok(Batch { events, cursor: whole.then(|| place.written()) })
    }

    /// Waits until the server tells of something, or it is time to look.
    async fn wait(&mut self, session: Session) -> Result<Session> {
        let told = session.unsolicited_responses.clone();
        let came = || {
            let mut came = false;
            while let Ok(news) = told.try_recv() {
                came |= matches!(news, UnsolicitedResponse::Exists(_));
            }
            came
        };
        let doing = "waiting for mail";
        // Told of while something else was asked: the server will not say it again.
        if came() {
            return Ok(session);
        }
        if !self.idles {
            let mut session = session;
            tokio::time::sleep(LOOK_EVERY).await;
            timed(doing, session.noop()).await?;
            return Ok(session);
        }
        let mut idle = session.idle();
        timed(doing, idle.init()).await?;
        if !came() {
            let (news, _stop) = idle.wait_with_timeout(IDLE);
            match tokio::time::timeout(IDLE, news).await {
                Ok(Ok(IdleResponse::ManualInterrupt)) => {
                    let passing = FaultKind::Passing { wait_ms: None };
                    return Err(Fault::new(passing, doing, "the server closed the connection"));
                }
                Ok(Err(why)) => return Err(imap::fault(doing, &why, false)),
                Ok(Ok(_)) | Err(_) => {}
            }
        }
        timed(doing, idle.done()).await
    }
}

/// The UIDs behind a place, and those shortly before it.
fn behind(last: u32) -> String {
    // Quirk: `n:*` goes from n to the highest in either order, so it always brings the highest one.
    format!("UID {}:*", last.saturating_sub(LOOK_BACK).max(1))
}

async fn search(session: &mut Session, query: &str) -> Result<std::collections::HashSet<u32>> {
    timed("looking for mail", session.uid_search(query)).await
}

/// When these came and how large they are.
async fn filed(session: &mut Session, validity: u32, uids: &[u32]) -> Result<Vec<Filed>> {
    if uids.is_empty() {
        return Ok(Vec::new());
    }
    let set: Vec<String> = uids.iter().map(u32::to_string).collect();
    let asking = async {
        let (mut all, mut told) = (Vec::new(), session.uid_fetch(set.join(","), "(UID INTERNALDATE RFC822.SIZE)").await?);
        while let Some(one) = told.next().await {
            let one = one?;
            let at = one.internal_date().map(|date| Timestamp(date.timestamp_millis()));
            if let (Some(uid), Some(at)) = (one.uid, at) {
                all.push(Filed { validity, uid, at, size: one.size.unwrap_or(0).into(), is_cut: false });
            }
        }
        Ok(all)
    };
    let filed = timed("looking at mail", asking).await?;
    // An answer that broke off would look like mails that are gone.
    timed("looking at mail", session.noop()).await?;
    Ok(filed)
}

/// A day as IMAP writes it.
fn day(at: Timestamp) -> String {
    // A day earlier, since servers go by a time zone of their own.
    let at = jiff::Timestamp::from_millisecond(at.plus_ms(-24 * 60 * 60 * 1000).0).unwrap_or_default();
    at.strftime("%d-%b-%Y").to_string()
}
