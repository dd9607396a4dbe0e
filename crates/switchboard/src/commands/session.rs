//! `session list`, and `continue`: what was talked about, and going on with it.

use anyhow::Result;
use sb_doors::local::client::{Answer, Desk, To};
use sb_doors::local::wire::SessionInfo;
use sb_doors::terminal::WAITING;

use crate::args::{Continue, SessionCommand};
use crate::output;
use crate::usage::usage;

/// Runs a command about sessions.
pub async fn run(command: SessionCommand, desk: &Desk) -> Result<()> {
    let SessionCommand::List { profile, most, json } = command;
    let sessions = desk.sessions(profile.as_deref(), most).await?;
    if json {
        return output::json(&sessions);
    }
    if sessions.is_empty() {
        return output::line("There is no session yet.");
    }
    let heading = ["session", "profile", "conversation", "state", "turns", "last active", "title"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(sessions.into_iter().map(row));
    output::table(&rows)
}

fn row(session: SessionInfo) -> Vec<String> {
    let turns = turns(&session);
    let state = if session.current { session.state } else { "old".to_owned() };
    vec![
        session.id,
        session.profile,
        conversation(&session.conversation),
        state,
        turns,
        session.last_active,
        session.title.unwrap_or_default(),
    ]
}

/// The turns that ended, and the one at work.
fn turns(session: &SessionInfo) -> String {
    match (session.state.as_str(), session.turns) {
        ("running" | "waiting", 0) => session.state.clone(),
        ("running" | "waiting", ended) => format!("{ended} + {}", session.state),
        (_, ended) => ended.to_string(),
    }
}

/// A conversation as people know it, out of its id: the name they gave it, or whose it is.
pub fn conversation(id: &str) -> String {
    let mut parts = id.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("cli"), Some(_), Some(user)) => format!("terminal ({user})"),
        (Some("http-default"), Some(_), Some("machine")) => "default (machine's token)".to_owned(),
        (Some("http-default"), Some(_), Some(token)) => format!("default (token {token})"),
        (Some(_), Some(_), Some(name)) => name.to_owned(),
        _ => id.to_owned(),
    }
}

/// Decides what a session waits on, or says something in it, and prints what comes of it.
pub async fn go_on(args: Continue, desk: &Desk) -> Result<()> {
    let session = id(&args.session)?;
    let words = match (args.approve, args.decline, args.text) {
        (true, _, _) => "/approve".to_owned(),
        (_, Some(why), _) => format!("/decline {}", why.trim()).trim_end().to_owned(),
        (_, _, Some(text)) => text,
        _ => return Err(usage("Say what to do: --approve, --decline WHY, or some words.")),
    };
    let answer = desk.say(To::Session(session), &words).await?;
    if args.json {
        return output::json(&answer);
    }
    for line in &answer.lines {
        output::foreign(line)?;
    }
    let rest = unsaid(&answer);
    if rest.is_empty() {
        return Ok(());
    }
    if !answer.lines.is_empty() {
        output::line("")?;
    }
    output::foreign(&rest)
}

/// What an answer says beyond its lines: all of a command's, and the advice about a failure.
fn unsaid(answer: &Answer) -> String {
    let mut rest = answer.said.trim().to_owned();
    for words in answer.lines.iter().filter_map(|line| line.strip_prefix("agent: ")) {
        if let Some(at) = rest.find(words) {
            rest.replace_range(at..at + words.len(), "");
        }
    }
    let waits = |part: &&str| answer.waits() && !answer.lines.is_empty() && part.starts_with(WAITING);
    let parts = rest.split("\n\n").map(str::trim).filter(|part| !part.is_empty() && !waits(part));
    parts.collect::<Vec<_>>().join("\n\n")
}

/// A session's id out of what answers carry: the id itself, or `chatcmpl-<session>-<n>`, `resp_<session>-<n>`.
pub fn id(typed: &str) -> Result<&str> {
    let typed = typed.trim();
    let answer = typed.strip_prefix("chatcmpl-").or_else(|| typed.strip_prefix("resp_"));
    let id = answer.and_then(|rest| rest.split('-').next()).unwrap_or(typed);
    if id.len() == 16 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Ok(id);
    }
    Err(usage(format!(
        "{typed:?} is no session's id: it has 16 hex digits. `switchboard session list` shows them."
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_shown_as_people_know_it() {
        for (id, shown) in [
            ("http:assistant:appr", "appr"),
            ("http:assistant:a:b", "a:b"),
            ("http-default:assistant:17a7dd01", "default (token 17a7dd01)"),
            ("http-default:assistant:machine", "default (machine's token)"),
            ("cli:assistant:root", "terminal (root)"),
            ("odd", "odd"),
        ] {
            assert_eq!(conversation(id), shown);
        }
    }

    #[test]
    fn the_turn_at_work_is_seen_beside_those_that_ended() {
        assert_eq!(
            (turns_of("running", 0), turns_of("running", 2)),
            ("running".into(), "2 + running".into())
        );
        assert_eq!((turns_of("idle", 1), turns_of("waiting", 1)), ("1".to_owned(), "1 + waiting".to_owned()));
    }

    fn turns_of(state: &str, turns: u64) -> String {
        super::turns(&SessionInfo {
            id: "s".into(),
            profile: "p".into(),
            conversation: "c".into(),
            title: None,
            began: String::new(),
            last_active: String::new(),
            state: state.into(),
            current: true,
            turns,
        })
    }

    #[test]
    fn what_the_lines_say_is_not_said_again() {
        let rest = |said: &str, lines: &[&str]| {
            let lines = lines.iter().map(|l| (*l).to_owned()).collect();
            unsaid(&Answer { said: said.to_owned(), lines, ..Answer::default() })
        };
        assert_eq!(rest("One.\n\nTwo.", &["agent: One.", "← gave", "agent: Two.", "session s: done"]), "");
        assert_eq!(rest("Half.\n\n⚠️ It failed.", &["agent: Half.", "session s: failed"]), "⚠️ It failed.");
        assert_eq!(rest("Idle.", &[]), "Idle.");
        let said = "I will.\n\nwaiting for your approval: shell (a program; request 12)".to_owned();
        let lines = vec!["agent: I will.".to_owned(), "session s: waiting for you".to_owned()];
        let waiting = Answer { said, lines, request: Some("12".into()), ..Answer::default() };
        assert_eq!(unsaid(&waiting), "");
    }

    /// Holds: O-20.
    #[test]
    fn the_ids_that_answers_carry_name_their_session() {
        assert_eq!(id("37702955dda47c36").expect("an id"), "37702955dda47c36");
        assert_eq!(id(" chatcmpl-37702955dda47c36-3 ").expect("an id"), "37702955dda47c36");
        assert_eq!(id("resp_37702955dda47c36-3").expect("an id"), "37702955dda47c36");
        for odd in ["", "3770", "37702955DDA47C36", "chatcmpl-", "37702955dda47c36-1", "../../desk/profiles"]
        {
            assert!(id(odd).is_err(), "{odd:?}");
        }
    }
}
