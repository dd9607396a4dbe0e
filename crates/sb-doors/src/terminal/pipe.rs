//! `talk` with no terminal on its input: a message a line, each answered before the next is read.

use std::io::Write;

use super::approval::apart;
use super::screen::Screen;
use super::talk::{Partner, TalkError};
use super::{Person, Typed};
use crate::local::client::{Answer, DeskErrorKind};

/// The state of an answer that tells of a failure.
const FAILED: &str = "failed";

/// Sends every line that is not blank, prints its answer, and ends with the input: whether every message
/// was taken and none failed. A call that waits for a person is printed with how to decide it; what is
/// refused is told in `err`, and the next line is read all the same.
pub async fn pipe<P: Person, W: Write, E: Write>(
    partner: &Partner,
    mut person: P,
    (out, err): (W, E),
) -> Result<bool, TalkError> {
    let (mut screen, mut complaints) = (Screen::new(out), Screen::new(err));
    let mut well = true;
    loop {
        let line = match person.read("").await? {
            Typed::Line(line) if line.trim().is_empty() => continue,
            Typed::Line(line) => line,
            Typed::Interrupt | Typed::End => return Ok(well),
        };
        match partner.desk.say(partner.to(), &line).await {
            Ok(mut answer) => {
                well &= answer.state != FAILED;
                if let Some(said) = how_to_decide(&answer) {
                    answer.said = said;
                }
                screen.finish(&answer)?;
            }
            Err(why) if matches!(why.kind, DeskErrorKind::Refused { .. }) => {
                well = false;
                complaints.line(&format!("switchboard: {}", why.said))?;
            }
            Err(why) => return Err(why.into()),
        }
    }
}

/// What an answer says, with what to type where a call waits: in a line of its own, or from elsewhere.
fn how_to_decide(answer: &Answer) -> Option<String> {
    let (request, session) = (answer.request.as_ref()?, answer.session.as_ref()?);
    let (words, sentence) = apart(&answer.said);
    let gap = if words.is_empty() { "" } else { "\n\n" };
    let sentence =
        sentence.map_or_else(|| format!("waiting for your approval (request {request})"), str::to_owned);
    Some(format!(
        "{words}{gap}{sentence}. Type /approve {request} or /decline {request} <why>, or run `switchboard continue {session} --approve` or `--decline <why>`."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_call_is_told_once_with_what_to_type() {
        let mut answer = Answer {
            session: Some("37702955dda47c36".into()),
            said: "I will.\n\nwaiting for your approval: shell {} (a program; request 12)".into(),
            ..Answer::default()
        };
        assert_eq!(how_to_decide(&answer), None);
        answer.request = Some("12".into());
        let told = how_to_decide(&answer).expect("it waits");
        assert!(told.starts_with(
            "I will.\n\nwaiting for your approval: shell {} (a program; request 12). Type /approve 12"
        ));
        assert!(
            told.ends_with("`switchboard continue 37702955dda47c36 --approve` or `--decline <why>`."),
            "{told}"
        );
        answer.said = "Somebody must decide.".into();
        assert!(
            how_to_decide(&answer)
                .expect("it waits")
                .contains("decide.\n\nwaiting for your approval (request 12). Type")
        );
    }
}
