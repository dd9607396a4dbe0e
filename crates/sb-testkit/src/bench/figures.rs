//! Numbers as they are told: medians, percentiles, and a table's rows.

use std::fmt::Write as _;
use std::time::Duration;

/// Many times of the same thing, in order.
#[derive(Debug, Clone)]
pub(super) struct Spread(Vec<f64>);

impl Spread {
    pub fn of(times: Vec<Duration>) -> Self {
        Self::of_numbers(times.into_iter().map(|t| t.as_secs_f64() * 1000.0).collect())
    }
    pub fn of_numbers(mut numbers: Vec<f64>) -> Self {
        numbers.sort_by(f64::total_cmp);
        Self(numbers)
    }
    pub fn p50(&self) -> f64 {
        self.at(0.50)
    }
    pub fn p99(&self) -> f64 {
        self.at(0.99)
    }
    pub fn least(&self) -> f64 {
        self.at(0.0)
    }
    pub fn most(&self) -> f64 {
        self.at(1.0)
    }
    fn at(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
    }
}

/// A Markdown table that is written row by row.
pub(super) struct Table(String);

impl Table {
    pub fn new(columns: &[&str]) -> Self {
        let mut text = String::new();
        let _ = writeln!(text, "| {} |", columns.join(" | "));
        let _ = writeln!(text, "|---{}|", "|--:".repeat(columns.len().saturating_sub(1)));
        Self(text)
    }
    pub fn row(&mut self, cells: &[String]) {
        let _ = writeln!(self.0, "| {} |", cells.join(" | "));
    }
    pub fn text(self) -> String {
        self.0 + "\n"
    }
}

/// `1,234`.
pub(super) fn whole(number: f64) -> String {
    let digits = format!("{:.0}", number.max(0.0));
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Milliseconds with two places.
pub(super) fn ms(number: f64) -> String {
    format!("{number:.2}")
}

/// A table's cell.
pub(super) fn cell(text: impl Into<String>) -> String {
    text.into()
}
