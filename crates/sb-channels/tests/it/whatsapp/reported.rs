//! WhatsApp under the whole engine: what is told later of a message that was taken, and the day within
//! which we may write.

use std::sync::Arc;

use sb_channel::model::Secret;
use sb_channel::net::{Content, Method, Request};
use sb_channel::standin::Breakage;
use sb_channels::whatsapp::{KIND, standin};
use sb_engine::BridgeState;
use sb_engine::store::{PostState, StoredPost};
use sb_testkit::messenger::{Life, Messenger, SLUG, Subject};
use serde_json::{Value, json};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn whatsapp() -> Messenger {
    let subject = Subject { kind: Arc::new(KIND), standin: |clock| standin::open(clock, None) };
    Messenger::with(&subject, |options| options.busy = sb_channel::model::Busy::Queue)
}

/// The post that says this, once all about it was told.
async fn posted(life: &Life, words: &str) -> StoredPost {
    life.until_said(words).await;
    life.rest().await;
    life.pass(5_000).await;
    find(life, words).await
}

async fn find(life: &Life, words: &str) -> StoredPost {
    let all = life.engine.outbox(None, true).await.expect("an outbox");
    all.into_iter().find(|post| post.parts.iter().any(|part| part.text.contains(words))).expect("a post")
}

/// Has it told that what was sent came to nothing.
async fn fails(life: &Life, post: &StoredPost, code: u32) {
    let part = &post.parts[0];
    let status = json!({
        "id": part.message.as_ref().map(|message| message.0.clone()),
        "status": "failed",
        "biz_opaque_callback_data": format!("{}:{}:{}", post.post.key, part.part, part.revised),
        "errors": [{"code": code, "title": "in Meta's words"}],
    });
    tell(life, status).await;
}

async fn tell(life: &Life, status: Value) {
    let metadata =
        json!({"display_phone_number": "15550001111", "phone_number_id": standin::PHONE_NUMBER_ID});
    let value = json!({"metadata": metadata, "statuses": [status]});
    let body = json!({"entry": [{"changes": [{"field": "messages", "value": value}]}]});
    let content = Content::Json(body.to_string().into());
    let mut request =
        Request::new(Method::Post, Secret::new("http://platform.invalid/standin/tell"), content);
    request.headers.push(("x-standin", "1".to_owned()));
    assert!(life.standin.http().send(request).await.expect("an answer").is_success());
    life.pass(3_000).await;
}

#[test]
fn a_message_that_came_to_nothing_for_now_is_sent_again_and_not_for_ever() {
    whatsapp().live(async |life| {
        life.say("!say Again.");
        for times in 1..=5 {
            let post = posted(life, "Again.").await;
            assert_eq!((post.state, life.seen().count("Again.")), (PostState::Done, times));
            fails(life, &post, 131_000).await;
            life.pass(70_000).await;
            life.rest().await;
        }
        let post = posted(life, "Again.").await;
        fails(life, &post, 131_000).await;
        life.pass(DAY_MS / 2).await;
        assert_eq!((find(life, "Again.").await.state, life.seen().count("Again.")), (PostState::Refused, 6));
    });
}

/// Holds: M-whatsapp-03.
#[test]
fn one_that_will_never_arrive_is_listed_and_its_question_marked() {
    whatsapp().live(async |life| {
        life.say("!say Never.");
        let post = posted(life, "Never.").await;
        fails(life, &post, 131_051).await;
        let post = find(life, "Never.").await;
        assert_eq!(post.state, PostState::Refused);
        assert!(post.why.as_ref().is_some_and(|why| why.contains("131051")), "{post:?}");
        life.until("the mark", |seen| seen.messages[0].mark.as_deref() == Some("⚠️")).await;
        life.pass(DAY_MS / 2).await;
        assert_eq!(life.seen().count("Never."), 1);
        // Told once more, or of a part that is not there, it changes nothing.
        fails(life, &post, 131_000).await;
        assert_eq!(find(life, "Never.").await.state, PostState::Refused);
        let strange = json!({"id": "wamid.X", "status": "failed", "biz_opaque_callback_data": "turn:99:0:0"});
        tell(life, strange).await;
        life.say("!say All is well.");
        life.until_said("All is well.").await;
        let status = life.engine.channel_status(&SLUG.into());
        assert_eq!((status.state, status.trouble), (BridgeState::Running, None));
    });
}

#[test]
fn a_person_who_cannot_be_reached_is_left_alone_until_they_write() {
    whatsapp().live(async |life| {
        life.say("!say Into the void.");
        let post = posted(life, "Into the void.").await;
        fails(life, &post, 131_026).await;
        let asked = life.standin.requests();
        life.pass(DAY_MS / 2).await;
        assert_eq!(life.standin.requests(), asked, "nothing is asked meanwhile");
        life.say("!say Here again.");
        life.until_said("Here again.").await;
        life.rest().await;
        assert_eq!(life.seen().count("Into the void."), 2, "what did not arrive is said once more");
    });
}

/// A lost answer is no repeat here: what became of the message is told by its key.
///
/// Holds: F-35.
#[test]
fn what_was_sent_into_silence_is_known_by_its_status() {
    for lost in 1..=4 {
        whatsapp().live(async |life| {
            life.pass(1_000).await;
            life.standin.break_next(Breakage::LostAnswer, lost);
            life.say("!say Only once.");
            let post = posted(life, "Only once.").await;
            life.pass(300_000).await;
            life.standin.mend();
            assert_eq!((life.seen().count("Only once."), post.state), (1, PostState::Done), "{lost}");
        });
    }
}

const WAITED: &str = "What follows was written earlier";

/// Holds: F-43.
#[test]
fn what_is_finished_after_a_day_is_kept_and_said_when_the_person_writes() {
    whatsapp().live(async |life| {
        life.pass(1_000).await;
        life.standin.break_next(Breakage::Flaky, 1_000_000);
        life.say("!say Too late.");
        life.pass(DAY_MS + 60_000).await;
        life.standin.mend();
        life.pass(DAY_MS).await;
        assert_eq!(life.seen().ours().count(), 0, "{:#?}", life.seen().texts());
        let kept = find(life, "Too late.").await;
        assert_eq!(kept.state, PostState::Open);
        assert!(kept.why.as_ref().is_some_and(|why| why.contains("next message")), "{kept:?}");
        let log = life.engine.channel_status(&SLUG.into());
        let log = format!("{log:?}");
        assert!(log.contains("24 hours") && log.contains("kept until the person writes again"), "{log}");
        life.say("!say The next answer.");
        life.until_said("The next answer.").await;
        life.rest().await;
        let seen = life.seen();
        let at = |words: &str| seen.texts().iter().position(|text| text.contains(words));
        assert!(at(WAITED).is_some() && at(WAITED) < at("Too late."), "{:#?}", seen.texts());
        assert!(at("Too late.") < at("The next answer."), "{:#?}", seen.texts());
        assert_eq!((seen.count(WAITED), seen.count("Too late.")), (1, 1));
    });
}

/// What a person taps counts as their words: what was kept goes out, and the tap is answered.
///
/// Holds: F-43.
#[test]
fn a_tap_opens_the_day_again() {
    whatsapp().live(async |life| {
        life.say("!tool write_file {\"path\": \"a.txt\", \"text\": \"x\"}\n!say Written.");
        life.until_said("May I run write_file").await;
        life.pass(1_000).await;
        life.say("/whoami");
        life.until_said("US.7000").await;
        life.pass(5_000).await;
        let post = find(life, "US.7000").await;
        fails(life, &post, 131_047).await;
        life.pass(60_000).await;
        assert_eq!(life.seen().count(WAITED), 0, "it is kept");
        assert!(life.standin.press(&life.chat, &life.ann, "Allow once"));
        life.until_said("Written.").await;
        life.rest().await;
        assert_eq!((life.seen().count(WAITED), life.seen().count("US.7000")), (1, 2));
    });
}

#[test]
fn one_that_was_taken_too_late_is_kept_too() {
    whatsapp().live(async |life| {
        life.say("!say Too late.");
        let post = posted(life, "Too late.").await;
        fails(life, &post, 131_047).await;
        assert_eq!(find(life, "Too late.").await.state, PostState::Open);
        life.say("!say The next answer.");
        life.until_said("The next answer.").await;
        life.rest().await;
        assert_eq!((life.seen().count(WAITED), life.seen().count("Too late.")), (1, 2));
    });
}
