//! Whatever a log holds, both providers take the request made of it.

use proptest::prelude::*;
use sb_harness::model::{Attachment, CallId, Choices, Digest, Level, Profile, Record, Seq, ToolSet};
use sb_testkit::models::{anthropic_takes, openai_takes};

use super::openai::Manner;
use super::{Question, anthropic, openai};
use crate::pictures::{Album, Picture};
use crate::providers::Family;
use crate::tools;
use crate::transcript;
use crate::view::tests::{answered, call, result, said, view};

fn text() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", " ", "\n", "words", "é👋", "> !say x"]).prop_map(str::to_owned)
}

fn id() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "call:3", "ünï"]).prop_map(str::to_owned)
}

fn marks() -> crate::quarantine::Marks {
    crate::quarantine::Marks::new(sb_harness::model::Secret::new("k"), sb_harness::model::SessionId(1))
}

fn picture() -> Attachment {
    Attachment { name: "p.png".into(), media_type: "image/png".into(), size: 9, digest: Digest::of(b"p") }
}

/// Any record, in an order no real log has.
fn record() -> impl Strategy<Value = Record> {
    prop_oneof![
        (text(), any::<bool>(), any::<bool>()).prop_map(|(text, pictured, meanwhile)| {
            let mut record = said(&text);
            if let Record::Said { files, steered, .. } = &mut record {
                files.extend(pictured.then(picture));
                *steered = meanwhile;
            }
            record
        }),
        (text(), prop::collection::btree_set(id(), 0..3)).prop_map(|(text, ids)| {
            let calls: Vec<_> = ids.iter().map(|id| call(id, "read_file")).collect();
            answered(&text, &calls)
        }),
        (id(), text(), any::<bool>()).prop_map(|(id, text, pictured)| {
            let mut record = result(&id, &text);
            if let Record::Result { files, ok, outside, .. } = &mut record {
                *outside = pictured;
                files.extend(pictured.then(picture));
                *ok = !pictured;
            }
            record
        }),
        id().prop_map(|id| Record::Acting { call: CallId(id) }),
        (text(), 0i64..6).prop_map(|(text, covers)| Record::Summary { text, covers: Seq(covers) }),
    ]
}

proptest! {
    #[test]
    fn every_log_makes_a_request_that_is_taken(records in prop::collection::vec((0u64..3, record()), 0..12)) {
        let view = view(&records);
        let picture = Picture { media_type: "image/png".into(), base64: "QUJD".into() };
        let album = Album::from([(Digest::of(b"p"), picture)]);
        let profile = Profile {
            name: "p".into(), models: vec![], base_url: None, instructions: String::new(),
            harness: Default::default(),
            harness_mode: None,
            workspace: Some("/w".into()), tools: ToolSet::All, autonomy: Level::L3, allowed: vec![],
            mcp: vec![], image_model: None, web_hosts: vec![], budgets: Default::default(), deadline_s: 1, agent: None,
        };
        let tools = tools::offered(&profile, &Choices::default());
        for names_files in [true, false] {
            let items = transcript::items(&view, &album, &marks(), names_files);
            let family = Family::default();
            let question =
                Question { id: "m", model: "m", family: &family, system: vec!["Be kind."], tools: &tools, items: &items };
            let asked = anthropic::request(&question);
            prop_assert_eq!(anthropic_takes(&asked), Ok(()), "{:#}", asked);
            let asked = openai::request(&question, Manner { own_host: true, stream_options: true });
            prop_assert_eq!(openai_takes(&asked), Ok(()), "{:#}", asked);
        }
    }
}
