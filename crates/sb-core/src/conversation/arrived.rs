//! A message was taken: is it a command, a decision, or something for the agent?

use sb_model::{Busy, HarnessInput, Message, MessageId, Phase, Record, Refusal, Task};

use super::posting::{self, chosen, is_answer};
use super::run::{Plan, StopCause};
use super::{Conversation, Effect, Seen, Show};
use crate::commands::{self, Command, Entry, Need, When};

/// What words on a messenger are, where a question stands or has just been closed.
enum Answered {
    Words,
    Decision(&'static Entry, Command),
    TooLate,
}

/// Whether something must be put where the agent can open it.
pub(super) fn has_files(message: &Message) -> bool {
    !message.files.is_empty() || message.origin.as_deref().is_some_and(|o| !o.files.is_empty())
}

impl Conversation {
    pub(super) fn arrived(&mut self, message: Message, seen: Seen) {
        let id = message.id;
        if matches!(self.plan, Some(Plan::Recall(recalled)) if recalled == id) {
            self.plan = None;
        }
        if !self.keep_waiting(&message) {
            return;
        }
        if message.session.is_some() && message.session != self.session_id() {
            let said = "That session is no longer the conversation's current one. /resume goes back to it.";
            self.refuse(id, Refusal::OtherSession, said);
        } else {
            match commands::read(&message) {
                Err(bad) => self.refuse(id, Refusal::BadCommand, bad.0),
                Ok(None) => match self.as_decision(&message) {
                    Answered::Decision(entry, command) => {
                        self.command_arrived(&message, entry, command, seen)
                    }
                    Answered::TooLate => self.refuse(
                        id,
                        Refusal::NotWaiting,
                        "That question is no longer open, so nothing was done.",
                    ),
                    Answered::Words => self.words_arrived(&message),
                },
                Ok(Some((entry, command))) => self.command_arrived(&message, entry, command, seen),
            }
        }
        self.next();
    }

    /// Whether the message waits for its ending here; one that came before we were loaded, and is no
    /// longer among those waiting, was dealt with.
    fn keep_waiting(&mut self, message: &Message) -> bool {
        if self.state.waiting.iter().any(|m| m.id == message.id) {
            return true;
        }
        if message.id <= self.loaded_to {
            return false;
        }
        // Two that were taken at once may be told in either order.
        self.state.newest = self.state.newest.max(message.id);
        let at = self.state.waiting.partition_point(|m| m.id < message.id);
        self.state.waiting.insert(at, message.clone());
        true
    }

    fn words_arrived(&mut self, message: &Message) {
        if super::begin::is_addressed(message) && self.refuse_suspended(&[message.id]) {
            return;
        }
        if super::begin::is_addressed(message) && self.refuse_spent(message) {
            return;
        }
        if has_files(message) && !self.prepared.contains_key(&message.id) {
            self.prepared.insert(message.id, None);
            self.perform(Effect::Prepare(message.id));
        }
        let Some(turn) = &self.state.turn else {
            // Something is before it, though nothing runs yet.
            if message.manner.busy == Busy::Refuse && self.is_behind(message.id) {
                self.refuse_busy(message.id);
            }
            return;
        };
        match (turn.phase, message.manner.busy) {
            (_, Busy::Refuse) => self.refuse_busy(message.id),
            // Words said while a question is open are held, and the question is shown again.
            (Phase::Parked, _) => {
                let ending = self.waiting_ending(None);
                self.post_question_again(message);
                self.perform(Effect::Show(Show::Ended(message.id, ending)));
            }
            (Phase::Running, Busy::Steer) if turn.task == Task::Answer && self.is_for_turn(message) => {
                self.steer(message.id)
            }
            (Phase::Running, Busy::Interrupt) => self.stop_run(StopCause::Interrupted),
            _ => {}
        }
    }

    /// Whether it came from where the turn at work answers to, and is meant for us.
    pub(super) fn is_for_turn(&self, message: &Message) -> bool {
        let first = self.state.turn.as_ref().and_then(|t| t.messages.first());
        let addressed = message.origin.as_deref().is_none_or(|o| o.addressed);
        addressed && first.is_none_or(|(m, _)| posting::is_same_place(m, message))
    }

    /// On a messenger a question is also answered by the number or the words of a choice.
    fn as_decision(&self, message: &Message) -> Answered {
        // A leading space says that it is no answer of ours to read.
        if message.origin.is_none() || message.text.starts_with(' ') {
            return Answered::Words;
        }
        let pending = self.state.turn.as_ref().and_then(|t| t.pending.as_ref());
        let Some(pending) = pending else {
            let late = self.state.ask_closed && is_answer(&message.text);
            return if late { Answered::TooLate } else { Answered::Words };
        };
        let choices = posting::choices(pending, self.may_stand(pending));
        let says = chosen(&message.text, &choices).map(|n| choices[n].says.as_str());
        match says.and_then(|s| commands::read_text(s, false).ok().flatten()) {
            Some((entry, command)) => Answered::Decision(entry, command),
            None => Answered::Words,
        }
    }

    /// Gives waiting words to the agent at work. They wait on until it confirms them.
    pub(super) fn steer(&mut self, id: MessageId) {
        let ready = self.is_ready(id);
        let Some(record) = self.said(id, true).filter(|_| ready && self.context.steers) else { return };
        let Some(run) = self.run.as_mut().filter(|r| r.stop.is_none()) else { return };
        if !run.steering.contains(&id) {
            run.steering.push(id);
            self.perform(Effect::Tell(HarnessInput::Steer(id, record)));
        }
    }

    /// The record of a waiting message's words, as they reach the agent.
    pub(super) fn said(&self, id: MessageId, steered: bool) -> Option<Record> {
        let m = self.state.waiting.iter().find(|m| m.id == id)?;
        let origin = m.origin.as_deref();
        let mut text = String::new();
        for line in origin.into_iter().flat_map(|o| &o.context) {
            text.push_str(line);
            text.push('\n');
        }
        if m.manner.names_writers {
            let name = origin.map(|o| o.person.name.as_str()).filter(|n| !n.trim().is_empty());
            // No name and no line of a message can look like another writer's.
            let writer = match name {
                Some(name) => sb_model::text::one_line(name, 64).replace(':', " "),
                None => sb_model::text::one_line(&m.from.0, 64),
            };
            text.push_str(&writer);
            text.push_str(": ");
            text.push_str(&m.text.replace('\n', "\n  "));
        } else {
            text.push_str(&m.text);
        }
        let prepared = self.prepared.get(&id).and_then(Option::as_ref);
        for line in prepared.into_iter().flat_map(|p| &p.lines) {
            text.push('\n');
            text.push_str(line);
        }
        let mut files = m.files.clone();
        files.extend(prepared.into_iter().flat_map(|p| p.files.clone()));
        Some(Record::Said { message: id, from: m.from.clone(), text, files, steered })
    }

    fn refuse_busy(&mut self, id: MessageId) {
        let (refusal, said) = match self.state.turn.as_ref().is_some_and(|t| t.phase == Phase::Parked) {
            true => {
                (Refusal::Waiting, "A request waits for a person here: /approve, /decline or /stop first.")
            }
            false => (Refusal::Busy, "The agent is at work here. Wait for its answer, or send /stop."),
        };
        self.refuse(id, refusal, said);
    }

    fn command_arrived(&mut self, message: &Message, entry: &Entry, command: Command, seen: Seen) {
        let id = message.id;
        let may = match entry.need {
            Need::Nothing => true,
            Need::Decide => message.rights.decide,
            Need::Instruct => message.rights.instruct,
        };
        if !may {
            let (refusal, what) = match entry.need {
                Need::Instruct => (Refusal::MayNotInstruct, "change what is set here"),
                _ => (Refusal::MayNotDecide, "approve or decline"),
            };
            return self.refuse(id, refusal, format!("You may talk here, not {what}."));
        }
        let parked = self.state.turn.as_ref().is_some_and(|t| t.phase == Phase::Parked);
        let working = self.state.turn.is_some() && !parked;
        let clear = match entry.when {
            When::Always => true,
            When::NotWorking => !working,
            When::Idle => self.state.turn.is_none() && !self.is_behind(id),
        };
        if clear {
            self.run_command(message, command, seen);
        } else if !message.manner.commands_wait {
            self.refuse_busy(id);
        } else if parked {
            self.refuse(
                id,
                Refusal::Waiting,
                "A request waits for a person here: /approve, /decline or /stop first.",
            );
        }
        // Otherwise it waits its turn.
    }

    /// Whether messages taken earlier still wait for their turn.
    fn is_behind(&self, id: MessageId) -> bool {
        self.state.waiting.iter().any(|m| m.id < id)
    }

    fn run_command(&mut self, message: &Message, command: Command, seen: Seen) {
        match command {
            Command::Stop => self.stop(message.id),
            Command::Approve { request, how } => self.approve(message, request, how, &seen),
            Command::Decline { words } => self.decline(message, &words, &seen),
            Command::Allowed { off } => self.allowed(message, off),
            Command::New => self.new_session(message.id),
            Command::Status => self.status(message.id, &seen),
            Command::Retry { turn } => self.retry(message.id, turn, seen),
            Command::Undo => self.undo(message, seen),
            Command::Compact => self.compact(message.id),
            Command::Usage => self.usage(message),
            Command::Sessions => self.sessions(message.id, &seen),
            Command::Resume(prefix) => self.resume(message.id, &prefix, seen),
            Command::Title(title) => self.title(message, title),
            Command::Model(number) => self.model(message, number),
            Command::System(text) => self.system(message, text),
            Command::Tools(names) => self.tools(message, names),
            Command::Whoami => self.whoami(message),
            Command::Help => self.answer(message.id, commands::help()),
        }
    }
}
