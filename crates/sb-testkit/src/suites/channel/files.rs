//! Files, both ways.

use bytes::Bytes;
use sb_channel::standin::SeenFile;
use sb_engine::model::Busy;

use super::Subject;
use crate::messenger::Messenger;

/// A picture of one pixel.
const PIXEL: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0,
    0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63,
    0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x56, 0xc7, 0x2f, 0x0d, 0, 0, 0, 0, b'I', b'E', b'N',
    b'D', 0xae, 0x42, 0x60, 0x82,
];

fn picture(name: &str) -> SeenFile {
    SeenFile { name: name.into(), media_type: "image/png".into(), bytes: Bytes::from_static(PIXEL) }
}

/// Holds: B-46, B-47.
pub fn a_file_comes_in_and_goes_out_unchanged(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        let text = SeenFile {
            name: "../../notes.txt".into(),
            media_type: "text/plain".into(),
            bytes: Bytes::from_static(b"three lines\nof notes\n"),
        };
        assert!(life.standin.send_files(&life.chat, &life.ann, "Look at this.", &[text]));
        life.until("an answer", |seen| seen.ours().count() >= 1).await;
        life.rest().await;
        let answer = life.seen();
        assert!(answer.count("notes.txt") >= 1, "the agent is told where it is: {:#?}", answer.texts());
        assert!(answer.count("21 bytes") >= 1, "and all of it is there: {:#?}", answer.texts());
        assert!(!answer.texts().iter().any(|t| t.contains("inbox/..")), "and it leads nowhere else");
        life.say("!tool share_file {\"name\": \"report.txt\", \"text\": \"the report\"}\n!say Here it is.");
        let seen = life.until("a file", |seen| seen.ours().any(|m| !m.files.is_empty())).await;
        let words = seen.texts().iter().position(|t| t.contains("Here it is."));
        let file = seen.ours().position(|m| !m.files.is_empty());
        assert!(words < file, "it goes after the reply: {:#?}", seen.texts());
        let shared: Vec<_> = seen.ours().flat_map(|m| &m.files).collect();
        assert_eq!(shared.len(), 1);
        assert!(!shared[0].bytes.is_empty(), "it holds something");
    });
}

/// Holds: F-11.
pub fn an_album_is_one_turn(subject: &Subject) {
    // Messages that are no album would each be a turn.
    let mut messenger = Messenger::with(subject, |options| options.busy = Busy::Queue);
    messenger.live(async |life| {
        let files: Vec<_> = (1..=5).map(|n| picture(&format!("{n}.png"))).collect();
        assert!(life.standin.send_files(&life.chat, &life.ann, "Five of them.", &files));
        life.pass(10_000).await;
        life.rest().await;
        let sessions = life.engine.sessions(None, 10).await.expect("a list");
        assert_eq!(sessions.iter().map(|s| s.usage.turns).sum::<u64>(), 1, "{:#?}", life.seen().texts());
    });
}
