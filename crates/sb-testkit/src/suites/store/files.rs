//! Laws of stored files, and of looking after a home.

use sb_store::StoreErrorKind;
use sb_store::model::Digest;
use tokio::io::AsyncReadExt;

use super::Ground;
use super::samples::{NOON, attachment, conversation, inbound};

pub async fn a_file_is_read_back_by_its_digest(ground: &impl Ground) {
    let store = ground.open().await;
    let piece = vec![7u8; 70_000];
    let mut writer = store.blob_writer().await.unwrap();
    for _ in 0..10 {
        writer.write(&piece).await.unwrap();
    }
    let (digest, size) = writer.finish().await.unwrap();
    assert_eq!((digest, size), (Digest::of(&piece.repeat(10)), 700_000));
    let store = ground.reopen(store).await;
    assert!(store.has_blob(&digest).await.unwrap());
    let mut read = Vec::new();
    store.open_blob(&digest).await.unwrap().read_to_end(&mut read).await.unwrap();
    assert_eq!(Digest::of(&read), digest);
    let again = store.open_blob(&digest).await.unwrap();
    assert_eq!(store.keep_blob_file(again).await.unwrap(), (digest, size), "kept twice, it is one file");
    let empty = store.blob_writer().await.unwrap().finish().await.unwrap();
    assert_eq!(empty, (Digest::of(b""), 0));
    let nothing = store.open_blob(&Digest::of(b"nothing")).await.unwrap_err();
    assert_eq!(nothing.kind, StoreErrorKind::NotFound);
}

pub async fn a_file_that_is_not_finished_leaves_nothing(ground: &impl Ground) {
    let store = ground.open().await;
    let mut writer = store.blob_writer().await.unwrap();
    writer.write(b"half").await.unwrap();
    assert_eq!(store.purge(NOON).await.unwrap().files, 0, "one that is being written is left alone");
    writer.write(b" and half").await.unwrap();
    let (digest, _) = writer.finish().await.unwrap();
    assert_eq!(digest, Digest::of(b"half and half"));
    let mut dropped = store.blob_writer().await.unwrap();
    dropped.write(b"never").await.unwrap();
    drop(dropped);
    assert!(!store.has_blob(&Digest::of(b"never")).await.unwrap());
    assert_eq!(store.purge(NOON).await.unwrap().files, 0, "it was gone already");
}

pub async fn a_file_that_is_named_and_missing_is_found(ground: &impl Ground) {
    let store = ground.open().await;
    let mut writer = store.blob_writer().await.unwrap();
    writer.write(b"there").await.unwrap();
    let (there, _) = writer.finish().await.unwrap();
    let gone = Digest::of(b"gone");
    let mut message = inbound(&conversation("a"), "see \"digest\"");
    message.files = vec![attachment(there)];
    store.take_in(vec![message.clone()], NOON).await.unwrap();
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    message.files = vec![attachment(gone)];
    store.take_in(vec![message], NOON).await.unwrap();
    let found = store.check().await.unwrap();
    assert!(matches!(&found[..], [one] if one.contains(&gone.to_string())), "{found:?}");
}
