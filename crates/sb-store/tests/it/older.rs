//! Homes that earlier programs left: each is brought up to date when it is opened, and loses nothing.

use sb_store::model::{Change, Secret};
use sb_testkit::suites::store::Ground;
use sb_testkit::suites::store::samples::{address, commit, conversation, post, posted, say};

use crate::Home;

/// The tables as they were after the first step, in SQLite's words.
fn first_tables() -> String {
    include_str!("../../migrations/0001_first.sql")
        .replace("{number}", "integer not null primary key autoincrement")
        .replace("{keyed}", "without rowid")
}

#[tokio::test]
async fn in_a_home_of_before_whoever_might_decide_may_still_instruct() {
    let home = Home::new();
    let hash = |token: &str| sb_store::model::Digest::of(token.as_bytes()).to_string();
    let db = rusqlite::Connection::open(home.path().join("switchboard.db")).unwrap();
    db.execute_batch(&first_tables()).unwrap();
    db.execute("insert into profiles values ('a', '{}')", []).unwrap();
    for (id, token, decide) in [("00000001", "sb_talks", 0), ("00000002", "sb_decides", 1)] {
        db.execute("insert into tokens values ($1, 'a', $2, $3, 1)", (id, hash(token), decide)).unwrap();
    }
    db.pragma_update(None, "user_version", 1).unwrap();
    drop(db);
    let store = home.open().await;
    for (token, may) in [("sb_talks", false), ("sb_decides", true)] {
        let found = store.find_token(&Secret::new(token)).await.unwrap().unwrap();
        assert_eq!((found.decide, found.instruct), (may, may), "{token}");
    }
}

#[tokio::test]
async fn a_home_of_before_messengers_goes_on() {
    let home = Home::new();
    let db = rusqlite::Connection::open(home.path().join("switchboard.db")).unwrap();
    db.execute_batch(&first_tables()).unwrap();
    db.execute_batch(include_str!("../../migrations/0002_instruct.sql")).unwrap();
    db.execute("insert into conversations (id, profile) values ('http:assistant:a', 'assistant')", [])
        .unwrap();
    db.pragma_update(None, "user_version", 2).unwrap();
    drop(db);
    let store = home.open().await;
    let of = conversation("a");
    assert!(!store.load(&of).await.unwrap().unwrap().0.ask_closed);
    say(&store, &of, "hello").await;
    commit(&store, &of, vec![Change::AskClosed(true), posted(post("message:1", address("tg", "7"), "hi"))])
        .await;
    assert!(store.load(&of).await.unwrap().unwrap().0.ask_closed);
    assert_eq!(store.count_unsent().await.unwrap(), 1);
}
