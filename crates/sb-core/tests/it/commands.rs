//! Reading commands: what is one, what is not, and what a wrong one is told.

use sb_core::commands::{Always, Command, How, TABLE, When, help, read_text};

fn read(text: &str) -> Command {
    let read = read_text(text, false).unwrap_or_else(|e| panic!("{text}: {e}"));
    read.unwrap_or_else(|| panic!("{text} is no command")).1
}

/// Holds: C-04, C-19, C-42.
#[test]
fn every_command_reads_as_its_usage_says() {
    assert_eq!(read("/stop"), Command::Stop);
    assert_eq!(read("/APPROVE"), Command::Approve { request: None, how: How::Once });
    assert_eq!(
        read("/approve 3F2A9c1e"),
        Command::Approve { request: Some("3f2a9c1e".into()), how: How::Once }
    );
    assert_eq!(read("/approve 2"), Command::Approve { request: None, how: How::Way(2) });
    assert_eq!(
        read("/approve 3f2a9c1e 12"),
        Command::Approve { request: Some("3f2a9c1e".into()), how: How::Way(12) }
    );
    assert_eq!(read("/approve always"), Command::Approve { request: None, how: How::Always(Always::Same) });
    let Command::Approve { request: Some(_), how: How::Always(Always::Matching(_)) } =
        read("/approve 3f2a always shell(git status:*)")
    else {
        panic!("an id and a rule");
    };
    assert_eq!(read("/decline it costs too much "), Command::Decline { words: "it costs too much".into() });
    assert_eq!(read("/allowed off"), Command::Allowed { off: true });
    assert_eq!(read("/resume 37702955dda47c36"), Command::Resume("37702955dda47c36".into()));
    assert_eq!(read("/title  My   day\n"), Command::Title("My day".into()));
    assert_eq!(read("/model 2"), Command::Model(Some(2)));
    assert_eq!(read("/system Be\nbrief"), Command::System(Some("Be\nbrief".into())));
    assert_eq!(read("/tools read_file, shell"), Command::Tools(vec!["read_file".into(), "shell".into()]));
    for entry in TABLE {
        assert!(help().contains(entry.usage), "{}", entry.name);
    }
}

/// Holds: C-13, C-14.
#[test]
fn a_stop_word_alone_stops_and_a_sentence_that_begins_with_one_does_not() {
    for word in ["stop", "Stop.", "WAIT", "cancel", "abort!", "halt", "hold on", "nevermind"] {
        assert!(matches!(read_text(word, true), Ok(Some((_, Command::Stop)))), "{word}");
        assert_eq!(read_text(word, false), Ok(None), "{word}");
    }
    for sentence in ["stop using the staging bucket", "wait for me", "hold on to it", "don't stop"] {
        assert_eq!(read_text(sentence, true), Ok(None), "{sentence}");
    }
}

#[test]
fn words_for_the_agent_are_not_taken_for_commands() {
    for text in ["hello", "/etc/hosts is wrong", "/ hm", " /stop please", "//", "/1", "see /help", ""] {
        assert_eq!(read_text(text, false), Ok(None), "{text}");
    }
}

#[test]
fn a_wrong_command_is_told_how_to_write_it() {
    for (text, hint) in [
        ("/aprove", "/help"),
        ("/stop now", "/stop"),
        ("/approve maybe", "/approve"),
        ("/approve always git status", "write_file(notes:*)"),
        ("/model two", "/model"),
        ("/resume xyz!", "/sessions"),
        ("/title", "/title"),
        ("/allowed on", "/allowed"),
    ] {
        let why = read_text(text, false).expect_err(text).to_string();
        assert!(why.contains(hint), "{text}: {why}");
    }
}

/// Holds: C-54.
#[test]
fn five_commands_and_the_decisions_never_wait_for_a_running_turn() {
    let at_once: Vec<&str> = TABLE.iter().filter(|e| e.when == When::Always).map(|e| e.name).collect();
    assert_eq!(at_once, ["stop", "approve", "decline", "status", "usage", "sessions", "help"]);
}
