//! The form of what is stored. A difference here means that homes out there hold something else:
//! it needs a migration, or fields that may be missing.

use rusqlite::types::ValueRef;
use sb_store::Store;
use sb_store::model::{
    Call, CallId, Change, Choices, ConversationId, Digest, EndKind, Entry, Message, Pending, Phase,
    Principal, Record, RequestId, Rights, Rule, Seq, SessionId, ToolClass, TurnFault, TurnFaultKind, TurnId,
    Usage,
};
use sb_testkit::suites::store::Ground;
use sb_testkit::suites::store::samples::{
    NOON, Seeded, attachment, commit, conversation, ended, entry, inbound, keyed, logged, profile, said, say,
    turn_began,
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
        Record::Ended { how: EndKind::Failed, fault: Some(fault) },
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
    let pending = Pending { request: RequestId(0xc1), call: call(), reason: "a write".into(), since: NOON };
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
}

/// All rows of all tables, a line each.
fn rows(home: &Home) -> String {
    let db = rusqlite::Connection::open(home.path().join("switchboard.db")).unwrap();
    let mut text = String::new();
    for table in
        ["conversations", "sessions", "records", "messages", "keys", "turns", "profiles", "tokens", "secrets"]
    {
        text += &format!("# {table}\n");
        let mut found = db.prepare(&format!("select * from {table}")).unwrap();
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
    store.close().await.unwrap();
    let (now, then) = (rows(&home), include_str!("stored.txt"));
    assert!(now == then, "it was:\n{then}\nit is:\n{now}");
}
