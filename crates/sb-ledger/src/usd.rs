//! [`Usd`]: an exact amount of US dollars. Text in, text out, never a float.
//!
//! Counted in millionths, so that every amount there is can be written and every sum is exact. Its bounds
//! are checked where text becomes an amount and where amounts are added.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Digits after the point.
const PLACES: usize = 6;
/// Digits before it.
const WHOLE: usize = 12;
/// One dollar.
const ONE: u64 = 1_000_000;

/// US dollars, from nothing to 999999999999.999999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Usd(u64);

/// Text that is no amount, with what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no amount: {1}. Write US dollars as digits, such as \"12.50\"")]
pub struct BadAmount(pub String, pub &'static str);

impl Usd {
    /// Nothing.
    pub const ZERO: Usd = Usd(0);
    /// The largest amount there is.
    pub const MOST: Usd = Usd(999_999_999_999 * ONE + 999_999);

    /// Both together, unless that is more than there can be.
    pub fn plus(self, more: Usd) -> Option<Usd> {
        self.0.checked_add(more.0).map(Usd).filter(|sum| *sum <= Usd::MOST)
    }
    /// What is left, unless it would be less than nothing.
    pub fn minus(self, less: Usd) -> Option<Usd> {
        self.0.checked_sub(less.0).map(Usd)
    }
}

impl fmt::Display for Usd {
    /// With two digits after the point, or as many more as it needs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:06}", self.0 % ONE);
        let needed = digits.trim_end_matches('0').len().max(2);
        write!(f, "{}.{}", self.0 / ONE, &digits[..needed])
    }
}

impl FromStr for Usd {
    type Err = BadAmount;
    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let bad = |why| BadAmount(text.chars().take(40).collect(), why);
        if text.starts_with('-') {
            return Err(bad("an amount is never negative"));
        }
        let (whole, part) = match text.split_once('.') {
            Some((whole, part)) => (whole, part),
            None => (text, "0"),
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) {
            return Err(bad("it is digits, with one point among them at most, and nothing else"));
        }
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(bad("it begins with a needless 0"));
        }
        if whole.len() > WHOLE {
            return Err(bad("it has more than 12 digits before the point"));
        }
        if part.len() > PLACES {
            return Err(bad("it has more than 6 digits after the point"));
        }
        let number = |text: &str| text.parse::<u64>().map_err(|_| bad("it is too large"));
        Ok(Usd(number(whole)? * ONE + number(&format!("{part:0<PLACES$}"))?))
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}
