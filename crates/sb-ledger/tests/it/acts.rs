//! Acts that may be and may not, each refusal with what to do.

use sb_ledger::{Act, Refused, Sort};

use super::{account, agent, book, pay, usd};

/// Holds: L-04.
#[test]
fn people_and_agents_pay_and_are_paid() {
    let mut book = book();
    book.sign(2, pay(4, "2.50")).unwrap();
    book.sign(4, pay(3, "0.5")).unwrap();
    assert_eq!([1, 2, 3, 4].map(|n| book.balance(n)), ["70.00", "27.50", "0.50", "2.00"]);
}

#[test]
fn nobody_pays_more_than_is_there() {
    let mut book = book();
    let said = book.sign(2, pay(4, "30.000001")).expect_err("not covered").to_string();
    assert_eq!(said, "helper has 30.00 USD left, which does not cover 30.000001 USD.");
    book.sign(2, pay(4, "30")).unwrap();
    assert_eq!((book.balance(2), book.balance(4)), ("0.00".into(), "30.00".into()));
}

/// Holds: L-02, L-03.
#[test]
fn a_suspension_covers_every_agent_below_until_it_is_lifted() {
    let mut book = book();
    book.sign(2, Act::Funded { agent: account(3), amount: usd("5") }).unwrap();
    book.sign(1, Act::Suspended { agent: account(2) }).unwrap();
    let said = book.sign(2, pay(4, "1")).expect_err("suspended").to_string();
    assert!(said.starts_with("The agent helper is suspended by alice"), "{said}");
    let said = book.sign(3, pay(4, "1")).expect_err("below").to_string();
    assert!(said.starts_with("The agent scout is below helper, which alice suspended"), "{said}");
    // Nor does it suspend, lift, open or fund.
    for act in [
        Act::Resumed { agent: account(3) },
        Act::Suspended { agent: account(3) },
        Act::Funded { agent: account(3), amount: usd("1") },
        agent(9, "nine", 2),
    ] {
        assert!(matches!(book.sign(2, act), Err(Refused::Suspended { .. })));
    }
    // It can be paid meanwhile.
    book.sign(1, pay(2, "1")).unwrap();
    book.sign(1, Act::Resumed { agent: account(2) }).unwrap();
    book.sign(3, pay(4, "1")).unwrap();
}

#[test]
fn only_who_is_above_suspends_and_only_who_did_or_is_above_that_lifts_it() {
    let mut book = book();
    for by in [4, 3, 2] {
        let refused = book.sign(by, Act::Suspended { agent: account(2) });
        assert!(matches!(refused, Err(Refused::NotAbove { .. })), "{refused:?}");
    }
    assert!(matches!(book.sign(4, Act::Suspended { agent: account(1) }), Err(Refused::NoAgent(_))));
    // Two suspensions of one agent are lifted each by its own.
    book.sign(2, Act::Suspended { agent: account(3) }).unwrap();
    assert!(matches!(
        book.sign(2, Act::Suspended { agent: account(3) }),
        Err(Refused::AlreadySuspended { .. })
    ));
    book.sign(1, Act::Suspended { agent: account(3) }).unwrap();
    book.sign(2, Act::Resumed { agent: account(3) }).unwrap();
    assert!(matches!(book.sign(2, Act::Resumed { agent: account(3) }), Err(Refused::NotSuspended { .. })));
    assert!(book.ledger.stands(account(3)).is_err());
    // The one above lifts what is left.
    book.sign(1, Act::Resumed { agent: account(3) }).unwrap();
    assert!(book.ledger.stands(account(3)).is_ok());
    book.sign(2, Act::Suspended { agent: account(3) }).unwrap();
    book.sign(1, Act::Resumed { agent: account(3) }).unwrap();
    assert!(book.ledger.stands(account(3)).is_ok());
}

#[test]
fn an_account_is_opened_by_itself_or_by_its_parent_under_a_name_of_its_own() {
    let mut book = book();
    let person = |n: u8, name: &str| Act::Opened {
        account: account(n),
        name: name.into(),
        sort: Sort::Person,
        parent: None,
    };
    assert_eq!(book.sign(1, person(9, "eve")), Err(Refused::WrongSigner));
    assert_eq!(book.sign(4, agent(9, "eve", 1)), Err(Refused::WrongSigner));
    assert_eq!(book.sign(1, agent(9, "helper", 1)), Err(Refused::NameTaken("helper".into())));
    assert_eq!(book.sign(1, agent(2, "again", 1)), Err(Refused::KeyTaken));
    for name in ["", "Alice", "a b", "deadbeef", "ä", &"a".repeat(65)] {
        assert_eq!(book.sign(9, person(9, name)), Err(Refused::BadName(name.into())));
    }
    // One that nobody opened signs nothing.
    assert!(matches!(book.sign(9, pay(1, "1")), Err(Refused::Unknown(_))));
}

#[test]
fn agents_stand_no_deeper_than_sixteen_levels() {
    let mut book = book();
    let mut above = 3;
    for n in 10..24 {
        book.agent(n, &format!("level-{n}"), above);
        above = n;
    }
    assert!(matches!(book.sign(above, agent(99, "too-deep", above)), Err(Refused::TooDeep(..))));
}

#[test]
fn only_people_bring_money_in_and_only_agents_are_funded() {
    let mut book = book();
    assert!(matches!(book.sign(2, Act::BroughtIn { amount: usd("1") }), Err(Refused::NoPerson(_))));
    let to_bob = Act::Funded { agent: account(4), amount: usd("1") };
    assert!(matches!(book.sign(1, to_bob), Err(Refused::NoAgent(_))));
    assert_eq!(book.sign(1, pay(4, "0")), Err(Refused::Nothing));
    assert_eq!(book.sign(1, pay(1, "1")), Err(Refused::Itself("alice".into())));
    let most = Act::BroughtIn { amount: sb_ledger::Usd::MOST };
    assert_eq!(book.sign(4, most), Err(Refused::TooMuch));
}

#[test]
fn a_payment_says_what_it_is_for() {
    let mut book = book();
    let paid = |purpose: &str, once: &str| Act::Paid {
        to: account(4),
        amount: usd("1"),
        purpose: purpose.into(),
        once: Some(once.into()),
    };
    for purpose in ["", "  ", "two\nlines", &"x".repeat(501)] {
        assert_eq!(book.sign(1, paid(purpose, "a")), Err(Refused::BadPurpose));
    }
    book.sign(1, paid("tea", "a")).unwrap();
}

/// Holds: L-01.
#[test]
fn an_account_is_found_by_its_name_its_key_or_the_first_eight_digits() {
    let book = book();
    let key = account(2);
    for named in ["helper", &key.to_string(), &key.short()] {
        assert_eq!(book.ledger.find(named).unwrap().key, key);
    }
    let short = &key.to_string()[..7];
    assert!(matches!(book.ledger.find(short), Err(Refused::Unknown(_))));
    assert!(book.ledger.find("").is_err());
}
