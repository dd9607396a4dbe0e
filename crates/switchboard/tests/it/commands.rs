//! The other commands: profiles, backup, doctor, and what is typed wrongly.

use crate::world::{World, say};

#[tokio::test]
async fn what_a_command_changes_holds_at_once_in_the_running_server() {
    let world = World::new();
    let server = world.up().await;
    let made = world
        .json(&[
            "profile",
            "add",
            "helper",
            "--model",
            "scripted",
            "--model",
            "scripted:two",
            "--workspace",
            "ws",
            "--tools",
            "read_file,shell",
            "--autonomy",
            "L4",
            "--allow",
            "shell(git status:*)",
            "--instructions",
            "Be kind.",
            "--deadline",
            "30",
            "--json",
        ])
        .await;
    assert_eq!((made["models"][1].as_str(), made["deadline_s"].as_u64()), (Some("scripted:two"), Some(30)));
    assert_eq!(made["available_tools"], serde_json::json!(["read_file", "shell"]));
    assert!(std::path::Path::new(made["workspace"].as_str().expect("a path")).is_absolute());
    let token = world.json(&["profile", "token", "add", "helper", "--json"]).await;
    let token = token["token"].as_str().expect("a token");
    assert_eq!(say(&server.url(), "helper", token, r#"{"text": "Hi"}"#).await.0, 200);
    let changed = world.json(&["profile", "set", "helper", "--autonomy", "L1", "--json"]).await;
    assert_eq!(
        (changed["autonomy"].as_str(), changed["instructions"].as_str()),
        (Some("L1"), Some("Be kind."))
    );
    assert!(world.done(&["profile", "list"]).await.contains("helper"));
    world.done(&["profile", "remove", "helper"]).await;
    assert_eq!(say(&server.url(), "helper", token, r#"{"text": "Hi"}"#).await.0, 401);
    let said = world.refused(&["profile", "show", "helper"], 1).await;
    assert!(said.contains("helper") && said.contains("profile list"), "{said}");
}

#[tokio::test]
async fn a_key_is_read_from_the_input_kept_sealed_and_never_shown() {
    let world = World::new();
    let key = "sk-a-key-of-its-own-0123456789";
    let added = world
        .typed(
            &["profile", "add", "p", "--model", "openai:m", "--api-key-stdin", "--json"],
            &format!("{key}\n"),
        )
        .await;
    assert_eq!(added.code, Some(0), "{added:?}");
    let shown = world.done(&["profile", "show", "p", "--json"]).await;
    assert!(
        shown.contains("\"has_key\": true") && !shown.contains(key) && !added.out.contains(key),
        "{shown}"
    );
    let database = std::fs::read(world.home().join("switchboard.db")).expect("a database");
    assert!(!database.windows(key.len()).any(|w| w == key.as_bytes()));
    assert_eq!(world.run(&["doctor"]).await.code, Some(0));
    world.done(&["profile", "add", "q", "--model", "openai:m"]).await;
    let doctor = world.run(&["doctor"]).await;
    assert_eq!(doctor.code, Some(1));
    assert!(
        doctor.out.contains("Profile q has no key") && doctor.out.contains("OPENAI_API_KEY"),
        "{doctor:?}"
    );
}

#[tokio::test]
async fn a_profile_that_could_not_run_is_refused_with_the_remedy() {
    let world = World::new();
    let add = |more: &[&str]| {
        [&["profile", "add", "p"], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for (more, code, says) in [
        (&[][..], 2, "--model"),
        (&["--model", "nobody:x"][..], 2, "anthropic, openai, scripted"),
        (&["--model", "scripted", "--autonomy", "L7"][..], 2, "L1 to L6"),
        (&["--model", "scripted", "--allow", "shell"][..], 2, "shell(git status:*)"),
        (&["--model", "scripted", "--workspace", "ws", "--tools", "juggle"][..], 1, "write_file"),
        (&["--model", "scripted", "--workspace", "/proc/nowhere"][..], 1, "/proc/nowhere"),
        (&["--model", "scripted", "--base-url", "example.org"][..], 1, "http://"),
        (&["--model", "scripted", "--deadline", "0"][..], 1, "--deadline"),
    ] {
        let said = world.refused(&add(more), code).await;
        assert!(said.contains(says), "{more:?}: {said}");
    }
    let home = world.home().display().to_string();
    let said = world.refused(&add(&["--model", "scripted", "--workspace", &home]), 1).await;
    assert!(said.contains("own home"), "{said}");
    let said = world.refused(&["profile", "add", "No Name", "--model", "scripted"], 1).await;
    assert!(said.contains("a-z"), "{said}");
    world.done(&add(&["--model", "scripted"])).await;
    let said = world.refused(&add(&["--model", "scripted"]), 1).await;
    assert!(said.contains("already") && said.contains("profile set"), "{said}");
    assert_eq!(world.json(&["profile", "list", "--json"]).await.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn what_is_typed_wrongly_ends_with_two_and_says_what_is_right() {
    let world = World::new();
    world.done(&["profile", "add", "p", "--model", "scripted"]).await;
    for (args, says) in [
        (&["fly"][..], "subcommand"),
        (&["up", "--sideways"][..], "--sideways"),
        (&["continue", "37702955dda47c36"][..], "--approve"),
        (&["continue", "37702955dda47c36", "--approve", "--decline", "no"][..], "cannot be used with"),
        (&["trace", "37702955"][..], "16 hex digits"),
        (&["up", "--log", "loud"][..], "json"),
    ] {
        let said = world.refused(args, 2).await;
        assert!(said.contains(says), "{args:?}: {said}");
    }
    let said = world.refused(&["trace", "0123456789abcdef"], 1).await;
    assert!(said.contains("0123456789abcdef"), "{said}");
}

#[tokio::test]
async fn a_backup_is_whole_and_is_not_written_over() {
    let world = World::new();
    let _server = world.up().await;
    world.typed(&["talk"], "Remember this\n").await;
    let told = world.done(&["backup", "copy.db"]).await;
    assert!(told.contains("Not in it are workspaces, and machine.key"), "{told}");
    let copy = world.home().with_file_name("copy.db");
    assert!(copy.exists());
    let said = world.refused(&["backup", "copy.db"], 1).await;
    let expected = format!(
        "switchboard: No backup was made: {} exists already; name another file.\n",
        copy.canonicalize().expect("a file").display()
    );
    assert_eq!(said, expected);
    let said = world.refused(&["backup", "/nonexistent/x"], 1).await;
    assert_eq!(
        said,
        "switchboard: No backup was made: the folder /nonexistent does not exist; make it, or name another.\n"
    );
    let restored = World::new();
    std::fs::create_dir_all(restored.home()).expect("a home");
    std::fs::copy(copy, restored.home().join("switchboard.db")).expect("copied");
    let sessions = restored.json(&["session", "list", "--json"]).await;
    let trace = restored.done(&["trace", sessions[0]["id"].as_str().expect("an id")]).await;
    assert!(trace.contains("Remember this"), "{trace}");
    // Its agent works in the workspace of the home that it is in now.
    let shown = restored.done(&["profile", "show", "assistant"]).await;
    let own = restored.home().join("workspaces/assistant");
    assert!(shown.contains(&own.display().to_string()) && own.is_dir(), "{shown}");
    restored.typed(&["talk"], "!tool write_file {\"path\": \"a.txt\", \"content\": \"b\"}\n/approve\n").await;
    assert!(own.join("a.txt").exists());
    assert!(!world.home().join("workspaces/assistant/a.txt").exists());
}

#[tokio::test]
async fn a_key_whose_machine_key_is_gone_can_be_seen_and_set_again() {
    let world = World::new();
    let add = ["profile", "add", "p", "--model", "openai:m", "--api-key-stdin"];
    assert_eq!(world.typed(&add, "sk-one-0123456789").await.code, Some(0));
    std::fs::remove_file(world.home().join("machine.key")).expect("it was made");
    let serves = |held: bool, doctor: &crate::world::Ran| {
        assert_eq!(doctor.code, Some(1), "{held} {doctor:?}");
        assert!(
            doctor.out.contains("machine.key") && doctor.out.contains("profile set p --api-key-stdin"),
            "{doctor:?}"
        );
        assert!(!doctor.out.contains("switchboard doctor"), "{doctor:?}");
    };
    serves(false, &world.run(&["doctor"]).await);
    {
        let _server = world.up().await;
        serves(true, &world.run(&["doctor"]).await);
        assert!(world.done(&["profile", "show", "p"]).await.contains("cannot be opened"));
        let set = ["profile", "set", "p", "--api-key-stdin"];
        assert_eq!(world.typed(&set, "sk-two-0123456789").await.code, Some(0));
        assert_eq!(world.run(&["doctor"]).await.code, Some(0));
    }
}

#[tokio::test]
async fn what_may_hold_a_secret_is_no_base_address_and_what_is_several_words_no_key() {
    let world = World::new();
    for (url, says) in [
        ("http://user:hunter2@h/v1", "no user and password"),
        ("http://hunter2@h/v1", "no user and password"),
        ("http://h/v1?key=hunter2", "no query"),
        ("http://h/v1#hunter2", "no fragment"),
        ("http://h/hunter2 x", "no spaces"),
        ("hunter2", "http://"),
    ] {
        let add = ["profile", "add", "p", "--model", "openai:m", "--base-url", url];
        let said = world.refused(&add, 1).await;
        assert!(said.contains(says) && !said.contains("hunter2"), "{said}");
    }
    let add = ["profile", "add", "p", "--model", "openai:m", "--api-key-stdin"];
    for key in ["sk-hunter2\nsk-two", "sk-hunter2 b", "sk-\u{1b}hunter2", "sk-\0hunter2"] {
        let ran = world.typed(&add, key).await;
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.err.contains("no API key") && !ran.err.contains("hunter2"), "{ran:?}");
    }
    assert_eq!(world.done(&["profile", "list", "--json"]).await.trim(), "[]");
}

#[tokio::test]
async fn a_profiles_own_key_is_taken_back_and_none_is_kept_that_would_not_be_used() {
    let world = World::new();
    let add = ["profile", "add", "p", "--model", "openai:m", "--api-key-stdin"];
    assert_eq!(world.typed(&add, "sk-one-0123456789").await.code, Some(0));
    let changed = world.json(&["profile", "set", "p", "--no-api-key", "--json"]).await;
    assert_eq!(changed["has_key"], false, "{changed}");
    let said = world.refused(&["profile", "set", "p"], 2).await;
    assert!(said.contains("nothing to change"), "{said}");
    for args in [
        &["profile", "add", "q", "--model", "scripted", "--api-key-stdin"][..],
        &["profile", "set", "p", "--model", "scripted", "--api-key-env", "PATH"][..],
    ] {
        let said = world.refused(args, 2).await;
        assert!(said.contains("scripted needs no API key"), "{said}");
    }
    let added = world.done(&["profile", "add", "r", "--model", "scripted"]).await;
    assert!(added.contains("give it a folder: --workspace DIR"), "{added}");
    let said = world.refused(&["session", "list", "--profile", "nobody"], 1).await;
    assert!(said.contains("There is no profile nobody"), "{said}");
    assert!(world.done(&["session", "list", "--profile", "r"]).await.contains("no session yet"));
}

#[tokio::test]
async fn doctor_tells_a_healthy_home_from_one_that_is_not() {
    let world = World::new();
    let none = world.json(&["doctor", "--json"]).await;
    assert_eq!((none["problems"].as_array().map(Vec::len), world.home().exists()), (Some(0), false));
    let server = world.up().await;
    let running = world.json(&["doctor", "--json"]).await;
    assert!(server.url().ends_with(running["server"]["listen"].as_str().expect("an address")), "{running}");
    let note = running["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("1 profile, 0 conversations, "), "{note}");
    drop(server);
    let broken = World::new();
    std::fs::create_dir_all(broken.home()).expect("a home");
    std::fs::write(
        broken.home().join("switchboard.db"),
        "this is no database at all, only words ".repeat(200),
    )
    .expect("a file");
    let found = broken.run(&["doctor"]).await;
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.out.contains("Problem: Opening the home "), "{found:?}");
    assert!(found.out.contains("go back to a backup. End what uses"), "{found:?}");
    assert!(!found.out.contains("switchboard doctor"), "{found:?}");
}

#[tokio::test]
async fn doctor_says_how_to_go_back_to_a_backup_where_the_database_was_lost() {
    let world = World::new();
    let add = ["profile", "add", "p", "--model", "openai:m", "--api-key-stdin"];
    assert_eq!(world.typed(&add, "sk-one-0123456789").await.code, Some(0));
    let file = world.home().join("switchboard.db");
    // All but the first page.
    let mut damaged = std::fs::read(&file).expect("a database");
    damaged[4096..].fill(0xff);
    std::fs::write(&file, damaged).expect("written");
    let found = world.run(&["doctor"]).await;
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.out.contains("go back to a backup. End what uses"), "{found:?}");
    assert!(!found.out.contains("switchboard doctor"), "{found:?}");
    std::fs::write(&file, "").expect("emptied");
    for name in ["switchboard.db-wal", "switchboard.db-shm"] {
        drop(std::fs::remove_file(world.home().join(name)));
    }
    let found = world.run(&["doctor"]).await;
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.out.contains("is empty although the home has machine.key"), "{found:?}");
    assert!(found.out.contains("FILE as switchboard.db"), "{found:?}");
    let said = world.refused(&["up", "--listen", "127.0.0.1:0"], 1).await;
    assert!(said.contains("is empty although"), "{said}");
}

#[tokio::test]
async fn doctor_notes_an_address_that_does_not_answer() {
    let world = World::new();
    let free =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|taken| taken.local_addr()).expect("a port");
    let silent = format!("http://{free}/v1");
    world.done(&["profile", "add", "p", "--model", "openai:m", "--base-url", &silent]).await;
    let server = world.up().await;
    let answering = format!("{}/v1", server.url());
    world.done(&["profile", "add", "q", "--model", "openai:m", "--base-url", &answering]).await;
    let doctor = world.run(&["doctor"]).await;
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
    assert!(
        doctor.out.contains(&format!("Note: The address of profile p does not answer ({free})")),
        "{doctor:?}"
    );
    assert!(!doctor.out.contains("profile q"), "{doctor:?}");
}

#[tokio::test]
async fn help_completions_and_reference_need_no_home() {
    let world = World::new();
    let help = world.done(&["--help"]).await;
    assert!(help.contains("Examples:") && !help.contains("reference"), "{help}");
    assert!(world.done(&["profile", "add", "--help"]).await.contains("--api-key-stdin"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(world.done(&["completions", shell]).await.contains("switchboard"));
    }
    let page = world.done(&["reference"]).await;
    for part in [
        "### `switchboard profile token add`",
        "--autonomy LEVEL",
        "| `behind_proxy` |",
        "SWITCHBOARD_TOKEN",
        "`may_not_decide`",
        "/approve",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!world.home().exists());
}
