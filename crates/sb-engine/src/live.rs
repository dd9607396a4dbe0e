//! [`Live`]: what somebody who follows a message sees so far. It only grows, so a slow reader simply
//! reads more at once; there is no queue to overflow.

use sb_core::Show;
use sb_core::model::{Ending, Entry, SessionId, ToolUpdate};

/// One thing shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shown {
    Text(String),
    Tool(ToolUpdate),
}

/// The growing view of one message's answer.
#[derive(Debug, Default)]
pub(crate) struct Live {
    pub session: Option<SessionId>,
    pub shown: Vec<Shown>,
    pub ending: Option<Ending>,
    /// The ending's stretch of the log, where it was at hand.
    pub stretch: Option<Vec<Entry>>,
    /// The next words are another answer: a paragraph apart.
    apart: bool,
    wrote: bool,
}

impl Live {
    /// The turn begins, or goes on after a wait: an ending shown meanwhile no longer holds.
    pub fn began(&mut self, session: SessionId, so_far: &str) {
        self.session = Some(session);
        self.ending = None;
        if !so_far.is_empty() && !self.wrote {
            self.write(so_far);
        }
        self.apart = self.wrote;
    }

    /// Somebody begins to follow a turn at work. `writes`: in the middle of an answer, which goes on right there.
    pub fn joined(&mut self, session: SessionId, so_far: &str, writes: bool) {
        self.began(session, so_far);
        self.apart = self.wrote && !writes;
    }

    pub fn show(&mut self, show: &Show) {
        match show {
            Show::Text(text) => self.write(text),
            // What was shown can only grow, so after a failed attempt the next answer follows apart.
            Show::Break | Show::Void => self.apart = self.wrote,
            Show::Tool(update) => self.shown.push(Shown::Tool(update.clone())),
            Show::Began(..) | Show::Ended(..) => {}
        }
    }

    fn write(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let gap = if std::mem::take(&mut self.apart) { "\n\n" } else { "" };
        self.wrote = true;
        match self.shown.last_mut() {
            Some(Shown::Text(last)) => {
                last.push_str(gap);
                last.push_str(text);
            }
            _ => self.shown.push(Shown::Text(format!("{gap}{text}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds: H-07.
    #[test]
    fn what_was_shown_only_grows_so_an_answer_after_a_failed_one_follows_a_paragraph_apart() {
        let mut live = Live::default();
        live.began(SessionId(1), "");
        for show in [
            Show::Text("Half an ".into()),
            Show::Void,
            Show::Text("A whole ".into()),
            Show::Text("answer.".into()),
        ] {
            live.show(&show);
        }
        assert_eq!(live.shown, [Shown::Text("Half an \n\nA whole answer.".into())]);
    }

    #[test]
    fn whoever_joins_in_the_middle_of_an_answer_reads_on_right_there() {
        for (writes, whole) in [(true, "One two."), (false, "One\n\n two.")] {
            let mut live = Live::default();
            live.joined(SessionId(1), "One", writes);
            live.show(&Show::Text(" two.".into()));
            assert_eq!(live.shown, [Shown::Text(whole.into())]);
        }
    }

    #[test]
    fn a_turn_that_goes_on_is_shown_as_working_again() {
        let mut live = Live::default();
        live.began(SessionId(1), "Before.");
        live.ending = Some(Ending::plain(sb_core::model::EndKind::Waiting, "waiting", None));
        live.began(SessionId(1), "Before.");
        live.show(&Show::Text("After.".into()));
        assert_eq!(live.shown, [Shown::Text("Before.\n\nAfter.".into())]);
        assert!(live.ending.is_none());
    }
}
