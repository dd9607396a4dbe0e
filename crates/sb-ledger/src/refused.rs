//! [`Refused`]: why an act may not be. Each is a sentence that says what to do.

use crate::Usd;

/// Why the ledger does not take an act. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("There is no account {0} in the ledger. `switchboard agent list` shows those there are.")]
    Unknown(String),
    #[error("{0:?} begins the keys of several accounts. Write more of the key, or the name.")]
    Ambiguous(String),
    #[error("{0:?} is no name for an account: use 1 to 64 of a-z, 0-9, - and _, and not a key.")]
    BadName(String),
    #[error("The ledger has an account {0} already. Take another name.")]
    NameTaken(String),
    #[error("That key has an account already.")]
    KeyTaken,
    #[error("{0} is a person's account, and this is for agents only.")]
    NoAgent(String),
    #[error(
        "{0} is an agent's account: only a person brings money in. `switchboard agent fund {0} AMOUNT` gives it some of its parent's."
    )]
    NoPerson(String),
    #[error("Only the account itself, or its parent, signs for a new account.")]
    WrongSigner,
    #[error("{0} is {1} levels below a person; an agent may be {most} below at most.", most = crate::fold::MOST_LEVELS)]
    TooDeep(String, usize),
    #[error("The ledger has its {most} accounts, and takes no more.", most = crate::fold::MOST_ACCOUNTS)]
    TooMany,
    #[error("An amount of 0 moves nothing. Write more than 0.")]
    Nothing,
    #[error("{who} has {has} USD left, which does not cover {amount} USD.")]
    NotCovered { who: String, has: Usd, amount: Usd },
    #[error("The ledger holds no more than {most} USD together.", most = Usd::MOST)]
    TooMuch,
    #[error("{0} cannot pay itself.")]
    Itself(String),
    #[error("Say what it is for, in {most} bytes at most and on one line.", most = crate::fold::LONGEST_PURPOSE)]
    BadPurpose,
    #[error(
        "The agent {who} is suspended by {by}, so it signs nothing and answers nobody. `switchboard agent resume {by} {who}` lifts it."
    )]
    Suspended { who: String, by: String },
    #[error(
        "The agent {who} is below {above}, which {by} suspended, so it signs nothing and answers nobody. `switchboard agent resume {by} {above}` lifts it."
    )]
    BelowSuspended { who: String, above: String, by: String },
    #[error("{by} is not above {agent}, so it cannot suspend or resume it. Its parent is {parent}.")]
    NotAbove { by: String, agent: String, parent: String },
    #[error("{by} has suspended {agent} already.")]
    AlreadySuspended { by: String, agent: String },
    #[error("{agent} is not suspended by {by}, nor by one below {by}, so there is nothing to lift.")]
    NotSuspended { by: String, agent: String },
}
