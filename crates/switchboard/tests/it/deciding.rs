//! `continue` and `trace`: deciding from the command line, and who it was.

use crate::world::World;

/// Says something that must wait for a person, and gives its session.
async fn waiting_session(world: &World) -> String {
    let asked =
        world.typed(&["talk"], "!tool write_file {\"path\": \"notes.md\", \"content\": \"milk\"}\n").await;
    assert_eq!(asked.code, Some(0), "{asked:?}");
    let sessions = world.json(&["session", "list", "--json"]).await;
    assert_eq!(sessions[0]["state"], "waiting");
    let session = sessions[0]["id"].as_str().expect("an id").to_owned();
    assert!(asked.out.contains(&format!("switchboard continue {session} --approve")), "{}", asked.out);
    session
}

/// Holds: H-18, H-19.
#[tokio::test]
async fn a_call_is_approved_from_the_command_line_and_the_trace_says_by_whom() {
    let world = World::new();
    let server = world.up().await;
    let session = waiting_session(&world).await;
    let file = world.home().join("workspaces/assistant/notes.md");
    assert!(!file.exists());
    let decided = world.done(&["continue", &session, "--approve"]).await;
    assert!(decided.contains("(approved by cli:") && decided.contains("Made notes.md"), "{decided}");
    assert_eq!(std::fs::read_to_string(file).expect("a file"), "milk");
    let trace = world.done(&["trace", &session]).await;
    let order = [
        "says: !tool",
        "calls write_file",
        "asks for approval",
        "approved by cli:",
        "runs write_file",
        "Made notes.md",
        "answered",
    ];
    let places: Vec<_> =
        order.iter().map(|part| trace.find(part).unwrap_or_else(|| panic!("{part} in {trace}"))).collect();
    assert!(places.is_sorted(), "{trace}");
    let json = world.json(&["trace", &format!("chatcmpl-{session}-1"), "--json"]).await;
    let decided =
        json["entries"].as_array().expect("entries").iter().find(|e| e["record"]["kind"] == "decided");
    assert!(decided.expect("a decision")["record"]["by"].as_str().expect("who").starts_with("cli:"));
    let said = world.refused(&["continue", &session, "--approve"], 1).await;
    assert!(!said.trim().is_empty(), "nothing waits any more");
    drop(server);
}

#[tokio::test]
async fn a_call_is_declined_with_a_reason_and_the_talk_goes_on_without_a_server() {
    let world = World::new();
    world.done(&["profile", "add", "helper", "--model", "scripted", "--workspace", "ws"]).await;
    let session = waiting_session(&world).await;
    let decided = world.done(&["continue", &session, "--decline", "not today"]).await;
    assert!(decided.contains("declined by cli:") && decided.contains("not today"), "{decided}");
    // What the agent said stands in the lines, once.
    assert!(decided.contains("agent: "), "{decided}");
    assert_eq!(decided.lines().last(), Some(format!("session {session}: done").as_str()), "{decided}");
    let more = world.done(&["continue", &session, "And now?"]).await;
    assert!(more.contains("You said: \"And now?\""), "{more}");
    let answer = world.json(&["continue", &session, "And as JSON?", "--json"]).await;
    assert_eq!(
        (answer["session"].as_str(), answer["state"].as_str()),
        (Some(session.as_str()), Some("done"))
    );
}

#[tokio::test]
async fn a_trace_names_the_conversation_as_people_do_and_numbers_calls_of_one_turn() {
    let world = World::new();
    world.done(&["profile", "add", "helper", "--model", "scripted", "--workspace", "ws"]).await;
    world.typed(&["talk", "--conversation", "garden"], "Hello\n").await;
    world.typed(&["talk"], "Hello\n").await;
    let listed = world.done(&["session", "list"]).await;
    assert!(listed.contains("  garden  ") && listed.contains("  terminal ("), "{listed}");
    assert!(!listed.contains("http:") && !listed.contains("cli:"), "{listed}");
    let sessions = world.json(&["session", "list", "--json"]).await;
    let sessions = sessions.as_array().expect("a list");
    let garden = sessions.iter().find(|s| s["conversation"] == "http:helper:garden").expect("its id is kept");
    let id = garden["id"].as_str().expect("an id");
    let said = "!tool list_files {\"path\": \".\"}\n!tool read_file {\"path\": \"none\"}";
    world.done(&["continue", id, said]).await;
    let trace = world.done(&["trace", id]).await;
    assert!(trace.contains("conversation garden,"), "{trace}");
    for part in ["calls #1 list_files", "calls #2 read_file", "#1 list_files gave", "#2 read_file failed"] {
        assert!(trace.contains(part), "{part} in {trace}");
    }
}
