//! Channels, as operators keep them, with their secrets and what their adapters keep.
//!
//! Invariant: what is configured goes with the channel; what was said by it (posts, inbox) and whom it
//! let in stays, so that a channel set up again under its slug goes on.

use rusqlite::{Connection, params};
use sb_model::{ChannelConfig, Secret, Slug};

use crate::error::{Result, StoreError, StoreErrorKind};
use crate::rows::{self, json};
use crate::secrets;
use crate::store::Store;

/// Bytes an adapter may keep.
const MOST_STATE: usize = 64 * 1024;

impl Store {
    /// All channels, by slug.
    pub async fn channels(&self) -> Result<Vec<ChannelConfig>> {
        self.read("listing channels", |db| {
            let mut found = db.prepare_cached("select body from channels order by slug")?;
            rows::collect(&mut found, [], |row| rows::parsed(row, 0))
        })
        .await
    }

    /// One channel.
    pub async fn channel(&self, slug: &Slug) -> Result<Option<ChannelConfig>> {
        let slug = slug.clone();
        self.read("reading a channel", move |db| {
            let mut found = db.prepare_cached("select body from channels where slug = $1")?;
            rows::first(&mut found, [slug.as_str()], |row| rows::parsed(row, 0))
        })
        .await
    }

    /// Adds a channel or changes the one of its slug, and its secrets with it: those named get their new
    /// value, an empty value removes one, the others stay.
    pub async fn put_channel(&self, config: &ChannelConfig, secrets: Vec<(String, Secret)>) -> Result<()> {
        let doing = "writing a channel";
        let config = config.clone();
        let named = secrets.into_iter().map(|(field, secret)| (secret_name(&config.slug, &field), secret));
        let sealed = self.seal_all(named.collect()).await.map_err(|e| e.while_doing(doing))?;
        self.write(doing, move |db| {
            db.prepare_cached(
                "insert into channels (slug, body) values ($1, $2)
                 on conflict (slug) do update set body = excluded.body",
            )?
            .execute(params![config.slug.as_str(), json(&config)?])?;
            sealed.iter().try_for_each(|(name, sealed)| secrets::keep(db, name, sealed.as_deref()))
        })
        .await
    }

    /// Forgets a channel, its secrets, cursors and adapter's state, and who asked to be let in; whether
    /// there was one. Its posts, its inbox and its guests stay.
    pub async fn remove_channel(&self, slug: &Slug) -> Result<bool> {
        let slug = slug.clone();
        self.write("removing a channel", move |db| remove(db, &slug)).await
    }

    /// A channel's secrets by field. `Corrupt` if one was sealed under another machine's key, or the key
    /// is gone.
    pub async fn channel_secrets(&self, slug: &Slug) -> Result<Vec<(String, Secret)>> {
        let beginning = secret_name(slug, "");
        let found = self.secrets_beginning(&beginning).await?;
        let field = |name: String| name[beginning.len()..].to_owned();
        Ok(found.into_iter().map(|(name, secret)| (field(name), secret)).collect())
    }

    /// What the channel's adapter kept.
    pub async fn channel_state(&self, slug: &Slug) -> Result<Option<String>> {
        let slug = slug.clone();
        self.read("reading what an adapter kept", move |db| {
            let mut found = db.prepare_cached("select words from channel_states where channel = $1")?;
            rows::first(&mut found, [slug.as_str()], |row| Ok(row.get(0)?))
        })
        .await
    }

    /// Keeps an adapter's words in place of what it kept before; `TooLong` beyond 64 KiB.
    pub async fn put_channel_state(&self, slug: &Slug, words: &str) -> Result<()> {
        let doing = "keeping what an adapter wants kept";
        if words.len() > MOST_STATE {
            let cause = format!("{} bytes are more than the {MOST_STATE} a channel may keep", words.len());
            return Err(StoreError::new(StoreErrorKind::TooLong, cause).while_doing(doing));
        }
        let (slug, words) = (slug.clone(), words.to_owned());
        self.write(doing, move |db| {
            db.prepare_cached(
                "insert into channel_states (channel, words) values ($1, $2)
                 on conflict (channel) do update set words = excluded.words",
            )?
            .execute([slug.as_str(), &words])?;
            Ok(())
        })
        .await
    }
}

/// What a channel's secret is called.
fn secret_name(slug: &Slug, field: &str) -> String {
    format!("channel/{slug}/{field}")
}

fn remove(db: &Connection, slug: &Slug) -> Result<bool> {
    secrets::forget_all(db, &secret_name(slug, ""))?;
    for sql in [
        "delete from channel_states where channel = $1",
        "delete from cursors where channel = $1",
        "delete from pairings where channel = $1",
    ] {
        db.prepare_cached(sql)?.execute([slug.as_str()])?;
    }
    Ok(db.prepare_cached("delete from channels where slug = $1")?.execute([slug.as_str()])? > 0)
}
