//! What the outbox holds for a chat, sent in order: each piece claimed before it is tried, and noted
//! after, so that a crash repeats at most what nobody knows the outcome of.

use std::collections::BTreeMap;

use sb_channel::{Attempt, FirstWord, Mark, OutFile, Piece, Repeats};
use sb_core::model::text::{Dialect, Doc, render};
use sb_core::model::{Chat, ChatSort, Choice, Fault, FaultKind, Handle, MessageRef, Timestamp};
use sb_core::sending::{self, Next, Try, Twice};
use sb_store::{PartState, PostState, Sending, StoredPart, StoredPost};

use super::feed::of_store;
use super::grow::rendered;
use super::lane::{Lane, LaneMail};
use super::plan::{self, Planned};

/// Posts that are looked at together.
const AT_ONCE: usize = 16;
/// When something of our own fails.
const OWN_TROUBLE_MS: i64 = 5_000;
/// What waits for a person's next message.
pub(super) const UNTIL_SPOKEN_MS: i64 = 24 * 60 * 60 * 1000;

/// Why something waits that can only be sent in answer.
pub(super) const HELD: &str = "it waits for the person's next message";

/// What a person is told before what waited for them.
const WAITED: &str = "*(What follows was written earlier: this messenger lets me write to you only for a while after you wrote, and that while was over.)*";

/// How a post stands after it was worked on.
enum Went {
    Out,
    /// Not before then; what is behind it waits too.
    Later(Timestamp),
    /// Nothing can be sent here any more.
    Nowhere,
}

/// How one piece ended.
enum Piecewise {
    Sent(Option<MessageRef>),
    Refused(String),
    Perhaps,
    Later { at: Timestamp, why: String },
    Gone(String),
    Moved(String),
}

/// Sends what is open for this chat. When to look again; none: nothing is left.
pub(super) async fn send_posts(lane: &mut Lane) -> Option<Timestamp> {
    let open = lane.engine.store().open_posts(&lane.bridge.config.slug, &lane.chat, AT_ONCE).await;
    let posts = match open {
        Ok(posts) => posts,
        Err(why) => {
            tracing::warn!(channel = %lane.bridge.config.slug, error = %why, "the outbox cannot be read");
            return Some(lane.now().plus_ms(OWN_TROUBLE_MS));
        }
    };
    let more = posts.len() == AT_ONCE;
    let mut told_of_the_wait = false;
    for post in posts {
        if lane.bridge.closing.is_cancelled() {
            return None;
        }
        // Its text is settled: what grew is over.
        if lane.growing.as_ref().is_some_and(|g| g.is_of(&post.post.key)) {
            lane.growing = None;
        }
        let held = post.why.as_deref() == Some(HELD) && lane.handles.pick(None, 0, lane.now()).is_some();
        if post.due > lane.now() && !held {
            return Some(post.due);
        }
        if held && matches!(lane.features.first_word, FirstWord::Within(_)) && !told_of_the_wait {
            told_of_the_wait = true;
            // Drawing: what waited goes whether this is seen or not.
            let _ = say(lane, WAITED).await;
        }
        match send_post(lane, &post).await {
            Ok(Went::Out) => {}
            Ok(Went::Later(at)) => return Some(at),
            Ok(Went::Nowhere) => return None,
            Err(why) => {
                tracing::warn!(channel = %lane.bridge.config.slug, error = %why, "what was sent cannot be noted");
                return Some(lane.now().plus_ms(OWN_TROUBLE_MS));
            }
        }
    }
    more.then(|| lane.now())
}

async fn send_post(lane: &mut Lane, post: &StoredPost) -> Result<Went, Fault> {
    let planned = plan::plan(&post.post, &lane.features);
    let rows: BTreeMap<u32, StoredPart> = post.parts.iter().map(|p| (p.part, p.clone())).collect();
    let mut notes = Vec::new();
    let (mut refused, mut perhaps) = (None, false);
    for (number, piece) in numbered(planned, &rows, lane.features.edits) {
        if lane.bridge.closing.is_cancelled() {
            note(lane, std::mem::take(&mut notes)).await?;
            return Ok(Went::Nowhere);
        }
        let row = rows.get(&number);
        if row.is_some_and(|row| is_settled(row, &piece, post, lane.features.edits)) {
            perhaps |= row.is_some_and(|row| row.state == PartState::Perhaps);
            continue;
        }
        let mut part = Part::new(lane, post, number, piece, row.cloned());
        let went = part.go(lane, &mut notes).await?;
        match went {
            Piecewise::Sent(message) => {
                notes.push(part.note(lane, PartState::Sent, message));
                if let Some(shown) = &part.replaced {
                    point_below(lane, shown).await;
                }
            }
            Piecewise::Perhaps => {
                perhaps = true;
                notes.push(part.note(lane, PartState::Perhaps, None));
            }
            Piecewise::Refused(why) => {
                notes.push(part.note(lane, PartState::Refused, None));
                lane.bridge.log.say(lane.now(), &format!("a message was refused: {why}"));
                refused = Some(why);
            }
            Piecewise::Later { at, why } => {
                if part.claimed {
                    notes.push(part.note(lane, PartState::Trying, part.message.clone()));
                }
                notes.push(state(post, PostState::Open, at, post.tries + part.failures, Some(why)));
                note(lane, notes).await?;
                return Ok(Went::Later(at));
            }
            Piecewise::Gone(why) => {
                notes.push(state(post, PostState::Open, lane.now(), post.tries, Some(why.clone())));
                note(lane, notes).await?;
                close(lane, &why).await?;
                return Ok(Went::Nowhere);
            }
            Piecewise::Moved(to) => {
                note(lane, notes).await?;
                let slug = &lane.bridge.config.slug;
                lane.engine.store().chat_moved(slug, &lane.chat.id, &to).await.map_err(of_store)?;
                lane.bridge.chat_moved(&lane.chat.id, &to);
                let there = Chat { id: to, ..lane.chat.clone() };
                lane.bridge.tell(&lane.engine, &there, LaneMail::Posted);
                return Ok(Went::Nowhere);
            }
        }
    }
    let failed = refused.is_some() || post.post.failed;
    let end = match (&refused, perhaps) {
        (Some(_), _) => PostState::Refused,
        (None, true) => PostState::Perhaps,
        (None, false) => PostState::Done,
    };
    let why = refused.or(perhaps.then(|| "its answer was lost twice, so perhaps it was sent".to_owned()));
    notes.push(state(post, end, lane.now(), post.tries, why));
    note(lane, notes).await?;
    for message in &post.post.answers {
        lane.mark(message.clone(), failed.then_some(Mark::Failed));
    }
    Ok(Went::Out)
}

/// Nothing reaches this chat any more, until it speaks.
pub(super) async fn close(lane: &Lane, why: &str) -> Result<(), Fault> {
    let slug = &lane.bridge.config.slug;
    lane.engine.store().chat_gone(slug, &lane.chat.id, Some(why)).await.map_err(of_store)?;
    lane.bridge.forget_chat(&lane.chat.id);
    lane.bridge.log.say(lane.now(), &format!("nothing reaches the chat {} any more: {why}", lane.chat.id));
    Ok(())
}

/// Gives the pieces their numbers. Where something else stands that cannot be changed, that stays, and the rest
/// gets numbers after it.
fn numbered(
    planned: Vec<Planned>,
    rows: &BTreeMap<u32, StoredPart>,
    edits: bool,
) -> impl Iterator<Item = (u32, Planned)> {
    let fixed = |number: u32, piece: &Planned| {
        rows.get(&number).is_some_and(|row| {
            let other = row.text != plan::shown(piece);
            let there = matches!(row.state, PartState::Sent | PartState::Perhaps);
            there && other && !(edits && row.message.is_some() && matches!(piece, Planned::Words { .. }))
        })
    };
    let counted = (0..).zip(&planned).find(|(n, piece)| fixed(*n, piece)).map(|(n, _)| n);
    let behind = rows.keys().max().map_or(0, |last| last + 1);
    (0..).zip(planned).map(move |(number, piece)| match counted {
        Some(from) if number >= from => (behind.max(from) + (number - from), piece),
        _ => (number, piece),
    })
}

/// Whether nothing more is to be done about this piece.
fn is_settled(row: &StoredPart, piece: &Planned, post: &StoredPost, edits: bool) -> bool {
    let same = row.text == plan::shown(piece);
    match row.state {
        PartState::Sent => (same && row.revised == post.revised) || row.message.is_none() || !edits,
        PartState::Refused | PartState::Perhaps => same,
        PartState::Live | PartState::Trying => false,
    }
}

/// One piece on its way.
struct Part<'a> {
    post: &'a StoredPost,
    number: u32,
    piece: Planned,
    /// The message that is to say it, where there is one already.
    message: Option<MessageRef>,
    /// The message that showed it while it grew, where the whole is sent fresh.
    replaced: Option<MessageRef>,
    /// Tries whose outcome nobody knows.
    tries: u32,
    /// Tries that failed in this run.
    failures: u32,
    /// Its row says that it is being tried.
    claimed: bool,
}

impl<'a> Part<'a> {
    fn new(lane: &Lane, post: &'a StoredPost, number: u32, piece: Planned, row: Option<StoredPart>) -> Self {
        let fresh = |row: &StoredPart| {
            let after = lane.bridge.config.options.fresh_final_s.filter(|_| row.state == PartState::Live);
            after.is_some_and(|s| lane.now().ms_since(row.at) > i64::try_from(s).unwrap_or(i64::MAX) * 1000)
        };
        let editable = lane.features.edits && matches!(piece, Planned::Words { .. });
        let shown = row.as_ref().filter(|_| editable).and_then(|row| row.message.clone());
        let (message, replaced) = match row.as_ref().is_some_and(fresh) {
            true => (None, shown),
            false => (shown, None),
        };
        let tries = row.as_ref().filter(|row| row.message.is_none()).map_or(0, |row| row.tries);
        Self { post, number, piece, message, replaced, tries, failures: 0, claimed: row.is_some() }
    }

    fn note(&self, lane: &Lane, state: PartState, message: Option<MessageRef>) -> Sending {
        let part = StoredPart {
            part: self.number,
            text: plan::shown(&self.piece),
            state,
            message,
            tries: self.tries,
            at: lane.now(),
            revised: self.post.revised,
        };
        Sending::Part { key: self.post.post.key.clone(), part }
    }

    /// Tries it, in the forms that follow from each other at once. `notes`: what is to be written down before.
    async fn go(&mut self, lane: &mut Lane, notes: &mut Vec<Sending>) -> Result<Piecewise, Fault> {
        let (mut plain, mut threadless) = (false, false);
        let twice = match lane.features.repeats {
            Repeats::Dropped | Repeats::Found => Twice::Harmless,
            Repeats::Seen => Twice::Seen,
        };
        loop {
            // Sent twice already, and nobody knows what came of it.
            if self.message.is_none() && twice == Twice::Seen && self.tries >= 2 {
                return Ok(Piecewise::Perhaps);
            }
            let handle = match self.handle(lane) {
                Ok(handle) => handle,
                Err(why) => {
                    let at = lane.now().plus_ms(UNTIL_SPOKEN_MS);
                    return Ok(Piecewise::Later { at, why });
                }
            };
            if let Err(at) = lane.bridge.breaker().ask(lane.now()) {
                let why = "too much failed, so nothing is sent for a while".to_owned();
                return Ok(Piecewise::Later { at, why });
            }
            let before = self.tries;
            let is_edit = self.message.is_some();
            if !is_edit {
                self.tries += 1;
                self.claimed = true;
                notes.push(self.note(lane, PartState::Trying, None));
                if let Err(why) = note(lane, std::mem::take(notes)).await {
                    lane.bridge.breaker().untried();
                    return Err(why);
                }
            }
            let attempt = Attempt {
                key: format!("{}:{}:{}", self.post.post.key, self.number, self.post.revised),
                maybe_sent: before > 0,
                handle,
            };
            let to = if threadless { Chat { thread: None, ..lane.chat.clone() } } else { lane.chat.clone() };
            let outcome = self.put(lane, &to, plain, &attempt).await;
            let now = lane.now();
            let why = match outcome {
                Ok(message) => {
                    lane.bridge.breaker().worked();
                    lane.bridge
                        .log
                        .change(|s| (s.sent, s.connected, s.paused_until) = (Some(now), Some(now), None));
                    // Known now, whatever was before.
                    self.tries = 0;
                    return Ok(Piecewise::Sent(Some(message)));
                }
                Err(why) => why,
            };
            self.failures += 1;
            judge_account(lane, &why, now);
            if !why.maybe_done && !is_edit {
                self.tries = before;
            }
            let of = Try {
                tries: self.post.tries + self.failures,
                is_edit,
                plain,
                threadless,
                twice,
                maybe_before: before > 0,
            };
            match sending::next(&why, of, now) {
                Next::Again { at } => {
                    return Ok(Piecewise::Later { at, why: why.to_string() });
                }
                Next::Plain => plain = true,
                Next::Fresh => self.message = None,
                Next::WithoutThread if lane.chat.thread.is_some() => threadless = true,
                Next::WithoutThread | Next::Refused => match self.instead(&why) {
                    Some(words) => self.piece = words,
                    None => return Ok(Piecewise::Refused(why.to_string())),
                },
                Next::Perhaps => return Ok(Piecewise::Perhaps),
                Next::Gone => return Ok(Piecewise::Gone(why.detail)),
                Next::Moved { to } => return Ok(Piecewise::Moved(to)),
                // Another handle may do, or none where we may write first; else it is held.
                Next::Expired => match &attempt.handle {
                    Some(handle) => lane.handles.is_over(handle),
                    None => {
                        let at = now.plus_ms(UNTIL_SPOKEN_MS);
                        let said = format!("an answer is kept until the person writes again: {}", why.detail);
                        lane.bridge.log.say(now, &said);
                        return Ok(Piecewise::Later { at, why: HELD.to_owned() });
                    }
                },
            }
        }
    }

    /// What the person is told where a file is refused.
    fn instead(&self, why: &Fault) -> Option<Planned> {
        match &self.piece {
            Planned::Files(files) => Some(plan::unsendable(files, &why.detail)),
            Planned::Words { .. } => None,
        }
    }

    /// The handle to answer by, where the platform lends one. An error: nothing can be sent without.
    fn handle(&self, lane: &mut Lane) -> Result<Option<Handle>, String> {
        if self.message.is_some() {
            return Ok(None);
        }
        let own = self.post.post.to.handle.as_ref();
        let tried = |p: &&StoredPart| p.state == PartState::Sent || p.tries > 0;
        let before = u32::try_from(self.post.parts.iter().filter(tried).count()).unwrap_or(u32::MAX);
        let picked = lane.handles.pick(own, before, lane.now());
        match (&picked, lane.features.first_word) {
            (Some(handle), _) => {
                let before = if own == Some(handle) { before } else { 0 };
                lane.handles.count(handle, before);
            }
            (None, FirstWord::ReplyOnly) => return Err(HELD.to_owned()),
            (None, _) => {}
        }
        Ok(picked)
    }

    async fn put(&self, lane: &Lane, to: &Chat, plain: bool, attempt: &Attempt) -> Result<MessageRef, Fault> {
        let channel = &lane.bridge.channel;
        let answers =
            self.post.post.to.message.as_ref().filter(|_| lane.answers_by_reply() && self.number == 0);
        match &self.piece {
            Planned::Words { text, choices } => {
                let words = match plain {
                    true => render(&Doc::parse(text), Dialect::Plain, lane.features.text.fit.unit),
                    false => rendered(lane, text),
                };
                let choices: &[Choice] = choices;
                let piece = Piece::Text { words: &words, choices, answers };
                match &self.message {
                    Some(message) => channel.edit(to, message, piece).await.map(|()| message.clone()),
                    None => channel.send(to, piece, attempt).await,
                }
            }
            Planned::Files(files) => {
                let store = lane.engine.store();
                let files: Vec<OutFile> = files.iter().map(|f| plan::out_file(store, f)).collect();
                channel.send(to, Piece::Files { files: &files, caption: None, answers }, attempt).await
            }
        }
    }
}

impl Lane {
    /// Whether an answer points at its message: where several people write.
    pub fn answers_by_reply(&self) -> bool {
        self.chat.sort == ChatSort::Group
    }
}

/// What was shown meanwhile says no more than where the answer is. No more than drawing: it may fail.
async fn point_below(lane: &Lane, shown: &MessageRef) {
    let words = rendered(lane, "*(The whole answer is below.)*");
    let piece = Piece::Text { words: &words, choices: &[], answers: None };
    if let Err(why) = lane.bridge.channel.edit(&lane.chat, shown, piece).await {
        tracing::debug!(channel = %lane.bridge.config.slug, error = %why, "what was shown stays");
    }
}

/// Says something that is not kept, in two tries.
pub(super) async fn say(lane: &Lane, markdown: &str) -> Result<(), Fault> {
    let words = rendered(lane, markdown);
    let piece = Piece::Text { words: &words, choices: &[], answers: None };
    let attempt = Attempt {
        key: format!("notice:{:016x}", lane.engine.inner().dice.roll()),
        maybe_sent: false,
        handle: None,
    };
    let first = lane.bridge.channel.send(&lane.chat, piece, &attempt).await;
    let again = matches!(&first, Err(Fault { kind: FaultKind::Passing { .. }, maybe_done: false, .. }));
    match again {
        true => lane.bridge.channel.send(&lane.chat, piece, &attempt).await.map(|_| ()),
        false => first.map(|_| ()),
    }
}

fn judge_account(lane: &Lane, why: &Fault, now: Timestamp) {
    let mut breaker = lane.bridge.breaker();
    if !sending::is_of_account(why) {
        return breaker.worked();
    }
    if why.kind == FaultKind::Auth {
        lane.bridge.log.say(now, &format!("our credentials are not taken: {why}"));
    }
    if breaker.failed(now) {
        let until = breaker.open_until();
        lane.bridge.log.change(|s| s.paused_until = until);
        lane.bridge.log.say(now, &format!("sending pauses, since too much failed: {why}"));
    }
}

fn state(post: &StoredPost, state: PostState, due: Timestamp, tries: u32, why: Option<String>) -> Sending {
    Sending::Post { key: post.post.key.clone(), state, due, tries, why, revised: post.revised }
}

async fn note(lane: &Lane, notes: Vec<Sending>) -> Result<(), Fault> {
    if notes.is_empty() {
        return Ok(());
    }
    lane.engine.store().note_sending(notes).await.map_err(of_store)
}
