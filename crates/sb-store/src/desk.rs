//! Profiles, as operators keep them.

use rusqlite::params;
use sb_model::{Profile, ProfileName};

use crate::error::Result;
use crate::rows::{self, json};
use crate::secrets;
use crate::store::Store;

impl Store {
    /// All profiles, by name.
    pub async fn profiles(&self) -> Result<Vec<Profile>> {
        self.read("listing profiles", |db| {
            let mut found = db.prepare_cached("select body from profiles order by name")?;
            rows::collect(&mut found, [], |row| rows::parsed(row, 0))
        })
        .await
    }

    /// One profile.
    pub async fn profile(&self, name: &ProfileName) -> Result<Option<Profile>> {
        let name = name.clone();
        self.read("reading a profile", move |db| {
            let mut found = db.prepare_cached("select body from profiles where name = $1")?;
            rows::first(&mut found, [name.as_str()], |row| rows::parsed(row, 0))
        })
        .await
    }

    /// Adds a profile, or replaces the one of that name.
    pub async fn put_profile(&self, profile: &Profile) -> Result<()> {
        let profile = profile.clone();
        self.write("writing a profile", move |db| {
            db.prepare_cached(
                "insert into profiles (name, body) values ($1, $2)
                 on conflict (name) do update set body = excluded.body",
            )?
            .execute(params![profile.name.as_str(), json(&profile)?])?;
            Ok(())
        })
        .await
    }

    /// Removes a profile with its tokens, its notes and its sealed secrets; whether there was one. Its
    /// conversations stay.
    pub async fn remove_profile(&self, name: &ProfileName) -> Result<bool> {
        let name = name.clone();
        self.write("removing a profile", move |db| {
            db.prepare_cached("delete from tokens where profile = $1")?.execute([name.as_str()])?;
            db.prepare_cached("delete from memos where profile = $1")?.execute([name.as_str()])?;
            secrets::forget_all(db, &secrets::of_profile(&name, ""))?;
            Ok(db.prepare_cached("delete from profiles where name = $1")?.execute([name.as_str()])? > 0)
        })
        .await
    }
}
