//! The desk routes about who is let in, and about outbox and inbox.

use reqwest::Method;
use sb_channels::telegram::standin::TelegramStandIn;
use sb_doors::model::{Chat, Person};
use serde_json::{Value, json};

use crate::local::Home;
use crate::messenger::{app, channel, standin};

/// A home with one channel, and somebody who writes to it.
struct Place {
    home: Home,
    platform: TelegramStandIn,
    ann: Person,
    chat: Chat,
}

impl Place {
    async fn open() -> Self {
        let platform = standin();
        let home = Home::over(app(&platform, None).await).await;
        let put = channel("tg", json!({"debounce_ms": 0}));
        home.send(Method::PUT, "/desk/channels/tg", put).await.succeeded();
        let ann = platform.person("Ann");
        let chat = platform.direct(&ann);
        Self { home, platform, ann, chat }
    }

    fn id(&self) -> &str {
        self.ann.id.as_deref().unwrap()
    }

    /// Says something, and asks the desk until it is as it should be.
    async fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        sb_testkit::until(path, async || Some(self.home.get(path).await.succeeded().json).filter(&wanted))
            .await
    }
}

/// Holds: B-41.
#[tokio::test]
async fn an_approved_code_lets_in_whoever_was_shown_it_and_a_wrong_one_nobody() {
    let place = Place::open().await;
    place.platform.say(&place.chat, &place.ann, "hello");
    let asked = place.until("/desk/pairings", |all| all[0].is_object()).await;
    assert_eq!((&asked[0]["id"], &asked[0]["name"]), (&json!(place.id()), &json!("Ann")));
    let wrong = place.home.send(Method::POST, "/desk/pairings/NOTTHAT1", json!({})).await;
    wrong.is_error(404, "unknown");
    assert_eq!(place.home.get("/desk/people").await.succeeded().json, json!([]));
    let code = asked[0]["code"].as_str().unwrap();
    let path = format!("/desk/pairings/{code}");
    place.home.send(Method::POST, &path, json!({"channel": "nobody"})).await.is_error(404, "not_found");
    let let_in = place.home.send(Method::POST, &path, json!({"channel": "tg"})).await.succeeded().json;
    assert_eq!((&let_in["channel"], &let_in["id"]), (&json!("tg"), &json!(place.id())));
    let people = place.home.get("/desk/people?channel=tg").await.succeeded().json;
    assert_eq!(people[0], let_in);
    place.platform.say(&place.chat, &place.ann, "hello again");
    let sent = place.until("/desk/outbox?all=true", |all| all.to_string().contains("hello again")).await;
    assert_eq!((&sent[0]["channel"], &sent[0]["chat"]), (&json!("tg"), &json!(place.id())));
    let path = format!("/desk/people/tg/{}", place.id());
    assert_eq!(place.home.request(Method::DELETE, &path).send().await.unwrap().status(), 204);
    place.home.send(Method::DELETE, &path, json!({})).await.is_error(404, "unknown");
}

#[tokio::test]
async fn a_code_is_taken_back() {
    let place = Place::open().await;
    place.platform.say(&place.chat, &place.ann, "hello");
    let asked = place.until("/desk/pairings", |all| all[0].is_object()).await;
    let path = format!("/desk/pairings/{}", asked[0]["code"].as_str().unwrap());
    assert_eq!(place.home.request(Method::DELETE, &path).send().await.unwrap().status(), 204);
    place.home.send(Method::DELETE, &path, json!({})).await.is_error(404, "unknown");
    place.home.send(Method::POST, &path, json!({})).await.is_error(404, "unknown");
}

#[tokio::test]
async fn what_is_not_in_outbox_or_inbox_is_told_as_not_there() {
    let place = Place::open().await;
    for (method, path) in [(Method::POST, "/desk/outbox/7"), (Method::DELETE, "/desk/outbox/7")] {
        place.home.send(method, path, json!({})).await.is_error(404, "unknown");
    }
    place.home.send(Method::POST, "/desk/inbox/7", json!({})).await.is_error(404, "not_found");
    place.home.send(Method::POST, "/desk/inbox/x", json!({})).await.is_error(404, "not_found");
    assert_eq!(place.home.get("/desk/inbox").await.succeeded().json, json!([]));
    place.home.get("/desk/outbox?odd=1").await.is_error(400, "bad_field");
}
