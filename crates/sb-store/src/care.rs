//! Looking after a home: checking it, clearing away what is over, counting.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::{Connection, params};
use sb_model::{Digest, Timestamp};
use serde_json::Value;

use crate::blobs::Blobs;
use crate::dialect;
use crate::error::Result;
use crate::store::{Store, blocking};
use crate::{jobs, rows};

/// Rows removed in one transaction, so that clearing up holds nobody up.
const PIECE: usize = 500;

/// How long posts are kept once they are out or dropped.
const POSTS_KEPT_MS: i64 = 7 * 86_400_000;

/// What a purge removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    /// Messages' keys past their time.
    pub keys: u64,
    /// Posts long out or dropped, each with its parts, and parts that never got a post.
    pub posts: u64,
    /// Files that were begun and never finished.
    pub files: u64,
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub conversations: u64,
    /// Messages without an ending.
    pub unfinished: u64,
    pub sessions: u64,
}

impl Store {
    /// Everything that is wrong with the home, a sentence each; empty if it is healthy. Reads all of
    /// it, so it takes a while with a large one.
    pub async fn check(&self) -> Result<Vec<String>> {
        let blobs = Arc::clone(self.blobs());
        self.read("checking the home", move |db| {
            let mut found = dialect::integrity(db)?;
            found.extend(missing_blobs(db, &blobs)?);
            Ok(found)
        })
        .await
    }

    /// Removes what is over: keys past their time, posts a week out or dropped that ask nothing any more,
    /// parts as old whose post never came, files never finished.
    pub async fn purge(&self, now: Timestamp) -> Result<Purged> {
        let mut purged = Purged::default();
        loop {
            // Found by a reader and removed by their names, so that the writer never searches.
            let keys = self.read("finding old keys", move |db| old_keys(db, now)).await?;
            if keys.is_empty() {
                break;
            }
            purged.keys += self.write("removing old keys", move |db| forget(db, &keys, now)).await?;
        }
        let before = now.plus_ms(-POSTS_KEPT_MS);
        loop {
            let old = self.read("finding old posts", move |db| old_posts(db, before)).await?;
            if old.is_empty() {
                break;
            }
            let gone = self.write("removing old posts", move |db| forget_posts(db, &old, before)).await?;
            purged.posts += gone;
            // What was found is open again: it is left for the next time.
            if gone == 0 {
                break;
            }
        }
        let blobs = Arc::clone(self.blobs());
        let removed = blocking(move || blobs.remove_abandoned()).await;
        purged.files = removed.map_err(|e| e.while_doing("removing unfinished files"))?;
        Ok(purged)
    }

    /// How much there is, for metrics.
    pub async fn counts(&self) -> Result<Counts> {
        self.read("counting", |db| {
            let count = |sql: &str| -> Result<u64> {
                let count: i64 = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
                Ok(count.unsigned_abs())
            };
            Ok(Counts {
                conversations: count("select count(*) from conversations")?,
                unfinished: count("select count(*) from messages where ending is null")?,
                sessions: count("select count(*) from sessions")?,
            })
        })
        .await
    }
}

fn old_keys(db: &Connection, now: Timestamp) -> Result<Vec<String>> {
    let mut found = db.prepare_cached("select key from keys where until <= $1 limit $2")?;
    let keys = found.query_map(params![now.0, PIECE as i64], |row| row.get(0))?;
    Ok(keys.collect::<std::result::Result<_, _>>()?)
}

fn forget(db: &Connection, keys: &[String], now: Timestamp) -> Result<u64> {
    // The time again: a key found old may have been given to a new message meanwhile.
    let mut gone = db.prepare_cached("delete from keys where key = $1 and until <= $2")?;
    let mut count = 0;
    for key in keys {
        count += gone.execute(params![key, now.0])? as u64;
    }
    Ok(count)
}

/// The keys of posts that are over, and of parts without a post. A post's `due` tells when it was last tried.
fn old_posts(db: &Connection, before: Timestamp) -> Result<Vec<String>> {
    let mut found = db.prepare_cached(
        "select key from posts
         where state in ('done', 'dropped') and asks = 0 and at <= $1 and due <= $1 limit $2",
    )?;
    let mut keys = rows::collect(&mut found, params![before.0, PIECE as i64], |row| Ok(row.get(0)?))?;
    let mut found = db.prepare_cached(
        "select key from parts p
         where at <= $1 and not exists (select 1 from posts where posts.key = p.key) limit $2",
    )?;
    keys.extend(rows::collect(&mut found, params![before.0, PIECE as i64], |row| {
        row.get(0).map_err(Into::into)
    })?);
    Ok(keys)
}

fn forget_posts(db: &Connection, keys: &[String], before: Timestamp) -> Result<u64> {
    // Again what they were found by: one may have been opened or written meanwhile.
    let mut post = db.prepare_cached(
        "delete from posts
         where key = $1 and state in ('done', 'dropped') and asks = 0 and at <= $2 and due <= $2",
    )?;
    let mut parts = db.prepare_cached(
        "delete from parts where key = $1 and not exists (select 1 from posts where key = $1)
             and not exists (select 1 from parts where key = $1 and at > $2)",
    )?;
    let mut count = 0;
    for key in keys {
        jobs::keep_sent(db, key)?;
        let of = params![key, before.0];
        count += u64::from(post.execute(of)? + parts.execute(of)? > 0);
    }
    Ok(count)
}

/// Blobs that some row names and that are not there.
fn missing_blobs(db: &Connection, blobs: &Blobs) -> Result<Vec<String>> {
    let mut named = BTreeSet::new();
    for sql in [
        "select body from messages where body like '%\"digest\"%'",
        "select ending from messages where ending like '%\"digest\"%'",
        "select body from records where body like '%\"digest\"%'",
        "select body from posts where body like '%\"digest\"%'",
        "select raw from inbox where why = 'held' and raw like '%\"digest\"%'",
    ] {
        let mut found = db.prepare(sql)?;
        let mut rows = found.query([])?;
        while let Some(row) = rows.next()? {
            let body: String = row.get(0)?;
            if let Ok(value) = serde_json::from_str(&body) {
                note_digests(&value, &mut named);
            }
        }
    }
    let missing = named.into_iter().filter(|digest| !blobs.path(digest).exists());
    Ok(missing.map(|digest| format!("file {digest} is named by a message or a log and is missing")).collect())
}

/// The digests of all attachments in a stored value.
fn note_digests(value: &Value, into: &mut BTreeSet<Digest>) {
    match value {
        Value::Object(fields) => {
            // An attachment, and not some tool's input that has a field of that name.
            if fields.contains_key("media_type")
                && let Some(Value::String(text)) = fields.get("digest")
                && let Ok(digest) = text.parse()
            {
                into.insert(digest);
            }
            fields.values().for_each(|v| note_digests(v, into));
        }
        Value::Array(items) => items.iter().for_each(|v| note_digests(v, into)),
        _ => {}
    }
}
