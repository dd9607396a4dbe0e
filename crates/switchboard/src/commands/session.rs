//! `session list`, and `continue`: what was talked about, and going on with it.

use anyhow::Result;
use sb_doors::local::client::{Desk, To};
use sb_doors::local::wire::SessionInfo;

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
    let state = if session.current { session.state } else { "old".to_owned() };
    vec![
        session.id,
        session.profile,
        session.conversation,
        state,
        session.turns.to_string(),
        session.last_active,
        session.title.unwrap_or_default(),
    ]
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
    let said = answer.said.trim();
    if !said.is_empty() && !answer.lines.is_empty() {
        output::line("")?;
    }
    if said.is_empty() { Ok(()) } else { output::foreign(said) }
}

/// A session's id out of what answers carry: the id itself, or `chatcmpl-<session>-<n>`.
pub fn id(typed: &str) -> Result<&str> {
    let typed = typed.trim();
    let id = typed.strip_prefix("chatcmpl-").and_then(|rest| rest.split('-').next()).unwrap_or(typed);
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
    fn the_ids_that_answers_carry_name_their_session() {
        assert_eq!(id("37702955dda47c36").expect("an id"), "37702955dda47c36");
        assert_eq!(id(" chatcmpl-37702955dda47c36-3 ").expect("an id"), "37702955dda47c36");
        for odd in ["", "3770", "37702955DDA47C36", "chatcmpl-", "37702955dda47c36-1", "../../desk/profiles"]
        {
            assert!(id(odd).is_err(), "{odd:?}");
        }
    }
}
