//! The ledger with the real program: who signs, who pays once whatever is killed, who answers nobody.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::world::{Server, World, say};

/// A home whose profile `helper` (L5) has 30.00 USD, beside bob.
async fn funded() -> World {
    let world = World::new();
    world.done(&["profile", "add", "helper", "--model", "scripted", "--autonomy", "L5"]).await;
    world.done(&["agent", "fund", "operator", "100"]).await;
    world.done(&["agent", "fund", "helper", "30"]).await;
    world.done(&["agent", "new", "bob", "--person"]).await;
    world
}

async fn serve(world: &World) -> Server {
    let mut program = world.program();
    program.args(["serve", "--listen", "127.0.0.1:0"]);
    Server::start(program, 1).await
}

async fn left(world: &World, account: &str) -> String {
    let shown = world.json(&["agent", "show", account, "--json"]).await;
    shown["budget_remaining_usd"].as_str().expect("a text").to_owned()
}

async fn payments(world: &World) -> Vec<Value> {
    let log = world.json(&["ledger", "log", "--json"]).await;
    let entries = log.as_array().expect("a list").iter();
    entries.filter(|e| e["act"]["act"] == "paid").cloned().collect()
}

/// The token of a new pair: one that may decide.
async fn deciding(world: &World) -> String {
    let made = world.json(&["profile", "token", "add", "helper", "--approve", "--json"]).await;
    made["token"].as_str().expect("a token").to_owned()
}

const ASK: &str = r#"{"text": "!tool ledger_pay {\"to\": \"bob\", \"amount\": \"2.50\", \"purpose\": \"cake\"}", "conversation": "c"}"#;
const APPROVE: &str = r#"{"text": "/approve", "conversation": "c"}"#;
const HELLO: &str = r#"{"text": "Hello", "conversation": "c"}"#;

/// Holds: H-15, H-16, L-07, L-10.
#[tokio::test]
async fn a_payment_waits_at_l5_and_its_result_names_who_paid_whom_and_where_it_stands() {
    let world = funded().await;
    let asked = world
        .typed(&["talk"], "!tool ledger_pay {\"to\": \"bob\", \"amount\": \"2.50\", \"purpose\": \"cake\"}\n")
        .await;
    for part in ["ledger_pay", "\"amount\":\"2.50\"", "spending at autonomy L5", "request "] {
        assert!(asked.out.contains(part), "{part} in {}", asked.out);
    }
    assert_eq!(payments(&world).await.len(), 0, "nothing is paid before anybody decides");
    let paid = world.typed(&["talk"], "/approve\n").await;
    assert_eq!(paid.code, Some(0), "{paid:?}");
    let entry = payments(&world).await.remove(0);
    let receipt = entry["receipt"].as_str().expect("a receipt");
    for part in
        ["\"payer\":\"helper (", "\"payee\":\"bob (", "\"amount_usd\":\"2.50\"", "\"entry\":6", receipt]
    {
        assert!(paid.out.contains(part), "{part} in {}", paid.out);
    }
    assert_eq!((left(&world, "helper").await, left(&world, "bob").await), ("27.50".into(), "2.50".into()));
    // Whoever comes second is told who decided, and nothing is paid again.
    let second = world.typed(&["talk"], "/approve\n").await;
    assert!(second.err.contains("was allowed by cli:"), "{second:?}");
    assert_eq!(payments(&world).await.len(), 1);
    let signed = world.done(&["agent", "fund", "helper", "1"]).await;
    let lines: Vec<&str> = signed.lines().collect();
    assert!(lines[0].starts_with("operator (") && lines[0].contains(") signs: gives helper ("), "{signed}");
    assert!(lines[1].starts_with("Entry 7 of the ledger: operator ("), "{signed}");
    assert!(world.done(&["ledger", "verify"]).await.starts_with("7 entries, and every one"));
}

#[tokio::test]
async fn a_payment_over_the_budget_is_refused_with_the_numbers_and_nobody_is_asked() {
    let world = funded().await;
    for (amount, says) in [
        ("30.01", "30.00 USD left, which does not cover 30.01 USD"),
        ("1e400", "such as"),
        ("-1", "never negative"),
    ] {
        let line =
            format!("!tool ledger_pay {{\"to\": \"bob\", \"amount\": \"{amount}\", \"purpose\": \"x\"}}\n");
        let ran = world.typed(&["talk"], &line).await;
        assert!(ran.out.contains(says) && !ran.out.contains("approval"), "{ran:?}");
    }
    let ran = world.typed(&["talk"], "/allowed\n/approve always\n").await;
    assert!(ran.err.contains("Nothing waits"), "{ran:?}");
    assert_eq!(payments(&world).await.len(), 0);
}

/// At L6 what the budget covers is paid unasked; a rule never covers a payment.
#[tokio::test]
async fn at_l6_a_payment_within_the_budget_is_made_at_once_and_always_is_never_given_for_one() {
    let world = funded().await;
    let pay = "!tool ledger_pay {\"to\": \"bob\", \"amount\": \"1\", \"purpose\": \"tea\"}\n";
    world.typed(&["talk"], pay).await;
    let always = world.typed(&["talk"], "/approve always\n").await;
    assert!(always.out.contains("A payment is always approved on its own"), "{always:?}");
    let again = world.typed(&["talk"], pay).await;
    assert!(again.out.contains("waiting for your approval"), "{again:?}");
    world.typed(&["talk"], "/decline no\n").await;
    world.done(&["profile", "set", "helper", "--autonomy", "L6"]).await;
    let at_once = world.typed(&["talk"], pay).await;
    assert!(at_once.out.contains("\"paid\":true") && !at_once.out.contains("approval"), "{at_once:?}");
    assert_eq!(left(&world, "helper").await, "28.00");
}

/// Holds: L-02, L-03.
#[tokio::test]
async fn a_suspended_agent_and_one_below_it_answer_nobody_until_it_is_lifted() {
    let world = funded().await;
    world.done(&["agent", "new", "scout", "--parent", "helper"]).await;
    world.done(&["profile", "add", "below", "--model", "scripted", "--agent", "scout"]).await;
    let _server = serve(&world).await;
    let token = world.json(&["profile", "token", "add", "below", "--approve", "--json"]).await;
    let token = token["token"].as_str().expect("a token");
    let url = _server.url();
    assert_eq!(say(&url, "below", token, HELLO).await.0, 200);
    let said = world.done(&["agent", "suspend", "operator", "helper"]).await;
    assert!(said.contains("signs: suspends helper (") && said.contains("every agent below"), "{said}");
    let (status, answer) = say(&url, "below", token, HELLO).await;
    assert_eq!((status, answer["code"].as_str()), (403, Some("suspended")), "{answer}");
    assert!(
        answer["error"]
            .as_str()
            .expect("a sentence")
            .contains("scout is below helper, which operator suspended")
    );
    // Commands are no words for the agent.
    assert_eq!(say(&url, "below", token, r#"{"text": "/status", "conversation": "c"}"#).await.0, 200);
    let said = world.refused(&["agent", "suspend", "bob", "helper"], 1).await;
    assert!(said.contains("bob is not above helper"), "{said}");
    world.done(&["agent", "resume", "operator", "helper"]).await;
    assert_eq!(say(&url, "below", token, HELLO).await.0, 200, "without a restart");
}

#[tokio::test]
async fn a_payment_that_waits_when_its_agent_is_suspended_is_never_made() {
    let world = funded().await;
    let server = serve(&world).await;
    let (url, token) = (server.url(), deciding(&world).await);
    assert_eq!(say(&url, "helper", &token, ASK).await.1["state"], "waiting");
    world.done(&["agent", "suspend", "operator", "helper"]).await;
    let (status, answer) = say(&url, "helper", &token, APPROVE).await;
    assert_eq!((status, answer["code"].as_str()), (403, Some("suspended")), "{answer}");
    assert_eq!(payments(&world).await.len(), 0);
    world.done(&["agent", "resume", "operator", "helper"]).await;
    assert_eq!(say(&url, "helper", &token, HELLO).await.0, 200);
    assert_eq!(payments(&world).await.len(), 0);
}

/// Killed when it waits, when it was just approved, and when it was answered: made exactly once.
#[tokio::test]
async fn kill_9_around_an_approved_payment_makes_it_exactly_once() {
    let world = funded().await;
    let token = deciding(&world).await;
    let mut server = serve(&world).await;
    assert_eq!(say(&server.url(), "helper", &token, ASK).await.1["state"], "waiting");
    server.end(Signal::SIGKILL).await;
    let mut server = serve(&world).await;
    // Killed while it is approved: at whatever step that finds it.
    let (url, by) = (server.url(), token.clone());
    let approving = tokio::spawn(async move {
        let sent = crate::world::client().post(format!("{url}/v1/profiles/helper/messages"));
        sent.bearer_auth(by).body(APPROVE).send().await.map(|answer| answer.status().as_u16()).ok()
    });
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    server.end(Signal::SIGKILL).await;
    approving.await.expect("sent");
    let mut server = serve(&world).await;
    // It was taken, and then it is made by itself, or it was not, and still waits.
    let (_, answer) = say(&server.url(), "helper", &token, APPROVE).await;
    assert!(answer["state"] == "done" || answer["code"] == "not_waiting", "{answer}");
    server.end(Signal::SIGKILL).await;
    let server = serve(&world).await;
    let (_, answer) = say(&server.url(), "helper", &token, APPROVE).await;
    assert!(answer["error"].as_str().is_some_and(|said| said.contains("allowed by http:token")), "{answer}");
    assert_eq!(payments(&world).await.len(), 1);
    assert_eq!((left(&world, "helper").await, left(&world, "bob").await), ("27.50".into(), "2.50".into()));
    assert!(world.done(&["ledger", "verify"]).await.contains("every one is as it was signed"));
}

/// From before the approval is taken to after it is answered: each kill falls on another step.
#[tokio::test]
async fn wherever_a_kill_falls_while_payments_are_approved_each_is_made_exactly_once() {
    let world = funded().await;
    let token = deciding(&world).await;
    let mut server = serve(&world).await;
    for (n, after_us) in [0, 500, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 30_000].into_iter().enumerate() {
        let (ask, approve) = (in_chat(ASK, n), in_chat(APPROVE, n));
        assert_eq!(say(&server.url(), "helper", &token, &ask).await.1["state"], "waiting");
        let (url, by, body) = (server.url(), token.clone(), approve.clone());
        let approving = tokio::spawn(async move {
            let sent = crate::world::client().post(format!("{url}/v1/profiles/helper/messages"));
            let _ = sent.bearer_auth(by).body(body).send().await;
        });
        tokio::time::sleep(Duration::from_micros(after_us)).await;
        server.end(Signal::SIGKILL).await;
        approving.await.expect("sent");
        server = serve(&world).await;
        let (_, answer) = say(&server.url(), "helper", &token, &approve).await;
        assert!(answer["state"] == "done" || answer["code"] == "not_waiting", "{after_us}: {answer}");
        assert_eq!(payments(&world).await.len(), n + 1, "killed after {after_us} microseconds");
    }
    assert_eq!((left(&world, "helper").await, left(&world, "bob").await), ("7.50".into(), "22.50".into()));
    assert!(world.done(&["ledger", "verify"]).await.contains("every one is as it was signed"));
}

/// The same request in a conversation of its own.
fn in_chat(body: &str, n: usize) -> String {
    body.replace("\"conversation\": \"c\"", &format!("\"conversation\": \"c{n}\""))
}

/// Holds: W-21, W-23, W-25.
#[tokio::test]
async fn a_profile_names_its_agent_and_so_do_its_tokens() {
    let world = funded().await;
    let key =
        world.json(&["agent", "show", "helper", "--json"]).await["key"].as_str().expect("a key").to_owned();
    let shown = world.done(&["profile", "show", "helper"]).await;
    assert!(shown.contains(&format!("helper {key}")), "{shown}");
    let short = format!("agent helper ({})", &key[..8]);
    let made = world.done(&["profile", "token", "add", "helper"]).await;
    assert!(made.contains(&short) && !made.contains(&key), "{made}");
    let listed = world.done(&["profile", "token", "list"]).await;
    assert!(listed.contains(&format!("helper ({})", &key[..8])), "{listed}");
    world.done(&["agent", "new", "other"]).await;
    let set = world.done(&["profile", "set", "helper", "--agent", "other"]).await;
    assert!(set.contains("agent other ("), "{set}");
    let said = world.refused(&["profile", "set", "helper", "--agent", "bob"], 1).await;
    assert!(said.contains("bob is a person's account"), "{said}");
    let said = world.refused(&["profile", "set", "helper", "--agent", "nobody"], 1).await;
    assert!(said.contains("no account nobody"), "{said}");
}

#[tokio::test]
async fn a_chain_that_was_tampered_with_is_refused_at_start_and_its_first_bad_entry_is_named() {
    let world = funded().await;
    let file = world.home().join("switchboard.db");
    let mut bytes = std::fs::read(&file).expect("a database");
    let words = br#""amount":"100.00""#;
    let at = bytes.windows(words.len()).position(|w| w == words).expect("the amount, as it is kept");
    bytes[at + 10] = b'9';
    std::fs::write(&file, bytes).expect("written");
    for command in [&["ledger", "verify"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let said = world.refused(command, 1).await;
        assert!(
            said.contains("entry 3 of the ledger is not as it was signed")
                && said.contains("go back to a backup"),
            "{said}"
        );
    }
}
