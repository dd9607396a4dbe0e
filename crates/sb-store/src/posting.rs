//! Writing posts: part of the commit that decides them, so that a reply and its way out are one fact.
//!
//! Invariants: a key is written once, however often it is decided. What a post says can change, and
//! then it goes out again. A channel keeps the last [`MOST_UNSENT`] posts that are not out yet; older
//! ones are dropped, and say so.

use rusqlite::{Connection, params};
use sb_model::{
    Address, Attachment, Chat, ChatSort, Choice, ConversationId, Handle, MessageRef, Post, PostKey, Slug,
    Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::rows::{self, Word, json};

/// Posts of one channel that are kept while they cannot be sent.
pub const MOST_UNSENT: i64 = 200;

impl Word for ChatSort {
    const WORDS: &'static [(Self, &'static str)] = &[(Self::Direct, "direct"), (Self::Group, "group")];
}

/// The JSON of a post: all of it that has no column.
#[derive(Serialize, Deserialize)]
pub(crate) struct PostBody {
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Choice>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answers: Vec<MessageRef>,
    #[serde(default)]
    failed: bool,
    /// The message it answers, of its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<MessageRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    handle: Option<Handle>,
}

impl PostBody {
    fn of(post: &Post) -> Self {
        let Post { key: _, to, text, files, choices, answers, failed } = post.clone();
        let Address { channel: _, chat: _, message, handle } = to;
        Self { text, files, choices, answers, failed, message, handle }
    }
    pub(crate) fn post(self, key: PostKey, channel: Slug, chat: Chat) -> Post {
        let Self { text, files, choices, answers, failed, message, handle } = self;
        Post { key, to: Address { channel, chat, message, handle }, text, files, choices, answers, failed }
    }
}

/// Writes a post, unless its key is known. `at`: the time of what it is decided with; where that tells
/// none, the newest message of its conversation does.
pub(crate) fn post(db: &Connection, of: &ConversationId, post: &Post, at: Option<Timestamp>) -> Result<()> {
    let (channel, chat) = (post.to.channel.as_str(), &post.to.chat);
    let written = db
        .prepare_cached(
            "insert into posts
                 (key, conversation, channel, chat, thread, sort, at, body, asks, state, due)
             values ($1, $2, $3,
                 coalesce((select moved_to from chats where channel = $3 and chat = $4), $4), $5, $6,
                 coalesce($7, (select m.at from conversations c join messages m on m.id = c.newest
                     where c.id = $2), 0), $8, $9, 'open', 0)
             on conflict (key) do nothing",
        )?
        .execute(params![
            post.key.0,
            of.as_str(),
            channel,
            chat.id,
            chat.thread,
            chat.sort.word(),
            at.map(|t| t.0),
            json(&PostBody::of(post))?,
            post.key.is_question(),
        ])?;
    match written {
        0 => Ok(()),
        _ => drop_oldest(db, channel),
    }
}

/// Our own answers to single messages go before agents' replies: somebody who presses a button again and again
/// must not push out what others wait for. Reads past those that stay, so it costs no more than what is unsent.
fn drop_oldest(db: &Connection, channel: &str) -> Result<()> {
    db.prepare_cached(
        "update posts set state = 'dropped', why = $1
         where number in
             (select number from posts where channel = $2 and state = 'open'
              order by case when key >= 'message:' and key < 'message;' then 1 else 0 end, number desc
              limit 1000 offset $3)",
    )?
    .execute(params![
        format!("more than {MOST_UNSENT} posts waited to be sent"),
        channel,
        MOST_UNSENT
    ])?;
    Ok(())
}

/// The post says something else and asks nothing any more. Unless it was dropped, it goes out again. A key
/// that is unknown here changes nothing.
pub(crate) fn repost(db: &Connection, of: &ConversationId, key: &PostKey, text: &str) -> Result<()> {
    // A question that was shown again has keys that begin with its first one's.
    let mut found = db.prepare_cached(
        "select key, body from posts where conversation = $1 and (key = $2 or (key > $3 and key < $4))",
    )?;
    let (from, to) = (format!("{}:", key.0), format!("{};", key.0));
    let shown = rows::collect(&mut found, [of.as_str(), &key.0, &from, &to], |row| {
        Ok((row.get::<_, String>(0)?, rows::parsed::<PostBody>(row, 1)?))
    })?;
    for (key, body) in shown {
        repost_one(db, &key, body, text)?;
    }
    Ok(())
}

fn repost_one(db: &Connection, key: &str, mut body: PostBody, text: &str) -> Result<()> {
    text.clone_into(&mut body.text);
    body.choices.clear();
    db.prepare_cached(
        "update posts set body = $1, asks = 0, revised = revised + 1,
             due = case when state = 'dropped' then due else 0 end,
             tries = case when state = 'dropped' then tries else 0 end,
             why = case when state = 'dropped' then why else null end,
             state = case when state = 'dropped' then state else 'open' end
         where key = $2",
    )?
    .execute(params![json(&body)?, key])?;
    Ok(())
}
