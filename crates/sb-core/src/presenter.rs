//! The presenter: what of a growing reply is to be shown now, at a pace the platform takes.
//!
//! It is told the words as they stand and decides the next thing to show; whoever shows it reports how
//! that went. Showing is never needed for the reply to arrive: the final post makes the platform's
//! messages equal to what was said, whatever was shown. A part that is full is finished and never moves
//! again, since the splitter gives the same parts however the text goes on.

use sb_model::text::{Fit, Part, split};
use sb_model::{FaultKind, Timestamp};

/// How a platform shows a reply that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Milliseconds between two showings, at least.
    pub every_ms: i64,
    /// Characters before anything is shown.
    pub first: usize,
    /// Showings of one part, at most.
    pub most: Option<u32>,
    /// It must be shown again within this time, or it vanishes.
    pub renew_ms: Option<i64>,
    /// Something can be shown before there are words.
    pub empty: bool,
}

/// What is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Showing {
    /// Which part of the reply, from 0.
    pub part: u32,
    /// All of it that is written so far; Markdown.
    pub text: String,
    /// The part is full: it stays as it is now.
    pub full: bool,
}

/// Longest pause between two showings that being refused leads to.
const SLOWEST_MS: i64 = 30_000;

/// The presenter of one reply.
#[derive(Debug, Clone)]
pub struct Presenter {
    pace: Pace,
    fit: Fit,
    /// The part that grows.
    part: u32,
    /// Bytes of the reply that full parts hold.
    done: usize,
    shown: Option<String>,
    showings: u32,
    not_before: Option<Timestamp>,
    renew_at: Option<Timestamp>,
    off: bool,
}

impl Presenter {
    /// One that has shown nothing. `part`: the number of its first part.
    pub fn new(pace: Pace, fit: Fit, part: u32) -> Self {
        Self {
            pace,
            fit,
            part,
            done: 0,
            shown: None,
            showings: 0,
            not_before: None,
            renew_at: None,
            off: false,
        }
    }

    /// When [`next`](Self::next) may have something: if `changed`, as soon as the pace allows, else when what is
    /// shown must be shown again.
    pub fn wake_at(&self, changed: bool, now: Timestamp) -> Option<Timestamp> {
        if self.off {
            return None;
        }
        let soonest = self.not_before.unwrap_or(now);
        if changed { Some(soonest) } else { self.renew_at.map(|at| at.max(soonest)) }
    }

    /// What to show of `words` now, if anything. `tool`: a line about what the agent is doing, shown below.
    pub fn next(&mut self, now: Timestamp, words: &str, tool: Option<&str>) -> Option<Showing> {
        if self.off || self.not_before.is_some_and(|at| at > now) {
            return None;
        }
        // What full parts hold was changed since (an attempt was void): the final post puts it right.
        let rest = words.get(self.done..)?;
        let parts = split(rest, &self.fit);
        if let [first, _, ..] = parts.as_slice() {
            return Some(self.full(first));
        }
        let text = parts.into_iter().next().map(|p| p.text).unwrap_or_default();
        let begun = self.shown.is_some() || self.pace.empty;
        if !begun && text.chars().count() < self.pace.first {
            return None;
        }
        let text = self.with_tool(text, tool);
        let renew = self.renew_at.is_some_and(|at| at <= now);
        if self.shown.as_deref() == Some(&text) && !renew {
            return None;
        }
        if self.pace.most.is_some_and(|most| self.showings >= most) {
            return None;
        }
        Some(Showing { part: self.part, text, full: false })
    }

    fn full(&self, part: &Part) -> Showing {
        Showing { part: self.part, text: part.text.clone(), full: true }
    }

    fn with_tool(&self, text: String, tool: Option<&str>) -> String {
        let Some(tool) = tool else { return text };
        let line = format!("*{tool}*");
        let joined = if text.is_empty() { line } else { format!("{text}\n\n{line}") };
        // No room for it: the words matter more.
        if self.fit.fits(&joined) { joined } else { text }
    }

    /// It was shown.
    pub fn was_shown(&mut self, now: Timestamp, showing: &Showing, words: &str) {
        self.not_before = Some(now.plus_ms(self.pace.every_ms));
        if showing.full {
            let rest = words.get(self.done..).unwrap_or_default();
            self.done += split(rest, &self.fit).first().map_or(0, |p| p.source.end);
            self.part += 1;
            self.shown = None;
            self.showings = 0;
            self.renew_at = None;
        } else {
            self.shown = Some(showing.text.clone());
            self.showings += 1;
            self.renew_at = self.pace.renew_ms.map(|ms| now.plus_ms(ms));
        }
    }

    /// It was not. What may pass slows it down; anything else ends showing this reply.
    pub fn was_refused(&mut self, now: Timestamp, why: &FaultKind) {
        match why {
            FaultKind::Passing { wait_ms } | FaultKind::ChatBusy { wait_ms } => {
                self.pace.every_ms = (self.pace.every_ms * 2).min(SLOWEST_MS);
                let asked = wait_ms.map_or(0, |ms| i64::try_from(ms).unwrap_or(i64::MAX));
                self.not_before = Some(now.plus_ms(self.pace.every_ms.max(asked)));
            }
            _ => self.off = true,
        }
    }

    /// Shows nothing more.
    pub fn end(&mut self) {
        self.off = true;
    }

    /// Whether it has given up.
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// The part that grows now.
    pub fn part(&self) -> u32 {
        self.part
    }
}
