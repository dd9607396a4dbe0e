//! The ledger: accounts of people and agents, their keys, budgets, payments and suspensions, as a chain of
//! signed entries.
//!
//! An [`Act`] is what somebody wants to do; the [`Ledger`] says whether it may be; an [`Entry`] is the act
//! with its place, its time, the digest of the entry before, and a signature. Folding the entries from the
//! first gives the balances and standings, and there is nothing else to them. Pure: no clock, no chance, no
//! disk. Time, key material and what is stored are arguments.
//!
//! Invariants: money is only moved, except where a person says that it came in from outside; no balance is
//! ever below zero; an account that is suspended, or below one that is, signs nothing.

mod act;
mod entry;
mod fold;
mod house;
mod key;
mod refused;
mod usd;
mod verify;
mod words;

pub use act::{Act, Sort};
pub use entry::{Entry, Sealed};
pub use fold::{Account, Ledger};
pub use house::{HouseDone, Payment, balance, paid, payment};
pub use key::SigningKey;
pub use refused::Refused;
pub use sb_model as model;
pub use usd::{BadAmount, Usd};
pub use verify::{BadEntry, Flaw};
