//! The outbox: posts on their way into chats, and what became of them.
//!
//! Posts come in by commits (`posting.rs`) and are numbered in the order of writing; whoever sends reads
//! the open ones of a place and notes what happened. Invariants: what is noted of an older wording closes
//! nothing; what was dropped comes back only by an operator's word; what is out is never sent again.

use rusqlite::{Connection, Row, params};
use sb_model::{Chat, ConversationId, Post, PostKey, Slug, Timestamp};

use crate::error::Result;
use crate::parts::{self, StoredPart};
use crate::posting::PostBody;
use crate::rows::{self, Word};
use crate::store::Store;

/// How a post stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PostState {
    /// To be sent, or to be changed where it is.
    Open,
    /// Out.
    Done,
    /// It will never go.
    Refused,
    /// Perhaps sent: an answer was lost, and nobody can look.
    Perhaps,
    /// Given up, by an operator or for want of room.
    Dropped,
}

impl Word for PostState {
    const WORDS: &'static [(Self, &'static str)] = &[
        (Self::Open, "open"),
        (Self::Done, "done"),
        (Self::Refused, "refused"),
        (Self::Perhaps, "perhaps"),
        (Self::Dropped, "dropped"),
    ];
}

/// One post as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredPost {
    /// In the order of writing.
    pub number: i64,
    pub conversation: ConversationId,
    /// Its chat is where the platform has that chat now.
    pub post: Post,
    /// When it was decided.
    pub at: Timestamp,
    pub state: PostState,
    /// Not to be tried before; of one that is over, when that was noted.
    pub due: Timestamp,
    pub tries: u32,
    /// Why it stands so, for the operator.
    pub why: Option<String>,
    /// How often its words were changed.
    pub revised: u32,
    pub parts: Vec<StoredPart>,
}

/// What became of a part, or of a post.
#[derive(Debug, Clone, PartialEq)]
pub enum Sending {
    Part {
        key: PostKey,
        part: StoredPart,
    },
    Post {
        key: PostKey,
        state: PostState,
        /// When to try again; of one that is over, when that was noted.
        due: Timestamp,
        tries: u32,
        why: Option<String>,
        /// [`StoredPost::revised`] as the sender saw it.
        revised: u32,
    },
}

const COLUMNS: &str =
    "number, conversation, key, channel, chat, thread, sort, at, body, state, due, tries, why, revised";

impl Store {
    /// Records what became of parts and posts, in order, all or none. A part is written over. A post that
    /// is unknown is passed over: its turn has not ended. One that was revised meanwhile stays open
    /// whatever is said of its older wording; one that was dropped stays so, unless it is out.
    pub async fn note_sending(&self, notes: Vec<Sending>) -> Result<()> {
        self.write("noting what was sent", move |db| notes.iter().try_for_each(|note| write_note(db, note)))
            .await
    }

    /// At most `most` open posts of a place in the order of writing, due or not; none where nothing reaches the chat.
    pub async fn open_posts(&self, channel: &Slug, chat: &Chat, most: usize) -> Result<Vec<StoredPost>> {
        let (channel, chat, most) = (channel.clone(), chat.clone(), limit(most));
        self.read("reading what is to be sent", move |db| {
            let sql = format!(
                "select {COLUMNS} from posts
                 where channel = $1 and state = 'open' and chat = $2 and coalesce(thread, '') = coalesce($3, '')
                     and (thread is null) = ($3 is null) and sort = $4
                     and not exists (select 1 from chats c
                                     where c.channel = posts.channel and c.chat = posts.chat and c.gone is not null)
                 order by number limit $5"
            );
            let of = params![channel.as_str(), chat.id, chat.thread, chat.sort.word(), most];
            rows::collect(&mut *db.prepare_cached(&sql)?, of, |row| stored(db, row))
        })
        .await
    }

    /// Which conversation put a post, and where, if it is known.
    pub async fn post_place(&self, key: &PostKey) -> Result<Option<(ConversationId, sb_model::Address)>> {
        Ok(self.post(key).await?.map(|p| (p.conversation, p.post.to)))
    }

    /// A post as it stands, out or not, if it is known.
    pub async fn post(&self, key: &PostKey) -> Result<Option<StoredPost>> {
        let key = key.clone();
        self.read("finding a post", move |db| {
            let sql = format!("select {COLUMNS} from posts where key = $1");
            let mut found = db.prepare_cached(&sql)?;
            rows::first(&mut found, [&key.0], |row| stored(db, row))
        })
        .await
    }

    /// The places of a channel that have open posts, with the earliest time one of each is due; without
    /// the chats that nothing reaches.
    pub async fn places_to_send(&self, channel: &Slug) -> Result<Vec<(Chat, Timestamp)>> {
        let channel = channel.clone();
        self.read("finding where to send", move |db| {
            let mut found = db.prepare_cached(
                "select p.chat, p.thread, p.sort, min(p.due) from posts p
                 left join chats c on c.channel = p.channel and c.chat = p.chat
                 where p.channel = $1 and p.state = 'open' and c.gone is null
                 group by p.chat, p.thread, p.sort order by min(p.number)",
            )?;
            rows::collect(&mut found, [channel.as_str()], |row| Ok((chat(row, 0)?, Timestamp(row.get(3)?))))
        })
        .await
    }

    /// At most `most` posts of one channel or of all that are not out: open, refused, perhaps sent; `all`:
    /// also those that are out or dropped. The newest first.
    pub async fn outbox(&self, channel: Option<&Slug>, all: bool, most: usize) -> Result<Vec<StoredPost>> {
        let (channel, most) = (channel.map(|c| c.0.clone()), limit(most));
        self.read("listing the outbox", move |db| {
            let sql = format!(
                "select {COLUMNS} from posts
                 where ($1 is null or channel = $1) and ($2 = 1 or state in ('open', 'refused', 'perhaps'))
                 order by number desc limit $3"
            );
            rows::collect(&mut *db.prepare_cached(&sql)?, params![channel, all, most], |row| stored(db, row))
        })
        .await
    }

    /// Makes open posts of a channel that are due after `latest` due now. For a start: what is put off for longer
    /// than anything is was noted by a clock that has been set back, or waits for what a restart may have brought.
    pub async fn hurry(&self, channel: &Slug, latest: Timestamp, now: Timestamp) -> Result<()> {
        let channel = channel.clone();
        self.write("looking for posts that are put off", move |db| {
            let mut hurried = db.prepare_cached(
                "update posts set due = $1 where channel = $2 and state = 'open' and due > $3",
            )?;
            hurried.execute(params![now.0, channel.as_str(), latest.0])?;
            Ok(())
        })
        .await
    }

    /// Opens a post that is not out once more, due now, its parts that were given up with it; whether there
    /// is such a post.
    pub async fn retry_post(&self, number: i64, now: Timestamp) -> Result<bool> {
        self.write("trying a post again", move |db| {
            let mut again = db.prepare_cached(
                "update posts set state = 'open', due = $1, tries = 0, why = null
                 where number = $2 and state <> 'done' returning key",
            )?;
            let key: Option<String> = rows::first(&mut again, [now.0, number], |row| Ok(row.get(0)?))?;
            key.as_ref().map(|key| parts::try_again(db, key)).transpose()?;
            Ok(key.is_some())
        })
        .await
    }

    /// Gives up a post that is not out; whether there is such a post.
    pub async fn drop_post(&self, number: i64) -> Result<bool> {
        self.write("dropping a post", move |db| {
            let mut dropped = db.prepare_cached(
                "update posts set state = 'dropped' where number = $1 and state not in ('done', 'dropped')",
            )?;
            Ok(dropped.execute([number])? > 0)
        })
        .await
    }

    /// How many posts are still to be sent.
    pub async fn count_unsent(&self) -> Result<u64> {
        self.read("counting what is to be sent", |db| {
            let mut found = db.prepare_cached("select count(*) from posts where state = 'open'")?;
            Ok(found.query_row([], |row| row.get::<_, i64>(0))?.unsigned_abs())
        })
        .await
    }
}

fn write_note(db: &Connection, note: &Sending) -> Result<()> {
    let (key, state, due, tries, why, revised) = match note {
        Sending::Part { key, part } => return parts::write(db, key, part),
        Sending::Post { key, state, due, tries, why, revised } => (key, state, due, tries, why, revised),
    };
    db.prepare_cached(
        "update posts set state = $1, due = $2, tries = $3, why = $4
         where key = $5 and (revised = $6 or $1 = 'open')
             and (state <> 'dropped' or $1 in ('done', 'dropped'))",
    )?
    .execute(params![state.word(), due.0, tries, why, key.0, revised])?;
    Ok(())
}

fn stored(db: &Connection, row: &Row<'_>) -> Result<StoredPost> {
    let key = PostKey(row.get(2)?);
    let parts = parts::of(db, &key)?;
    let body: PostBody = rows::parsed(row, 8)?;
    Ok(StoredPost {
        number: row.get(0)?,
        conversation: ConversationId(row.get(1)?),
        post: body.post(key, Slug(row.get(3)?), chat(row, 4)?),
        at: Timestamp(row.get(7)?),
        state: rows::word(row, 9)?,
        due: Timestamp(row.get(10)?),
        tries: row.get(11)?,
        why: row.get(12)?,
        revised: row.get(13)?,
        parts,
    })
}

/// The columns `chat, thread, sort`, from `at` on.
fn chat(row: &Row<'_>, at: usize) -> Result<Chat> {
    Ok(Chat { id: row.get(at)?, thread: row.get(at + 1)?, sort: rows::word(row, at + 2)? })
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
