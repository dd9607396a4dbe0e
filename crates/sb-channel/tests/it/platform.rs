//! What the platform that stand-ins share does, as its people and its addresses see it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use sb_channel::model::Timestamp;
use sb_channel::net::ManualClock;
use sb_channel::standin::{Breakage, Imitated, Named, Platform, Post, SeenFile, StandIn, Told};
use serde_json::{Value, json};

/// Whoever is there tells of all that can be told.
fn tell(told: &Told) -> Vec<Value> {
    vec![match told {
        Told::Said { id, text, files, .. } => {
            let names: Vec<&String> = files.iter().map(|(name, _)| name).collect();
            json!({"said": id, "text": text, "files": names})
        }
        Told::Pressed { on, says, .. } => json!({"pressed": says, "on": on}),
        Told::Edited { id, text, .. } => json!({"edited": id, "text": text}),
    }]
}

fn platform(tell: fn(&Told) -> Vec<Value>) -> (Platform, Arc<ManualClock>) {
    let ids = |named, n| match named {
        Named::Person => Some(format!("u{n}")),
        Named::Direct => Some(format!("d{n}")),
        Named::Group => Some(format!("g{n}")),
    };
    let router = |_| Router::new();
    let clock = Arc::new(ManualClock::at(Timestamp(0)));
    let imitated = Imitated { settings: &[("token", "t")], ids, router, tell, refuse: Breakage::plainly };
    (Platform::new(imitated, clock.clone()), clock)
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn what_people_do_waits_until_it_is_forgotten() {
    let (platform, _) = platform(tell);
    let ann = platform.person("Ann");
    let (chat, group) = (platform.direct(&ann), platform.group("The lab").expect("a group"));
    assert_eq!((ann.id.as_deref(), &*chat.id, &*group.id), (Some("u1"), "d1", "g1"));
    let first = platform.say(&chat, &ann, "Hello");
    let file = SeenFile { name: "a.txt".into(), media_type: "text/plain".into(), bytes: "a".into() };
    assert!(platform.send_files(&group, &ann, "Look", std::slice::from_ref(&file)));
    assert!(platform.edit(&first, "Hello!") && !platform.edit("m99", "?"));
    assert!(platform.say_again(&first) && !platform.say_again("m99"));
    let page = platform.poll(None, SECOND).await.expect("a page");
    assert_eq!((page.last, page.updates.len()), (4, 4));
    assert_eq!((&page.updates[0], &page.updates[2]["text"]), (&page.updates[3], &json!("Hello!")));
    assert_eq!(platform.file(page.updates[1]["files"][0].as_str().expect("a name")), Some(file));
    // Asked again, it is still there; asked for what follows, it is forgotten.
    assert_eq!(platform.poll(Some(1), SECOND).await.expect("a page").updates.len(), 3);
    assert!(platform.poll(Some(4), SECOND).await.expect("a page").updates.is_empty());
    assert_eq!(platform.unacknowledged(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_we_put_into_a_chat_is_seen_and_can_be_pressed() {
    let (platform, clock) = platform(tell);
    let ann = platform.person("Ann");
    let chat = platform.direct(&ann);
    assert_eq!(platform.post("d9", Post::text("?")), Err(Breakage::ChatGone));
    platform.typing(&chat.id, 5_000).expect("shown");
    assert!(platform.seen(&chat).typing);
    clock.pass_ms(6_000);
    assert!(!platform.seen(&chat).typing, "it lapses");
    let buttons = vec![("Yes".to_owned(), "1".to_owned())];
    let post = Post { buttons, key: Some("k".into()), ..Post::text("Well?") };
    let id = platform.post(&chat.id, post.clone()).expect("put");
    assert_eq!(platform.post(&chat.id, post).expect("dropped"), id);
    assert!(platform.press(&chat, &ann, "Yes") && !platform.press(&chat, &ann, "No"));
    let page = platform.poll(None, SECOND).await.expect("a page");
    assert_eq!(page.updates, [json!({"pressed": "1", "on": id})]);
    assert_eq!(platform.edit_post(&id, "Well.", Vec::new()), Ok(true));
    assert!(platform.mark(&id, Some("x")) && !platform.press(&chat, &ann, "Yes"));
    let seen = platform.seen(&chat);
    assert_eq!((seen.texts(), seen.messages[0].mark.as_deref()), (vec!["Well."], Some("x")));
}

#[tokio::test(start_paused = true)]
async fn what_is_planned_goes_wrong_and_lost_answers_were_acted_on() {
    let (platform, _) = platform(tell);
    let chat = platform.direct(&platform.person("Ann"));
    platform.break_next(Breakage::Flaky, 1);
    platform.break_next(Breakage::LostAnswer, 1);
    assert_eq!(platform.post(&chat.id, Post::text("one")), Err(Breakage::Flaky));
    assert_eq!(platform.post(&chat.id, Post::text("two")), Err(Breakage::LostAnswer));
    assert_eq!(platform.seen(&chat).texts(), ["two"]);
    platform.break_receiving(Breakage::Revoked, 2);
    assert_eq!(platform.poll(None, SECOND).await, Err(Breakage::Revoked));
    platform.mend();
    let (polled, ()) = tokio::join!(platform.poll(None, SECOND), async { platform.drop_connections() });
    assert_eq!(polled, Err(Breakage::LostAnswer), "a poll that is open breaks off");
}

#[test]
fn what_nobody_can_do_there_is_not_done() {
    let (platform, _) = platform(|_| Vec::new());
    let ann = platform.person("Ann");
    let chat = platform.direct(&ann);
    let said = platform.say(&chat, &ann, "Hello");
    assert!(!platform.say_again(&said) && !platform.edit(&said, "Hello!"));
    assert!(!platform.send_files(&chat, &ann, "Look", &[]));
    assert_eq!(platform.seen(&chat).messages[0].text, "Hello");
}
