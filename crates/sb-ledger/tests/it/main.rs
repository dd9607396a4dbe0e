//! The ledger's tests: amounts, acts that may be and may not, and what holds of any chain.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod acts;
mod amounts;
mod calls;
mod chains;

use sb_ledger::model::{AccountKey, Timestamp};
use sb_ledger::{Act, Ledger, Refused, Sealed, SigningKey, Sort, Usd};

/// A ledger with the chain it was folded from.
#[derive(Default)]
struct Book {
    ledger: Ledger,
    chain: Vec<Sealed>,
}

/// The key that a test calls by a number.
fn key(n: u8) -> SigningKey {
    SigningKey::of(&[n; 32])
}

fn account(n: u8) -> AccountKey {
    key(n).account()
}

fn usd(text: &str) -> Usd {
    text.parse().unwrap()
}

impl Book {
    fn sign(&mut self, by: u8, act: Act) -> Result<(), Refused> {
        let at = Timestamp(1_700_000_000_000 + self.chain.len() as i64);
        let (sealed, _) = self.ledger.append(at, &key(by), act)?;
        self.chain.push(sealed);
        Ok(())
    }
    fn person(&mut self, n: u8, name: &str) {
        let act = Act::Opened { account: account(n), name: name.into(), sort: Sort::Person, parent: None };
        self.sign(n, act).unwrap();
    }
    fn agent(&mut self, n: u8, name: &str, parent: u8) {
        self.sign(parent, agent(n, name, parent)).unwrap();
    }
    fn balance(&self, n: u8) -> String {
        self.ledger.account(account(n)).unwrap().balance.to_string()
    }
}

fn agent(n: u8, name: &str, parent: u8) -> Act {
    Act::Opened { account: account(n), name: name.into(), sort: Sort::Agent, parent: Some(account(parent)) }
}

fn pay(to: u8, amount: &str) -> Act {
    Act::Paid { to: account(to), amount: usd(amount), purpose: "cake".into(), once: None }
}

/// alice (1) has 70.00, her agent helper (2) has 30.00, and its agent scout (3) nothing; bob (4) nothing.
fn book() -> Book {
    let mut book = Book::default();
    book.person(1, "alice");
    book.agent(2, "helper", 1);
    book.agent(3, "scout", 2);
    book.person(4, "bob");
    book.sign(1, Act::BroughtIn { amount: usd("100") }).unwrap();
    book.sign(1, Act::Funded { agent: account(2), amount: usd("30") }).unwrap();
    book
}
