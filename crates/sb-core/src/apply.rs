//! [`apply`]: what one change does to a conversation's state.
//!
//! The store writes the same changes as rows; reading them back gives the same snapshot. That both
//! agree is a law of the store's suite.

use sb_model::{Change, Message, MessageId, Phase, Rights, Seq, Session, Snapshot, Turn, TurnId, Usage};

/// Folds one change over the state. Changes that name a turn or session which is not the current
/// one touch rows only, never the snapshot.
pub fn apply(state: &mut Snapshot, change: &Change) {
    match change {
        Change::SessionBegan { id, at } => {
            state.session = Some(Session {
                id: *id,
                title: None,
                began: *at,
                tainted: false,
                allowed: Vec::new(),
                usage: Usage::default(),
                last: Seq(0),
            });
        }
        Change::SessionResumed(session) => state.session = Some(session.clone()),
        Change::Titled { session, title } => {
            on_session(state, *session, |s| s.title = Some(title.clone()));
        }
        Change::Chose(choices) => state.choices = choices.clone(),
        Change::Allowed { session, rules } => on_session(state, *session, |s| s.allowed = rules.clone()),
        Change::Tainted { session, tainted } => on_session(state, *session, |s| s.tainted = *tainted),
        Change::Logged { session, entry } => on_session(state, *session, |s| s.last = entry.seq),
        Change::House { session, seq, .. } => on_session(state, *session, |s| s.last = *seq),
        Change::Spent { .. } => {}
        Change::Used { session, usage } => on_session(state, *session, |s| s.usage = *usage),
        Change::TurnBegan { turn, session, task, messages, from, rights, at } => {
            let taken: Vec<(Message, Seq)> =
                messages.iter().filter_map(|id| take_waiting(state, *id)).map(|m| (m, *from)).collect();
            state.turn = Some(Turn {
                id: *turn,
                session: *session,
                task: *task,
                phase: Phase::Running,
                messages: taken,
                starts: 1,
                pending: None,
                granted: Vec::new(),
                rights: *rights,
                began: *at,
                worked_ms: 0,
            });
        }
        Change::Joined { turn, message, from, rights } => join(state, *turn, *message, *from, *rights),
        Change::TurnRestarted { turn } => on_turn(state, *turn, |t| t.starts += 1),
        Change::TurnLaidDown { turn } => on_turn(state, *turn, |t| t.starts = t.starts.saturating_sub(1)),
        Change::Asks { turn, pending } => on_turn(state, *turn, |t| t.pending = pending.clone()),
        Change::Granted { turn, granted } => on_turn(state, *turn, |t| t.granted = granted.clone()),
        Change::Entered { turn, phase, worked_ms } => on_turn(state, *turn, |t| {
            t.phase = *phase;
            t.worked_ms = *worked_ms;
        }),
        Change::TurnEnded { turn, .. } => {
            if state.turn.as_ref().is_some_and(|t| t.id == *turn) {
                state.turn = None;
            }
        }
        Change::Ended { message, .. } => {
            state.waiting.retain(|m| m.id != *message);
            if let Some(turn) = &mut state.turn {
                turn.messages.retain(|(m, _)| m.id != *message);
            }
        }
        Change::Edited { message, text } => {
            if let Some(waiting) = state.waiting.iter_mut().find(|m| m.id == *message) {
                waiting.text.clone_from(text);
            }
        }
        Change::AskClosed(closed) => state.ask_closed = *closed,
        Change::Undone { .. } | Change::WakeAt(_) | Change::Posted(_) | Change::Reposted { .. } => {}
    }
}

fn on_session(state: &mut Snapshot, id: sb_model::SessionId, change: impl FnOnce(&mut Session)) {
    if let Some(session) = state.session.as_mut().filter(|s| s.id == id) {
        change(session);
    }
}

fn on_turn(state: &mut Snapshot, id: TurnId, change: impl FnOnce(&mut Turn)) {
    if let Some(turn) = state.turn.as_mut().filter(|t| t.id == id) {
        change(turn);
    }
}

fn take_waiting(state: &mut Snapshot, id: MessageId) -> Option<Message> {
    let at = state.waiting.iter().position(|m| m.id == id)?;
    Some(state.waiting.remove(at))
}

/// The turn's messages stay in the order of taking, as the store reads them back.
fn join(state: &mut Snapshot, turn: TurnId, message: MessageId, from: Seq, rights: Rights) {
    if state.turn.as_ref().is_none_or(|t| t.id != turn) {
        return;
    }
    let Some(message) = take_waiting(state, message) else { return };
    on_turn(state, turn, |t| {
        t.rights = rights;
        let at = t.messages.partition_point(|(m, _)| m.id < message.id);
        t.messages.insert(at, (message, from));
    });
}
