//! Messengers from the command line, with the program's own imitation of one.

use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::world::{Server, UP, World, client};

const TOKEN: &str = "123456:stand-in_token";

/// An imitated Telegram, and who types there.
struct Telegram {
    _server: Server,
    url: String,
    /// The flags of the line it prints for a bridge.
    flags: Vec<String>,
}

impl Telegram {
    async fn start(world: &World) -> Self {
        let mut program = world.program();
        program.args(["standin", "telegram", "--listen", "127.0.0.1:0"]);
        let server = Server::start(program, 3).await;
        let url = server.url().trim_end_matches('/').to_owned();
        let line = server.lines[2].clone();
        let flags = line.split_once(" bridge ").expect("a line to paste").1;
        let flags = flags.split_whitespace().map(str::to_owned).collect();
        Self { _server: server, url, flags }
    }

    /// The person who types.
    fn ann(&self) -> &str {
        let at = self.flags.iter().position(|flag| flag == "--approvers").expect("it names who decides");
        &self.flags[at + 1]
    }

    async fn act(&self, deed: Value) {
        let sent = client().post(format!("{}/standin/act", self.url)).header("x-standin", "1").json(&deed);
        assert!(sent.send().await.expect("an answer").status().is_success());
    }

    async fn say(&self, text: &str) {
        self.act(json!({"do": "say", "chat": self.ann(), "person": self.ann(), "text": text})).await;
    }

    /// What stands in a person's chat, once something of the bot's there contains the words.
    async fn until(&self, words: &str) -> Value {
        for _ in 0..600 {
            let path = format!("{}/standin/state?chat={}", self.url, self.ann());
            let seen: Value = client().get(path).send().await.expect("an answer").json().await.expect("JSON");
            let messages = seen["messages"].as_array().expect("messages");
            let said = |m: &Value| m["ours"] == true && m["text"].as_str().is_some_and(|t| t.contains(words));
            if messages.iter().any(said) {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("nobody said {words:?}");
    }

    /// The flags by which another channel reaches it.
    fn api(&self) -> String {
        format!("api_url={}", self.url)
    }
}

/// A bridge with the flags of the line to paste, and what it printed.
async fn bridge(world: &World, telegram: &Telegram, lines: usize) -> Server {
    let mut program = world.program();
    program.arg("bridge").args(&telegram.flags);
    Server::start(program, lines).await
}

/// A bridge for what the home knows already.
async fn again(world: &World) -> Server {
    let mut program = world.program();
    program.args(["bridge", "--via", "telegram", "--slug", "telegram-standin"]);
    Server::start(program, 1).await
}

#[tokio::test]
async fn the_line_that_is_printed_lets_a_person_talk_and_decide() {
    let world = World::new();
    let telegram = Telegram::start(&world).await;
    let mut bridge = bridge(&world, &telegram, 4).await;
    assert!(bridge.lines[0].starts_with("Made the profile assistant"), "{:?}", bridge.lines);
    assert!(bridge.lines[1].contains("is answered by assistant"), "{:?}", bridge.lines);
    assert!(
        !bridge.lines.iter().any(|l| l.contains(TOKEN) || l.starts_with("Warning")),
        "{:?}",
        bridge.lines
    );
    telegram.say("Hello").await;
    telegram.until("You said: \"Hello\"").await;
    // Commands reach the home through the bridge meanwhile.
    let status = world.json(&["channel", "status", "telegram-standin", "--json"]).await;
    assert_eq!((&status["status"]["state"], &status["enabled"]), (&json!("running"), &json!(false)));
    for time in ["connected", "received", "sent"] {
        assert!(status["status"][time].is_string(), "{time} in {status}");
    }
    let doctor = world.json(&["doctor", "--json"]).await;
    assert_eq!(doctor["server"]["bridge"], "telegram-standin");
    assert!(doctor["notes"].to_string().contains("Channel telegram-standin (telegram"), "{doctor}");
    telegram.say("!tool write_file {\"path\": \"a\", \"content\": \"b\"}\n!say Done.").await;
    let asks = telegram.until("May I run write_file?").await;
    assert!(asks["messages"].to_string().contains("Allow once"), "{asks}");
    telegram.say("/approve").await;
    telegram.until("Done.").await;
    let sessions = world.json(&["session", "list", "--json"]).await;
    let trace = world.done(&["trace", sessions[0]["id"].as_str().expect("an id")]).await;
    let decided = format!("approved by telegram:{}", telegram.ann());
    assert!(trace.contains(&decided), "{trace}");
    assert!(bridge.end(Signal::SIGTERM).await.success());
    // What it was given is kept: the next start needs only its name.
    let mut again = again(&world).await;
    telegram.say("Still there?").await;
    telegram.until("You said: \"Still there?\"").await;
    assert!(again.end(Signal::SIGINT).await.success());
}

#[tokio::test]
async fn a_changed_channel_is_taken_up_by_its_bridge_and_one_switched_off_or_removed_ends_it() {
    let world = World::new();
    let telegram = Telegram::start(&world).await;
    let mut bridge = bridge(&world, &telegram, 4).await;
    let said = world.done(&["channel", "set", "telegram-standin", "--busy", "queue"]).await;
    assert!(said.contains("Its bridge takes up what changed"), "{said}");
    telegram.say("After").await;
    telegram.until("You said: \"After\"").await;
    let said = world.done(&["channel", "disable", "telegram-standin"]).await;
    assert!(said.contains("It is off"), "{said}");
    assert_eq!(bridge.ended().await.code(), Some(1));
    let mut bridge = again(&world).await;
    telegram.say("Back").await;
    telegram.until("You said: \"Back\"").await;
    let said = world.done(&["channel", "remove", "telegram-standin"]).await;
    assert!(said.contains("Removed the channel"), "{said}");
    assert_eq!(bridge.ended().await.code(), Some(1));
}

#[tokio::test]
async fn beside_a_server_a_bridge_is_refused_and_the_line_it_prints_does_the_same() {
    let world = World::new();
    let telegram = Telegram::start(&world).await;
    let server = world.up().await;
    let mut words = vec!["bridge".to_owned()];
    words.extend(telegram.flags.iter().cloned());
    let said = world.refused(&words, 1).await;
    assert!(said.contains("A server holds this home") && !said.contains(TOKEN), "{said}");
    let line = said.lines().find(|line| line.contains(" channel add telegram ")).expect("a line");
    for part in ["--slug telegram-standin", "--profile assistant", "--set token=…", &telegram.api()] {
        assert!(line.contains(part), "{part} in {line}");
    }
    let added = world.paste(&line.replace("token=…", &format!("token={TOKEN}"))).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(added.out.contains("It runs as @") && !added.out.contains(TOKEN), "{added:?}");
    telegram.say("Hello").await;
    telegram.until("You said: \"Hello\"").await;
    let known = world.refused(&words, 1).await;
    assert!(
        known.contains(" channel set telegram-standin ") && known.contains(" channel enable "),
        "{known}"
    );
    drop(server);
    let mut again = world.program();
    again.args(["up", "--listen", "127.0.0.1:0"]);
    let again = Server::start(again, UP + 1).await;
    let line = again.line("Starting ");
    assert!(line.contains("telegram-standin (telegram, answered by assistant)"), "{line}");
    telegram.say("Back?").await;
    telegram.until("You said: \"Back?\"").await;
}

/// Holds: B-40.
#[tokio::test]
async fn a_chat_that_is_routed_is_answered_by_the_profile_named_in_sessions_of_its_own() {
    let world = World::new();
    for name in ["assistant", "garden"] {
        world.done(&["profile", "add", name, "--model", "scripted"]).await;
    }
    let telegram = Telegram::start(&world).await;
    let mut first = bridge(&world, &telegram, 3).await;
    telegram.say("One").await;
    telegram.until("You said: \"One\"").await;
    assert!(first.end(Signal::SIGTERM).await.success());
    let mut program = world.program();
    program.arg("bridge").args(&telegram.flags).args(["--route", &format!("{}=garden", telegram.ann())]);
    let _routed = Server::start(program, 3).await;
    telegram.say("Two").await;
    telegram.until("You said: \"Two\"").await;
    for (profile, said, other) in [("assistant", "One", "Two"), ("garden", "Two", "One")] {
        let all = world.json(&["session", "list", "--profile", profile, "--json"]).await;
        assert_eq!(all.as_array().map(Vec::len), Some(1), "{all}");
        let trace = world.done(&["trace", all[0]["id"].as_str().expect("an id")]).await;
        let says = |words: &str| trace.contains(&format!("says: {words}"));
        assert!(says(said) && !says(other), "{trace}");
    }
}

/// Holds: B-39.
#[tokio::test]
async fn a_wrong_token_stops_the_first_start_and_says_what_to_do() {
    let world = World::new();
    let telegram = Telegram::start(&world).await;
    let api = telegram.api();
    let wrong = ["bridge", "--via", "telegram", "--set", "token=1:wrong", "--set", &api];
    let said = world.refused(&wrong, 1).await;
    for part in
        ["does not accept the credentials", "@BotFather", "--set token=…", "SWITCHBOARD_TELEGRAM_TOKEN"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(!said.contains("1:wrong"), "{said}");
    let nobody = ["bridge", "--via", "telegram", "--set", "api_url=http://127.0.0.1:1"];
    let said = world.refused(&nobody, 1).await;
    assert!(said.contains("cannot be reached") && said.contains("start the bridge again"), "{said}");
    // The right one from the environment, and it runs; nobody is named, which is said.
    let mut program = world.program();
    program.args(["bridge", "--via", "telegram", "--set", &api]).env("SWITCHBOARD_TELEGRAM_TOKEN", TOKEN);
    let bridge = Server::start(program, 3).await;
    assert!(
        bridge.lines[1].contains("DECIDES") && bridge.lines[2].contains("pairing approve"),
        "{:?}",
        bridge.lines
    );
}

#[tokio::test]
async fn a_bridge_takes_its_platforms_calls_where_it_is_told_to_listen() {
    let world = World::new();
    let telegram = Telegram::start(&world).await;
    let mut program = world.program();
    program.arg("bridge").args(&telegram.flags).args(["--set", "secret_token=a-long-word"]);
    program.args(["--listen", "127.0.0.1:0", "--public-url", "http://127.0.0.1:1"]);
    let bridge = Server::start(program, 5).await;
    let hook = bridge.line("Listening on ").trim_start_matches("Listening on ").to_owned();
    assert!(hook.ends_with("/hooks/telegram-standin"), "{hook}");
    let ann: i64 = telegram.ann().parse().expect("a number");
    let update = json!({"update_id": 900, "message": {
        "message_id": 77, "date": 1_700_000_000, "text": "By webhook",
        "chat": {"id": ann, "type": "private"}, "from": {"id": ann, "first_name": "Ann"},
    }});
    let call = |secret: &str| {
        let header = "x-telegram-bot-api-secret-token";
        client().post(&hook).header(header, secret).header("host", "bot.example.org").json(&update).send()
    };
    assert_eq!(call("a-guess").await.expect("an answer").status(), 401);
    assert_eq!(call("a-long-word").await.expect("an answer").status(), 200);
    telegram.until("You said: \"By webhook\"").await;
}

#[tokio::test]
async fn a_bridge_that_is_typed_wrongly_is_told_before_anything_starts() {
    let world = World::new();
    let said = world.refused(&["bridge", "--via", "telegrm"], 2).await;
    assert!(said.contains("telegrm") && said.contains("telegram"), "{said}");
    for (flags, part) in [
        (["--public-url", "https://x"], "--listen"),
        (["--listen", "0.0.0.0:0"], "--behind-proxy"),
        (["--parallel", "0"], "--parallel"),
        (["--route", "-100"], "CHAT=PROFILE"),
        (["--ask-expiry", "soon"], "--ask-expiry"),
        (["--busy", "refuse"], "--busy"),
    ] {
        let mut words = vec!["bridge", "--via", "telegram", "--set", "token=1:a"];
        words.extend(flags);
        let said = world.refused(&words, 2).await;
        assert!(said.contains(part), "{part} in {said}");
    }
    let said = world.refused(&["bridge", "--via", "telegram"], 1).await;
    assert!(said.contains("Bot token") && said.contains("SWITCHBOARD_TELEGRAM_TOKEN"), "{said}");
    let said =
        world.refused(&["bridge", "--via", "telegram", "--set", "token=1:a", "--allow", "ann"], 1).await;
    assert!(said.contains("\"ann\"") && said.contains("ids"), "{said}");
    let said = world.refused(&["standin", "telegram", "--listen", "0.0.0.0:0"], 2).await;
    assert!(said.contains("this machine only"), "{said}");
}

#[tokio::test]
async fn channels_are_added_shown_changed_switched_and_removed_without_a_server() {
    let world = World::new();
    world.done(&["profile", "add", "assistant", "--model", "scripted"]).await;
    let mut program = world.program();
    program.args(["channel", "add", "telegram", "--approvers", "4242", "--route", "-1001=assistant"]);
    program.env("SWITCHBOARD_TELEGRAM_TOKEN", "1:never-shown");
    let added = crate::world::run(program, "").await;
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(added.out.contains("It starts with `switchboard up`"), "{added:?}");
    let again = world.refused(&["channel", "add", "telegram", "--set", "token=1:a"], 1).await;
    assert!(again.contains("There is a channel telegram already") && again.contains("--slug"), "{again}");
    let shown = world.done(&["channel", "show", "telegram"]).await;
    for part in ["token            set", "approvers        4242", "routes           -1001=assistant"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let said = world
        .done(&["channel", "set", "telegram", "--approvers", "", "--no-typing", "--catch-up", "2h"])
        .await;
    assert!(said.contains("Warning: On telegram whoever may talk also DECIDES"), "{said}");
    let json = world.json(&["channel", "show", "telegram", "--json"]).await;
    assert_eq!((&json["options"]["typing"], &json["options"]["catch_up_s"]), (&json!(false), &json!(7200)));
    assert_eq!((&json["options"]["approvers"], &json["secrets"]), (&json!([]), &json!(["token"])));
    let off = world.json(&["channel", "disable", "telegram", "--json"]).await;
    assert_eq!((&off["enabled"], &off["status"]["state"]), (&json!(false), &json!("off")));
    assert_eq!(world.json(&["channel", "enable", "telegram", "--json"]).await["enabled"], true);
    for command in [
        vec!["channel", "list"],
        vec!["channel", "list", "--json"],
        vec!["channel", "show", "telegram", "--json"],
        vec!["channel", "status"],
        vec!["channel", "status", "telegram"],
        vec!["channel", "log", "telegram"],
        vec!["doctor"],
        vec!["trust"],
    ] {
        let out = world.done(&command).await;
        assert!(!out.contains("never-shown"), "{command:?} printed {out}");
    }
    assert!(world.done(&["channel", "list"]).await.contains("on, not running"));
    assert!(world.done(&["doctor"]).await.contains("Channel telegram (telegram, answered by assistant)"));
    let nothing = world.refused(&["channel", "set", "telegram"], 2).await;
    assert!(nothing.contains("nothing to change"), "{nothing}");
    world.done(&["channel", "remove", "telegram"]).await;
    assert_eq!(world.json(&["channel", "list", "--json"]).await, json!([]));
    let gone = world.refused(&["channel", "show", "telegram"], 1).await;
    assert!(gone.contains("There is no channel telegram"), "{gone}");
}

#[tokio::test]
async fn a_wrong_code_lets_nobody_in_and_empty_lists_say_so() {
    let world = World::new();
    world.done(&["profile", "add", "assistant", "--model", "scripted"]).await;
    let said = world.refused(&["pairing", "approve", "NOTACODE"], 1).await;
    assert!(said.contains("nobody was let in") && said.contains("pairing list"), "{said}");
    world.refused(&["pairing", "revoke", "NOTACODE"], 1).await;
    assert!(world.done(&["pairing", "list"]).await.contains("Nobody asks"));
    assert!(world.done(&["people"]).await.contains("Nobody was let in"));
    world.refused(&["people", "remove", "telegram", "1"], 1).await;
    assert!(world.done(&["outbox", "list"]).await.contains("Nothing is unsent"));
    assert!(world.done(&["inbox", "list"]).await.contains("answered"));
    world.refused(&["outbox", "retry", "1"], 1).await;
    world.refused(&["inbox", "replay", "1"], 1).await;
    for list in [["pairing", "list"], ["outbox", "list"], ["inbox", "list"]] {
        assert_eq!(world.json(&[list[0], list[1], "--json"]).await, json!([]));
    }
}

#[tokio::test]
async fn kinds_and_all_that_is_trusted_are_told_without_a_home() {
    let world = World::new();
    let kinds = world.json(&["channel", "kinds", "--json"]).await;
    let telegram =
        kinds.as_array().expect("kinds").iter().find(|k| k["id"] == "telegram").expect("it is there");
    for part in ["label", "blurb", "fields", "direct", "group", "trust", "gaps", "proof"] {
        assert!(!telegram[part].is_null(), "{part} in {telegram}");
    }
    assert!(world.done(&["channel", "kinds"]).await.contains("--set token=…"));
    assert!(world.done(&["trust", "--all"]).await.contains("agent:telegram-chats (telegram)"));
    assert!(!world.home().exists());
    let help = world.done(&["bridge", "--help"]).await;
    for flag in ["--route", "--debounce", "--busy", "--stream", "--approvers", "[default: 4]", "Examples:"] {
        assert!(help.contains(flag), "{flag} in {help}");
    }
    let mut held = world.program();
    held.args(["standin", "pigeon"]).stdout(Stdio::null());
    assert_eq!(held.status().await.expect("it ends").code(), Some(2));
}
