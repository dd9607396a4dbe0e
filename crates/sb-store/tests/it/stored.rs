//! The form of what is stored. A difference here means that homes out there hold something else:
//! it needs a migration, or fields that may be missing.

use rusqlite::types::ValueRef;
use sb_store::model::{
    Call, CallId, Change, Chat, Choices, ConversationId, Digest, EndKind, Entry, Guest, Job, Message,
    Pending, Phase, PostKey, Principal, Record, RequestId, Rights, Rule, Schedule, Seq, SessionId, ToolClass,
    TurnFault, TurnFaultKind, TurnId, Usage,
};
use sb_store::{Intake, Kept, KeptWhy, MOST_WAITING_BRIDGED, PartState, PostState, Sending, Store, Taken};
use sb_testkit::suites::store::Ground;
use sb_testkit::suites::store::samples::{
    NOON, Seeded, address, attachment, batch, bridged, channel, chat_of, commit, conversation, ended, entry,
    inbound, keyed, logged, part, post, posted, profile, question, said, say, turn_began,
};

use crate::Home;

const SESSION: SessionId = SessionId(0xa1);
const TURN: TurnId = TurnId(0xb1);

fn call() -> Call {
    let input = serde_json::json!({ "path": "a.txt", "content": "x" });
    Call { id: CallId("c1".into()), tool: "write_file".into(), input, class: ToolClass::Write }
}

/// One record of every kind, as entries from 1 on.
fn records(message: &Message) -> Vec<Entry> {
    let (request, by) = (RequestId(0xc1), Principal("http:token 3046d92e".into()));
    let rule = Rule::Pattern { tool: "write_file".into(), words: "notes".into(), exact: false };
    let fault = TurnFault::new(TurnFaultKind::RateLimited, "too many requests");
    let usage = Usage { calls: 1, input: 9, output: 2, ..Usage::default() };
    let file = attachment(Digest::of(b"hello"));
    let kinds = vec![
        said(message),
        Record::Answered {
            text: "words".into(),
            calls: vec![call()],
            model: "anthropic:claude".into(),
            kept: Some(serde_json::json!({ "anthropic": [] })),
            usage,
            cut: false,
        },
        Record::Asked { request, call: call().id, reason: "a write at autonomy L3".into() },
        Record::Decided {
            request,
            call: call(),
            by: by.clone(),
            allowed: true,
            why: String::new(),
            always: Some(rule),
        },
        Record::Acting { call: call().id },
        Record::Result {
            call: call().id,
            ok: true,
            text: "done".into(),
            files: vec![file.clone()],
            outside: true,
        },
        Record::Shared { file },
        Record::Undone { turn: TURN },
        Record::Summary { text: "short".into(), covers: Seq(1) },
        Record::Restarted { starts: 2 },
        Record::Ended { how: EndKind::Failed, fault: Some(fault), declined: false },
        Record::Noted { text: "the model is scripted".into(), by, told: true },
    ];
    kinds.into_iter().zip(1..).map(|(record, seq)| entry(seq, Some(TURN), record)).collect()
}

async fn fill(store: &Store, of: &ConversationId) {
    let mut first = keyed(inbound(of, "hello"), "http:key-1");
    first.files = vec![attachment(Digest::of(b"hello"))];
    store.take_in(vec![first], NOON).await.unwrap();
    let message = store.load(of).await.unwrap().unwrap().0.waiting.remove(0);
    let two = say(store, of, "/status").await;
    let choices = Choices { model: Some("scripted".into()), system: Some("be kind".into()), tools: None };
    let same = Rule::Same { tool: "shell".into(), input: serde_json::json!({ "command": "ls" }) };
    let pending = Pending {
        request: RequestId(0xc1),
        call: call(),
        reason: "a write".into(),
        carries: false,
        ways: Default::default(),
        since: NOON,
    };
    let mut changes = vec![
        Change::SessionBegan { id: SESSION, at: NOON },
        Change::Chose(choices),
        Change::Titled { session: SESSION, title: "Hello".into() },
        Change::Allowed { session: SESSION, rules: vec![same] },
        Change::Used { session: SESSION, usage: Usage { turns: 1, ..Usage::default() } },
        turn_began(TURN, SESSION, vec![message.id], 1),
        Change::Asks { turn: TURN, pending: Some(pending) },
        Change::Granted { turn: TURN, granted: vec![(call().digest(), Principal("ada".into()))] },
        Change::Entered { turn: TURN, phase: Phase::Parked, worked_ms: 12 },
        Change::WakeAt(Some(NOON)),
        ended(two.id, "fine"),
    ];
    changes.extend(records(&message).into_iter().map(|entry| logged(SESSION, entry)));
    commit(store, of, changes).await;
    store.put_profile(&profile("assistant")).await.unwrap();
    store.add_token(&"assistant".into(), Rights::ALL, NOON, &Seeded::new(1)).await.unwrap();
    fill_messengers(store).await;
}

/// What messengers add: one row of each sort.
async fn fill_jobs(store: &Store) {
    let schedules = [
        Schedule::Cron { expression: "0 9 * * 1-5".into(), zone: "Europe/Berlin".into() },
        Schedule::Every { seconds: 3_600 },
        Schedule::Once { at: NOON.plus_ms(60_000), zone: "UTC".into() },
    ];
    for (n, schedule) in schedules.into_iter().enumerate() {
        let job = Job {
            name: format!("job-{n}"),
            profile: profile("assistant").name,
            conversation: conversation("jobs"),
            to: Some(address("tg", "1")),
            prompt: "Good morning".into(),
            schedule,
            manner: inbound(&conversation("jobs"), "").manner,
            made: NOON,
            next: Some(NOON),
        };
        store.add_job(job.clone()).await.unwrap();
        if n == 0 {
            let run = inbound(&job.conversation, &job.prompt);
            store.run_job(&job.name, NOON, Some(NOON.plus_ms(1)), run, NOON).await.unwrap().unwrap();
        }
    }
}

async fn fill_messengers(store: &Store) {
    let (tg, dice) = (channel("tg"), Seeded::new(2));
    store.put_channel(&tg, vec![]).await.unwrap();
    store.put_channel_state(&tg.slug, "{}").await.unwrap();
    let events = (0..=MOST_WAITING_BRIDGED).map(|n| bridged("tg", "7", &n.to_string(), "x")).collect();
    let unknown = Kept {
        why: KeptWhy::Unknown,
        key: Some("tg:poll-1".into()),
        conversation: None,
        detail: "poll".into(),
        raw: "{\"poll\":1}".into(),
    };
    let intake = Intake { kept: vec![unknown], ..batch("tg", "201", events) };
    let taken = store.take_batch(intake, vec![], NOON).await.unwrap();
    let of = chat_of("tg", "7");
    let Some(Taken::New(first)) = taken.first() else { panic!("not new: {taken:?}") };
    let text = "other words".into();
    let mut asks = question("request:00000000000000c1", address("tg", "7"), "May I?");
    asks.to.chat.thread = Some("t".into());
    asks.files = vec![attachment(Digest::of(b"hello"))];
    asks.failed = true;
    let changes = vec![
        Change::Edited { message: first.id, text },
        Change::AskClosed(true),
        posted(asks),
        posted(post("message:3", address("tg", "7"), "hi")),
    ];
    commit(store, &of, changes).await;
    let key = PostKey("message:3".into());
    let shown = Sending::Part { key: key.clone(), part: part(0, "hi", PartState::Perhaps) };
    let (state, why) = (PostState::Perhaps, Some("no answer came".into()));
    let stands = Sending::Post { key, state, due: NOON, tries: 2, why, revised: 0 };
    store.note_sending(vec![shown, stands]).await.unwrap();
    store.chat_gone(&tg.slug, "9", Some("blocked")).await.unwrap();
    store.chat_moved(&tg.slug, "8", "-100").await.unwrap();
    let guest = Guest { channel: tg.slug.clone(), id: "42".into(), name: "Ada".into(), since: NOON };
    store.let_in(&guest).await.unwrap();
    store.offer_pairing(&tg.slug, "43", "Bob", &Chat::direct("43"), NOON, &dice).await.unwrap();
    store.approve_pairing("WRONG234", None, NOON).await.unwrap();
}

const TABLES: [&str; 22] = [
    "conversations",
    "sessions",
    "records",
    "messages",
    "keys",
    "turns",
    "profiles",
    "tokens",
    "secrets",
    "ledger",
    "channels",
    "channel_states",
    "cursors",
    "inbox",
    "posts",
    "parts",
    "chats",
    "guests",
    "pairings",
    "guesses",
    "jobs",
    "job_runs",
];

/// All rows of all tables, a line each.
fn rows(home: &Home) -> String {
    let db = rusqlite::Connection::open(home.path().join("switchboard.db")).unwrap();
    let mut text = String::new();
    for table in TABLES {
        text += &format!("# {table}\n");
        // Of the many that fill a conversation the first is enough.
        let some = match table {
            "messages" => "where id <= 3",
            "keys" => "where message <= 3",
            _ => "",
        };
        let mut found = db.prepare(&format!("select * from {table} {some}")).unwrap();
        let columns: Vec<String> = found.column_names().map(str::to_owned).collect();
        let mut rows = found.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells = columns.iter().map(|column| match row.get_ref(column.as_str()).unwrap() {
                ValueRef::Text(text) => format!("{column}={}", String::from_utf8_lossy(text)),
                ValueRef::Integer(n) => format!("{column}={n}"),
                ValueRef::Null => format!("{column}=-"),
                other => panic!("{column} of {table} is {:?}", other.data_type()),
            });
            text += &cells.collect::<Vec<_>>().join(" ");
            text.push('\n');
        }
    }
    text
}

#[tokio::test]
async fn what_is_stored_keeps_its_form() {
    let home = Home::new();
    let store = home.open().await;
    fill(&store, &conversation("a")).await;
    fill_jobs(&store).await;
    store.close().await.unwrap();
    let (now, then) = (rows(&home), include_str!("stored.txt"));
    assert!(now == then, "it was:\n{then}\nit is:\n{now}");
}
