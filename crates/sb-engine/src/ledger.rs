//! The ledger, as commands and doors see it: who has an account, what is signed, and who answers nobody.
//!
//! Whoever asks names accounts as people do; here they become keys, once, and what is to be signed is put
//! into a sentence before it is.

use std::sync::Arc;

use sb_core::model::{AccountKey, Profile, ProfileName};
use sb_store::ledgers::{Account, Act, BadAmount, Entry, Ledger, Refused, Sealed, Sort, Usd};
use sb_store::{NewAccount, OPERATOR};

use crate::Engine;
use crate::error::{EngineError, EngineErrorKind, Result};

/// The most entries that one look at the log gives.
const MOST_ENTRIES: usize = 1000;

/// Something to be signed, with accounts named as people name them.
#[derive(Debug, Clone, PartialEq)]
pub enum LedgerWish {
    /// A new account: a person's, or an agent's under `parent` (the operator's, where none is named).
    Open {
        name: String,
        person: bool,
        parent: Option<String>,
        budget: Option<String>,
    },
    /// Money for an agent, of its parent's where nobody is named; or brought in by a person.
    Fund {
        account: String,
        amount: String,
        from: Option<String>,
    },
    Suspend {
        by: String,
        agent: String,
    },
    Resume {
        by: String,
        agent: String,
    },
}

/// What was signed: its place in the chain, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    pub entry: Entry,
    /// `alice (3f2a91bc) gives helper (77aa0011) 30.00 USD`.
    pub said: String,
}

/// One account with what people want to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountView {
    pub account: Account,
    pub parent: Option<Account>,
    /// Why it signs nothing and answers nobody.
    pub suspended: Option<String>,
    /// The profiles whose agent it is.
    pub profiles: Vec<ProfileName>,
}

impl From<Refused> for EngineError {
    fn from(why: Refused) -> Self {
        let kind = match why {
            Refused::Unknown(_) => EngineErrorKind::NotFound,
            _ => EngineErrorKind::Bad,
        };
        Self::new(kind, why.to_string())
    }
}
impl From<BadAmount> for EngineError {
    fn from(why: BadAmount) -> Self {
        Self::new(EngineErrorKind::Bad, format!("{why}."))
    }
}

impl Engine {
    /// Gives every profile that has none its agent.
    pub async fn give_agents(&self) -> Result<()> {
        for mut profile in self.store().profiles().await? {
            if profile.agent.is_none() {
                profile.agent = self.agent_for(&profile.name).await;
                self.store().put_profile(&profile).await?;
                self.inner().profiles.put(profile);
            }
        }
        Ok(())
    }

    /// The agent of a profile that names none. Without one a profile still answers; it just has no budget.
    pub(crate) async fn agent_for(&self, name: &ProfileName) -> Option<AccountKey> {
        let inner = self.inner();
        let made = inner.store.agent_for(name, inner.clock.now(), inner.dice.as_ref()).await;
        made.inspect_err(|why| tracing::warn!(profile = %name, error = %why, "a profile has no agent")).ok()
    }

    /// Refuses an agent that is none of the ledger's.
    pub(crate) fn check_agent(&self, profile: &Profile) -> Result<()> {
        let Some(key) = profile.agent else { return Ok(()) };
        self.store().look_at_ledger(|ledger| match ledger.find(&key.to_string())? {
            account if account.sort == Sort::Agent => Ok(()),
            account => Err(Refused::NoAgent(account.name.clone()).into()),
        })
    }

    /// Why a profile's agent answers nobody, if it does not.
    pub(crate) fn suspended(&self, profile: &Profile) -> Option<Arc<str>> {
        let agent = profile.agent?;
        self.store().look_at_ledger(|ledger| match ledger.stands(agent) {
            Err(why @ (Refused::Suspended { .. } | Refused::BelowSuspended { .. })) => {
                Some(why.to_string().into())
            }
            _ => None,
        })
    }

    /// All accounts, people first, each sort by name.
    pub async fn accounts(&self) -> Result<Vec<AccountView>> {
        let profiles = self.profiles().await?;
        let mut all = self.store().look_at_ledger(|ledger| {
            ledger.accounts().map(|account| view(ledger, account, &profiles)).collect::<Vec<_>>()
        });
        all.sort_by(|a, b| {
            let key = |v: &AccountView| (v.account.sort == Sort::Agent, v.account.name.clone());
            key(a).cmp(&key(b))
        });
        Ok(all)
    }

    /// One account, by its name, its key or the beginning of that.
    pub async fn account(&self, named: &str) -> Result<AccountView> {
        let profiles = self.profiles().await?;
        self.store().look_at_ledger(|ledger| Ok(view(ledger, ledger.find(named)?, &profiles)))
    }

    /// The account of this key, if there is one.
    pub fn account_of(&self, key: AccountKey) -> Option<Account> {
        self.store().look_at_ledger(|ledger| ledger.account(key).cloned())
    }

    /// What will be signed, and by whom; an error if it would not be taken.
    pub fn before_signing(&self, wish: &LedgerWish) -> Result<String> {
        self.store().look_at_ledger(|ledger| {
            let said = match wish {
                LedgerWish::Open { .. } => {
                    let new = new_account(ledger, wish)?;
                    let (sort, parent) = match new.parent {
                        Some(_) => (Sort::Agent, new.parent),
                        None => (Sort::Person, None),
                    };
                    let account = AccountKey([0; 32]);
                    let act = Act::Opened { account, name: new.name.clone(), sort, parent };
                    ledger.allow(parent.unwrap_or(account), &act)?;
                    let signer = match parent {
                        Some(parent) => ledger.who(parent),
                        None => format!("{} (a new key)", new.name),
                    };
                    let budget = match (new.budget, parent) {
                        (Usd::ZERO, _) => String::new(),
                        (budget, Some(_)) => format!(", and gives it {budget} USD"),
                        (budget, None) => format!(", and brings in {budget} USD"),
                    };
                    format!("{signer} signs: {}{budget}", ledger.words(&act))
                }
                _ => {
                    let (by, act) = act(ledger, wish)?;
                    ledger.allow(by, &act)?;
                    format!("{} signs: {}", ledger.who(by), ledger.words(&act))
                }
            };
            Ok(format!("{said}."))
        })
    }

    /// Signs what is wished: one entry, or two where an account gets its first money.
    pub async fn sign(&self, wish: &LedgerWish) -> Result<Vec<Signed>> {
        let inner = self.inner();
        let now = inner.clock.now();
        let entries = match wish {
            LedgerWish::Open { .. } => {
                let new = inner.store.look_at_ledger(|ledger| new_account(ledger, wish))?;
                inner.store.open_account(new, now, inner.dice.as_ref()).await?
            }
            _ => {
                let (by, act) = inner.store.look_at_ledger(|ledger| act(ledger, wish))?;
                vec![inner.store.sign(by, act, now).await?]
            }
        };
        Ok(self.told(entries))
    }

    /// The entries after a place, as people read them; and whether there are more.
    pub async fn ledger_log(&self, after: u64, most: usize) -> Result<Vec<Signed>> {
        let kept = self.ledger_entries(after, most).await?;
        let entries = kept.iter().filter_map(|sealed| sealed.read().ok()).collect();
        Ok(self.told(entries))
    }

    /// The entries after a place, as they were signed.
    pub async fn ledger_entries(&self, after: u64, most: usize) -> Result<Vec<Sealed>> {
        Ok(self.store().ledger_entries(after, most.min(MOST_ENTRIES)).await?)
    }

    /// Follows the chain from its first entry, every signature: how many there are.
    pub async fn verify_ledger(&self) -> Result<u64> {
        Ok(self.store().verify_ledger().await?)
    }

    fn told(&self, entries: Vec<Entry>) -> Vec<Signed> {
        self.store().look_at_ledger(|ledger| {
            let said = |entry: &Entry| format!("{} {}", ledger.who(entry.by), ledger.words(&entry.act));
            entries.into_iter().map(|entry| Signed { said: said(&entry), entry }).collect()
        })
    }
}

fn view(ledger: &Ledger, account: &Account, profiles: &[Profile]) -> AccountView {
    AccountView {
        parent: account.parent.and_then(|p| ledger.account(p)).cloned(),
        suspended: ledger.stands(account.key).err().map(|why| why.to_string()),
        profiles: profiles.iter().filter(|p| p.agent == Some(account.key)).map(|p| p.name.clone()).collect(),
        account: account.clone(),
    }
}

fn new_account(ledger: &Ledger, wish: &LedgerWish) -> Result<NewAccount> {
    let LedgerWish::Open { name, person, parent, budget } = wish else {
        return Err(EngineError::new(EngineErrorKind::Bad, "That opens no account."));
    };
    let parent = match (person, parent) {
        (true, Some(_)) => {
            return Err(EngineError::new(EngineErrorKind::Bad, "A person's account has no parent."));
        }
        (true, None) => None,
        (false, Some(parent)) => Some(ledger.find(parent)?.key),
        (false, None) => Some(ledger.find(OPERATOR)?.key),
    };
    let budget = budget.as_deref().map(str::parse).transpose()?.unwrap_or(Usd::ZERO);
    if let Some(parent) = parent.and_then(|p| ledger.account(p)).filter(|p| p.balance < budget) {
        let (who, has) = (parent.name.clone(), parent.balance);
        return Err(Refused::NotCovered { who, has, amount: budget }.into());
    }
    Ok(NewAccount { name: name.clone(), parent, budget })
}

fn act(ledger: &Ledger, wish: &LedgerWish) -> Result<(AccountKey, Act)> {
    Ok(match wish {
        LedgerWish::Open { .. } => {
            return Err(EngineError::new(EngineErrorKind::Bad, "An account is opened with a new key."));
        }
        LedgerWish::Fund { account, amount, from } => {
            let account = ledger.find(account)?;
            let amount: Usd = amount.parse()?;
            match (account.sort, from) {
                (Sort::Person, None) => (account.key, Act::BroughtIn { amount }),
                (Sort::Person, Some(_)) => return Err(Refused::NoAgent(account.name.clone()).into()),
                (Sort::Agent, from) => {
                    let from = match from {
                        Some(named) => ledger.find(named)?.key,
                        None => account.parent.unwrap_or(account.key),
                    };
                    (from, Act::Funded { agent: account.key, amount })
                }
            }
        }
        LedgerWish::Suspend { by, agent } => {
            (ledger.find(by)?.key, Act::Suspended { agent: ledger.find(agent)?.key })
        }
        LedgerWish::Resume { by, agent } => {
            (ledger.find(by)?.key, Act::Resumed { agent: ledger.find(agent)?.key })
        }
    })
}
