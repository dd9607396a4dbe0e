//! What a home remembers of single chats: that nothing reaches one, or that the platform moved it.

use rusqlite::{Connection, params};
use sb_model::{ChatFacts, Slug};

use crate::error::Result;
use crate::rows;
use crate::store::Store;

impl Store {
    /// What is known of a chat; of most, nothing.
    pub async fn chat_facts(&self, channel: &Slug, chat: &str) -> Result<ChatFacts> {
        let (channel, chat) = (channel.clone(), chat.to_owned());
        self.read("reading what is known of a chat", move |db| {
            let mut found =
                db.prepare_cached("select known_as, gone from chats where channel = $1 and chat = $2")?;
            let facts = rows::first(&mut found, [channel.as_str(), &chat], |row| {
                Ok(ChatFacts { known_as: row.get(0)?, gone: row.get(1)? })
            })?;
            Ok(facts.unwrap_or_default())
        })
        .await
    }

    /// Nothing reaches the chat any more, and why; or, with none, it does again.
    pub async fn chat_gone(&self, channel: &Slug, chat: &str, why: Option<&str>) -> Result<()> {
        let (channel, chat, why) = (channel.clone(), chat.to_owned(), why.map(str::to_owned));
        self.write("noting that a chat is gone or back", move |db| {
            db.prepare_cached(
                "insert into chats (channel, chat, gone) values ($1, $2, $3)
                 on conflict (channel, chat) do update set gone = excluded.gone",
            )?
            .execute(params![channel.as_str(), chat, why])?;
            Ok(())
        })
        .await
    }

    /// The platform calls the chat `to` from now on. Its posts go there, also those decided later by who
    /// knows its old id; `to` is known as what `from` was known as. Telling it again changes nothing.
    pub async fn chat_moved(&self, channel: &Slug, from: &str, to: &str) -> Result<()> {
        let (channel, from, to) = (channel.clone(), from.to_owned(), to.to_owned());
        self.write("noting that a chat moved", move |db| match from == to {
            true => Ok(()),
            false => moved(db, channel.as_str(), &from, &to),
        })
        .await
    }
}

fn moved(db: &Connection, channel: &str, from: &str, to: &str) -> Result<()> {
    // What came back to its first id is known by its own name.
    db.prepare_cached(
        "insert into chats (channel, chat, known_as) values ($1, $2,
             nullif(coalesce((select known_as from chats where channel = $1 and chat = $3), $3), $2))
         on conflict (channel, chat) do update
         set known_as = excluded.known_as, moved_to = null, gone = null",
    )?
    .execute([channel, to, from])?;
    db.prepare_cached(
        "insert into chats (channel, chat, moved_to) values ($1, $2, $3)
         on conflict (channel, chat) do update set moved_to = excluded.moved_to",
    )?
    .execute([channel, from, to])?;
    for sql in [
        "update chats set moved_to = $1 where channel = $2 and moved_to = $3",
        "update posts set chat = $1 where channel = $2 and chat = $3",
    ] {
        db.prepare_cached(sql)?.execute([to, channel, from])?;
    }
    Ok(())
}
