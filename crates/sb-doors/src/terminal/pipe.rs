//! `talk` with no terminal on its input: a message a line, each answered before the next is read.

use std::io::Write;

use super::screen::Screen;
use super::talk::{Partner, TalkError};
use super::{Person, Typed};
use crate::local::client::DeskErrorKind;

/// Sends every line that is not blank, prints its answer, and ends with the input. A call that waits
/// for a person is printed with how to decide it; a refusal is printed like an answer.
pub async fn pipe<P: Person, W: Write>(partner: &Partner, mut person: P, out: W) -> Result<(), TalkError> {
    let mut screen = Screen::new(out);
    loop {
        let line = match person.read("").await? {
            Typed::Line(line) if line.trim().is_empty() => continue,
            Typed::Line(line) => line,
            Typed::Interrupt | Typed::End => return Ok(()),
        };
        match partner.desk.say(partner.to(), &line).await {
            Ok(answer) => {
                screen.finish(&answer)?;
                if answer.waits() {
                    answer.lines.last().map_or(Ok(()), |how| screen.line(how))?;
                }
            }
            Err(why) if matches!(why.kind, DeskErrorKind::Refused { .. }) => screen.line(&why.said)?,
            Err(why) => return Err(why.into()),
        }
    }
}
