//! Tokens: made, listed and taken back while a server runs, which knows at once.

use nix::sys::signal::Signal;

use crate::world::{Server, World, say};

/// Holds: W-22, W-24.
#[tokio::test]
async fn a_token_is_shown_once_and_talks_only_unless_it_may_approve() {
    let world = World::new();
    let server = world.up().await;
    let printed = world.done(&["profile", "token", "add", "assistant"]).await;
    let lines: Vec<&str> = printed.lines().collect();
    let [about, token] = lines[..] else { panic!("two lines, not {printed:?}") };
    let id = about.split_whitespace().nth(1).expect("an id");
    assert!(id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{about}");
    assert!(about.contains("profile assistant") && token.starts_with("sb_"), "{printed}");
    let ask = r#"{"text": "!tool write_file {\"path\": \"a\", \"content\": \"b\"}", "conversation": "c"}"#;
    let approve = r#"{"text": "/approve", "conversation": "c"}"#;
    assert_eq!(say(&server.url(), "assistant", token, ask).await.1["state"], "waiting");
    let (status, answer) = say(&server.url(), "assistant", token, approve).await;
    assert_eq!((status, answer["code"].as_str()), (403, Some("may_not_decide")));
    let deciding = world.json(&["profile", "token", "add", "assistant", "--approve", "--json"]).await;
    let (id, deciding) =
        (deciding["id"].as_str().expect("an id"), deciding["token"].as_str().expect("a token"));
    let (status, answer) = say(&server.url(), "assistant", deciding, approve).await;
    assert_eq!((status, answer["state"].as_str()), (200, Some("done")), "{answer}");
    assert!(
        answer["lines"][0].as_str().expect("a line").ends_with(&format!("(approved by http:token {id})"))
    );
    let database = std::fs::read(world.home().join("switchboard.db")).expect("a database");
    let log = std::fs::read(world.home().join("switchboard.db-wal")).unwrap_or_default();
    let kept = |secret: &str| {
        [&database, &log].iter().any(|file| file.windows(secret.len()).any(|w| w == secret.as_bytes()))
    };
    assert!(kept(id) && !kept(token) && !kept(deciding));
}

/// Holds: W-26.
#[tokio::test]
async fn a_token_that_was_taken_back_opens_nothing_from_then_on() {
    let world = World::new();
    let server = world.up().await;
    let made = world.json(&["profile", "token", "add", "assistant", "--json"]).await;
    let (id, token) = (made["id"].as_str().expect("an id"), made["token"].as_str().expect("a token"));
    assert_eq!(say(&server.url(), "assistant", token, r#"{"text": "Hi"}"#).await.0, 200);
    let listed = world.done(&["profile", "token", "list", "assistant"]).await;
    assert!(
        listed.lines().any(|l| l.starts_with(id) && l.contains("assistant") && l.contains("talk")),
        "{listed}"
    );
    world.done(&["profile", "token", "add", "assistant", "--instruct"]).await;
    let listed = world.done(&["profile", "token", "list"]).await;
    assert!(listed.lines().any(|l| l.contains("talk, instruct ")), "{listed}");
    world.done(&["profile", "token", "remove", "assistant", id]).await;
    assert_eq!(say(&server.url(), "assistant", token, r#"{"text": "Hi"}"#).await.0, 401);
    let said = world.refused(&["profile", "token", "remove", "assistant", id], 1).await;
    assert!(said.contains(id), "{said}");
}

/// Holds: W-27.
#[tokio::test]
async fn a_profiles_token_is_taken_with_and_without_the_machines() {
    let world = World::new();
    world.done(&["profile", "add", "p", "--model", "scripted"]).await;
    let made = world.json(&["profile", "token", "add", "p", "--json"]).await;
    let token = made["token"].as_str().expect("a token");
    for machine in [None, Some("the-machines-own-token")] {
        let mut program = world.program();
        program.args(["serve", "--listen", "127.0.0.1:0"]);
        program.envs(machine.map(|token| ("SWITCHBOARD_TOKEN", token)));
        let mut server = Server::start(program, 1).await;
        assert_eq!(say(&server.url(), "p", token, r#"{"text": "Hi"}"#).await.0, 200);
        server.end(Signal::SIGTERM).await;
    }
}
