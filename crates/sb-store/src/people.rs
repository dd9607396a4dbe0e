//! Guests: who was let in by a pairing or by hand, besides whoever a channel's options allow.

use rusqlite::{Connection, Row, params};
use sb_model::{Guest, Slug, Timestamp};

use crate::error::Result;
use crate::rows;
use crate::store::Store;

impl Store {
    /// The guests of one channel or of all, in the order of coming.
    pub async fn guests(&self, channel: Option<&Slug>) -> Result<Vec<Guest>> {
        let channel = channel.map(|c| c.0.clone());
        self.read("listing guests", move |db| {
            let mut found = db.prepare_cached(
                "select channel, id, name, since from guests where ($1 is null or channel = $1)
                 order by since, channel, id",
            )?;
            rows::collect(&mut found, [channel], guest)
        })
        .await
    }

    /// Whether somebody was let in.
    pub async fn is_guest(&self, channel: &Slug, id: &str) -> Result<bool> {
        let (channel, id) = (channel.clone(), id.to_owned());
        self.read("looking up a guest", move |db| {
            let mut found = db.prepare_cached("select 1 from guests where channel = $1 and id = $2")?;
            Ok(found.exists([channel.as_str(), &id])?)
        })
        .await
    }

    /// Lets somebody in; a code they were shown is used up. Who was in already gets the new label and
    /// stays since when they were.
    pub async fn let_in(&self, guest: &Guest) -> Result<()> {
        let guest = guest.clone();
        self.write("letting somebody in", move |db| let_in(db, &guest)).await
    }

    /// Lets nobody of this id in any more, unless the options do; whether they were in.
    pub async fn let_out(&self, channel: &Slug, id: &str) -> Result<bool> {
        let (channel, id) = (channel.clone(), id.to_owned());
        self.write("letting somebody out", move |db| {
            let mut gone = db.prepare_cached("delete from guests where channel = $1 and id = $2")?;
            Ok(gone.execute([channel.as_str(), &id])? > 0)
        })
        .await
    }
}

pub(crate) fn let_in(db: &Connection, guest: &Guest) -> Result<()> {
    db.prepare_cached(
        "insert into guests (channel, id, name, since) values ($1, $2, $3, $4)
         on conflict (channel, id) do update set name = excluded.name",
    )?
    .execute(params![guest.channel.as_str(), guest.id, guest.name, guest.since.0])?;
    db.prepare_cached("delete from pairings where channel = $1 and id = $2")?
        .execute([guest.channel.as_str(), &guest.id])?;
    Ok(())
}

fn guest(row: &Row<'_>) -> Result<Guest> {
    Ok(Guest {
        channel: Slug(row.get(0)?),
        id: row.get(1)?,
        name: row.get(2)?,
        since: Timestamp(row.get(3)?),
    })
}
