//! Tools of ours that an agent calls through the server it is given: one gate, one row of questions, one log.

use sb_engine::LedgerWish;
use sb_engine::model::*;
use sb_testkit::app::TestApp;

use crate::world::*;

fn house(tool: &str, input: &str) -> String {
    format!("!tool house {{\"tool\":\"{tool}\",\"input\":{input}}}")
}

/// An agent whose profile has 30 dollars, beside bob.
async fn funded(level: Level) -> TestApp {
    let app = app_with(|p| p.autonomy = level).await;
    app.engine.give_agents().await.unwrap();
    let wishes = [
        LedgerWish::Fund { account: "operator".into(), amount: "100".into(), from: None },
        LedgerWish::Fund { account: "assistant".into(), amount: "30".into(), from: None },
        LedgerWish::Open { name: "bob".into(), person: true, parent: None, budget: None },
    ];
    for wish in wishes {
        app.engine.sign(&wish).await.unwrap();
    }
    app
}

async fn payments(app: &TestApp) -> usize {
    let log = app.engine.ledger_log(0, 100).await.unwrap();
    log.iter().filter(|signed| format!("{signed:?}").contains("Paid")).count()
}

fn pay() -> String {
    house("ledger_pay", r#"{"to":"bob","amount":"2.50","purpose":"cake"}"#)
}

fn server(app: &TestApp) -> serde_json::Value {
    let text = std::fs::read_to_string(app.workspace().join(".server")).expect("it was told of one");
    serde_json::from_str(&text).expect("JSON")
}

#[tokio::test]
async fn it_shares_a_file_and_notes_something_through_them() {
    let app = app_with(|p| p.autonomy = Level::L4).await;
    std::fs::write(app.workspace().join("plan.txt"), "a plan").unwrap();
    let shared = say(&app, &house("share_file", r#"{"path":"plan.txt"}"#)).await;
    assert!(shared.said.contains("ok: plan.txt (6 bytes) is sent"), "{}", shared.said);
    assert_eq!(shared.files.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["plan.txt"]);
    let noted = say(&app, &house("remember", r#"{"text":"Ann likes tea"}"#)).await;
    assert!(noted.said.contains("ok: Noted"), "{}", noted.said);
    let found = say(&app, &house("recall", r#"{"words":"tea"}"#)).await;
    assert!(found.said.contains("Ann likes tea"), "{}", found.said);
    let log = log(&app, &found).await;
    let called: Vec<&str> = log
        .iter()
        .filter_map(|r| match r {
            Record::Answered { calls, .. } => calls.first().map(|call| call.tool.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(called, ["share_file", "remember", "recall"], "each stands in the log under its own name");
    let acting = log.iter().filter(|r| matches!(r, Record::Acting { .. })).count();
    assert_eq!(acting, 1, "the note acts and is committed before it is made");
}

#[tokio::test]
async fn what_is_lent_is_what_its_own_tools_cannot_do_and_what_the_profile_gives() {
    let app = app().await;
    let listed = say(&app, r#"!tool house {"list":true}"#).await.said;
    for tool in ["share_file", "remember", "recall", "send_message", "ledger_pay", "ledger_balance"] {
        assert!(listed.contains(tool), "{tool} in {listed}");
    }
    for tool in ["shell", "read_file", "write_file", "web_fetch"] {
        assert!(!listed.contains(tool), "{tool} in {listed}");
    }
    let app = app_with(|p| p.tools = ToolSet::Only(vec!["recall".into()])).await;
    assert_eq!(say(&app, r#"!tool house {"list":true}"#).await.said.trim(), "recall");
}

#[tokio::test]
async fn a_call_passes_the_one_gate_and_waits_for_a_person_who_may_decline() {
    let app = app().await;
    let asked = say(&app, &house("remember", r#"{"text":"Ann likes tea"}"#)).await;
    assert_eq!(asked.kind, EndKind::Waiting);
    assert!(
        asked.said.contains("remember {\"text\":\"Ann likes tea\"} (a write at autonomy L3"),
        "{}",
        asked.said
    );
    assert_eq!(app.engine.memos(&"assistant".into()).await.unwrap().len(), 0, "nothing is noted before");
    let refused = say(&app, "/decline not this").await;
    assert!(refused.said.contains("failed: The person declined this call: not this"), "{}", refused.said);
    assert!(!refused.said.contains("prompt 2"), "it was told once: {}", refused.said);
    say(&app, &house("remember", r#"{"text":"Ann likes tea"}"#)).await;
    let done = say(&app, "/approve").await;
    assert!(done.said.contains("ok: Noted"), "{}", done.said);
    assert_eq!(app.engine.memos(&"assistant".into()).await.unwrap().len(), 1);
    let app = app_with(|p| p.autonomy = Level::L2).await;
    let refused = say(&app, &house("remember", r#"{"text":"x"}"#)).await;
    assert!(refused.said.contains("failed: a write is not allowed at autonomy L2"), "{}", refused.said);
}

#[tokio::test]
async fn what_cannot_be_is_told_before_anybody_is_asked() {
    let app = app().await;
    for (call, says) in [
        (house("remember", r#"{"words":"x"}"#), "failed: The input does not fit"),
        (house("shell", r#"{"command":"ls"}"#), "failed: There is no such tool"),
        (pay(), "failed: "),
    ] {
        let said = say(&app, &call).await;
        assert_eq!(said.kind, EndKind::Replied, "nobody is asked: {}", said.said);
        assert!(said.said.contains(says), "{}", said.said);
    }
}

#[tokio::test]
async fn a_payment_waits_and_is_made_once_in_the_decisions_own_commit() {
    let app = funded(Level::L5).await;
    let asked = say(&app, &pay()).await;
    assert!(
        asked.kind == EndKind::Waiting && asked.said.contains("spending at autonomy L5"),
        "{}",
        asked.said
    );
    assert_eq!(payments(&app).await, 0);
    let paid = say(&app, "/approve").await;
    assert!(paid.said.contains("ok: ") && paid.said.contains("\"amount_usd\":\"2.50\""), "{}", paid.said);
    assert_eq!(payments(&app).await, 1);
    let results = log(&app, &paid).await.into_iter().filter(|r| matches!(r, Record::Result { .. })).count();
    assert_eq!(results, 1, "its result stands in the log once");
    assert_eq!(say(&app, "/approve").await.kind, EndKind::Refused);
    assert_eq!(payments(&app).await, 1);
    let app = funded(Level::L6).await;
    let paid = say(&app, &pay()).await;
    assert!(paid.said.contains("ok: "), "unasked at L6: {}", paid.said);
    assert_eq!(payments(&app).await, 1);
}

#[tokio::test]
async fn a_payment_that_waits_at_a_restart_is_not_made_by_the_old_question() {
    let app = funded(Level::L5).await;
    let asked = say(&app, &pay()).await;
    let (session, request) = (asked.session.unwrap(), asked.waiting.unwrap().short());
    let app = app.reopen().await;
    sb_testkit::until("a second question", async || {
        let view = app.engine.session(session).await.unwrap();
        (view.log.iter().filter(|e| matches!(e.record, Record::Asked { .. })).count() == 2).then_some(())
    })
    .await;
    assert_eq!(say(&app, &format!("/approve {request}")).await.kind, EndKind::Refused);
    assert_eq!(payments(&app).await, 0);
    say(&app, "/approve").await;
    assert_eq!(payments(&app).await, 1);
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "a test's own client")]
async fn whoever_shows_no_pass_is_refused_and_between_turns_nothing_can_be_called() {
    let app = app().await;
    let odd = say(&app, r#"!tool house {"tool":"recall","input":{"words":"x"},"key":"guessed"}"#).await;
    assert!(odd.said.contains("401"), "{}", odd.said);
    let first = server(&app);
    let post = async |key: Option<&str>, origin: bool| {
        let server = server(&app);
        let call = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "recall", "arguments": {"words": "x"}}});
        let mut ask = reqwest::Client::new().post(server["url"].as_str().unwrap()).body(call.to_string());
        if let Some(key) = key {
            ask = ask.header("authorization", key);
        }
        if origin {
            ask = ask.header("origin", "http://127.0.0.1");
        }
        let answer = ask.send().await.expect("it listens");
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let key = first["headers"][0]["value"].as_str();
    assert_eq!(post(None, false).await.0, 401);
    assert_eq!(post(key, true).await.0, 403, "a page of the web is no agent");
    let (status, said) = post(key, false).await;
    assert!(status == 200 && said.contains("only while you answer somebody"), "{said}");
    end_process(&app).await;
    say(&app, "hello").await;
    assert_eq!(post(key, false).await.0, 401, "the pass ended with its process");
}

#[tokio::test]
async fn one_that_takes_no_servers_over_http_works_without_and_the_log_says_so() {
    let app = app_with(|p| p.harness = agent("--no-http")).await;
    let said = say(&app, &house("recall", r#"{"words":"x"}"#)).await;
    assert!(said.said.contains("There is no server."), "{}", said.said);
    let noted = |r: &Record| matches!(r, Record::Noted { text, told: false, .. } if text.contains("takes no tools over HTTP"));
    assert!(log(&app, &said).await.iter().any(noted));
}

#[tokio::test]
async fn a_call_it_gave_up_on_is_not_done_and_asking_again_is_the_same_question() {
    // Whether it is seen to hang up before it asks again, or only afterwards.
    for leaves in ["true", "\"late\""] {
        let app = app().await;
        let note = r#"{"tool":"remember","input":{"text":"Ann likes tea"}"#;
        let script = format!("!tool house {note},\"leave\":{leaves}}}\n!tool house {note}}}");
        assert_eq!(say(&app, &script).await.kind, EndKind::Waiting);
        let taken = || std::fs::read_to_string(app.workspace().join(".taken")).unwrap_or_default();
        sb_testkit::until("the second call", async || (taken().lines().count() == 2).then_some(())).await;
        let done = say(&app, "/approve").await;
        assert!(done.said.contains("ok: Noted"), "the second got the first one's answer: {}", done.said);
        assert_eq!(app.engine.memos(&"assistant".into()).await.unwrap().len(), 1);
        let asked = log(&app, &done).await.into_iter().filter(|r| matches!(r, Record::Asked { .. })).count();
        assert_eq!(asked, 1, "nobody was asked twice");
    }
}

#[tokio::test]
async fn a_stop_withdraws_a_call_that_waits() {
    let app = app().await;
    let asked = send(&app, &house("remember", r#"{"text":"x"}"#)).await;
    asked.ending().await.expect("it waits");
    assert_eq!(say(&app, "/stop").await.kind, EndKind::Stopped);
    assert_eq!(say(&app, "/approve").await.kind, EndKind::Refused);
    assert_eq!(app.engine.memos(&"assistant".into()).await.unwrap().len(), 0);
    assert_eq!(say(&app, "hello").await.said, "prompt 2, 0 pictures: hello", "the same process goes on");
}

#[tokio::test]
async fn notes_from_outside_taint_its_session_and_are_set_apart() {
    let app = app_with(|p| p.autonomy = Level::L5).await;
    say(&app, "!tool web_fetch {\"url\":\"https://example.org\"}").await;
    say(&app, &house("remember", r#"{"text":"the page says pay"}"#)).await;
    say(&app, "/new").await;
    let found = say(&app, &house("recall", r#"{"words":"page"}"#)).await;
    assert!(found.said.contains("came from outside"), "{}", found.said);
    let tainted = app.engine.session(found.session.unwrap()).await.unwrap();
    let outside = tainted.log.iter().any(|e| matches!(e.record, Record::Result { outside: true, .. }));
    assert!(outside, "{:?}", tainted.log);
}

#[tokio::test]
async fn its_own_question_about_a_tool_of_ours_needs_no_person_where_its_program_names_the_tool() {
    let app = app().await;
    let note =
        |how: &str| format!(r#"!tool house {{"tool":"remember","input":{{"text":"tea"}},"asks":"{how}"}}"#);
    let asked = say(&app, &note("meta")).await;
    assert!(asked.said.contains("remember {\"text\":\"tea\"} (a write"), "the one gate asks: {}", asked.said);
    let done = say(&app, "/approve").await;
    assert!(done.said.contains("ok: Noted"), "and once: {}", done.said);
    // A title may be a model's own words, so it is asked about as whatever it is.
    let asked = say(&app, &note("title")).await;
    assert!(asked.said.contains("other {\"text\":\"tea\"} (running a program"), "{}", asked.said);
    say(&app, "/stop").await;
    let none = r#"!tool house {"tool":"shell","input":{},"asks":"meta"}"#;
    assert!(say(&app, none).await.said.contains("other {"), "what is not lent is asked about too");
}

#[tokio::test]
async fn a_payment_it_gave_up_on_and_a_person_allowed_is_made_once_and_told_to_it() {
    let app = funded(Level::L5).await;
    let left = pay().replace("}}", "},\"leave\":true}");
    let asked =
        say(&app, &format!("{left}\n!tool choose {{\"options\":[[\"allow_once\",\"a\",\"Go\"]]}}")).await;
    assert!(asked.kind == EndKind::Waiting && asked.said.contains("ledger_pay"), "{}", asked.said);
    // Its own question, which stands behind that one, keeps the turn open.
    let done = say(&app, "/approve").await;
    assert!(done.said.contains("(About ledger_pay, which you no longer waited for: "), "{}", done.said);
    assert_eq!(payments(&app).await, 1);
}
