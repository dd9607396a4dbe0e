//! A world around one conversation: a disk that commits, a clock that jumps, an agent that improvises,
//! and crashes at any step. Everything follows from one seed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sb_core::model::*;
use sb_core::{Context, Conversation, Effect, Input, Outcome, Prepared, Seen, Show, apply};

use crate::fake::Agent;

/// Small, fast, seeded chance.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }
}

pub struct World {
    pub chance: Chance,
    pub now: Timestamp,
    /// What is on disk.
    pub disk: Snapshot,
    pub log: Vec<(SessionId, Entry)>,
    pub sessions: HashMap<SessionId, Session>,
    pub exchanges: Vec<(SessionId, TurnId, Vec<Record>)>,
    pub undone: HashSet<TurnId>,
    /// What this process holds.
    pub conversation: Conversation,
    pub wants_slot: bool,
    pub agent: Option<Agent>,
    mail: Vec<Input>,
    recalls: Vec<MessageId>,
    // what is checked
    pub taken: Vec<MessageId>,
    pub endings: HashMap<MessageId, Ending>,
    acting: HashSet<(TurnId, CallId)>,
    went: HashSet<(TurnId, CallId)>,
    pub crashes: u64,
    pub turns: u64,
    /// Its messages come by a messenger.
    pub bridged: bool,
    pub posts: HashMap<PostKey, Post>,
}

pub fn profile() -> Profile {
    Profile {
        name: "assistant".into(),
        harness: Default::default(),
        harness_mode: None,
        agent: None,
        models: vec!["scripted".parse().expect("a model"), "openai:other".parse().expect("a model")],
        base_url: None,
        instructions: String::new(),
        workspace: None,
        tools: ToolSet::All,
        autonomy: Level::L3,
        allowed: Vec::new(),
        mcp: Vec::new(),
        image_model: None,
        web_hosts: Vec::new(),
        budgets: Default::default(),
        deadline_s: 600,
    }
}

pub fn context() -> Context {
    Context {
        profile: Arc::new(profile()),
        tools: Arc::from(["read_file".to_owned(), "write_file".to_owned()]),
        steers: true,
        parks: true,
        suspended: None,
        spent: Default::default(),
    }
}

pub fn empty() -> Snapshot {
    Snapshot {
        id: ConversationId::new("http", &"assistant".into(), "ops"),
        profile: "assistant".into(),
        choices: Choices::default(),
        session: None,
        waiting: Vec::new(),
        turn: None,
        newest: MessageId(0),
        ask_closed: false,
    }
}

/// Where a message on a messenger came from.
pub fn origin(id: MessageId) -> Origin {
    Origin {
        address: Address {
            channel: "telegram".into(),
            chat: Chat::direct("42"),
            message: Some(MessageRef(format!("42:{}", id.0))),
            handle: None,
        },
        person: Person { id: Some("42".into()), name: "Ann".into(), bot: false },
        context: Vec::new(),
        files: Vec::new(),
        album: None,
        addressed: true,
    }
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let conversation = Conversation::new(empty(), context(), chance.next());
        Self {
            chance,
            now: Timestamp(1_000_000),
            disk: empty(),
            log: Vec::new(),
            sessions: HashMap::new(),
            exchanges: Vec::new(),
            undone: HashSet::new(),
            conversation,
            wants_slot: false,
            agent: None,
            mail: Vec::new(),
            recalls: Vec::new(),
            taken: Vec::new(),
            endings: HashMap::new(),
            acting: HashSet::new(),
            went: HashSet::new(),
            crashes: 0,
            turns: 0,
            bridged: seed.is_multiple_of(2),
            posts: HashMap::new(),
        }
    }

    /// A message is taken: on disk first, then the machine is told, unless we crash in between.
    pub fn take(&mut self, text: &str, rights: Rights, manner: Manner, with_file: bool) -> MessageId {
        let id = MessageId(self.disk.newest.0 + 1);
        let file = Attachment {
            name: "a.txt".into(),
            media_type: "text/plain".into(),
            size: 1,
            digest: Digest::of(b"a"),
        };
        let message = Message {
            id,
            at: self.now,
            from: Principal("http:token 1".into()),
            rights,
            text: text.to_owned(),
            files: if with_file { vec![file] } else { Vec::new() },
            manner,
            session: None,
            origin: self.bridged.then(|| Box::new(self.origin(id))),
        };
        self.disk.newest = id;
        self.disk.waiting.push(message.clone());
        self.taken.push(id);
        let seen = self.look();
        self.mail.push(Input::Arrived(message, seen));
        id
    }

    fn origin(&mut self, id: MessageId) -> Origin {
        let album = self.chance.one_in(12).then(|| "album".to_owned());
        Origin { addressed: album.is_none() || self.chance.one_in(2), album, ..origin(id) }
    }

    /// What a messenger was told of a message, if anything.
    pub fn posts_answering(&self, id: MessageId) -> Vec<&Post> {
        let reference = origin(id).address.message.expect("a reference");
        self.posts.values().filter(|p| p.answers.contains(&reference)).collect()
    }

    fn look(&self) -> Seen {
        let mut seen = Seen::default();
        if let Some(session) = &self.disk.session {
            let newest =
                self.exchanges.iter().rev().find(|(s, t, _)| *s == session.id && !self.undone.contains(t));
            seen.exchanges = newest
                .map(|(_, turn, prompts)| Exchange {
                    turn: *turn,
                    prompts: prompts.clone(),
                    said: "said".into(),
                })
                .into_iter()
                .collect();
        }
        // `/resume` finds the oldest session, whatever was typed.
        let oldest = self.sessions.values().min_by_key(|s| (s.began, s.id));
        seen.resumable = oldest.cloned().into_iter().collect();
        seen
    }

    /// The machine is thrown away and loaded anew.
    pub fn crash(&mut self) {
        self.crashes += 1;
        self.agent = None;
        self.wants_slot = false;
        self.mail.clear();
        self.recalls.clear();
        self.conversation = Conversation::new(self.disk.clone(), context(), self.chance.next());
        self.step(Input::Recovered, false);
    }

    /// A clean end of the program, and its next start.
    pub fn close(&mut self) {
        self.step(Input::Closing, false);
        self.crash();
    }

    /// Memory never runs ahead of the disk, nor behind once all mail is delivered.
    pub fn same_in_memory_and_on_disk(&mut self) {
        while !self.mail.is_empty() {
            self.advance(false);
        }
        assert_eq!(&self.disk, self.conversation.state(), "memory and disk differ");
    }

    /// Something that is due happens; false if nothing is.
    pub fn advance(&mut self, may_crash: bool) -> bool {
        if !self.mail.is_empty() {
            let at = self.chance.below(self.mail.len() as u64) as usize;
            let mut input = self.mail.remove(at);
            if let Input::Arrived(_, seen) = &mut input {
                *seen = self.look();
            }
            self.step(input, may_crash);
        } else if let Some(id) = self.recalls.pop() {
            if let Some(message) = self.conversation.state().waiting.iter().find(|m| m.id == id).cloned() {
                let seen = self.look();
                self.step(Input::Arrived(message, seen), may_crash);
            }
        } else if self.wants_slot && (self.agent.is_none() || !self.chance.one_in(3)) {
            self.wants_slot = false;
            self.step(Input::Granted, may_crash);
        } else if let Some(agent) = &mut self.agent {
            let turn = agent.turn;
            match agent.act(&mut self.chance, &self.log) {
                Some(Ok(event)) => self.step(Input::Harness(turn, event), may_crash),
                Some(Err(how)) => {
                    self.agent = None;
                    self.step(Input::Ended(turn, how), may_crash);
                }
                // It waits to be told, or is stuck until it is dropped.
                None => return self.wake(may_crash),
            }
        } else {
            return self.wake(may_crash);
        }
        true
    }

    /// Jumps to the time the machine asked for.
    fn wake(&mut self, may_crash: bool) -> bool {
        let Some(at) = self.conversation.wake_at() else { return false };
        self.now = self.now.max(at);
        self.step(Input::Wake, may_crash);
        let again = self.conversation.wake_at();
        assert!(
            again.is_none_or(|next| next > self.now),
            "it asks to be woken for what it was just woken for"
        );
        true
    }

    fn step(&mut self, input: Input, may_crash: bool) {
        self.now = self.now.plus_ms(1);
        let outcome = self.conversation.handle(self.now, input);
        if may_crash && self.chance.one_in(400) {
            // The commit fails, or we die before it: nothing happened.
            return self.crash();
        }
        let Outcome { record, perform } = outcome;
        for change in &record {
            self.commit(change);
        }
        debug_assert_eq!(&self.disk.turn, &self.conversation.state().turn);
        if may_crash && self.chance.one_in(400) {
            // It is committed, and nothing of it was performed.
            return self.crash();
        }
        for effect in perform {
            self.perform(effect);
        }
    }

    fn commit(&mut self, change: &Change) {
        match change {
            Change::TurnBegan { messages, .. } => {
                assert!(self.disk.turn.is_none(), "two turns at once");
                assert!(
                    messages.iter().all(|m| self.disk.waiting.iter().any(|w| w.id == *m)),
                    "a turn over what does not wait"
                );
                self.turns += 1;
            }
            Change::Logged { session, entry } => {
                let last = self.log.iter().rev().find(|(s, _)| s == session).map_or(0, |(_, e)| e.seq.0);
                assert_eq!(entry.seq.0, last + 1, "a log without gaps");
                if let (Record::Acting { call }, Some(turn)) = (&entry.record, entry.turn) {
                    assert!(self.acting.insert((turn, call.clone())), "one call acts twice");
                }
                self.log.push((*session, entry.clone()));
            }
            Change::House { session, seq, at, turn, call, .. } => {
                assert!(self.acting.insert((*turn, call.id.clone())), "the house does one call twice");
                let (call, text) = (call.id.clone(), "done by the house".to_owned());
                let record = Record::Result { call, ok: true, text, files: Vec::new(), outside: false };
                self.log.push((*session, Entry { seq: *seq, at: *at, turn: Some(*turn), record }));
            }
            Change::Ended { message, ending } => {
                assert!(self.taken.contains(message));
                assert_ne!(ending.kind, EndKind::Waiting, "waiting is no ending");
                let again = self.endings.insert(*message, ending.clone());
                assert!(again.is_none(), "{message:?} ended twice");
            }
            Change::TurnEnded { turn, exchange: true } => {
                let session = self.disk.turn.as_ref().expect("a turn to end").session;
                let said = |(_, e): &&(SessionId, Entry)| {
                    e.turn == Some(*turn) && matches!(e.record, Record::Said { .. })
                };
                let prompts = self.log.iter().filter(said).map(|(_, e)| e.record.clone()).collect();
                self.exchanges.push((session, *turn, prompts));
            }
            Change::Undone { turn } => {
                self.undone.insert(*turn);
            }
            Change::Posted(post) => {
                assert!(self.bridged, "posted where there is no messenger");
                let known = self.posts.insert(post.key.clone(), (**post).clone());
                let said_once = post.key.0.starts_with("restart:");
                assert!(known.is_none() || said_once, "{} is posted twice", post.key);
                // After a question all may have been said: then the post only ends what it answers.
                let rest = post.key.0.matches(':').count() == 2;
                assert!(rest || !post.text.is_empty() || !post.files.is_empty(), "{} says nothing", post.key);
            }
            Change::Edited { message, .. } => {
                assert!(self.disk.waiting.iter().any(|m| m.id == *message), "what does not wait is changed");
            }
            _ => {}
        }
        apply(&mut self.disk, change);
        if let Some(session) = &self.disk.session {
            self.sessions.insert(session.id, session.clone());
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Prepare(id) => self
                .mail
                .push(Input::Prepared(id, Prepared { lines: vec!["(a file)".to_owned()], files: vec![] })),
            Effect::WantSlot { .. } => {
                assert!(!self.wants_slot, "it wants two places");
                self.wants_slot = true;
            }
            Effect::FreeSlot => self.wants_slot = false,
            Effect::Run(turn) => {
                assert!(self.agent.is_none(), "two agents on one conversation");
                let stored = self.disk.turn.as_ref().expect("a committed turn");
                self.agent = Some(Agent::new(turn, stored.session, stored.task));
                let entries =
                    self.log.iter().filter(|(s, _)| *s == stored.session).map(|(_, e)| e.clone()).collect();
                self.step(Input::Opened(turn, entries), false);
            }
            Effect::Tell(input) => {
                if let (HarnessInput::Go(call), Some(agent)) = (&input, &self.agent)
                    && agent.acts(call)
                {
                    let key = (agent.turn, call.clone());
                    assert!(self.acting.contains(&key), "told to go before its commit");
                    assert!(self.went.insert(key), "told to go twice");
                }
                if let Some(agent) = &mut self.agent {
                    agent.told.push(input);
                }
            }
            Effect::TellDone(call, session, seq) => {
                let logged = self.log.iter().find(|(s, e)| *s == session && e.seq == seq);
                let record = logged.expect("it is told after its commit").1.record.clone();
                if let Some(agent) = &mut self.agent {
                    agent.told.push(HarnessInput::Done(call, record));
                }
            }
            Effect::Abandon(_) => self.agent = None,
            Effect::Recall(id) => self.recalls.push(id),
            Effect::Show(Show::Ended(message, ending)) if ending.kind != EndKind::Waiting => {
                assert_eq!(self.endings.get(&message), Some(&ending), "shown before it was committed");
            }
            Effect::Show(_) => {}
        }
    }
}
