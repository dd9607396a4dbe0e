//! Values for the store's laws: messages, turns, entries, and dice that can be thrown again.

use std::sync::Mutex;

use sb_store::model::{
    Attachment, Busy, Change, ConversationId, Dice, Digest, EndKind, Ending, Entry, Inbound, Key, Level,
    Manner, Message, MessageId, ModelRef, Principal, Profile, ProfileName, Record, Rights, Seq, SessionId,
    Task, Timestamp, ToolSet, TurnId,
};
use sb_store::{Store, Taken, Version};

/// The moment at which everything happens unless said otherwise.
pub const NOON: Timestamp = Timestamp(1_800_000_000_000);

/// Random numbers that are the same for the same seed (SplitMix64).
pub struct Seeded(Mutex<u64>);

impl Seeded {
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }
    pub fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap();
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// One of `0..n`.
    pub fn below(&self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    /// True once in `n` times.
    pub fn once_in(&self, n: usize) -> bool {
        self.below(n) == 0
    }
}

impl Dice for Seeded {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|b| *b = self.next() as u8);
    }
}

pub fn conversation(name: &str) -> ConversationId {
    ConversationId::new("http", &"assistant".into(), name)
}

pub fn attachment(digest: Digest) -> Attachment {
    Attachment { name: "a.txt".into(), media_type: "text/plain".into(), size: 5, digest }
}

/// A plain message without a key.
pub fn inbound(to: &ConversationId, text: &str) -> Inbound {
    Inbound {
        conversation: to.clone(),
        profile: "assistant".into(),
        session: None,
        key: None,
        from: Principal("http:token 3046d92e".into()),
        rights: Rights::TALK,
        text: text.into(),
        files: Vec::new(),
        manner: Manner {
            busy: Busy::Steer,
            debounce_ms: 0,
            commands_wait: true,
            stop_words: false,
            names_writers: false,
            ask_expiry_ms: None,
        },
        origin: None,
    }
}

/// The message again with a key that is kept a day.
pub fn keyed(mut inbound: Inbound, key: &str) -> Inbound {
    let body = Digest::of(inbound.text.as_bytes());
    inbound.key = Some(Key { text: key.into(), body, kept_ms: 86_400_000 });
    inbound
}

/// Takes one message in and expects it to be new.
pub async fn say(store: &Store, to: &ConversationId, text: &str) -> Message {
    match store.take_in(vec![inbound(to, text)], NOON).await.unwrap().remove(0) {
        Taken::New(message) => message,
        other => panic!("not new: {other:?}"),
    }
}

/// The version that a commit of `of` needs now.
pub async fn version(store: &Store, of: &ConversationId) -> Version {
    store.load(of).await.unwrap().expect("a conversation").1
}

/// Commits at the current version.
pub async fn commit(store: &Store, of: &ConversationId, changes: Vec<Change>) {
    let at = version(store, of).await;
    store.commit(of, at, changes).await.unwrap();
}

pub fn entry(seq: i64, turn: Option<TurnId>, record: Record) -> Entry {
    Entry { seq: Seq(seq), at: NOON, turn, record }
}

pub fn logged(session: SessionId, entry: Entry) -> Change {
    Change::Logged { session, entry }
}

pub fn said(message: &Message) -> Record {
    Record::Said {
        message: message.id,
        from: message.from.clone(),
        text: message.text.clone(),
        files: message.files.clone(),
        steered: false,
    }
}

pub fn ended(message: MessageId, said: &str) -> Change {
    Change::Ended { message, ending: Ending::plain(EndKind::Replied, said, None) }
}

pub fn turn_began(turn: TurnId, session: SessionId, messages: Vec<MessageId>, from: i64) -> Change {
    Change::TurnBegan {
        turn,
        session,
        task: Task::Answer,
        messages,
        from: Seq(from),
        rights: Rights::TALK,
        at: NOON,
    }
}

/// One whole exchange of two entries (what was said, and that it ended), from `from` on.
pub async fn exchange(
    store: &Store,
    of: &ConversationId,
    session: SessionId,
    turn: TurnId,
    from: i64,
    text: &str,
) {
    let message = say(store, of, text).await;
    let first = logged(session, entry(from, Some(turn), said(&message)));
    commit(store, of, vec![turn_began(turn, session, vec![message.id], from), first]).await;
    let how = Record::Ended { how: EndKind::Replied, fault: None };
    let last = logged(session, entry(from + 1, Some(turn), how));
    let answer = format!("answer to {text}");
    let end = Change::TurnEnded { turn, exchange: true };
    commit(store, of, vec![last, ended(message.id, &answer), end]).await;
}

pub fn profile(name: &str) -> Profile {
    Profile {
        name: ProfileName(name.into()),
        models: vec![ModelRef { provider: "scripted".into(), id: String::new() }],
        base_url: None,
        instructions: "Be brief.".into(),
        workspace: None,
        tools: ToolSet::All,
        autonomy: Level::L3,
        allowed: Vec::new(),
        deadline_s: 600,
    }
}
