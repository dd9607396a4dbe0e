//! Commands about sessions: new ones, older ones, what they hold and how they stand.

use sb_model::text::counted;
use sb_model::{Change, Exchange, Message, MessageId, Phase, Record, Refusal};

use super::run::Plan;
use super::{Conversation, Seen};
use crate::reply::waiting_line;

impl Conversation {
    pub(super) fn new_session(&mut self, id: MessageId) {
        let session = self.begin_session();
        self.answer(id, format!("A new session: {session}. /sessions lists the older ones."));
    }

    pub(super) fn status(&mut self, id: MessageId, seen: &Seen) {
        let behind = self.state.waiting.iter().filter(|m| m.id < id).count();
        let more = if behind > 0 { format!(" {behind} more waiting.") } else { String::new() };
        let said = match &self.state.turn {
            Some(turn) => match (&turn.pending, turn.phase) {
                (Some(pending), _) => waiting_line(pending),
                (None, Phase::Stopping) => "Stopping.".to_owned(),
                _ => {
                    let since = self.run.as_ref().map_or(0, |r| r.worked_ms(self.now) / 1000);
                    format!("Working, for {since} s so far.{more}")
                }
            },
            None if behind > 0 => format!("About to begin.{more}"),
            None => match seen.exchanges.first() {
                Some(exchange) if !exchange.said.is_empty() => exchange.said.clone(),
                _ => "Nothing has been said here yet.".to_owned(),
            },
        };
        self.answer(id, said);
    }

    /// `turn`: a button of an older answer must not have a newer one said again.
    pub(super) fn retry(&mut self, id: MessageId, turn: Option<String>, seen: Seen) {
        let is_meant = |of: &Exchange| turn.as_ref().is_none_or(|turn| of.turn.to_string().starts_with(turn));
        if seen.exchanges.first().is_some_and(|last| !is_meant(last)) {
            let said = "That is not the last answer here any more, so it is not tried again. Say what you want once more.";
            return self.refuse(id, Refusal::Unknown, said);
        }
        match seen.exchanges.into_iter().next().filter(|e| !e.prompts.is_empty()) {
            Some(exchange) => {
                self.plan = Some(Plan::Redo(id, exchange));
                self.want_slot(false);
            }
            None => self.refuse(id, Refusal::Unknown, "There is no message to answer again."),
        }
    }

    pub(super) fn undo(&mut self, message: &Message, seen: Seen) {
        let Some(exchange) = seen.exchanges.into_iter().next() else {
            return self.refuse(message.id, Refusal::Unknown, "There is nothing to forget.");
        };
        self.record(Change::Undone { turn: exchange.turn });
        self.log(None, Record::Undone { turn: exchange.turn });
        self.note(message, "had the last exchange forgotten");
        let words = exchange.prompts.iter().find_map(|p| match p {
            Record::Said { text, .. } => Some(sb_model::text::one_line(text, 60)),
            _ => None,
        });
        let what = words.map(|w| format!(" (“{w}”)")).unwrap_or_default();
        self.answer(
            message.id,
            format!("Forgotten: the last exchange{what}. What its calls did stays done."),
        );
    }

    pub(super) fn compact(&mut self, id: MessageId) {
        if self.state.session.as_ref().is_none_or(|s| s.last.0 == 0) {
            return self.answer(id, "There is nothing to shorten yet.");
        }
        self.plan = Some(Plan::Compact(id));
        self.want_slot(false);
    }

    pub(super) fn usage(&mut self, message: &Message) {
        let usage = self.state.session.as_ref().map(|s| s.usage).unwrap_or_default();
        let cached =
            if usage.cached > 0 { format!(" ({} of them cached)", usage.cached) } else { String::new() };
        let cost = if usage.cost_micros > 0 {
            format!(
                " About {}.{:04} USD.",
                usage.cost_micros / 1_000_000,
                usage.cost_micros % 1_000_000 / 100
            )
        } else {
            String::new()
        };
        let said = format!(
            "This session: {}, {}, {}, {}, {} read{cached}, {} written.{cost}{}",
            counted(usage.turns, "turn"),
            counted(usage.messages, "message"),
            counted(usage.calls, "model call"),
            counted(usage.tools, "tool call"),
            counted(usage.input, "token"),
            counted(usage.output, "token"),
            self.budget_lines(message)
        );
        self.answer(message.id, said);
    }

    pub(super) fn sessions(&mut self, id: MessageId, seen: &Seen) {
        let line = |s: &sb_model::SessionBrief| {
            let current = if s.current { " (current)" } else { "" };
            let title = s.title.as_deref().map(|t| format!(" {t}")).unwrap_or_default();
            format!("- {}{title}{current}: {}", s.id, counted(s.usage.turns, "turn"))
        };
        let said = match seen.sessions.as_slice() {
            [] => "This conversation has no session yet.".to_owned(),
            sessions => sessions.iter().map(line).collect::<Vec<_>>().join("\n"),
        };
        self.answer(id, said);
    }

    pub(super) fn resume(&mut self, id: MessageId, prefix: &str, seen: Seen) {
        let mut found = seen.resumable.into_iter();
        match (found.next(), found.next()) {
            (None, _) => self.refuse(
                id,
                Refusal::Unknown,
                format!("No session of this conversation begins with {prefix}. /sessions lists them."),
            ),
            (Some(_), Some(_)) => {
                self.refuse(
                    id,
                    Refusal::BadCommand,
                    format!("More than one session begins with {prefix}. Write more of its id."),
                );
            }
            (Some(session), None) => {
                let said = match &session.title {
                    Some(title) => format!("Back in session {} ({title}).", session.id),
                    None => format!("Back in session {}.", session.id),
                };
                if Some(session.id) != self.session_id() {
                    self.record(Change::SessionResumed(session));
                }
                self.answer(id, said);
            }
        }
    }

    pub(super) fn title(&mut self, message: &Message, title: String) {
        let session = self.ensure_session();
        let said = format!("This session is called {title}.");
        self.record(Change::Titled { session, title });
        self.answer(message.id, said);
    }
}
