//! The law of the store: what is loaded after a commit is what the changes fold to.
//!
//! A seeded walk takes messages in and commits random lists of changes that could follow the state,
//! folding the same with the core's own `apply`. Now and then it commits at an old version, commits
//! something impossible, or closes and opens the store; none of these may change anything. What is posted
//! on the way is kept as a small outbox of its own (`posts.rs`), and compared with the store's.

use std::collections::BTreeMap;

use sb_core::{apply, view};
use sb_store::model::{
    Call, CallId, Change, Choices, ConversationId, Digest, Entry, MessageId, Pending, Phase, Principal,
    Record, RequestId, Rights, Rule, Seq, Session, SessionId, Snapshot, Task, Timestamp, ToolClass, TurnId,
    Usage,
};
use sb_store::{Store, StoreErrorKind, Taken, Version};

use super::Ground;
use super::posts::Outbox;
use super::samples::{NOON, Seeded, conversation, ended, inbound, said};

/// What the store should hold, kept beside it.
struct Walk<'a> {
    dice: &'a Seeded,
    of: ConversationId,
    state: Snapshot,
    version: Version,
    /// Sessions that are not current any more, as they were left.
    left: Vec<Session>,
    logs: BTreeMap<SessionId, Vec<Entry>>,
    /// Ended turns that count and were not undone, with their session, the oldest first.
    exchanges: Vec<(SessionId, TurnId)>,
    wake: Option<Timestamp>,
    outbox: Outbox,
}

/// Walks `steps` steps from `seed`.
pub async fn loading_gives_what_the_changes_fold_to(ground: &impl Ground, seed: u64, steps: usize) {
    let dice = Seeded::new(seed);
    let mut store = ground.open().await;
    let mut walk = Walk::begin(&dice, &store, seed).await;
    for step in 0..steps {
        match dice.below(20) {
            0..6 => walk.hear(&store).await,
            6 => walk.commit_too_late(&store).await,
            7 => walk.commit_the_impossible(&store).await,
            8 => walk.outbox.send(&store, &dice).await,
            9 if dice.once_in(3) => store = ground.reopen(store).await,
            _ => walk.decide(&store).await,
        }
        walk.compare(&store, &format!("seed {seed}, step {step}")).await;
    }
}

impl<'a> Walk<'a> {
    async fn begin(dice: &'a Seeded, store: &Store, seed: u64) -> Self {
        let of = conversation(&format!("walk {seed}"));
        store.take_in(vec![inbound(&of, "first")], NOON).await.unwrap();
        let (state, version) = store.load(&of).await.unwrap().expect("just begun");
        assert_eq!((state.waiting.len(), &state.turn, &state.session), (1, &None, &None));
        let (left, logs, exchanges) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self { dice, of, state, version, left, logs, exchanges, wake: None, outbox: Outbox::default() }
    }

    async fn hear(&mut self, store: &Store) {
        let text = if self.dice.once_in(4) { " /approve 1234" } else { "more words" };
        let mut inbound = inbound(&self.of, text);
        inbound.rights = Rights { decide: self.dice.once_in(2), instruct: self.dice.once_in(2) };
        match store.take_in(vec![inbound], NOON).await.unwrap().remove(0) {
            Taken::New(message) => {
                self.state.newest = message.id;
                self.state.waiting.push(message);
            }
            other => panic!("not new: {other:?}"),
        }
    }

    async fn commit_too_late(&mut self, store: &Store) {
        if self.version.0 > 0 {
            let early = Version(self.version.0 - 1);
            let changes = vec![Change::WakeAt(Some(Timestamp(1)))];
            let refused = store.commit(&self.of, early, changes).await.unwrap_err();
            assert_eq!(refused.kind, StoreErrorKind::Stale);
        }
    }

    async fn commit_the_impossible(&mut self, store: &Store) {
        let mut changes = self.possible().1;
        changes.push(ended(MessageId(i64::MAX), "to nobody"));
        let refused = store.commit(&self.of, self.version, changes).await.unwrap_err();
        assert_eq!(refused.kind, StoreErrorKind::Contradiction, "{refused}");
    }

    async fn decide(&mut self, store: &Store) {
        let (state, changes) = self.possible();
        self.version = store.commit(&self.of, self.version, changes.clone()).await.unwrap();
        for change in &changes {
            self.keep_books(change);
        }
        self.state = state;
    }

    /// A few changes that can follow the state, and the state they fold to.
    fn possible(&self) -> (Snapshot, Vec<Change>) {
        let (mut state, mut changes) = (self.state.clone(), Vec::new());
        for _ in 0..=self.dice.below(5) {
            for change in self.next(&state, changes.is_empty()) {
                apply(&mut state, &change);
                changes.push(change);
            }
        }
        (state, changes)
    }

    fn next(&self, state: &Snapshot, first: bool) -> Vec<Change> {
        let dice = self.dice;
        let Some(session) = &state.session else {
            return vec![Change::SessionBegan { id: SessionId(dice.next()), at: NOON }];
        };
        match (&state.turn, dice.below(17)) {
            (_, 14) => vec![Outbox::next(dice)],
            (_, 15) => vec![Change::AskClosed(dice.once_in(2))],
            (_, 16) => match state.waiting.last() {
                Some(m) => vec![Change::Edited { message: m.id, text: format!("edit {}", dice.below(9)) }],
                None => Vec::new(),
            },
            (_, 0) => vec![Change::Chose(self.choices())],
            (_, 1) => vec![Change::Titled { session: session.id, title: format!("title {}", dice.below(9)) }],
            (_, 2) => vec![Change::Tainted { session: session.id, tainted: dice.once_in(2) }],
            (_, 3) => vec![Change::Used { session: session.id, usage: self.usage() }],
            (_, 4) => vec![Change::WakeAt((!dice.once_in(3)).then(|| NOON.plus_ms(dice.below(100) as i64)))],
            (_, 5) => vec![Change::Allowed { session: session.id, rules: self.rules() }],
            (None, 6) => vec![Change::SessionBegan { id: SessionId(dice.next()), at: NOON }],
            // Later in a list the session may differ from how it was left.
            (None, 7) if first => self.resume(session.id),
            (None, 8) => self.undo(session),
            (None, _) => self.begin_turn(state, session),
            (Some(turn), at) => self.go_on(state, session, turn.id, at),
        }
    }

    fn begin_turn(&self, state: &Snapshot, session: &Session) -> Vec<Change> {
        let messages: Vec<_> = state.waiting.iter().take(1 + self.dice.below(3)).collect();
        if messages.is_empty() {
            return Vec::new();
        }
        let turn = TurnId(self.dice.next());
        let began = Change::TurnBegan {
            turn,
            session: session.id,
            task: if self.dice.once_in(5) { Task::Compact } else { Task::Answer },
            messages: messages.iter().map(|m| m.id).collect(),
            from: session.last.next(),
            rights: Rights::TALK,
            at: NOON,
        };
        let mut changes = vec![began];
        for (message, place) in messages.iter().zip(1..) {
            changes.push(self.log(session, place, Some(turn), said(message)));
        }
        changes
    }

    fn go_on(&self, state: &Snapshot, session: &Session, turn: TurnId, at: usize) -> Vec<Change> {
        let (dice, phases) = (self.dice, [Phase::Running, Phase::Parked, Phase::Stopping]);
        match at {
            6 if dice.once_in(2) => vec![Change::TurnRestarted { turn }],
            6 => vec![Change::TurnLaidDown { turn }],
            7 => vec![Change::Asks { turn, pending: (!dice.once_in(3)).then(pending) }],
            8 => vec![Change::Granted { turn, granted: vec![(Digest::of(b"x"), Principal("ada".into()))] }],
            9 => {
                vec![Change::Entered { turn, phase: phases[dice.below(3)], worked_ms: dice.below(99) as i64 }]
            }
            10 => vec![self.log(session, 1, Some(turn), answered())],
            11 => match state.waiting.last() {
                Some(m) => {
                    vec![Change::Joined { turn, message: m.id, from: session.last.next(), rights: m.rights }]
                }
                None => Vec::new(),
            },
            12 => vec![self.log(session, 1, Some(turn), self.summary(session))],
            _ => self.end_turn(state, turn),
        }
    }

    fn end_turn(&self, state: &Snapshot, turn: TurnId) -> Vec<Change> {
        let messages = state.turn.iter().flat_map(|t| &t.messages);
        let mut changes: Vec<_> = messages.map(|(m, _)| ended(m.id, "done")).collect();
        changes
            .extend(state.waiting.first().filter(|_| self.dice.once_in(3)).map(|m| ended(m.id, "dropped")));
        changes.push(Change::TurnEnded { turn, exchange: !self.dice.once_in(4) });
        changes
    }

    fn undo(&self, session: &Session) -> Vec<Change> {
        match self.exchanges.iter().rev().find(|(s, _)| *s == session.id) {
            Some((_, turn)) => {
                let record = Record::Undone { turn: *turn };
                vec![self.log(session, 1, None, record), Change::Undone { turn: *turn }]
            }
            None => Vec::new(),
        }
    }

    fn resume(&self, current: SessionId) -> Vec<Change> {
        match self.left.iter().find(|s| s.id != current) {
            Some(session) => vec![Change::SessionResumed(session.clone())],
            None => Vec::new(),
        }
    }

    fn log(&self, session: &Session, place: i64, turn: Option<TurnId>, record: Record) -> Change {
        let entry = Entry { seq: Seq(session.last.0 + place), at: NOON, turn, record };
        Change::Logged { session: session.id, entry }
    }

    fn summary(&self, session: &Session) -> Record {
        let covers = Seq(self.dice.below(session.last.0 as usize + 1) as i64);
        Record::Summary { text: "what was said".into(), covers }
    }

    fn choices(&self) -> Choices {
        let system = self.dice.once_in(2).then(|| format!("speak {}", self.dice.below(9)));
        Choices { model: None, system, tools: Some(vec!["read_file".into()]) }
    }

    fn usage(&self) -> Usage {
        Usage { calls: self.dice.below(99) as u64, output: 7, ..Usage::default() }
    }

    fn rules(&self) -> Vec<Rule> {
        let rule = Rule::Pattern { tool: "shell".into(), words: "git status".into(), exact: false };
        vec![rule; self.dice.below(3)]
    }

    /// What the snapshot does not hold: logs, exchanges, sessions that were left, the time to wake.
    fn keep_books(&mut self, change: &Change) {
        match change {
            Change::Logged { session, entry } => {
                self.logs.entry(*session).or_default().push(entry.clone());
            }
            Change::TurnEnded { turn, exchange: true } => {
                let session = self.state.session.as_ref().expect("a turn has a session").id;
                self.exchanges.push((session, *turn));
            }
            Change::Undone { turn } => self.exchanges.retain(|(_, t)| t != turn),
            Change::WakeAt(at) => self.wake = *at,
            Change::SessionBegan { .. } | Change::SessionResumed(_) => {
                self.left.retain(|s| !matches!(change, Change::SessionResumed(r) if r.id == s.id));
                self.left.extend(self.state.session.clone());
            }
            _ => {}
        }
        self.outbox.apply(change);
        apply(&mut self.state, change);
    }

    async fn compare(&self, store: &Store, when: &str) {
        let (loaded, version) = store.load(&self.of).await.unwrap().expect("it was begun");
        assert_eq!(loaded, self.state, "{when}");
        assert_eq!(version, self.version, "{when}");
        assert_eq!(store.next_wake().await.unwrap(), self.wake, "{when}");
        self.outbox.compare(store, &self.of, when).await;
        let unfinished = !self.state.waiting.is_empty() || self.state.turn.is_some();
        assert_eq!(store.unfinished().await.unwrap().contains(&self.of), unfinished, "{when}");
        for (session, log) in &self.logs {
            let whole = store.log(*session, Seq(1), Seq(i64::MAX)).await.unwrap();
            assert_eq!(&whole, log, "{when}");
            let seen = view(store.view_log(*session).await.unwrap());
            assert_eq!(seen, view(whole), "{when}");
        }
        if let Some(session) = &self.state.session {
            let found = store.exchanges(session.id, usize::MAX).await.unwrap();
            let found: Vec<_> = found.iter().map(|e| e.turn).collect();
            let ours = self.exchanges.iter().rev().filter(|(s, _)| *s == session.id).map(|(_, t)| *t);
            assert_eq!(found, ours.collect::<Vec<_>>(), "{when}");
        }
    }
}

fn answered() -> Record {
    let (text, model) = ("words".into(), "scripted".into());
    Record::Answered { text, calls: vec![call()], model, kept: None, usage: Usage::default(), cut: false }
}

fn call() -> Call {
    let input = serde_json::json!({ "path": "a.txt" });
    Call { id: CallId("c1".into()), tool: "write_file".into(), input, class: ToolClass::Write }
}

fn pending() -> Pending {
    Pending {
        request: RequestId(7),
        call: call(),
        reason: "a write at autonomy L3".into(),
        carries: false,
        ways: Default::default(),
        since: NOON,
    }
}
