//! What people do in the ledger: new accounts, money, suspensions; and an agent for every profile.

use rusqlite::Connection;
use sb_ledger::{Act, Entry, Ledger, Refused, SigningKey, Sort, Usd};
use sb_model::{AccountKey, Dice, ProfileName, Timestamp};

use super::{Books, key_name};
use crate::error::{Result, StoreErrorKind};
use crate::secrets::{keep, seal, sealing_key};
use crate::store::Store;

/// The person's account under which profiles get their agents, where no other is named.
pub const OPERATOR: &str = "operator";
/// Names that are tried where the first is taken.
const NAMES_TRIED: usize = 1000;

/// An account to be opened.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAccount {
    pub name: String,
    /// Whose agent it is; none: it is a person's account.
    pub parent: Option<AccountKey>,
    /// What an agent is given by its parent at once, or a person brings in.
    pub budget: Usd,
}

impl Store {
    /// Opens an account with a new key, sealed here, and gives it its budget: the entries this made.
    pub async fn open_account(&self, new: NewAccount, now: Timestamp, dice: &dyn Dice) -> Result<Vec<Entry>> {
        let (books, key) = (self.books().clone(), fresh_key(dice));
        self.write("opening an account", move |db| books.open_account(db, now, &key, &new)).await
    }

    /// Signs an act for an account and appends it: the entry it became.
    pub async fn sign(&self, by: AccountKey, act: Act, now: Timestamp) -> Result<Entry> {
        let books = self.books().clone();
        self.write("signing", move |db| books.sign(db, now, by, act)).await
    }

    /// The agent of a profile that names none: the one called as it is, made if need be, without a budget,
    /// under the first person's account of this machine called [`OPERATOR`].
    pub async fn agent_for(
        &self,
        profile: &ProfileName,
        now: Timestamp,
        dice: &dyn Dice,
    ) -> Result<AccountKey> {
        let (books, profile) = (self.books().clone(), profile.clone());
        let keys = (fresh_key(dice), fresh_key(dice));
        self.write("making an agent for a profile", move |db| {
            let named = books.agent_named(db, &profile)?;
            let name = match named {
                Ok(agent) => return Ok(agent),
                Err(free) => free,
            };
            let parent = books.operator(db, now, &keys.0)?;
            let new = NewAccount { name, parent: Some(parent), budget: Usd::ZERO };
            books.open_account(db, now, &keys.1, &new)?;
            Ok(keys.1.account())
        })
        .await
    }
}

impl Books {
    fn open_account(
        &self,
        db: &Connection,
        now: Timestamp,
        key: &SigningKey,
        new: &NewAccount,
    ) -> Result<Vec<Entry>> {
        let mut ledger = self.caught_up(db)?;
        let (account, name) = (key.account(), new.name.clone());
        let sort = if new.parent.is_some() { Sort::Agent } else { Sort::Person };
        let opened = Act::Opened { account, name, sort, parent: new.parent };
        ledger.allow(new.parent.unwrap_or(account), &opened)?;
        let (secret, sealing) = (key_name(account), sealing_key(&self.home)?);
        keep(db, &secret, Some(&seal(&sealing, &secret, &key.secret())?))?;
        let parents = new.parent.map(|parent| self.key(db, &ledger, parent)).transpose()?;
        let signer = parents.as_ref().unwrap_or(key);
        let mut entries = vec![self.append(db, &mut ledger, now, signer, opened)?];
        if new.budget != Usd::ZERO {
            let amount = new.budget;
            let given = match new.parent {
                Some(_) => Act::Funded { agent: account, amount },
                None => Act::BroughtIn { amount },
            };
            entries.push(self.append(db, &mut ledger, now, signer, given)?);
        }
        Ok(entries)
    }

    /// The agent called as the profile, or the name that a new one can have.
    fn agent_named(
        &self,
        db: &Connection,
        profile: &ProfileName,
    ) -> Result<std::result::Result<AccountKey, String>> {
        let ledger = self.caught_up(db)?;
        let names = std::iter::once(profile.0.clone()).chain([shortened(&profile.0)]);
        for name in names {
            match ledger.find(&name) {
                Ok(account) if account.sort == Sort::Agent && account.name == name => {
                    return Ok(Ok(account.key));
                }
                _ if is_free(&ledger, &name) => return Ok(Err(name)),
                _ => {}
            }
        }
        Err(Refused::NameTaken(profile.0.clone()).into())
    }

    /// The person's account that this machine makes agents under; another one where its key is elsewhere.
    fn operator(&self, db: &Connection, now: Timestamp, fresh: &SigningKey) -> Result<AccountKey> {
        for n in 1..NAMES_TRIED {
            let name = if n == 1 { OPERATOR.to_owned() } else { format!("{OPERATOR}-{n}") };
            let ledger = self.caught_up(db)?;
            let found = ledger.find(&name).ok().filter(|a| a.name == name).map(|a| (a.key, a.sort));
            match found {
                None => {
                    drop(ledger);
                    let new = NewAccount { name, parent: None, budget: Usd::ZERO };
                    self.open_account(db, now, fresh, &new)?;
                    return Ok(fresh.account());
                }
                Some((_, Sort::Agent)) => {}
                Some((key, Sort::Person)) => match self.key(db, &ledger, key) {
                    Ok(_) => return Ok(key),
                    Err(why) if why.kind == StoreErrorKind::Refused => {}
                    Err(why) => return Err(why),
                },
            }
        }
        Err(Refused::NameTaken(OPERATOR.to_owned()).into())
    }
}

/// For a profile whose own name a person has, or that looks like a key.
fn shortened(profile: &str) -> String {
    format!("{}-agent", &profile[..profile.len().min(58)])
}

/// Whether an account can be called so.
fn is_free(ledger: &Ledger, name: &str) -> bool {
    let key = AccountKey([0; 32]);
    let opened = Act::Opened { account: key, name: name.to_owned(), sort: Sort::Person, parent: None };
    ledger.allow(key, &opened).is_ok()
}

fn fresh_key(dice: &dyn Dice) -> SigningKey {
    let mut bytes = [0; 32];
    dice.fill(&mut bytes);
    SigningKey::of(&bytes)
}
