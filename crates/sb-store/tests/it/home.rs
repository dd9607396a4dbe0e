//! One home, one process: the lock, the files' rights, and homes that cannot be opened.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use sb_store::model::{MessageId, Secret};
use sb_store::{Durability, Store, StoreErrorKind};
use sb_testkit::suites::store::Ground;
use sb_testkit::suites::store::samples::{conversation, say};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::Home;

const HOME_OF_CHILD: &str = "SB_STORE_TEST_HOME";

#[tokio::test]
async fn a_second_opening_of_a_home_says_who_holds_it() {
    let home = Home::new();
    let store = home.open().await;
    let refused = Store::open(home.path(), Durability::Power).await.map(drop).unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::Locked);
    let text = refused.to_string();
    assert!(text.contains(&format!("process {}", std::process::id())), "{text}");
    assert!(text.contains("another switchboard") && text.contains("SWITCHBOARD_HOME"), "{text}");
    let other = store.clone();
    store.close().await.unwrap();
    home.open().await;
    let closed = other.profiles().await.unwrap_err();
    assert_eq!(closed.kind, StoreErrorKind::Io, "a clone of a closed store answers so");
}

#[tokio::test]
async fn a_home_is_free_once_the_last_clone_is_gone() {
    let home = Home::new();
    for _ in 0..3 {
        let store = home.open().await;
        let clone = store.clone();
        drop(store);
        say(&clone, &conversation("a"), "x").await;
        drop(clone);
        // The last answer may come a moment before the drain that gave it lets go.
        home.open_soon().await;
    }
}

/// Not a test of its own: the child of the next one. It takes in messages, saying each id once it is
/// acknowledged, until it is killed.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_takes_messages_in_until_it_is_killed() {
    #[allow(clippy::disallowed_methods, reason = "how a test speaks to its child")]
    let Ok(home) = std::env::var(HOME_OF_CHILD) else { return };
    let store = Store::open(Path::new(&home), Durability::Process).await.unwrap();
    loop {
        let message = say(&store, &conversation("a"), "hello").await;
        println!("taken {}", message.id.0);
        sb_testkit::suites::store::samples::commit(
            &store,
            &conversation("a"),
            vec![sb_testkit::suites::store::samples::ended(message.id, "done")],
        )
        .await;
    }
}

fn child(home: &Path) -> Child {
    #[allow(clippy::disallowed_methods, reason = "a child that is killed on purpose")]
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "home::a_child_takes_messages_in_until_it_is_killed", "--nocapture"])
        .env(HOME_OF_CHILD, home)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_nine_frees_the_home_and_loses_nothing_that_was_acknowledged() {
    let home = Home::new();
    let mut acknowledged = 0;
    for kill_after in [1, 40, 90] {
        let mut child = child(home.path());
        let out = tokio::process::ChildStdout::from_std(child.stdout.take().unwrap()).unwrap();
        let mut lines = BufReader::new(out).lines();
        let mut seen = 0;
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(id) = line.strip_prefix("taken ").or_else(|| line.split("taken ").nth(1)) {
                acknowledged = id.trim().parse().unwrap();
                seen += 1;
            }
            if seen == kill_after {
                break;
            }
        }
        assert_eq!(seen, kill_after);
        let refused = Store::open(home.path(), Durability::Power).await.map(drop).unwrap_err();
        assert!(refused.to_string().contains(&format!("process {}", child.id())), "{refused}");
        child.kill().unwrap();
        child.wait().unwrap();
        let store = home.open().await;
        for id in 1..=acknowledged {
            assert!(store.message(MessageId(id)).await.unwrap().is_some(), "message {id} was acknowledged");
        }
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_in_a_home_is_its_owners_alone() {
    let home = Home::new();
    let inner = home.path().join("made/for us");
    let store = Store::open(&inner, Durability::Process).await.unwrap();
    store.put_secret("a", &Secret::new("sk-1")).await.unwrap();
    let mut writer = store.blob_writer().await.unwrap();
    writer.write(b"x").await.unwrap();
    let (digest, _) = writer.finish().await.unwrap();
    let blob = format!("blobs/{}/{digest}", &digest.to_string()[..2]);
    let rights = |name: &str| inner.join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(rights(""), 0o700);
    for file in ["switchboard.db", "switchboard.db-wal", "machine.key", "lock", &blob] {
        assert_eq!(rights(file), 0o600, "{file}");
    }
    store.close().await.unwrap();
    assert!(!inner.join("switchboard.db-wal").exists(), "at rest it is one file");
}

#[tokio::test]
async fn a_database_that_was_emptied_is_not_taken_for_a_new_one() {
    let home = Home::new();
    let emptied = || std::fs::write(home.path().join("switchboard.db"), "").unwrap();
    let refused = async || Store::open(home.path(), Durability::Power).await.map(drop).unwrap_err();
    // Where nothing was lost it is a start that was cut off.
    home.open().await.close().await.unwrap();
    emptied();
    let store = home.open().await;
    let mut writer = store.blob_writer().await.unwrap();
    writer.write(b"x").await.unwrap();
    writer.finish().await.unwrap();
    store.close().await.unwrap();
    emptied();
    let error = refused().await;
    assert_eq!(error.kind, StoreErrorKind::Corrupt);
    assert!(error.to_string().contains("is empty although the home has files in blobs"), "{error}");
    std::fs::remove_dir_all(home.path().join("blobs")).unwrap();
    std::fs::write(home.path().join("machine.key"), [7; 32]).unwrap();
    let error = refused().await.to_string();
    assert!(error.contains("is empty although the home has machine.key; go back to a backup"), "{error}");
    assert_eq!(home.path().join("switchboard.db").metadata().unwrap().len(), 0);
}

#[tokio::test]
async fn a_home_of_a_newer_program_is_left_alone() {
    let home = Home::new();
    home.open().await.close().await.unwrap();
    let file = home.path().join("switchboard.db");
    let db = rusqlite::Connection::open(&file).unwrap();
    db.pragma_update(None, "user_version", 9999).unwrap();
    drop(db);
    let before = std::fs::read(&file).unwrap();
    let refused = Store::open(home.path(), Durability::Power).await.map(drop).unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::Newer);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn a_home_that_cannot_be_read_says_so() {
    let home = Home::new();
    home.open().await.close().await.unwrap();
    std::fs::write(home.path().join("switchboard.db"), b"this is no database at all ".repeat(999)).unwrap();
    let refused = Store::open(home.path(), Durability::Power).await.map(drop).unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::Corrupt, "{refused}");
    let nowhere = Store::open(Path::new("/dev/null/home"), Durability::Power).await.map(drop).unwrap_err();
    assert!(nowhere.to_string().starts_with("opening the home /dev/null/home: "), "{nowhere}");
}
