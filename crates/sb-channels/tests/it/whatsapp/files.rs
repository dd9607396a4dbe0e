//! Files, both ways; and that the token is shown to nobody else.

use bytes::Bytes;
use sb_channel::model::{Chat, FaultKind, FileRef};
use sb_channel::standin::SeenFile;
use sb_channel::{Event, Piece, Verdict};
use serde_json::json;

use super::{Recorder, World, by, world};
use crate::telegram::{attempt, file, words};

fn sent(name: &str, media_type: &str, bytes: &'static [u8]) -> SeenFile {
    SeenFile { name: name.into(), media_type: media_type.into(), bytes: Bytes::from_static(bytes) }
}

/// The file of a message that Ann sends.
async fn received(world: &World, seen: SeenFile) -> (String, FileRef) {
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let (calls, mut called) = tokio::sync::mpsc::unbounded_channel();
    let outside = super::rules::outside(calls);
    let calling = tokio::spawn(world.platform.calling(outside).expect("it calls"));
    world.number.register(Some("https://here.invalid/hooks/wa")).await.expect("registered");
    assert!(world.platform.send_files(&chat, &ann, "see", &[seen]));
    let call = loop {
        let call = called.recv().await.expect("a call");
        if call.method == "POST" {
            break call;
        }
    };
    calling.abort();
    let Verdict::Take(batch, _) = super::accept(&world.number, &call) else { panic!("refused") };
    let [Event::Said(said)] = &batch.events[..] else { panic!("{batch:?}") };
    (said.text.clone(), said.files[0].clone())
}

/// Holds: M-whatsapp-01.
#[tokio::test(start_paused = true)]
async fn pictures_videos_documents_and_notes_come_in_with_their_captions() {
    for (media_type, name, is_note) in [
        ("image/jpeg", "image-", false),
        ("image/webp", "image-", false),
        ("video/mp4", "video-", false),
        ("application/pdf", "plan.pdf", false),
        ("audio/ogg", "audio-", true),
    ] {
        let world = world();
        let (text, file) = received(&world, sent("plan.pdf", media_type, b"some bytes")).await;
        assert_eq!((text.as_str(), file.media_type.as_str()), ("see", media_type));
        assert!(file.name.starts_with(name), "{file:?}");
        assert_eq!(file.voice_s.is_some(), is_note);
        let mut poured = Vec::new();
        let many = world.number.fetch(&file, &mut poured, 1_000).await.expect("fetched");
        assert_eq!((many, &poured[..]), (10, &b"some bytes"[..]));
        let fault = world.number.fetch(&file, &mut Vec::new(), 9).await.expect_err("more than is wanted");
        assert_eq!(fault.kind, FaultKind::Refused);
        world.clock.pass_ms(20 * 24 * 60 * 60 * 1000);
        assert_eq!(world.number.fetch(&file, &mut Vec::new(), 1_000).await.ok(), Some(10), "looked up anew");
    }
}

/// Holds: M-whatsapp-01.
#[tokio::test]
async fn a_jpeg_or_png_goes_as_a_picture_and_anything_else_as_a_document() {
    let large = vec![0; 5 * 1024 * 1024 + 1];
    for (media_type, bytes, is_picture) in [
        ("image/png", &b"png"[..], true),
        ("image/jpeg", b"jpeg", true),
        ("image/gif", b"gif", false),
        ("image/webp", b"webp", false),
        ("image/png", &large, false),
        ("text/plain", b"words", false),
        ("text/csv", b"a,b", false),
        ("audio/ogg", b"OggS", false),
    ] {
        let world = world();
        let ann = world.platform.person("Ann");
        let chat = world.platform.direct(&ann);
        world.platform.say(&chat, &ann, "Hello");
        let (out, caption) = (file("what.x", media_type, bytes), words("see"));
        let piece = Piece::Files { files: &[out], caption: Some(&caption), answers: None };
        world.number.send(&chat, piece, &attempt()).await.expect("sent");
        let seen = world.platform.seen(&chat);
        let message = seen.ours().next().expect("a message");
        assert_eq!((message.text.as_str(), &message.files[0].bytes[..]), ("see", bytes));
        // Of texts, WhatsApp knows plain ones only.
        let plain = media_type.replace("text/csv", "text/plain");
        assert_eq!(message.files[0].media_type, plain);
        let recorder = Recorder::answering(200, &json!({"id": "77", "messages": [{"id": "wamid.X"}]}));
        let number = by(recorder.http(), &world.platform);
        let out = file("what.x", media_type, bytes);
        let piece = Piece::Files { files: &[out], caption: Some(&caption), answers: None };
        number.send(&chat, piece, &attempt()).await.expect("sent");
        let asked = recorder.asked();
        assert!(asked[0].path.ends_with("/v26.0/900001/media") && asked.len() == 2, "{asked:?}");
        let body = &asked[1].body;
        match is_picture {
            true => assert_eq!(body["image"], json!({"id": "77", "caption": "see"})),
            false => {
                assert_eq!(body["document"], json!({"id": "77", "filename": "what.x", "caption": "see"}))
            }
        }
    }
}

#[tokio::test]
async fn an_upload_whose_answer_is_lost_put_nothing_into_the_chat() {
    let number = by(Recorder::answering(504, &json!("")).http(), &world().platform);
    let out = file("what.x", "text/plain", b"words");
    let piece = Piece::Files { files: &[out], caption: None, answers: None };
    let fault = number.send(&Chat::direct("US.1"), piece, &attempt()).await.expect_err("no answer");
    assert_eq!((fault.kind, fault.maybe_done), (FaultKind::Passing { wait_ms: None }, false));
}

#[tokio::test]
async fn the_token_is_shown_to_metas_servers_only() {
    for url in [
        "https://evil.example/x",
        "http://lookaside.fbsbx.com/x",
        "https://lookaside.fbsbx.com.evil.example/x",
        "https://lookaside.fbsbx.com@evil.example/x",
        "https://lookaside.fbsbx.com:444/x",
        "http://platform.invalid.evil.example/x",
        "http://platform.invalid@evil.example/x",
        "",
    ] {
        let recorder = Recorder::answering(200, &json!({"url": url, "file_size": 2}));
        let number = by(recorder.http(), &world().platform);
        let fault = number.fetch(&reference("1001"), &mut Vec::new(), 1_000).await.expect_err("elsewhere");
        assert_eq!((fault.kind, recorder.asked().len()), (FaultKind::Refused, 1), "{url}");
    }
    let recorder = Recorder::answering(200, &json!({"url": "https://lookaside.fbsbx.com/x?mid=1"}));
    let number = by(recorder.http(), &world().platform);
    number.fetch(&reference("1001"), &mut Vec::new(), 1_000).await.expect("fetched");
    let asked = recorder.asked();
    assert!(asked[0].path.ends_with("/v26.0/1001?phone_number_id=900001"), "{asked:?}");
    assert_eq!(
        (asked[1].path.as_str(), asked[1].authorization.as_str()),
        ("https://lookaside.fbsbx.com/x?mid=1", "Bearer stand-in_token")
    );
    for id in ["", "../me", "1?x", "a/b", "%2e"] {
        let recorder = Recorder::answering(200, &json!({}));
        let number = by(recorder.http(), &world().platform);
        assert!(number.fetch(&reference(id), &mut Vec::new(), 1_000).await.is_err(), "{id}");
        assert!(recorder.asked().is_empty(), "{id}");
    }
}

fn reference(id: &str) -> FileRef {
    FileRef {
        reference: id.to_owned(),
        name: String::new(),
        media_type: String::new(),
        size: None,
        voice_s: None,
    }
}

#[tokio::test(start_paused = true)]
async fn bytes_that_are_not_what_was_sent_are_no_file() {
    let world = world();
    let (_, whole) = received(&world, sent("a.txt", "text/plain", b"some bytes")).await;
    let (id, digest) = whole.reference.split_once(' ').expect("a digest");
    let other =
        FileRef { reference: format!("{id} {}", digest.replace(&digest[..3], "AAA")), ..whole.clone() };
    let fault = world.number.fetch(&other, &mut Vec::new(), 1_000).await.expect_err("something else");
    assert_eq!(fault.kind, FaultKind::Garbled);
    let unsaid = FileRef { reference: id.to_owned(), ..whole.clone() };
    assert_eq!(world.number.fetch(&unsaid, &mut Vec::new(), 1_000).await.ok(), Some(10));
}
