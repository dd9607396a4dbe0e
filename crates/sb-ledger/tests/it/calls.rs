//! House calls: what the agent is told, done or not.

use sb_ledger::{balance, paid, payment};
use serde_json::{Value, json};

use super::{account, book, key};

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Holds: H-13.
#[test]
fn the_balance_is_told_as_a_decimal_string() {
    let book = book();
    let told = balance(&book.ledger, account(2));
    assert!(told.ok);
    assert_eq!(read(&told.text)["budget_remaining_usd"], json!("30.00"));
}

/// Holds: H-14, L-07, L-10.
#[test]
fn a_payment_is_told_with_payer_payee_amount_receipt_and_place() {
    let mut book = book();
    let input = json!({"to": "bob", "amount": "2.5", "purpose": "cake"});
    let asked = payment(&book.ledger, account(2), &input, "call".into()).unwrap();
    let (_, entry) = book.ledger.append(sb_ledger::model::Timestamp(9), &key(2), asked.act).unwrap();
    let told = read(&paid(&book.ledger, &entry).text);
    assert_eq!(told["payer"], json!(format!("helper ({})", account(2).short())));
    assert_eq!(told["payee"], json!(format!("bob ({})", account(4).short())));
    assert_eq!((&told["amount_usd"], &told["entry"]), (&json!("2.50"), &json!(7)));
    assert_eq!(told["receipt"], json!(entry.digest.to_string()[..16]));
    assert_eq!(told["budget_remaining_usd"], json!("27.50"));
}

#[test]
fn what_cannot_be_paid_is_told_with_the_numbers_and_what_to_write() {
    let book = book();
    for (input, says) in [
        (
            json!({"to": "bob", "amount": "31", "purpose": "x"}),
            "30.00 USD left, which does not cover 31.00 USD",
        ),
        (json!({"to": "bob", "amount": "1e400", "purpose": "x"}), "such as \"12.50\""),
        (json!({"to": "bob", "amount": 2.5, "purpose": "x"}), "amount must be a text, such as \"2.50\""),
        (json!({"to": "nobody", "amount": "1", "purpose": "x"}), "There is no account nobody"),
        (json!({"to": "bob", "amount": "1"}), "purpose must be a text"),
        (json!({"to": "helper", "amount": "1", "purpose": "x"}), "cannot pay itself"),
    ] {
        let told = payment(&book.ledger, account(2), &input, "c".into()).expect_err("refused");
        assert!(
            !told.ok && told.text.starts_with("No payment was made") && told.text.contains(says),
            "{}",
            told.text
        );
    }
}
