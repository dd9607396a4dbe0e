//! What holds of any chain, whatever is tried: by chance, from seeds that a failure prints.

use proptest::prelude::*;
use sb_ledger::{Act, BadEntry, Flaw, Ledger, Sealed, Usd};

use super::{Book, account, agent, book, key, pay, usd};

/// Anything somebody might try: who, and what.
fn tried() -> impl Strategy<Value = (u8, Act)> {
    let amount = prop_oneof![Just("0.000001"), Just("1"), Just("29.99"), Just("100"), Just("999999999999")];
    (1u8..7, 1u8..7, amount, 0u8..6).prop_map(|(by, of, amount, what)| {
        let act = match what {
            0 => Act::BroughtIn { amount: usd(amount) },
            1 => Act::Funded { agent: account(of), amount: usd(amount) },
            2 => Act::Suspended { agent: account(of) },
            3 => Act::Resumed { agent: account(of) },
            4 => agent(of, &format!("agent-{of}"), by),
            _ => pay(of, amount),
        };
        (by, act)
    })
}

fn total(ledger: &Ledger) -> Usd {
    ledger.accounts().fold(Usd::ZERO, |sum, a| sum.plus(a.balance).unwrap())
}

/// Whether `n` or one above it is suspended, looked up the slow way.
fn is_suspended(ledger: &Ledger, n: u8) -> bool {
    let mut at = ledger.account(account(n));
    while let Some(account) = at {
        if !account.suspended_by.is_empty() {
            return true;
        }
        at = account.parent.and_then(|p| ledger.account(p));
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn money_is_neither_made_nor_lost_and_who_is_suspended_signs_nothing(
        acts in proptest::collection::vec(tried(), 1..60)
    ) {
        let mut book = book();
        for (by, act) in acts {
            let (before, held) = (total(&book.ledger), is_suspended(&book.ledger, by));
            let brings = match &act { Act::BroughtIn { amount } => *amount, _ => Usd::ZERO };
            let signed = book.sign(by, act).is_ok();
            prop_assert!(!(signed && held), "a suspended account signed");
            let after = if signed { before.plus(brings).unwrap() } else { before };
            prop_assert_eq!(total(&book.ledger), after);
            prop_assert_eq!(book.ledger.brought_in(), after);
        }
        let again = Ledger::of(&book.chain).unwrap();
        prop_assert_eq!(again.last(), book.ledger.last());
        let all = |l: &Ledger| l.accounts().cloned().collect::<Vec<_>>();
        prop_assert_eq!(all(&again), all(&book.ledger));
    }

    #[test]
    fn any_changed_byte_is_found_and_its_entry_named(
        at in 0usize..7, place in any::<prop::sample::Index>(), to in 0x20u8..0x7f, in_words in any::<bool>()
    ) {
        let mut chain = whole().chain;
        let text = if in_words { &mut chain[at].entry } else { &mut chain[at].signature };
        let place = place.index(text.len());
        let mut bytes = text.clone().into_bytes();
        prop_assume!(bytes[place] != to);
        bytes[place] = to;
        *text = String::from_utf8(bytes).unwrap();
        let bad = Ledger::of(&chain).expect_err("found");
        prop_assert_eq!(bad.number, at as u64 + 1);
    }
}

/// Seven entries, one of each sort among them.
fn whole() -> Book {
    let mut book = book();
    book.sign(2, pay(4, "2.50")).unwrap();
    book
}

fn flaw(chain: &[Sealed]) -> BadEntry {
    Ledger::of(chain).expect_err("found")
}

#[test]
fn what_is_taken_out_put_in_or_moved_is_found() {
    let chain = whole().chain;
    let mut gap = chain.clone();
    gap.remove(3);
    assert_eq!(flaw(&gap), BadEntry { number: 4, flaw: Flaw::Place(5) });
    let mut moved = chain.clone();
    moved.swap(4, 5);
    assert_eq!(flaw(&moved), BadEntry { number: 5, flaw: Flaw::Place(6) });
    let mut doubled = chain.clone();
    doubled.push(chain[6].clone());
    assert_eq!(flaw(&doubled), BadEntry { number: 8, flaw: Flaw::Place(7) });
    // Signed by its own signer in another chain, at the same place.
    let mut other = book();
    other.sign(1, pay(4, "1")).unwrap();
    other.sign(2, pay(4, "2.50")).unwrap();
    let mut swapped = chain.clone();
    swapped.push(other.chain[7].clone());
    assert_eq!(flaw(&swapped), BadEntry { number: 8, flaw: Flaw::Before });
}

#[test]
fn a_clock_that_was_set_back_makes_no_entry_older_than_the_one_before() {
    let mut book = book();
    let (sealed, entry) = book.ledger.append(sb_ledger::model::Timestamp(5), &key(2), pay(4, "1")).unwrap();
    assert!(entry.at.0 > 5);
    book.chain.push(sealed);
    Ledger::of(&book.chain).unwrap();
}

/// What was signed once must verify for ever, so its form never changes.
#[test]
fn the_form_of_an_entry_is_kept() {
    let chain = whole().chain;
    let key = account(2);
    assert_eq!(
        chain[6].entry,
        format!(
            r#"{{"number":7,"before":"{}","at":1700000000006,"by":"{key}","act":{{"act":"paid","to":"{}","amount":"2.50","purpose":"cake"}}}}"#,
            chain[5].digest(),
            account(4)
        )
    );
    let digests = chain.iter().map(|s| s.digest().to_string()).collect::<String>();
    assert_eq!(sb_ledger::model::Digest::of(digests.as_bytes()).to_string(), FORM);
    for part in ["brought_in", "funded", "\"sort\":\"person\"", "\"parent\":"] {
        assert!(chain.iter().any(|s| s.entry.contains(part)), "{part}");
    }
}

/// The digest of the digests of those seven entries.
const FORM: &str = "5d3fe8890144dad380cb71e46f7a2e385a2cb9094d8cadd007a67bf2bd3b5ba4";
