//! The gate and its rules, as tables.

use sb_core::model::*;
use sb_core::rules::{covers, parse, plain_command};
use sb_core::{Standing, permit};
use serde_json::json;

use crate::world::profile;

fn call(tool: &str, class: ToolClass, input: serde_json::Value) -> Call {
    Call { id: "c1".into(), tool: tool.into(), input, class }
}

fn shell(command: &str) -> Call {
    call("shell", ToolClass::Shell, json!({ "command": command }))
}

const CLEAN: Standing<'static> = Standing { tools: None, allowed: &[], tainted: false, carries: None };

fn verdict(level: Level, class: ToolClass, tainted: bool) -> &'static str {
    let profile = Profile { autonomy: level, ..profile() };
    match permit(&profile, Standing { tainted, ..CLEAN }, &call("x", class, json!({}))) {
        Verdict::Go => "go",
        Verdict::Ask(_) => "ask",
        Verdict::No(_) => "no",
    }
}

/// Holds: H-20, H-15.
#[test]
fn each_autonomy_level_gives_what_its_table_says() {
    use ToolClass::*;
    let rows = [
        (Level::L1, ["no", "no", "no", "no", "no", "no"]),
        (Level::L2, ["go", "no", "no", "no", "no", "no"]),
        (Level::L3, ["go", "ask", "ask", "no", "ask", "no"]),
        (Level::L4, ["go", "go", "ask", "ask", "ask", "no"]),
        (Level::L5, ["go", "go", "go", "go", "ask", "ask"]),
        (Level::L6, ["go", "go", "go", "go", "ask", "go"]),
    ];
    for (level, expected) in rows {
        let classes = [Read, Write, Shell, Outside, Destructive, Spend];
        let got = classes.map(|class| verdict(level, class, false));
        assert_eq!(got, expected, "{level}");
    }
}

/// Holds: H-17.
#[test]
fn after_content_from_outside_every_call_that_reaches_out_asks() {
    use ToolClass::*;
    let classes = [Read, Write, Shell, Outside, Destructive, Spend];
    let got = classes.map(|class| verdict(Level::L6, class, true));
    assert_eq!(got, ["go", "go", "ask", "ask", "ask", "ask"]);
}

/// Holds: C-48, C-51, C-52.
#[test]
fn a_standing_approval_never_covers_payments_taint_or_what_the_level_refuses() {
    let rule = |tool: &str| Rule::Same { tool: tool.into(), input: json!({}) };
    let verdict = |level, class, tainted| {
        let allowed = [rule("x")];
        permit(
            &Profile { autonomy: level, ..profile() },
            Standing { tools: None, allowed: &allowed, tainted, carries: None },
            &call("x", class, json!({})),
        )
    };
    assert_eq!(verdict(Level::L3, ToolClass::Write, false), Verdict::Go);
    assert_eq!(verdict(Level::L5, ToolClass::Destructive, false), Verdict::Go);
    assert!(matches!(verdict(Level::L5, ToolClass::Spend, false), Verdict::Ask(_)));
    assert!(matches!(verdict(Level::L4, ToolClass::Outside, true), Verdict::Ask(_)));
    assert!(matches!(verdict(Level::L2, ToolClass::Write, false), Verdict::No(_)));
}

/// Holds: C-40.
#[test]
fn a_chat_can_only_narrow_the_tools_its_profile_gives() {
    let given = Profile { tools: ToolSet::Only(vec!["read_file".into()]), autonomy: Level::L6, ..profile() };
    let chosen = ["write_file".to_owned(), "read_file".to_owned()];
    let standing = Standing { tools: Some(&chosen), ..CLEAN };
    assert_eq!(permit(&given, standing, &call("read_file", ToolClass::Read, json!({}))), Verdict::Go);
    assert!(matches!(
        permit(&given, standing, &call("write_file", ToolClass::Write, json!({}))),
        Verdict::No(_)
    ));
    let none: [String; 0] = [];
    let narrowed = Standing { tools: Some(&none), ..CLEAN };
    assert!(matches!(
        permit(&given, narrowed, &call("read_file", ToolClass::Read, json!({}))),
        Verdict::No(_)
    ));
}

/// Holds: C-22.
#[test]
fn a_rule_matches_the_calls_it_was_written_for() {
    let git = parse("shell(git status:*)").expect("a rule");
    for yes in ["git status", "git status -s", "git  status 'a b'", "\"git\" status"] {
        assert!(covers(&git, &shell(yes)), "{yes}");
    }
    let notes = parse("write_file(notes:*)").expect("a rule");
    for yes in ["notes", "notes/a.md", "./notes/b/c.md", "notes.txt", "notes-2.md"] {
        assert!(
            covers(&notes, &call("write_file", ToolClass::Write, json!({"path": yes, "content": "x"}))),
            "{yes}"
        );
    }
    for no in ["notebook/a", "notes/../../etc/passwd", "../notes/a", "/notes/a", "other/notes"] {
        assert!(
            !covers(&notes, &call("write_file", ToolClass::Write, json!({"path": no, "content": "x"}))),
            "{no}"
        );
    }
    assert!(!covers(&notes, &call("read_file", ToolClass::Read, json!({"path": "notes/a"}))));
}

#[test]
fn a_rule_for_addresses_ends_where_their_host_does_and_follows_no_step_up() {
    let fetch = |url: &str| call("web_fetch", ToolClass::Outside, json!({ "url": url }));
    let host = parse("web_fetch(https://docs.example:*)").expect("a rule");
    for yes in [
        "https://docs.example",
        "https://docs.example/a/b?c#d",
        "https://docs.example?q",
        "https://docs.example/a.b",
    ] {
        assert!(covers(&host, &fetch(yes)), "{yes}");
    }
    for no in [
        "https://docs.example.evil/",
        "https://docs.example-evil/",
        "https://docs.example@evil/",
        "https://docs.example:9/",
        "https://docs.examplevil/",
        "http://docs.example/",
        "https://docs.example\\@evil/",
        "https://evil/https://docs.example",
    ] {
        assert!(!covers(&host, &fetch(no)), "{no}");
    }
    let path = parse("web_fetch(https://docs.example/open:*)").expect("a rule");
    for yes in ["https://docs.example/open", "https://docs.example/open/x", "https://docs.example/open.html"]
    {
        assert!(covers(&path, &fetch(yes)), "{yes}");
    }
    for no in [
        "https://docs.example/opened",
        "https://docs.example/open/../shut",
        "https://docs.example/open/%2e%2E/shut",
        "https://docs.example/open/.\t./shut",
        "https://docs.example/open/.%2e/shut",
        "https://docs.example/open/\\..\\shut",
    ] {
        assert!(!covers(&path, &fetch(no)), "{no}");
    }
}

/// A wrapper, pipe, substitution, redirect, variable or second command never matches.
///
/// Holds: C-20, C-21.
#[test]
fn a_shell_rule_matches_one_plain_command_and_nothing_around_it() {
    let git = parse("shell(git status:*)").expect("a rule");
    for no in [
        "git status; rm -rf x",
        "git status && rm x",
        "git status || x",
        "git status | sh",
        "git status > f",
        "git status < f",
        "git status $(rm x)",
        "git status `rm x`",
        "git status $HOME",
        "git status &",
        "git status\nrm x",
        "env git status",
        "env -S 'git status'",
        "sudo git status",
        "sh -c 'git status'",
        "bash -c 'git status'",
        "X=1 git status",
        "git statusx",
        "git stat\\\nus",
        "git status *",
        "git status ~",
        "git status {a,b}",
        "git status #x",
        "git status \"$(rm x)\"",
        "xargs git status",
        "git",
        "",
        "git status 'unclosed",
        "timeout 1 git status",
        "! git status",
        "(git status)",
        "git status\r\nrm x",
        "time git status",
    ] {
        assert!(!covers(&git, &shell(no)), "{no}");
    }
    let more = call("shell", ToolClass::Shell, json!({"command": "git status", "cwd": "/"}));
    assert!(!covers(&git, &more), "an argument the rule does not speak of");
    for wrapper in ["env:*", "sh -c:*", "python3.11:*", "/usr/bin/sudo:*"] {
        let rule = parse(&format!("shell({wrapper})")).expect("it reads");
        assert!(!covers(&rule, &shell("env ls")), "{wrapper}");
    }
}

#[test]
fn a_rule_that_cannot_be_read_says_how_to_write_one() {
    for bad in ["", "git status", "shell(git status", "shell()", "shell(:*)", "(x)", "a b(x)"] {
        let why = parse(bad).expect_err(bad).to_string();
        assert!(why.contains("write_file(notes:*)"), "{why}");
    }
}

proptest::proptest! {
    #[test]
    fn a_plain_command_holds_nothing_a_shell_gives_meaning_to(text in ".{0,60}") {
        if let Some(command) = plain_command(&text) {
            let quoted = text.contains(['\'', '"']);
            let means_more = text.trim().contains([';', '|', '&', '<', '>', '$', '`', '\n', '\\']);
            proptest::prop_assert!(quoted || !means_more, "{text}");
            proptest::prop_assert!(!command.words.is_empty());
        }
    }
}
