//! The imitated platform refuses what the real one refuses, in every encoding.

use axum::body::Body;
use axum::http::Request;
use sb_channels::telegram::standin::{TOKEN, TelegramStandIn};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::world;

async fn ask(platform: &TelegramStandIn, request: Request<Body>) -> (u16, Value) {
    let response = platform.router().oneshot(request).await.expect("a response");
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.expect("a body");
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

async fn call(platform: &TelegramStandIn, method: &str, with: Value) -> (u16, Value) {
    let request = Request::post(format!("/bot{TOKEN}/{method}")).header("content-type", "application/json");
    ask(platform, request.body(Body::from(with.to_string())).expect("a request")).await
}

#[tokio::test]
async fn what_telegram_refuses_is_refused() {
    let world = world();
    let platform = &world.platform;
    let ann = platform.person("Ann");
    let chat: i64 = platform.direct(&ann).id.parse().expect("a number");
    let group: i64 = platform.group("The lab", false).id.parse().expect("a number");
    let message = world.send(&platform.direct(&ann), "one").await.expect("sent");
    let message: i64 = message.0.split_once(':').and_then(|(_, id)| id.parse().ok()).expect("a number");
    let key = |data: &str| json!({"inline_keyboard": [[{"text": "x", "callback_data": data}]]});
    let bold = |from: i64, len: i64| json!([{"type": "bold", "offset": from, "length": len}]);
    let eyes = json!({"type": "emoji", "emoji": "👀"});
    let table = [
        ("sendMessage", json!({"chat_id": chat, "text": "x".repeat(4097)}), "message is too long"),
        ("sendMessage", json!({"chat_id": chat, "text": "  \n"}), "message text is empty"),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "ab", "entities": bold(1, 2)}),
            "ENTITY_BOUNDS_INVALID",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "😀", "entities": bold(0, 1)}),
            "ENTITY_BOUNDS_INVALID",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "a", "entities": bold(-1, 1)}),
            "ENTITY_BOUNDS_INVALID",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "a", "reply_markup": key(&"d".repeat(65))}),
            "BUTTON_DATA_INVALID",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "a", "message_thread_id": 1}),
            "message thread not found",
        ),
        (
            "sendMessage",
            json!({"chat_id": chat, "text": "a", "reply_parameters": {"message_id": 999}}),
            "message to be replied not found",
        ),
        ("sendMessage", json!({"chat_id": 1, "text": "a"}), "chat not found"),
        ("sendMessage", json!({"text": "a"}), "chat not found"),
        ("sendMessageDraft", json!({"chat_id": group, "draft_id": 1, "text": "a"}), "TEXTDRAFT_PEER_INVALID"),
        ("sendMessageDraft", json!({"chat_id": chat, "draft_id": 0, "text": "a"}), "RANDOM_ID_INVALID"),
        (
            "setMessageReaction",
            json!({"chat_id": chat, "message_id": message, "reaction": [eyes, eyes]}),
            "REACTIONS_TOO_MANY",
        ),
        (
            "setMessageReaction",
            json!({"chat_id": chat, "message_id": message, "reaction": [{"type": "emoji", "emoji": "⚠️"}]}),
            "REACTION_INVALID",
        ),
        (
            "setMessageReaction",
            json!({"chat_id": chat, "message_id": 999, "reaction": [eyes]}),
            "message to react not found",
        ),
        (
            "editMessageText",
            json!({"chat_id": chat, "message_id": message, "text": "one"}),
            "message is not modified",
        ),
        (
            "editMessageText",
            json!({"chat_id": chat, "message_id": 999, "text": "two"}),
            "message to edit not found",
        ),
        ("answerCallbackQuery", json!({"callback_query_id": "7"}), "query is too old"),
        ("sendChatAction", json!({"chat_id": chat, "action": "dancing"}), "wrong parameter action"),
        ("sendMediaGroup", json!({"chat_id": chat, "media": []}), "2-10"),
        ("getFile", json!({"file_id": "none"}), "wrong file_id"),
        (
            "setMyCommands",
            json!({"commands": [{"command": "Not-Taken", "description": "x"}]}),
            "BOT_COMMAND_INVALID",
        ),
        ("setWebhook", json!({"url": "ftp://x"}), "bad webhook"),
    ];
    for (method, with, says) in table {
        let (status, body) = call(platform, method, with.clone()).await;
        assert_eq!((status, &body["error_code"]), (400, &json!(400)), "{method} {with}");
        assert!(
            body["description"].as_str().unwrap_or_default().contains(says),
            "{method}: {body}, not {says}"
        );
    }
    assert_eq!(call(platform, "sendQuantum", json!({})).await.0, 404);
}

#[tokio::test]
async fn white_space_at_the_ends_goes_and_entities_move_along() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let id: i64 = chat.id.parse().expect("a number");
    let bold = json!([{"type": "bold", "offset": 3, "length": 9}]);
    call(&world.platform, "sendMessage", json!({"chat_id": id, "text": " \n bold  ", "entities": bold}))
        .await;
    let (status, _) = call(&world.platform, "sendMessage", json!({"chat_id": id, "text": " \n bold  ", "entities": [{"type": "bold", "offset": 3, "length": 4}]})).await;
    assert_eq!(status, 200);
    let seen = world.platform.seen_of_us(&chat);
    assert_eq!((seen.len(), seen[0].marked.as_str()), (1, "**bold**"));
}

#[tokio::test]
async fn all_four_encodings_say_the_same() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let (id, base) = (&chat.id, format!("/bot{TOKEN}/SENDmessage"));
    let entities = r#"[{"type":"bold","offset":0,"length":2}]"#;
    let encoded = "%5B%7B%22type%22%3A%22bold%22%2C%22offset%22%3A0%2C%22length%22%3A2%7D%5D";
    let form = format!("chat_id={id}&text=hi&entities={encoded}");
    let part = |name: &str, text: &str| {
        format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let parts =
        format!("{}{}{}--b--\r\n", part("chat_id", id), part("text", "hi"), part("entities", entities));
    let json = format!(r#"{{"chat_id":{id},"text":"hi","entities":{entities}}}"#);
    let post = |media_type: &str, body: String| {
        Request::post(&base).header("content-type", media_type).body(Body::from(body)).expect("a request")
    };
    let requests = [
        post("application/json", json),
        post("application/x-www-form-urlencoded", form.clone()),
        post("multipart/form-data; boundary=b", parts),
        Request::get(format!("{base}?{form}")).body(Body::empty()).expect("a request"),
    ];
    for request in requests {
        assert_eq!(ask(&world.platform, request).await.0, 200);
    }
    let marked: Vec<_> = world.platform.seen_of_us(&chat).into_iter().map(|seen| seen.marked).collect();
    assert_eq!(marked, ["**hi**"; 4]);
    let empty = Request::post(format!("/bot{TOKEN}/getMe")).header("content-type", "application/json");
    let (status, me) = ask(&world.platform, empty.body(Body::empty()).expect("a request")).await;
    assert_eq!((status, me["result"]["username"].as_str()), (200, Some("sb_bot")));
}

#[tokio::test]
async fn a_token_that_is_not_the_bots_is_not_taken() {
    let world = world();
    for (path, status) in [("/bot123456:wrong/getMe", 401), ("/botnone/getMe", 404), ("/x/getMe", 404)] {
        let request = Request::post(path).body(Body::empty()).expect("a request");
        assert_eq!(ask(&world.platform, request).await.0, status, "{path}");
    }
    let request = Request::get("/file/bot123456:wrong/documents/file_1.bin").body(Body::empty());
    assert_eq!(ask(&world.platform, request.expect("a request")).await.0, 401);
}

#[tokio::test]
async fn a_press_cannot_be_answered_late() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let id: i64 = chat.id.parse().expect("a number");
    let keys = json!({"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]});
    call(&world.platform, "sendMessage", json!({"chat_id": id, "text": "a", "reply_markup": keys})).await;
    for (passed, status) in [(14_000, 200), (15_000, 400)] {
        assert!(world.platform.press(&chat, &ann, "Yes"));
        let (_, updates) = call(&world.platform, "getUpdates", json!({"offset": -1})).await;
        let query = updates["result"][0]["callback_query"]["id"].clone();
        world.clock.pass_ms(passed);
        assert_eq!(
            call(&world.platform, "answerCallbackQuery", json!({"callback_query_id": query})).await.0,
            status
        );
    }
}

#[tokio::test]
async fn updates_wait_a_day_and_fall_out_below_the_offset() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    for text in ["one", "two", "three"] {
        world.platform.say(&chat, &ann, text);
    }
    let (_, one) = call(&world.platform, "getUpdates", json!({"limit": 1})).await;
    let first = one["result"][0]["update_id"].as_i64().expect("a number");
    assert_eq!(one["result"].as_array().map(Vec::len), Some(1));
    let (_, rest) = call(&world.platform, "getUpdates", json!({"offset": first + 1})).await;
    assert_eq!(rest["result"].as_array().map(Vec::len), Some(2));
    let (_, again) = call(&world.platform, "getUpdates", json!({})).await;
    assert_eq!(again["result"].as_array().map(Vec::len), Some(2), "what was forgotten stays so");
    let (_, last) = call(&world.platform, "getUpdates", json!({"offset": -1})).await;
    assert_eq!(last["result"][0]["message"]["text"], "three");
    world.clock.pass_ms(24 * 60 * 60 * 1000);
    let (_, none) = call(&world.platform, "getUpdates", json!({})).await;
    assert_eq!(none["result"], json!([]));
}

#[tokio::test]
async fn the_page_acts_only_for_its_own_script() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let deed = json!({"do": "say", "chat": chat.id, "person": chat.id, "text": "hi"}).to_string();
    let act = |own: bool| {
        let request = Request::post("/standin/act").header("content-type", "application/json");
        let request = if own { request.header("x-standin", "1") } else { request };
        request.body(Body::from(deed.clone())).expect("a request")
    };
    assert_eq!(ask(&world.platform, act(false)).await.0, 403);
    assert_eq!(ask(&world.platform, act(true)).await.0, 200);
    let state =
        Request::get(format!("/standin/state?chat={}", chat.id)).body(Body::empty()).expect("a request");
    let (_, state) = ask(&world.platform, state).await;
    assert_eq!(state["messages"][0]["text"], "hi");
    let page = Request::get("/").body(Body::empty()).expect("a request");
    assert_eq!(ask(&world.platform, page).await.0, 200);
}
