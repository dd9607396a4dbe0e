//! Budgets: what a run, a session and a sender may use. Reaching one is said; what was begun stays done.
//!
//! A run that is over its budget of tokens or money is stopped, with what it wrote so far. One that is over its
//! budget of tools is refused further calls, and may still answer. A session or a sender that has used up
//! theirs is answered by us, not by the agent.

use sb_model::{Call, Change, Entry, Message, MessageId, Record, Refusal, TurnFault, TurnFaultKind, Usage};

use super::Conversation;
use super::run::StopCause;

impl Conversation {
    /// More was used, or another call begins.
    pub(super) fn spend(&mut self, more: Usage) {
        let Some(run) = &mut self.run else { return };
        run.used += more;
        run.spent += more;
        let budgets = self.context.profile.budgets;
        let without_tools = |budget: sb_model::Budget| sb_model::Budget { tools: None, ..budget };
        let session = self.session_usage();
        let of_run = self.run.as_ref().and_then(|run| without_tools(budgets.run).reached(&run.spent));
        let over = match of_run {
            Some(what) => Some(format!("The budget of one run, {what}, is used up")),
            None => without_tools(budgets.session)
                .reached(&session)
                .map(|what| format!("The budget of this session, {what}, is used up")),
        };
        if let Some(detail) = over {
            self.stop_run(StopCause::Fault(TurnFault::new(TurnFaultKind::Budget, detail)));
        }
    }

    /// Why no further call may begin.
    pub(super) fn out_of_calls(&self) -> Option<String> {
        let (budgets, run) = (self.context.profile.budgets, self.run.as_ref()?);
        let over = |limit: Option<u64>, used: u64| limit.filter(|limit| used > *limit);
        let of_run = over(budgets.run.tools, run.spent.tools).map(|n| (n, "this run"));
        let found =
            of_run.or(over(budgets.session.tools, self.session_usage().tools).map(|n| (n, "this session")));
        let (limit, whose) = found?;
        Some(format!(
            "The budget of {whose} is used up: {limit} tool calls. Call no more tools; say what you have and what is left to do."
        ))
    }

    /// All that the session used, what is not committed yet included.
    fn session_usage(&self) -> Usage {
        let mut usage = self.state.session.as_ref().map(|s| s.usage).unwrap_or_default();
        usage += self.run.as_ref().map(|run| run.used).unwrap_or_default();
        usage
    }

    /// What an earlier start of the turn used, from its log.
    pub(super) fn spent_before(entries: &[Entry]) -> Usage {
        let mut spent = Usage::default();
        for entry in entries {
            if let Record::Answered { usage, calls, .. } = &entry.record {
                spent += Usage { tools: calls.len() as u64, ..*usage };
            }
        }
        spent
    }

    /// Whether words cannot be answered for want of budget; whoever wrote them is told so.
    pub(super) fn refuse_spent(&mut self, message: &Message) -> bool {
        let budgets = self.context.profile.budgets;
        let said = match (
            budgets.session.reached(&self.session_usage()),
            budgets.sender.reached(&self.spent_by(message)),
        ) {
            (Some(what), _) => format!(
                "The budget of this session, {what}, is used up. Begin anew with /new, or ask the operator to raise it."
            ),
            (_, Some(what)) => format!(
                "Your budget of a day, {what}, is used up. Write again tomorrow (UTC), or ask the operator to raise it."
            ),
            (None, None) => return false,
        };
        self.refuse(message.id, Refusal::Budget, said);
        true
    }

    /// What the turn's first sender used today, with this.
    pub(super) fn record_spent(&mut self, used: Usage) {
        if self.context.profile.budgets.sender.is_none() {
            return;
        }
        let first = self.state.turn.as_ref().and_then(|t| t.messages.first());
        if let Some(by) = first.map(|(message, _)| message.from.clone()) {
            self.record(Change::Spent { by, at: self.now, used });
        }
    }

    fn spent_by(&self, message: &Message) -> Usage {
        self.context.spent.get(&message.from).copied().unwrap_or_default()
    }

    /// The lines of `/usage` about budgets.
    pub(super) fn budget_lines(&self, message: &Message) -> String {
        let budgets = self.context.profile.budgets;
        let spent = self.run.as_ref().map(|run| run.spent).unwrap_or_default();
        let lines = [
            ("of one run", budgets.run, spent),
            ("of this session", budgets.session, self.session_usage()),
            ("of yours for today", budgets.sender, self.spent_by(message)),
        ];
        let line = |(whose, budget, used): &(&str, sb_model::Budget, Usage)| {
            (!budget.is_none()).then(|| format!("\nThe budget {whose}: {}.", budget.shown(used)))
        };
        lines.iter().filter_map(line).collect()
    }

    /// Counts a call, and refuses it if there were too many.
    pub(super) fn is_refused_for_budget(&mut self, call: &Call) -> bool {
        self.spend(Usage { tools: 1, ..Usage::default() });
        let Some(why) = self.out_of_calls() else { return false };
        self.perform(super::Effect::Tell(sb_model::HarnessInput::No(call.id.clone(), why)));
        true
    }

    /// A message waits for an answer that the session cannot pay for.
    pub(super) fn drop_spent(&mut self, group: &[MessageId]) -> bool {
        let waiting: Vec<Message> =
            self.state.waiting.iter().filter(|m| group.contains(&m.id)).cloned().collect();
        let refused = waiting.iter().filter(|m| self.refuse_spent(m)).count();
        refused > 0
    }
}
