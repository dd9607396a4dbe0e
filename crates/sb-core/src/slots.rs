//! [`Slots`]: how many turns may run at once, and who is next.
//!
//! The conversation that has waited longest goes first; one whose turn goes on after a person decided
//! goes before all that have not begun. Waiting costs an entry here and nothing else.

use std::collections::VecDeque;

use sb_model::ConversationId;

/// The places for running turns, and the lines for them.
#[derive(Debug)]
pub struct Slots {
    free: usize,
    urgent: VecDeque<ConversationId>,
    line: VecDeque<ConversationId>,
}

impl Slots {
    /// `places` turns at once, at least one.
    pub fn new(places: usize) -> Self {
        Self { free: places.max(1), urgent: VecDeque::new(), line: VecDeque::new() }
    }

    /// A conversation wants a place; true: it has one now. Otherwise it is told when its time comes.
    pub fn want(&mut self, who: &ConversationId, urgent: bool) -> bool {
        let nobody_before = self.urgent.is_empty() && (urgent || self.line.is_empty());
        if self.free > 0 && nobody_before {
            self.free -= 1;
            return true;
        }
        if urgent { &mut self.urgent } else { &mut self.line }.push_back(who.clone());
        false
    }

    /// A place is given back; whoever has it next.
    pub fn release(&mut self) -> Option<ConversationId> {
        let next = self.urgent.pop_front().or_else(|| self.line.pop_front());
        if next.is_none() {
            self.free += 1;
        }
        next
    }

    /// It no longer wants a place.
    pub fn forget(&mut self, who: &ConversationId) {
        self.urgent.retain(|w| w != who);
        self.line.retain(|w| w != who);
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.urgent.len() + self.line.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_waiting_goes_first_and_a_decided_turn_before_all() {
        let id = |n: &str| ConversationId(n.to_owned());
        let mut slots = Slots::new(1);
        assert!(slots.want(&id("a"), false));
        assert!(!slots.want(&id("b"), false));
        assert!(!slots.want(&id("c"), false));
        assert!(!slots.want(&id("d"), true));
        assert_eq!(slots.release(), Some(id("d")));
        slots.forget(&id("b"));
        assert_eq!(slots.release(), Some(id("c")));
        assert_eq!(slots.release(), None);
        assert!(slots.want(&id("e"), false));
    }
}
