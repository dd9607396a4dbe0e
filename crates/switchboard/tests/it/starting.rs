//! `up` and `serve`: what they print, and when they refuse to start.

use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::world::{Server, UP, World, client, run, say};

#[tokio::test]
async fn the_lines_that_the_first_start_prints_work_when_pasted() {
    let world = World::new();
    let server = world.up().await;
    assert!(
        server.lines[1].contains("assistant") && server.lines[1].contains("scripted"),
        "{:?}",
        server.lines
    );
    let curl = world.paste(server.line("curl ")).await;
    let answer: serde_json::Value = serde_json::from_str(&curl.out).expect("JSON");
    assert_eq!(answer["said"], "You said: \"Hello\"");
    let talk = server.lines.iter().find(|line| line.ends_with(" talk")).expect("a talk line");
    let talked = world.paste(&format!("printf 'Hi\\n' | {talk}")).await;
    assert_eq!((talked.code, talked.out.as_str()), (Some(0), "You said: \"Hi\"\n"), "{talked:?}");
}

#[tokio::test]
async fn whoever_sees_that_it_is_up_finds_the_lines_printed() {
    let world = World::new();
    let free =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|taken| taken.local_addr()).expect("a port");
    let printed = world.home().with_file_name("printed");
    let mut program = world.program();
    program.args(["up", "--listen", &free.to_string()]);
    program.stdout(std::fs::File::create(&printed).expect("a file"));
    let mut server = program.spawn().expect("it starts");
    let asking = async {
        while client().get(format!("http://{free}/healthz")).send().await.is_err() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asking).await.expect("it is up");
    let printed = std::fs::read_to_string(printed).expect("a file");
    assert!(printed.lines().any(|l| l.starts_with("curl ")) && printed.ends_with(" talk\n"), "{printed}");
    server.kill().await.expect("it ends");
}

#[tokio::test]
async fn a_token_is_shown_at_the_first_start_only_and_may_decide() {
    let world = World::new();
    let mut first = world.up().await;
    assert!(first.line("curl ").contains("Bearer sb_"), "{:?}", first.lines);
    let apps = format!("base URL {}/v1, API key that token, model assistant", first.url());
    assert!(first.line("In an app ").contains(&apps), "{:?}", first.lines);
    let tokens = world.json(&["profile", "token", "list", "--json"]).await;
    assert_eq!(
        (tokens[0]["profile"].as_str(), tokens[0]["approve"].as_bool()),
        (Some("assistant"), Some(true))
    );
    first.end(Signal::SIGTERM).await;
    let later = world.up().await;
    assert!(later.line("curl ").contains("Bearer $SWITCHBOARD_TOKEN"), "{:?}", later.lines);
    assert!(later.line("In an app ").contains("API key $SWITCHBOARD_TOKEN"), "{:?}", later.lines);
    assert_eq!(world.json(&["profile", "token", "list", "--json"]).await.as_array().map(Vec::len), Some(1));
}

/// Holds: W-05.
#[tokio::test]
async fn the_machines_token_comes_from_the_environment_and_is_long_enough() {
    let world = World::new();
    let start = |token: &str| {
        let mut program = world.program();
        program.args(["up", "--listen", "127.0.0.1:0"]).env("SWITCHBOARD_TOKEN", token);
        program
    };
    let short = run(start("fifteen-chars-x"), "").await;
    assert_eq!(short.code, Some(1));
    assert!(short.err.contains("SWITCHBOARD_TOKEN") && short.err.contains("16"), "{}", short.err);
    let server = Server::start(start("sixteen-chars-xx"), UP).await;
    assert!(server.line("curl ").contains("Bearer $SWITCHBOARD_TOKEN"));
    let (status, _) = say(&server.url(), "assistant", "sixteen-chars-xx", r#"{"text": "Hi"}"#).await;
    assert_eq!(status, 200);
    let curl = format!("SWITCHBOARD_TOKEN=sixteen-chars-xx; {}", server.line("curl "));
    assert!(world.paste(&curl).await.out.contains("You said"));
}

/// Holds: W-07, W-08.
#[tokio::test]
async fn serve_prints_its_address_and_routes_on_one_line_and_makes_no_profile() {
    let world = World::new();
    let mut program = world.program();
    program.args(["serve", "--listen", "127.0.0.1:0"]);
    let mut server = Server::start(program, 2).await;
    assert!(server.lines[0].contains(&server.url()));
    assert!(server.lines[0].contains("POST /v1/profiles/<name>/messages"));
    assert!(server.lines[0].contains("GET /v1/sessions/<id>"));
    assert!(server.lines[0].contains("POST /v1/chat/completions, GET /v1/models"));
    assert!(server.lines[1].contains("no profile"), "{:?}", server.lines);
    assert_eq!(world.done(&["profile", "list", "--json"]).await.trim(), "[]");
    assert!(server.end(Signal::SIGINT).await.success());
}

#[tokio::test]
async fn a_second_server_in_the_same_home_is_refused_and_told_what_to_do() {
    let world = World::new();
    let server = world.up().await;
    let running = world.json(&["doctor", "--json"]).await;
    let said = world.refused(&["up", "--listen", "127.0.0.1:0"], 1).await;
    let process = format!("process {}, on {}", running["server"]["pid"], server.url().replace("http://", ""));
    for part in ["Another switchboard holds this home", &process, "kill ", "SWITCHBOARD_HOME"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(said.ends_with(".\n"), "{said}");
}

#[tokio::test]
async fn where_there_are_several_profiles_the_lines_are_for_the_usual_one_and_name_the_others() {
    let world = World::new();
    world.done(&["profile", "add", "ada", "--model", "scripted"]).await;
    world.done(&["profile", "add", "assistant", "--model", "scripted"]).await;
    let mut program = world.program();
    program.args(["up", "--listen", "127.0.0.1:0"]);
    let server = Server::start(program, UP + 1).await;
    assert!(server.line("curl ").contains("/v1/profiles/assistant/messages"), "{:?}", server.lines);
    let last = server.line("That is one of 2 profiles.");
    assert!(last.contains(" profile list`") && last.ends_with(" talk NAME"), "{last}");
}

#[tokio::test]
async fn lines_of_the_log_are_json_where_that_is_asked_for() {
    let world = World::new();
    let mut program = world.program();
    program.args(["serve", "--listen", "127.0.0.1:0", "--log", "json"]);
    program.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let mut server = program.spawn().expect("it starts");
    let mut log = BufReader::new(server.stderr.take().expect("a log")).lines();
    let line = tokio::time::timeout(Duration::from_secs(20), log.next_line()).await.expect("it logs");
    let line: serde_json::Value =
        serde_json::from_str(&line.expect("text").expect("a line")).expect("an object");
    assert_eq!(line["level"], "INFO");
    assert!(line["fields"]["address"].as_str().expect("an address").starts_with("127.0.0.1:"), "{line}");
    server.kill().await.expect("it ends");
}

#[tokio::test]
async fn a_port_in_use_is_named_with_the_flag_that_chooses_another() {
    let (world, other) = (World::new(), World::new());
    let server = world.up().await;
    let address = server.url().replace("http://", "");
    let port = address.rsplit(':').next().expect("a port");
    let said = other.refused(&["up", "--listen", &address], 1).await;
    assert!(said.contains(port) && said.contains("--listen"), "{said}");
    // Nothing was made of it: the next start is the first one.
    assert!(other.up().await.line("curl ").contains("Bearer sb_"));
}

#[tokio::test]
async fn settings_that_cannot_be_are_refused_before_anything_starts() {
    let world = World::new();
    let said = world.refused(&["up", "--listen", "0.0.0.0:0"], 2).await;
    assert!(said.contains("--behind-proxy"), "{said}");
    let said = world.refused(&["up", "--parallel", "0"], 2).await;
    assert!(said.contains("--parallel"), "{said}");
    std::fs::create_dir_all(world.home()).expect("a home");
    std::fs::write(world.home().join("switchboard.toml"), "lissten = \"x\"\n").expect("a file");
    let said = world.refused(&["up"], 1).await;
    assert!(said.contains("switchboard.toml") && said.contains("lissten"), "{said}");
    std::fs::write(world.home().join("switchboard.toml"), "listen = \"127.0.0.1:0\"\n").expect("a file");
    let mut program = world.program();
    program.arg("up");
    assert!(!Server::start(program, UP).await.url().ends_with(":8790"));
}

#[tokio::test]
async fn a_key_in_the_environment_makes_a_profile_with_a_real_model() {
    let world = World::new();
    let mut program = world.program();
    program.args(["up", "--listen", "127.0.0.1:0"]);
    program.env("OPENAI_API_KEY", "sk-nothing").env("SWITCHBOARD_MODEL", "openai:some-model");
    let server = Server::start(program, UP).await;
    assert!(server.lines[1].contains("openai:some-model"), "{:?}", server.lines);
    let profile = world.json(&["profile", "show", "assistant", "--json"]).await;
    assert_eq!(
        (profile["models"][0].as_str(), profile["autonomy"].as_str()),
        (Some("openai:some-model"), Some("L3"))
    );
    let workspace = profile["workspace"].as_str().expect("a workspace");
    assert!(workspace.ends_with("/workspaces/assistant") && std::path::Path::new(workspace).is_dir());
    assert!(!server.lines.iter().any(|line| line.contains("sk-nothing")));
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the program itself is what is tested")]
#[tokio::test]
async fn a_shells_limit_of_open_files_is_none_of_a_servers() {
    let world = World::new();
    let mut program = tokio::process::Command::new("sh");
    let serve = world.program();
    program.args(["-c", "ulimit -Sn 64; exec \"$0\" serve --listen 127.0.0.1:0"]);
    program.arg(serve.as_std().get_program());
    let variables = serve.as_std().get_envs().filter_map(|(name, value)| Some((name, value?)));
    program.env_clear().envs(variables).kill_on_drop(true);
    let server = Server::start(program, 1).await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.id())).expect("its limits");
    let open_files = limits.lines().find(|line| line.starts_with("Max open files")).expect("a line");
    let [soft, hard] = open_files.split_whitespace().skip(3).take(2).collect::<Vec<_>>()[..] else {
        panic!("{open_files}");
    };
    assert_eq!(soft, hard, "{open_files}");
}
