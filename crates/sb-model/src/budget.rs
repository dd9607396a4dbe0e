//! Budgets: how much a run, a session, or one sender in a day may use, and how people write them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Usage;

/// What may be used of each; none: as much as wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Tokens read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Millionths of a US dollar, as far as providers' prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<u64>,
}

/// The budgets of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Budgets {
    /// Of one turn.
    #[serde(skip_serializing_if = "Budget::is_none")]
    pub run: Budget,
    /// Of one session.
    #[serde(skip_serializing_if = "Budget::is_none")]
    pub session: Budget,
    /// Of whoever writes, in one day (UTC), over all their conversations with the profile.
    #[serde(skip_serializing_if = "Budget::is_none")]
    pub sender: Budget,
}

impl Budgets {
    /// Whether there is none at all.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Budget {
    /// Whether nothing is limited.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
    /// What of it is used up, in words: `200000 tokens`.
    pub fn reached(&self, used: &Usage) -> Option<String> {
        let over = |limit: Option<u64>, used: u64| limit.filter(|limit| used >= *limit);
        if let Some(tokens) = over(self.tokens, used.input.saturating_add(used.output)) {
            return Some(format!("{tokens} tokens"));
        }
        if let Some(cost) = over(self.cost_micros, used.cost_micros) {
            return Some(format!("{} USD", usd(cost)));
        }
        over(self.tools, used.tools).map(|tools| format!("{tools} tool calls"))
    }
    /// What is used of it, in words: `1200 of 200000 tokens, 3 of 40 tool calls`.
    pub fn shown(&self, used: &Usage) -> String {
        let tokens = used.input.saturating_add(used.output);
        let parts = [
            self.tokens.map(|limit| format!("{tokens} of {limit} tokens")),
            self.cost_micros.map(|limit| format!("{} of {} USD", usd(used.cost_micros), usd(limit))),
            self.tools.map(|limit| format!("{} of {limit} tool calls", used.tools)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.tokens.map(|n| format!("tokens={n}")),
            self.cost_micros.map(|n| format!("usd={}", usd(n))),
            self.tools.map(|n| format!("tools={n}")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

impl FromStr for Budget {
    type Err = String;
    /// `tokens=200000,usd=0.50,tools=40`; an empty one limits nothing.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut budget = Budget::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let bad =
                || format!("{part:?} is no part of a budget; write it as tokens=200000,usd=0.50,tools=40.");
            let (name, value) = part.split_once('=').ok_or_else(bad)?;
            let limit = match name.trim() {
                "tokens" => &mut budget.tokens,
                "tools" => &mut budget.tools,
                "usd" => &mut budget.cost_micros,
                _ => return Err(bad()),
            };
            let value = value.trim();
            let number = if name.trim() == "usd" { micros(value) } else { value.parse().ok() };
            if limit.replace(number.ok_or_else(bad)?).is_some() {
                return Err(format!("{part:?} is the second limit of its sort."));
            }
        }
        Ok(budget)
    }
}

/// A decimal number with at most six places, in millionths.
fn micros(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !digits(whole) || !digits(part) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(part)
}

fn usd(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let shortest = text.find('.').map_or(text.len(), |dot| dot + 3);
    let end = text.trim_end_matches('0').len().max(shortest);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_read_as_it_is_shown() {
        for (typed, shown) in [
            ("tokens=200000,usd=0.50,tools=40", "tokens=200000,usd=0.50,tools=40"),
            (" usd = 3 , tools=1 ", "usd=3.00,tools=1"),
            ("usd=0.000001", "usd=0.000001"),
            ("", ""),
        ] {
            let budget: Budget = typed.parse().unwrap();
            assert_eq!(budget.to_string(), shown);
            assert_eq!(shown.parse(), Ok(budget));
        }
    }

    #[test]
    fn what_is_no_budget_says_how_one_is_written() {
        for bad in [
            "40",
            "usd=1e400",
            "usd=-1",
            "usd=.",
            "usd=0.0000001",
            "tokens=many",
            "tokens=1.5",
            "tools=99999999999999999999",
            "usd=99999999999999999999",
            "money=1",
        ] {
            let why = bad.parse::<Budget>().unwrap_err();
            assert!(why.contains("tokens=200000"), "{bad}: {why}");
        }
        assert!("tools=1,tools=2".parse::<Budget>().is_err());
    }

    #[test]
    fn reached_is_at_the_limit_and_names_it() {
        let budget: Budget = "tokens=10,usd=0.5,tools=2".parse().unwrap();
        let used = |input, cost_micros, tools| Usage { input, cost_micros, tools, ..Usage::default() };
        assert_eq!(budget.reached(&used(9, 499_999, 1)), None);
        assert_eq!(budget.reached(&used(10, 0, 0)).as_deref(), Some("10 tokens"));
        assert_eq!(budget.reached(&used(0, 500_000, 0)).as_deref(), Some("0.50 USD"));
        assert_eq!(budget.reached(&used(0, 0, 2)).as_deref(), Some("2 tool calls"));
        assert_eq!(budget.shown(&used(9, 1, 1)), "9 of 10 tokens, 0.000001 of 0.50 USD, 1 of 2 tool calls");
        assert_eq!(Budget::default().reached(&used(u64::MAX, u64::MAX, u64::MAX)), None);
    }
}
