//! Secrets at rest: sealed with XChaCha20-Poly1305 under the machine's own key.
//!
//! The key is the file `machine.key` in the home, made by the first seal and never copied by a backup, so
//! that neither a stolen database nor a stolen backup opens anything. A secret's name is bound to its
//! seal: moved under another name it does not open.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use rusqlite::{Connection, params};
use sb_model::{ProfileName, Secret};

use crate::error::{Result, StoreError, StoreErrorKind};
use crate::home::{Home, sync_folder};
use crate::rows;
use crate::store::{Store, blocking};

const NONCE: usize = 24;

/// What a profile's secret is called, such as its API key. [`Store::remove_profile`] removes all that
/// are called so.
pub fn of_profile(profile: &ProfileName, what: &str) -> String {
    format!("profile/{profile}/{what}")
}

impl Store {
    /// Seals a secret under this name, in place of any it had.
    pub async fn put_secret(&self, name: &str, secret: &Secret) -> Result<()> {
        let doing = "sealing a secret";
        let (home, owned, secret) = (self.home().clone(), name.to_owned(), secret.clone());
        let sealed = blocking(move || seal(&sealing_key(&home)?, &owned, &secret))
            .await
            .map_err(|e| e.while_doing(doing))?;
        let name = name.to_owned();
        self.write(doing, move |db| keep(db, &name, Some(&sealed))).await
    }

    /// Seals secrets, each under its own name; an empty one is none.
    pub(crate) async fn seal_all(
        &self,
        secrets: Vec<(String, Secret)>,
    ) -> Result<Vec<(String, Option<String>)>> {
        let home = self.home().clone();
        blocking(move || {
            let mut sealed = Vec::with_capacity(secrets.len());
            for (name, secret) in secrets {
                let seal = match secret.expose().is_empty() {
                    true => None,
                    false => Some(seal(&sealing_key(&home)?, &name, &secret)?),
                };
                sealed.push((name, seal));
            }
            Ok(sealed)
        })
        .await
    }

    /// The secret of this name. `Corrupt` if it was sealed under another machine's key, or the
    /// key is gone.
    pub async fn secret(&self, name: &str) -> Result<Option<Secret>> {
        let (home, name) = (self.home().clone(), name.to_owned());
        self.read("opening a secret", move |db| {
            let mut found = db.prepare_cached("select sealed from secrets where name = $1")?;
            let sealed: Option<String> = rows::first(&mut found, [&name], |row| Ok(row.get(0)?))?;
            sealed.map(|sealed| open(&opening_key(&home, &name)?, &name, &sealed)).transpose()
        })
        .await
    }

    /// The secrets whose names begin so, by name.
    pub(crate) async fn secrets_beginning(&self, beginning: &str) -> Result<Vec<(String, Secret)>> {
        let (home, beginning) = (self.home().clone(), beginning.to_owned());
        self.read("opening secrets", move |db| {
            let mut found = db.prepare_cached(
                "select name, sealed from secrets where substr(name, 1, length($1)) = $1 order by name",
            )?;
            rows::collect(&mut found, [beginning], |row| {
                let (name, sealed): (String, String) = (row.get(0)?, row.get(1)?);
                let secret = open(&opening_key(&home, &name)?, &name, &sealed)?;
                Ok((name, secret))
            })
        })
        .await
    }

    /// Forgets a secret; whether there was one.
    pub async fn remove_secret(&self, name: &str) -> Result<bool> {
        let name = name.to_owned();
        self.write("removing a secret", move |db| {
            Ok(db.prepare_cached("delete from secrets where name = $1")?.execute([name])? > 0)
        })
        .await
    }
}

/// Writes a seal under its name, or removes what is there.
pub(crate) fn keep(db: &Connection, name: &str, sealed: Option<&str>) -> Result<()> {
    let changed = match sealed {
        Some(sealed) => db
            .prepare_cached(
                "insert into secrets (name, sealed) values ($1, $2)
                 on conflict (name) do update set sealed = excluded.sealed",
            )?
            .execute([name, sealed]),
        None => db.prepare_cached("delete from secrets where name = $1")?.execute([name]),
    };
    Ok(changed.map(drop)?)
}

/// Forgets every secret whose name begins so.
pub(crate) fn forget_all(db: &Connection, beginning: &str) -> Result<()> {
    db.prepare_cached("delete from secrets where substr(name, 1, length($1)) = $1")?
        .execute(params![beginning])?;
    Ok(())
}

pub(crate) fn seal(key: &Key, name: &str, secret: &Secret) -> Result<String> {
    let mut nonce = [0; NONCE];
    random(&mut nonce)?;
    let payload = Payload { msg: secret.expose().as_bytes(), aad: name.as_bytes() };
    let sealed = XChaCha20Poly1305::new(key)
        .encrypt(&XNonce::from(nonce), payload)
        .map_err(|_| StoreError::new(StoreErrorKind::Io, "it is too long to be sealed"))?;
    Ok(BASE64.encode([nonce.as_slice(), &sealed].concat()))
}

pub(crate) fn open(key: &Key, name: &str, sealed: &str) -> Result<Secret> {
    let unreadable = || {
        let cause = format!("{name} was not sealed on this machine; set it again, or bring its machine.key");
        StoreError::new(StoreErrorKind::Corrupt, cause)
    };
    let bytes = BASE64.decode(sealed).map_err(|_| unreadable())?;
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE>().ok_or_else(unreadable)?;
    let payload = Payload { msg: sealed, aad: name.as_bytes() };
    let opened =
        XChaCha20Poly1305::new(key).decrypt(&XNonce::from(*nonce), payload).map_err(|_| unreadable())?;
    Ok(Secret::new(String::from_utf8(opened).map_err(|_| unreadable())?))
}

/// The machine's key to seal with, made if there is none.
pub(crate) fn sealing_key(home: &Home) -> Result<Key> {
    read_key(home)?.map_or_else(|| make_machine_key(home), Ok).and_then(key)
}

/// The machine's key to open with. One that is gone is not made anew: it would open nothing.
pub(crate) fn opening_key(home: &Home, name: &str) -> Result<Key> {
    let gone = || {
        let cause = format!(
            "machine.key, which {name} was sealed with, is not there; bring it back, or set it again"
        );
        StoreError::new(StoreErrorKind::Corrupt, cause)
    };
    read_key(home)?.ok_or_else(gone).and_then(key)
}

fn read_key(home: &Home) -> Result<Option<Vec<u8>>> {
    match fs::read(home.machine_key()) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

fn key(bytes: Vec<u8>) -> Result<Key> {
    let bytes: [u8; 32] = bytes
        .try_into()
        .map_err(|_| StoreError::new(StoreErrorKind::Corrupt, "machine.key is not 32 bytes long"))?;
    Ok(Key::from(bytes))
}

/// One at a time makes it; the home's lock keeps other processes out.
static MAKING: Mutex<()> = Mutex::new(());

fn make_machine_key(home: &Home) -> Result<Vec<u8>> {
    let _alone = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = home.machine_key();
    if let Ok(key) = fs::read(&path) {
        return Ok(key);
    }
    let mut key = vec![0; 32];
    random(&mut key)?;
    // Whole and durable before it has its name.
    let unfinished = path.with_extension("new");
    let mut file =
        OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&unfinished)?;
    file.write_all(&key)?;
    file.sync_all()?;
    fs::rename(&unfinished, &path)?;
    sync_folder(home.folder())?;
    Ok(key)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a seal may never meet dice that repeat: the same nonce twice gives both secrets away"
)]
fn random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|e| StoreError::new(StoreErrorKind::Io, e.to_string()))
}
