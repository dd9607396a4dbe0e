//! The desk routes about channels.

use reqwest::Method;
use sb_channels::telegram::standin::{SECRET, TOKEN};
use serde_json::{Value, json};

use crate::local::Home;
use crate::messenger::{app, channel, standin};

const PATH: &str = "/desk/channels/tg";

#[tokio::test]
async fn a_channel_starts_when_it_is_added_and_never_tells_its_secrets() {
    let platform = standin();
    let home = Home::over(app(&platform, None).await).await;
    let added = home.send(Method::PUT, PATH, channel("tg", json!({}))).await.succeeded().json;
    assert_eq!((&added["status"]["state"], &added["runs_here"]), (&json!("running"), &json!(true)));
    assert!(added["status"]["account"]["name"].as_str().unwrap().starts_with('@'), "{added}");
    assert_eq!(added["secrets"], json!(["secret_token", "token"]));
    // Nobody is named, so both of it is said.
    assert_eq!(added["warnings"].as_array().unwrap().len(), 2, "{added}");
    for path in ["/desk/channels", PATH] {
        let shown = home.get(path).await.succeeded().json.to_string();
        assert!(!shown.contains(TOKEN) && !shown.contains(SECRET), "{shown}");
    }
    home.send(Method::PUT, PATH, channel("tg", json!({}))).await.is_error(400, "bad_request");
    home.send(Method::PUT, PATH, channel("other", json!({}))).await.is_error(400, "bad_field");
}

#[tokio::test]
async fn a_channel_is_changed_switched_and_removed() {
    let platform = standin();
    let home = Home::over(app(&platform, None).await).await;
    home.send(Method::PUT, PATH, channel("tg", json!({"approvers": ["42"]}))).await.succeeded();
    let mut change = channel("tg", json!({"approvers": ["42"], "busy": "queue"}));
    (change["secrets"], change["new"]) = (json!({"secret_token": ""}), json!(false));
    let changed = home.send(Method::PUT, PATH, change).await.succeeded().json;
    assert_eq!((&changed["options"]["busy"], &changed["secrets"]), (&json!("queue"), &json!(["token"])));
    assert_eq!((&changed["status"]["state"], &changed["warnings"]), (&json!("running"), &json!([])));
    let enabled = format!("{PATH}/enabled");
    let off = home.send(Method::POST, &enabled, json!({"enabled": false})).await.succeeded().json;
    assert_eq!((&off["enabled"], &off["status"]["state"]), (&json!(false), &json!("off")));
    let on = home.send(Method::POST, &enabled, json!({"enabled": true})).await.succeeded().json;
    assert_eq!((&on["enabled"], &on["status"]["state"]), (&json!(true), &json!("running")));
    assert_eq!(home.request(Method::DELETE, PATH).send().await.unwrap().status(), 204);
    home.get(PATH).await.is_error(404, "not_found");
    home.send(Method::DELETE, PATH, json!({})).await.is_error(404, "not_found");
    home.send(Method::POST, &enabled, json!({"enabled": true})).await.is_error(404, "not_found");
}

#[tokio::test]
async fn a_channel_that_cannot_be_is_refused_with_what_to_do() {
    let platform = standin();
    let home = Home::over(app(&platform, None).await).await;
    let refused = async |change: fn(&mut Value)| {
        let mut put = channel("tg", json!({}));
        change(&mut put);
        let reply = home.send(Method::PUT, PATH, put).await;
        assert!((400..500).contains(&reply.status), "{reply:?}");
        reply.json["error"].as_str().unwrap().to_owned()
    };
    let said = refused(|put| put["secrets"] = json!({})).await;
    assert!(said.contains("SWITCHBOARD_TELEGRAM_TOKEN"), "{said}");
    let said = refused(|put| put["channel"]["options"]["allow"] = json!(["@ann"])).await;
    assert!(said.contains("--allow") && said.contains("@ann"), "{said}");
    let said = refused(|put| put["channel"]["settings"]["tokn"] = json!("x")).await;
    assert!(said.contains("tokn") && said.contains("secret_token"), "{said}");
    let said = refused(|put| put["channel"]["settings"]["token"] = json!("1:secret")).await;
    assert!(said.contains("secrets") && !said.contains("1:secret"), "{said}");
    refused(|put| put["channel"]["profile"] = json!("nobody")).await;
    refused(|put| put["channel"]["kind"] = json!("pigeon")).await;
    assert_eq!(home.get("/desk/channels").await.succeeded().json, json!([]));
    // One that can be, and does not start: it is kept, and says why.
    let mut put = channel("tg", json!({}));
    put["secrets"]["token"] = json!("1:wrong");
    let failed = home.send(Method::PUT, PATH, put).await.succeeded().json;
    assert_eq!(failed["status"]["state"], "failed");
    assert!(failed["status"]["why"].as_str().unwrap().contains("token"), "{failed}");
}

/// Holds: T-01, T-02, T-04, T-06, T-22.
#[tokio::test]
async fn what_is_trusted_is_told_of_what_is_switched_on() {
    let platform = standin();
    let home = Home::over(app(&platform, None).await).await;
    let ids = async |path: &str| {
        let all = home.get(path).await.succeeded().json;
        let all = all.as_array().unwrap().clone();
        assert!(all.iter().all(|t| ["assumes", "enforced", "otherwise"].iter().all(|k| t[k].is_string())));
        all.into_iter().map(|t| (t["id"].as_str().unwrap().to_owned(), t["of"].clone())).collect::<Vec<_>>()
    };
    let general = ids("/desk/trust").await;
    for id in ["agent:channel-token", "agent:a2a-webhooks"] {
        assert!(general.contains(&(id.to_owned(), json!([]))), "{id}");
    }
    assert!(!general.iter().any(|(id, _)| id == "agent:telegram-chats"));
    home.send(Method::PUT, PATH, channel("tg", json!({}))).await.succeeded();
    let with = ids("/desk/trust").await;
    for id in ["telegram-chats", "messenger-identity", "pairing", "webhooks"] {
        assert!(with.contains(&(format!("agent:{id}"), json!(["tg"]))), "{id} in {with:?}");
    }
    home.send(Method::POST, &format!("{PATH}/enabled"), json!({"enabled": false})).await.succeeded();
    assert_eq!(ids("/desk/trust").await, general);
    let all = ids("/desk/trust?all=true").await;
    assert!(all.contains(&("agent:telegram-chats".to_owned(), json!(["telegram"]))), "{all:?}");
    let kinds = home.get("/desk/kinds").await.succeeded().json;
    let telegram = kinds.as_array().unwrap().iter().find(|kind| kind["id"] == "telegram").unwrap();
    assert_eq!(telegram["fields"][0]["key"], json!("token"));
    assert!(telegram["direct"]["text"].is_object() && telegram["gaps"].is_array(), "{telegram}");
}
