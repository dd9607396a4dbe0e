//! `/approve`, `/decline`, `/allowed`: decisions are committed with who made them, then acted on.

use sb_model::{
    CallId, Change, DECLINED, Decision, Message, MessageId, Pending, Phase, Principal, Record, Refusal, Rule,
    Seq, Timestamp, ToolClass, TurnId,
};

use super::house::is_house;
use super::run::Plan;
use super::{Conversation, Seen};
use crate::commands::{Always, How, is_request_id};
use crate::rules;

/// How long a call may wait for a person whose agent holds it open, where nothing else is said.
const HELD_OPEN_MS: u64 = 30 * 60 * 1000;

impl Conversation {
    pub(super) fn approve(&mut self, message: &Message, request: Option<String>, how: How, seen: &Seen) {
        let Some((turn, pending)) = self.waiting_request(message.id, request.as_deref(), seen) else {
            return;
        };
        let chosen = way(&pending, &how).and_then(|way| Ok((way, self.standing_rule(&pending, how)?)));
        let (way, (rule, note)) = match chosen {
            Ok(chosen) => chosen,
            Err(why) => return self.refuse(message.id, Refusal::BadCommand, why),
        };
        let stands = rule.is_some();
        let named = way.and_then(|n| pending.ways.allow.get(n)).map_or("", String::as_str);
        let from = self.log_decision(turn, &pending, &message.from, Ok((named, rule.clone())));
        if let Some(open) = self.run.as_mut().and_then(|run| run.open.as_mut()) {
            open.way = way;
        }
        if let Some(text) = note {
            self.log(Some(turn), Record::Noted { text, by: message.from.clone(), told: true });
        }
        if let (Some(rule), Some(session)) = (rule, &self.state.session) {
            let mut rules = session.allowed.clone();
            rules.push(rule);
            let session = session.id;
            self.record(Change::Allowed { session, rules });
        }
        if is_house(&pending.call) {
            self.do_allowed(turn, &pending.call);
        } else {
            let mut granted = self.state.turn.as_ref().map(|t| t.granted.clone()).unwrap_or_default();
            granted.push((pending.call.digest(), message.from.clone()));
            self.record(Change::Granted { turn, granted });
        }
        let how = if stands { "Allowed for this session" } else { "Allowed once" };
        let named = if named.is_empty() { String::new() } else { format!(": {named}") };
        self.close_question(&pending, &format!("✅ {how} by {}{named}.", who(message)));
        self.decided(turn, Some((message.id, from)));
    }

    pub(super) fn decline(&mut self, message: &Message, words: &str, seen: &Seen) {
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let pending = self.state.turn.as_ref().and_then(|t| t.pending.as_ref());
        let names_this = pending.is_some_and(|p| p.request.is_named_by(first));
        // A word of an id's exact form that names another request is a mistake, not a reason.
        let names_other = is_request_id(first) && matches!(first.len(), 8 | 16) && !names_this;
        let (request, why) =
            if names_this || names_other { (Some(first), rest.trim()) } else { (None, words) };
        let Some((turn, pending)) = self.waiting_request(message.id, request, seen) else { return };
        let call: CallId = pending.call.id.clone();
        let from = self.log_decision(turn, &pending, &message.from, Err(why));
        let text = match why {
            "" => DECLINED.to_owned(),
            why => format!("The person declined this call: {why}"),
        };
        self.hold_refused(&text);
        self.log(Some(turn), Record::Result { call, ok: false, text, files: Vec::new(), outside: false });
        self.close_question(&pending, &format!("❌ Declined by {}.", who(message)));
        self.decided(turn, Some((message.id, from)));
    }

    /// When the request that waits is withdrawn, if ever: as the way in of its turn's first message says.
    pub(super) fn expires_at(&self) -> Option<Timestamp> {
        let turn = self.state.turn.as_ref()?;
        let (since, first) = (turn.pending.as_ref()?.since, turn.messages.first()?);
        // An agent held open is a process that waits: not for ever.
        let usual = (!self.context.parks).then_some(HELD_OPEN_MS);
        let after = first.0.manner.ask_expiry_ms.or(usual)?;
        Some(since.plus_ms(i64::try_from(after).unwrap_or(i64::MAX)))
    }

    /// A harness that holds its call open will be told why it may not act.
    pub(super) fn hold_refused(&mut self, why: &str) {
        if let Some(open) = self.run.as_mut().and_then(|run| run.open.as_mut()) {
            open.refused = Some(why.to_owned());
        }
    }

    /// Nobody decided in time: the agent is told it has no permission, the chat that the question is closed.
    pub(super) fn expire(&mut self) {
        if self.expires_at().is_none_or(|at| at > self.now) {
            return;
        }
        let turn = self.state.turn.as_ref().and_then(|t| Some((t.id, t.pending.clone()?)));
        let Some((turn, pending)) = turn else { return };
        let why = "nobody answered in time";
        self.log_decision(turn, &pending, &Principal("nobody".to_owned()), Err(why));
        let (call, text) =
            (pending.call.id.clone(), "You have no permission for this call: nobody answered in time.");
        self.hold_refused(text);
        let result =
            Record::Result { call, ok: false, text: text.to_owned(), files: Vec::new(), outside: false };
        self.log(Some(turn), result);
        self.close_question(&pending, "⌛ Nobody answered in time, so this was not allowed.");
        self.decided(turn, None);
    }

    /// Whether "always" can be given for this request.
    pub(super) fn may_stand(&self, pending: &Pending) -> bool {
        let tainted = self.state.session.as_ref().is_some_and(|s| s.tainted);
        let plain = !pending.carries && !pending.ways.are_several();
        !tainted && plain && pending.call.class != ToolClass::Spend
    }

    /// Writes down who decided what: allowed, perhaps in one of several ways or with a rule, or declined for a reason.
    fn log_decision(
        &mut self,
        turn: TurnId,
        pending: &Pending,
        by: &Principal,
        decision: Result<(&str, Option<Rule>), &str>,
    ) -> Seq {
        let (allowed, why, always) = match decision {
            Ok((way, rule)) => (true, way.to_owned(), rule),
            Err(why) => (false, why.to_owned(), None),
        };
        let (request, call, by) = (pending.request, pending.call.clone(), by.clone());
        self.log(Some(turn), Record::Decided { request, call, by, allowed, why, always })
    }

    /// The request a decision is about, or a refusal: only the very one that waits can be decided.
    fn waiting_request(
        &mut self,
        message: MessageId,
        named: Option<&str>,
        seen: &Seen,
    ) -> Option<(TurnId, Pending)> {
        // What was asked for too long ago is closed first, however late it is noticed.
        self.expire();
        let turn = self.state.turn.as_ref();
        let found = turn.and_then(|t| Some((t.id, t.pending.clone()?)));
        let said = match &found {
            None => not_open(named, seen),
            Some((_, p)) if named.is_some_and(|n| !p.request.is_named_by(n)) => {
                format!(
                    "That is not the request that waits. Now it is {}: {}.",
                    p.request.short(),
                    p.call.shown()
                )
            }
            Some(_) => return found,
        };
        self.refuse(message, Refusal::NotWaiting, said);
        None
    }

    /// The rule to keep for the session, and what to tell the person where "always" is not given.
    fn standing_rule(&self, pending: &Pending, how: How) -> Result<(Option<Rule>, Option<String>), String> {
        let How::Always(always) = how else { return Ok((None, None)) };
        if self.state.session.as_ref().is_some_and(|s| s.tainted) {
            let note =
                "Allowed once. \"Always\" is not given while the session has read content from outside.";
            return Ok((None, Some(note.to_owned())));
        }
        if pending.carries {
            let note = "Allowed once. \"Always\" is not given to a call that carries text from outside.";
            return Ok((None, Some(note.to_owned())));
        }
        if pending.call.class == ToolClass::Spend {
            return Ok((None, Some("Allowed once. A payment is always approved on its own.".to_owned())));
        }
        let call = &pending.call;
        match always {
            Always::Same => {
                Ok((Some(Rule::Same { tool: call.tool.clone(), input: call.input.clone() }), None))
            }
            Always::Matching(rule) if rules::covers(&rule, call) => Ok((Some(rule), None)),
            Always::Matching(rule) => Err(format!(
                "{} does not match the call that waits ({}), so nothing was approved. A shell rule matches one plain command only.",
                rules::shown(&rule),
                call.shown()
            )),
        }
    }

    /// The decision is recorded: the turn goes on, and answers the one who decided too, if somebody did.
    fn decided(&mut self, turn: TurnId, by: Option<(MessageId, Seq)>) {
        if self.expires_at().is_some() {
            self.record(Change::WakeAt(None));
        }
        self.record(Change::Asks { turn, pending: None });
        if let Some((message, from)) = by {
            self.join(turn, message, from, false);
            self.set_tainted(false);
        }
        self.enter(Phase::Running);
        let (now, worked_ms) = (self.now, self.state.turn.as_ref().map_or(0, |t| t.worked_ms));
        let open = self.run.as_mut().filter(|run| run.open.is_some());
        let is_open = open.map(|run| run.goes_on(now, worked_ms)).is_some();
        // A harness still winding down goes on when it has.
        if self.run.is_none() || is_open {
            self.plan = Some(Plan::GoOn);
            self.want_slot(true);
        }
    }

    pub(super) fn allowed(&mut self, message: &Message, off: bool) {
        let Some(session) = &self.state.session else {
            return self.answer(message.id, "Nothing is allowed beyond the autonomy level.");
        };
        let id = session.id;
        if off {
            self.record(Change::Allowed { session: id, rules: Vec::new() });
            self.note(message, "withdrew what was allowed for the session");
            return self.answer(
                message.id,
                "Withdrawn. The agent asks again for everything its autonomy level does not give.",
            );
        }
        let said = match session.allowed.as_slice() {
            [] => "Nothing is allowed beyond the autonomy level.".to_owned(),
            rules => {
                let shown: Vec<String> = rules.iter().map(|r| format!("- {}", rules::shown(r))).collect();
                format!("Allowed without asking in this session:\n{}", shown.join("\n"))
            }
        };
        self.answer(message.id, said);
    }

    /// For the trace: who changed what.
    pub(super) fn note(&mut self, message: &Message, text: impl Into<String>) {
        self.log(None, Record::Noted { text: text.into(), by: message.from.clone(), told: false });
    }
}

/// Which of the agent's ways a decision means, where it has several; nobody chooses for a person.
fn way(pending: &Pending, how: &How) -> Result<Option<usize>, String> {
    let (all, request) = (&pending.ways.allow, pending.request.short());
    let listed = || pending.ways.listed();
    match how {
        How::Way(n) if (1..=all.len()).contains(n) => Ok(Some(n - 1).filter(|_| pending.ways.are_several())),
        How::Way(n) if all.is_empty() => Err(format!(
            "There is no way {n} to choose, so nothing was approved: /approve {request} allows it."
        )),
        How::Way(n) => Err(format!("There is no way {n}, so nothing was approved. There are: {}.", listed())),
        How::Once | How::Always(_) if pending.ways.are_several() => Err(format!(
            "It may be done in several ways, so nothing was approved yet. Say which with /approve {request} <number>: {}.",
            listed()
        )),
        How::Once | How::Always(_) => Ok(None),
    }
}

/// What is said where no request waits: who decided the one that is meant, if that is known.
fn not_open(named: Option<&str>, seen: &Seen) -> String {
    let how = |d: &Decision| format!("{} by {}", if d.allowed { "allowed" } else { "declined" }, d.by.0);
    let meant = |named: &str| seen.decisions.iter().find(|d| d.request.is_named_by(named));
    match (named, named.and_then(meant), seen.decisions.first()) {
        (Some(_), Some(made), _) => {
            format!("That request is no longer open: it was {}. Nothing more was done.", how(made))
        }
        (Some(_), None, _) => "That request is no longer open, so nothing was done.".to_owned(),
        (None, _, Some(last)) => {
            format!(
                "Nothing waits for an approval here. The last request, {}, was {}.",
                last.request.short(),
                how(last)
            )
        }
        (None, _, None) => "Nothing waits for an approval here.".to_owned(),
    }
}

/// Whoever wrote a message, as people read it.
fn who(message: &Message) -> String {
    let name = message.origin.as_deref().map(|o| o.person.name.as_str()).filter(|n| !n.trim().is_empty());
    sb_model::text::one_line(name.unwrap_or(&message.from.0), 64)
}
