//! [`Ledger`]: what the entries so far add up to, and whether an act may follow.
//!
//! [`Ledger::allow`] is the one judge, of acts that are about to be signed and of those that were: what it
//! would not allow cannot stand in a chain that verifies. [`Ledger::add`] folds one entry and cannot fail.

use std::collections::{BTreeMap, HashMap};

use sb_model::{AccountKey, Digest, Timestamp};

use crate::{Act, Entry, Refused, Sealed, SigningKey, Sort, Usd};

/// How far an agent may be below a person.
pub(crate) const MOST_LEVELS: usize = 16;
/// Accounts of one ledger.
pub(crate) const MOST_ACCOUNTS: usize = 100_000;
/// Bytes of a payment's purpose.
pub(crate) const LONGEST_PURPOSE: usize = 500;

/// One account as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub key: AccountKey,
    pub name: String,
    pub sort: Sort,
    pub parent: Option<AccountKey>,
    /// What it has: an agent's budget, as far as it is left.
    pub balance: Usd,
    /// The accounts above it that suspended it and have not lifted that.
    pub suspended_by: Vec<AccountKey>,
    /// The entry that opened it.
    pub opened: u64,
}

impl Account {
    /// Its name and the beginning of its key.
    pub fn shown(&self) -> String {
        format!("{} ({})", self.name, self.key.short())
    }
}

/// The accounts as the entries so far made them.
#[derive(Debug, Clone)]
pub struct Ledger {
    length: u64,
    last: Digest,
    at: Timestamp,
    accounts: BTreeMap<AccountKey, Account>,
    names: HashMap<String, AccountKey>,
    brought_in: Usd,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new()
    }
}

type Result<T> = std::result::Result<T, Refused>;

impl Ledger {
    /// One without entries.
    pub fn new() -> Self {
        Self {
            length: 0,
            last: Entry::nothing(),
            at: Timestamp(0),
            accounts: BTreeMap::new(),
            names: HashMap::new(),
            brought_in: Usd::ZERO,
        }
    }
    /// How many entries there are.
    pub fn length(&self) -> u64 {
        self.length
    }
    /// The digest of the last entry.
    pub fn last(&self) -> Digest {
        self.last
    }
    /// When the last entry was made.
    pub fn at(&self) -> Timestamp {
        self.at
    }
    /// All the money there is: what people brought in.
    pub fn brought_in(&self) -> Usd {
        self.brought_in
    }
    /// The accounts, by key.
    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values()
    }
    /// The account of this key.
    pub fn account(&self, key: AccountKey) -> Option<&Account> {
        self.accounts.get(&key)
    }
    /// The account that somebody means: by its name, its key, or the first eight digits of that or more.
    pub fn find(&self, named: &str) -> Result<&Account> {
        let unknown = || Refused::Unknown(named.chars().take(70).collect());
        if let Some(key) = self.names.get(named) {
            return self.accounts.get(key).ok_or_else(unknown);
        }
        let hex = named.len() >= 8 && named.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if !hex {
            return Err(unknown());
        }
        let mut found = self.accounts.values().filter(|a| a.key.to_string().starts_with(named));
        match (found.next(), found.next()) {
            (Some(account), None) => Ok(account),
            (Some(_), Some(_)) => Err(Refused::Ambiguous(named.to_owned())),
            (None, _) => Err(unknown()),
        }
    }

    /// Whether `key` may sign and answer: neither it nor an account above it is suspended.
    pub fn stands(&self, key: AccountKey) -> Result<&Account> {
        let account = self.known(key)?;
        for above in self.line(key) {
            let Some(by) = above.suspended_by.first() else { continue };
            let (who, by) = (account.name.clone(), self.name(*by));
            return Err(match above.key == key {
                true => Refused::Suspended { who, by },
                false => Refused::BelowSuspended { who, above: above.name.clone(), by },
            });
        }
        Ok(account)
    }

    /// Whether this account may do this now.
    pub fn allow(&self, by: AccountKey, act: &Act) -> Result<()> {
        if let Act::Opened { account, name, sort: Sort::Person, parent: None } = act {
            self.is_free(*account, name)?;
            return if by == *account { Ok(()) } else { Err(Refused::WrongSigner) };
        }
        let signer = self.stands(by)?;
        match act {
            Act::Opened { account, name, parent, .. } => self.opens(signer, *account, name, *parent),
            Act::BroughtIn { amount } => {
                self.is_some(*amount)?;
                if signer.sort != Sort::Person {
                    return Err(Refused::NoPerson(signer.name.clone()));
                }
                self.brought_in.plus(*amount).map(drop).ok_or(Refused::TooMuch)
            }
            Act::Funded { agent, amount } => self.moves(signer, self.agent(*agent)?, *amount),
            Act::Paid { to, amount, purpose, .. } => {
                let lines = purpose.chars().any(char::is_control);
                if purpose.trim().is_empty() || purpose.len() > LONGEST_PURPOSE || lines {
                    return Err(Refused::BadPurpose);
                }
                self.moves(signer, self.known(*to)?, *amount)
            }
            Act::Suspended { agent } => {
                let agent = self.agent_below(signer, *agent)?;
                match agent.suspended_by.contains(&by) {
                    true => {
                        Err(Refused::AlreadySuspended { by: signer.name.clone(), agent: agent.name.clone() })
                    }
                    false => Ok(()),
                }
            }
            Act::Resumed { agent } => {
                let agent = self.agent_below(signer, *agent)?;
                match agent.suspended_by.iter().any(|s| self.is_within(*s, by)) {
                    true => Ok(()),
                    false => {
                        Err(Refused::NotSuspended { by: signer.name.clone(), agent: agent.name.clone() })
                    }
                }
            }
        }
    }

    /// Signs an act into the next place, if it is allowed, and folds it in.
    pub fn append(&mut self, now: Timestamp, key: &SigningKey, act: Act) -> Result<(Sealed, Entry)> {
        self.allow(key.account(), &act)?;
        // A clock that was set back does not make an entry older than the one before it.
        let at = now.max(self.at);
        let sealed =
            Sealed::sign(self.length + 1, self.last, at, key, act.clone()).ok_or(Refused::BadPurpose)?;
        let (number, before, by, digest) = (self.length + 1, self.last, key.account(), sealed.digest());
        let entry = Entry { number, before, at, by, act, digest };
        self.add(&entry);
        Ok((sealed, entry))
    }

    /// Folds an entry that was allowed.
    pub(crate) fn add(&mut self, entry: &Entry) {
        (self.length, self.last, self.at) = (entry.number, entry.digest, entry.at);
        match &entry.act {
            Act::Opened { account, name, sort, parent } => {
                let opened = Account {
                    key: *account,
                    name: name.clone(),
                    sort: *sort,
                    parent: *parent,
                    balance: Usd::ZERO,
                    suspended_by: Vec::new(),
                    opened: entry.number,
                };
                self.names.insert(name.clone(), *account);
                self.accounts.insert(*account, opened);
            }
            Act::BroughtIn { amount } => {
                self.brought_in = self.brought_in.plus(*amount).unwrap_or(Usd::MOST);
                self.change(entry.by, |a| a.balance = a.balance.plus(*amount).unwrap_or(Usd::MOST));
            }
            Act::Funded { agent: to, amount } => self.carry(entry.by, *to, *amount),
            Act::Paid { to, amount, .. } => self.carry(entry.by, *to, *amount),
            Act::Suspended { agent } => self.change(*agent, |a| a.suspended_by.push(entry.by)),
            Act::Resumed { agent } => {
                let Some(of) = self.accounts.get(agent) else { return };
                let left =
                    of.suspended_by.iter().copied().filter(|s| !self.is_within(*s, entry.by)).collect();
                self.change(*agent, |a| a.suspended_by = left);
            }
        }
    }

    fn carry(&mut self, from: AccountKey, to: AccountKey, amount: Usd) {
        self.change(from, |a| a.balance = a.balance.minus(amount).unwrap_or(Usd::ZERO));
        self.change(to, |a| a.balance = a.balance.plus(amount).unwrap_or(Usd::MOST));
    }

    fn change(&mut self, key: AccountKey, change: impl FnOnce(&mut Account)) {
        if let Some(account) = self.accounts.get_mut(&key) {
            change(account);
        }
    }

    fn opens(&self, signer: &Account, key: AccountKey, name: &str, parent: Option<AccountKey>) -> Result<()> {
        self.is_free(key, name)?;
        if parent != Some(signer.key) {
            return Err(Refused::WrongSigner);
        }
        let levels = self.line(signer.key).count();
        if levels > MOST_LEVELS {
            return Err(Refused::TooDeep(name.to_owned(), levels));
        }
        Ok(())
    }

    fn is_free(&self, key: AccountKey, name: &str) -> Result<()> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
        let looks_like_a_key = name.len() >= 8 && name.bytes().all(|b| b.is_ascii_hexdigit());
        if !(1..=64).contains(&name.len()) || !name.bytes().all(allowed) || looks_like_a_key {
            return Err(Refused::BadName(name.chars().take(70).collect()));
        }
        if self.names.contains_key(name) {
            return Err(Refused::NameTaken(name.to_owned()));
        }
        if self.accounts.contains_key(&key) {
            return Err(Refused::KeyTaken);
        }
        if self.accounts.len() >= MOST_ACCOUNTS {
            return Err(Refused::TooMany);
        }
        Ok(())
    }

    fn is_some(&self, amount: Usd) -> Result<()> {
        if amount == Usd::ZERO { Err(Refused::Nothing) } else { Ok(()) }
    }

    fn moves(&self, from: &Account, to: &Account, amount: Usd) -> Result<()> {
        self.is_some(amount)?;
        if from.key == to.key {
            return Err(Refused::Itself(from.name.clone()));
        }
        if from.balance < amount {
            return Err(Refused::NotCovered { who: from.name.clone(), has: from.balance, amount });
        }
        Ok(())
    }

    fn agent_below(&self, signer: &Account, key: AccountKey) -> Result<&Account> {
        let agent = self.agent(key)?;
        let above = key != signer.key && self.is_within(key, signer.key);
        above.then_some(agent).ok_or_else(|| Refused::NotAbove {
            by: signer.name.clone(),
            agent: agent.name.clone(),
            parent: agent.parent.map_or_else(String::new, |p| self.name(p)),
        })
    }

    fn agent(&self, key: AccountKey) -> Result<&Account> {
        let account = self.known(key)?;
        match account.sort {
            Sort::Agent => Ok(account),
            Sort::Person => Err(Refused::NoAgent(account.name.clone())),
        }
    }

    fn known(&self, key: AccountKey) -> Result<&Account> {
        self.account(key).ok_or_else(|| Refused::Unknown(key.to_string()))
    }

    /// The account and those above it, the nearest first.
    fn line(&self, key: AccountKey) -> impl Iterator<Item = &Account> {
        std::iter::successors(self.account(key), |a| a.parent.and_then(|parent| self.account(parent)))
    }

    /// Whether `key` is `above` or an account below it.
    fn is_within(&self, key: AccountKey, above: AccountKey) -> bool {
        self.line(key).any(|a| a.key == above)
    }

    fn name(&self, key: AccountKey) -> String {
        self.account(key).map_or_else(|| key.short(), |a| a.name.clone())
    }
}
