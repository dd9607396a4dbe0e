//! Tokens: what programs and people show at a door.
//!
//! Invariant: a token itself is never stored, only its SHA-256; it is shown once, when it is made.
//! It holds 192 random bits, so a plain hash is as hard to turn back as the token is to guess.

use rusqlite::{Connection, params};
use sb_model::{Dice, Digest, ProfileName, Rights, Secret, Timestamp, TokenId};
use subtle::ConstantTimeEq;

use crate::error::{Result, StoreError};
use crate::rows;
use crate::store::Store;

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Its public name.
    pub id: TokenId,
    /// The profile it opens.
    pub profile: ProfileName,
    /// Whether its holder may approve and decline, not only talk.
    pub decide: bool,
    /// Whether its holder may change what a chat chose.
    pub instruct: bool,
    pub created: Timestamp,
}

impl Store {
    /// Makes a token for a profile. The secret is returned this once. `NotFound` without the profile.
    pub async fn add_token(
        &self,
        profile: &ProfileName,
        rights: Rights,
        now: Timestamp,
        dice: &dyn Dice,
    ) -> Result<(TokenRecord, Secret)> {
        let mut random = [0; 24];
        dice.fill(&mut random);
        let secret = Secret::new(format!("sb_{}", hex::encode(random)));
        // Public ids are short; a second one differs where the first is taken.
        let ids = [dice.roll(), dice.roll(), dice.roll()].map(|r| format!("{:08x}", r >> 32));
        let (hash, profile) = (hash(&secret).to_string(), profile.clone());
        let Rights { decide, instruct } = rights;
        let record = self
            .write("adding a token", move |db| {
                require_profile(db, &profile)?;
                let id = free_id(db, ids)?;
                db.prepare_cached(
                    "insert into tokens (id, profile, hash, decide, instruct, created)
                     values ($1, $2, $3, $4, $5, $6)",
                )?
                .execute(params![id, profile.as_str(), hash, decide, instruct, now.0])?;
                Ok(TokenRecord { id: TokenId(id), profile, decide, instruct, created: now })
            })
            .await?;
        Ok((record, secret))
    }

    /// The tokens of one profile or of all, the oldest first.
    pub async fn tokens(&self, profile: Option<&ProfileName>) -> Result<Vec<TokenRecord>> {
        let profile = profile.map(|p| p.0.clone());
        self.read("listing tokens", move |db| {
            let mut found = db.prepare_cached(
                "select id, profile, decide, instruct, created from tokens
                 where ($1 is null or profile = $1) order by created, id",
            )?;
            rows::collect(&mut found, [profile], record)
        })
        .await
    }

    /// Removes a token; whether the profile had it. It opens nothing from then on.
    pub async fn remove_token(&self, profile: &ProfileName, id: &TokenId) -> Result<bool> {
        let (profile, id) = (profile.0.clone(), id.0.clone());
        self.write("removing a token", move |db| {
            let mut gone = db.prepare_cached("delete from tokens where id = $1 and profile = $2")?;
            Ok(gone.execute([id, profile])? > 0)
        })
        .await
    }

    /// The token that this text is, if it is one.
    pub async fn find_token(&self, secret: &Secret) -> Result<Option<TokenRecord>> {
        let shown = hash(secret);
        self.read("looking up a token", move |db| {
            let mut found = db.prepare_cached(
                "select id, profile, decide, instruct, created, hash from tokens where hash = $1",
            )?;
            rows::first(&mut found, [shown.to_string()], |row| {
                let kept: Digest = rows::id(row, 5)?;
                let same = bool::from(kept.0.ct_eq(&shown.0));
                Ok(if same { Some(record(row)?) } else { None })
            })
            .map(Option::flatten)
        })
        .await
    }
}

fn hash(secret: &Secret) -> Digest {
    Digest::of(secret.expose().as_bytes())
}

fn record(row: &rusqlite::Row<'_>) -> Result<TokenRecord> {
    Ok(TokenRecord {
        id: TokenId(row.get(0)?),
        profile: ProfileName(row.get(1)?),
        decide: row.get(2)?,
        instruct: row.get(3)?,
        created: Timestamp(row.get(4)?),
    })
}

fn require_profile(db: &Connection, profile: &ProfileName) -> Result<()> {
    let mut found = db.prepare_cached("select 1 from profiles where name = $1")?;
    match found.exists([profile.as_str()])? {
        true => Ok(()),
        false => Err(StoreError::not_found(format!("profile {profile}"))),
    }
}

fn free_id(db: &Connection, ids: [String; 3]) -> Result<String> {
    let mut taken = db.prepare_cached("select 1 from tokens where id = $1")?;
    for id in ids {
        if !taken.exists([&id])? {
            return Ok(id);
        }
    }
    Err(StoreError::contradiction("three ids in a row are taken"))
}
