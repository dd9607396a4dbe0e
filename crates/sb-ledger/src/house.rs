//! What the ledger's house calls come to: from a call's input to an act, and from what was done to words
//! for the model. Every refusal says the numbers it rests on.

use sb_model::AccountKey;
use serde_json::{Value, json};

use crate::{Act, Entry, Ledger, Usd};

/// What came of a house call, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HouseDone {
    pub ok: bool,
    pub text: String,
}

impl HouseDone {
    fn refused(text: impl Into<String>) -> Self {
        Self { ok: false, text: text.into() }
    }
}

/// A payment that a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    pub from: AccountKey,
    pub act: Act,
}

/// `ledger_balance`.
pub fn balance(ledger: &Ledger, agent: AccountKey) -> HouseDone {
    match ledger.stands(agent) {
        Ok(account) => {
            let parent = account.parent.and_then(|p| ledger.account(p)).map(|p| p.name.clone());
            let said = json!({
                "agent": account.name,
                "key": account.key,
                "budget_remaining_usd": account.balance,
                "parent": parent,
            });
            HouseDone { ok: true, text: said.to_string() }
        }
        Err(why) => HouseDone::refused(why.to_string()),
    }
}

/// `ledger_pay`: the payment its input asks for, if it could be made now. `once` names the call.
pub fn payment(
    ledger: &Ledger,
    agent: AccountKey,
    input: &Value,
    once: String,
) -> Result<Payment, HouseDone> {
    let text = |name: &str| {
        input[name].as_str().ok_or_else(|| {
            HouseDone::refused(format!(
                "No payment was made: {name} must be a text, such as {}.",
                if name == "amount" { "\"2.50\" (in quotes, not a number)" } else { "\"bob\"" }
            ))
        })
    };
    let (to, amount, purpose) = (text("to")?, text("amount")?, text("purpose")?);
    let amount: Usd =
        amount.parse().map_err(|why| HouseDone::refused(format!("No payment was made: {why}.")))?;
    let not_made = |why: crate::Refused| {
        let left = ledger.account(agent).map(|a| a.balance).unwrap_or_default();
        HouseDone::refused(format!("No payment was made. {why} Your budget is {left} USD."))
    };
    let to = ledger.find(to).map_err(not_made)?.key;
    let act = Act::Paid { to, amount, purpose: purpose.trim().to_owned(), once: Some(once) };
    ledger.allow(agent, &act).map_err(not_made)?;
    Ok(Payment { from: agent, act })
}

/// What is told of a payment that was made.
pub fn paid(ledger: &Ledger, entry: &Entry) -> HouseDone {
    let (Act::Paid { to, amount, purpose, .. }, Some(receipt)) = (&entry.act, entry.receipt()) else {
        return HouseDone::refused("That was no payment.");
    };
    let named = |key| ledger.account(key).map_or_else(|| AccountKey::short(&key), crate::Account::shown);
    let left = ledger.account(entry.by).map(|a| a.balance).unwrap_or_default();
    let said = json!({
        "paid": true,
        "payer": named(entry.by),
        "payee": named(*to),
        "amount_usd": amount,
        "purpose": purpose,
        "receipt": receipt,
        "entry": entry.number,
        "budget_remaining_usd": left,
    });
    HouseDone { ok: true, text: said.to_string() }
}
