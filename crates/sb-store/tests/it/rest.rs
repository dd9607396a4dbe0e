//! What lies on the disk: sealed secrets, backups made under load, the form of what is stored.

use std::path::Path;

use sb_store::model::{Rights, Secret};
use sb_store::{Durability, Store, StoreErrorKind};
use sb_testkit::suites::store::Ground;
use sb_testkit::suites::store::samples::{
    NOON, Seeded, attachment, channel, conversation, inbound, profile, say,
};

use crate::Home;

/// Whether any file of a folder holds these bytes.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => holds(&path, bytes),
            false => std::fs::read(&path).unwrap().windows(bytes.len()).any(|w| w == bytes),
        }
    })
}

#[tokio::test]
async fn no_file_of_a_home_holds_a_secret_or_a_token() {
    let home = Home::new();
    let store = home.open().await;
    store.put_secret("provider/key", &Secret::new("sk-very-secret-1234")).await.unwrap();
    store.put_profile(&profile("a")).await.unwrap();
    let (_, token) = store.add_token(&"a".into(), Rights::ALL, NOON, &Seeded::new(1)).await.unwrap();
    let secrets = [b"sk-very-secret-1234".as_slice(), token.expose().as_bytes()];
    assert!(holds(home.path(), b"provider/key"), "the log is looked into as well");
    assert!(!secrets.iter().any(|s| holds(home.path(), s)));
    store.close().await.unwrap();
    assert!(!secrets.iter().any(|s| holds(home.path(), s)));
}

#[tokio::test]
async fn secrets_of_a_channel_are_sealed() {
    let home = Home::new();
    let store = home.open().await;
    let token = ("token".to_owned(), Secret::new("110201543:very-secret"));
    store.put_channel(&channel("tg"), vec![token]).await.unwrap();
    assert!(holds(home.path(), b"channel/tg/token"));
    assert!(!holds(home.path(), b"very-secret"));
    store.close().await.unwrap();
    assert!(!holds(home.path(), b"very-secret"));
    std::fs::write(home.path().join("machine.key"), [7; 32]).unwrap();
    let store = home.open().await;
    let foreign = store.channel_secrets(&"tg".into()).await.unwrap_err();
    assert_eq!(foreign.kind, StoreErrorKind::Corrupt, "{foreign}");
    assert_eq!(store.channels().await.unwrap(), [channel("tg")], "the rest is readable");
}

#[tokio::test]
async fn a_seal_opens_only_here_and_under_its_own_name() {
    let home = Home::new();
    let store = home.open().await;
    store.put_secret("a", &Secret::new("sk-1")).await.unwrap();
    store.put_secret("b", &Secret::new("sk-2")).await.unwrap();
    store.close().await.unwrap();
    let db = rusqlite::Connection::open(home.path().join("switchboard.db")).unwrap();
    db.execute("update secrets set sealed = (select sealed from secrets where name = 'a')", []).unwrap();
    drop(db);
    let store = home.open().await;
    assert_eq!(store.secret("a").await.unwrap().unwrap().expose(), "sk-1");
    assert_eq!(store.secret("b").await.unwrap_err().kind, StoreErrorKind::Corrupt);
    store.close().await.unwrap();
    std::fs::write(home.path().join("machine.key"), [7; 32]).unwrap();
    let store = home.open().await;
    let foreign = store.secret("a").await.unwrap_err();
    assert_eq!(foreign.kind, StoreErrorKind::Corrupt);
    assert!(foreign.to_string().contains("machine.key"), "{foreign}");
    // One that is gone is asked for, and not made by looking.
    std::fs::remove_file(home.path().join("machine.key")).unwrap();
    let gone = store.secret("a").await.unwrap_err();
    assert!(gone.kind == StoreErrorKind::Corrupt && gone.to_string().contains("is not there"), "{gone}");
    assert!(!home.path().join("machine.key").exists());
    store.put_secret("a", &Secret::new("sk-3")).await.unwrap();
    assert_eq!(store.secret("a").await.unwrap().unwrap().expose(), "sk-3");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_made_while_messages_come_in_is_a_healthy_home() {
    let home = Home::new();
    let store = home.open().await;
    let mut writer = store.blob_writer().await.unwrap();
    writer.write(b"there").await.unwrap();
    let (digest, _) = writer.finish().await.unwrap();
    let mut message = inbound(&conversation("file"), "see");
    message.files = vec![attachment(digest)];
    store.take_in(vec![message], NOON).await.unwrap();
    let before = say(&store, &conversation("a"), "before").await;
    let busy = tokio::spawn({
        let store = store.clone();
        async move {
            for n in 0.. {
                say(&store, &conversation(&format!("c{n}")), &"x".repeat(2000)).await;
            }
        }
    });
    let copies = tempfile::tempdir().unwrap();
    for n in 0..5 {
        let file = copies.path().join(format!("{n}.backup"));
        store.backup(&file).await.unwrap();
        let again = store.backup(&file).await.unwrap_err();
        assert!(again.to_string().contains("exists"), "{again}");
        let restored = copies.path().join(format!("home {n}"));
        std::fs::create_dir(&restored).unwrap();
        std::fs::copy(&file, restored.join("switchboard.db")).unwrap();
        std::fs::rename(copies.path().join(format!("{n}.backup.blobs")), restored.join("blobs")).unwrap();
        let copy = Store::open(&restored, Durability::Power).await.unwrap();
        assert_eq!(copy.check().await.unwrap(), Vec::<String>::new());
        assert!(copy.has_blob(&digest).await.unwrap());
        assert!(copy.message(before.id).await.unwrap().is_some());
        say(&copy, &conversation("a"), "and it goes on").await;
    }
    busy.abort();
    let left: Vec<_> = std::fs::read_dir(copies.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 10, "nothing else is left behind: {left:?}");
}

#[tokio::test]
async fn a_backup_that_cannot_be_made_leaves_nothing() {
    let home = Home::new();
    let store = home.open().await;
    let nowhere = home.path().join("no/such/folder/backup");
    let refused = store.backup(&nowhere).await.unwrap_err();
    assert!(refused.to_string().starts_with("making the backup "), "{refused}");
    assert!(!home.path().join("no").exists());
}
