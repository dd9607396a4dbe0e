//! Values for the store's laws: messages, turns, entries, and dice that can be thrown again.

use std::sync::Mutex;

use sb_store::model::{
    Address, Attachment, Busy, Change, ChannelConfig, ChannelOptions, Chat, Choice, ConversationId, Dice,
    Digest, EndKind, Ending, Entry, FileRef, Handle, Inbound, Key, Level, Manner, Message, MessageId,
    MessageRef, ModelRef, Origin, Person, Post, PostKey, Principal, Profile, ProfileName, Record, Rights,
    Seq, SessionId, Slug, Task, Timestamp, Tone, ToolSet, TurnId,
};
use sb_store::{Intake, PartState, Store, StoredPart, Taken, Version};

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
    let how = Record::Ended { how: EndKind::Replied, fault: None, declined: false };
    let last = logged(session, entry(from + 1, Some(turn), how));
    let answer = format!("answer to {text}");
    let end = Change::TurnEnded { turn, exchange: true };
    commit(store, of, vec![last, ended(message.id, &answer), end]).await;
}

pub fn profile(name: &str) -> Profile {
    Profile {
        name: ProfileName(name.into()),
        harness: Default::default(),
        harness_mode: None,
        models: vec![ModelRef { provider: "scripted".into(), id: String::new() }],
        base_url: None,
        instructions: "Be brief.".into(),
        workspace: None,
        tools: ToolSet::All,
        autonomy: Level::L3,
        allowed: Vec::new(),
        mcp: Vec::new(),
        image_model: None,
        web_hosts: Vec::new(),
        budgets: Default::default(),
        deadline_s: 600,
        agent: None,
    }
}

/// A configured channel.
pub fn channel(slug: &str) -> ChannelConfig {
    ChannelConfig {
        slug: slug.into(),
        kind: "telegram".into(),
        profile: "assistant".into(),
        enabled: true,
        settings: [("api".to_owned(), "https://api.telegram.org".to_owned())].into(),
        options: ChannelOptions { allow: vec!["42".into()], ..ChannelOptions::default() },
    }
}

/// The conversation of a chat on a channel.
pub fn chat_of(channel: &str, chat: &str) -> ConversationId {
    ConversationId::new(channel, &"assistant".into(), chat)
}

/// Where an answer to message `m1` of a direct chat goes.
pub fn address(channel: &str, chat: &str) -> Address {
    let handle = Handle { token: "reply-1".into(), until: NOON.plus_ms(60_000), uses: 5 };
    Address {
        channel: channel.into(),
        chat: Chat::direct(chat),
        message: Some(MessageRef("m1".into())),
        handle: Some(handle),
    }
}

/// A message of a direct chat, under the platform's key for it.
pub fn bridged(channel: &str, chat: &str, key: &str, text: &str) -> Inbound {
    let mut inbound = keyed(inbound(&chat_of(channel, chat), text), &format!("{channel}:{key}"));
    inbound.from = Principal(format!("{channel}:42"));
    let file = FileRef {
        reference: "f1".into(),
        name: "a.ogg".into(),
        media_type: "audio/ogg".into(),
        size: Some(9),
        voice_s: Some(3),
    };
    inbound.origin = Some(Box::new(Origin {
        address: address(channel, chat),
        person: Person { id: Some("42".into()), name: "Ada".into(), bot: false },
        context: vec!["in answer to: hi".into()],
        files: vec![file],
        album: None,
        addressed: true,
    }));
    inbound
}

/// A batch of one feed.
pub fn batch(channel: &str, cursor: &str, events: Vec<Inbound>) -> Intake {
    let feed = "updates".into();
    Intake { channel: channel.into(), feed, cursor: Some(cursor.into()), events, kept: Vec::new() }
}

/// A plain post.
pub fn post(key: &str, to: Address, text: &str) -> Post {
    let answers = to.message.clone().into_iter().collect();
    let (key, text) = (PostKey(key.into()), text.into());
    Post { key, to, text, files: Vec::new(), choices: Vec::new(), answers, failed: false }
}

/// A post that asks.
pub fn question(key: &str, to: Address, text: &str) -> Post {
    let choice = |label: &str, tone| Choice { label: label.into(), says: format!("/{label} 1234"), tone };
    let choices = vec![choice("approve", Tone::Good), choice("reject", Tone::Bad)];
    Post { choices, ..post(key, to, text) }
}

pub fn posted(post: Post) -> Change {
    Change::Posted(Box::new(post))
}

/// Part `part` of a post as it was sent first.
pub fn part(part: u32, text: &str, state: PartState) -> StoredPart {
    let message = Some(MessageRef(format!("m{}", part + 10)));
    StoredPart { part, text: text.into(), state, message, tries: 1, at: NOON, revised: 0 }
}

/// The slug, for those functions that want one.
pub fn slug(text: &str) -> Slug {
    text.into()
}
