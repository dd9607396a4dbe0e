//! Asking the server which account uses a nick.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::keeper::ANSWER;
use super::line::Line;
use super::link::Done;
use super::session::Session;

/// Those who were asked for.
#[derive(Default)]
pub struct WhoIs(VecDeque<Asked>);

struct Asked {
    /// Folded.
    nick: String,
    account: Option<String>,
    due: Instant,
    done: Done<Option<String>>,
}

impl WhoIs {
    pub fn ask(&mut self, nick: String, done: Done<Option<String>>) {
        // It waits for its turn to leave first.
        self.0.push_back(Asked { nick, account: None, due: Instant::now() + ANSWER * 4, done });
    }

    /// Learns from a line; the session is told of an account that was found.
    pub fn judge(&mut self, line: &Line, session: &mut Session, now_ms: i64) {
        let nick = session.fold(line.param(1));
        let Some(at) = self.0.iter().position(|asked| asked.nick == nick) else { return };
        match line.command.as_str() {
            "330" => self.0[at].account = Some(line.param(2).to_ascii_lowercase()),
            "318" | "401" | "402" => {
                let Some(asked) = self.0.remove(at) else { return };
                if let Some(account) = &asked.account {
                    session.met(account, line.param(1), now_ms);
                }
                let _ = asked.done.send(Ok(asked.account));
            }
            _ => {}
        }
    }

    /// When one of them is overdue next.
    pub fn due(&self) -> Option<Instant> {
        self.0.iter().map(|asked| asked.due).min()
    }

    /// Gives up those that are overdue: whoever waits is told that we are away.
    pub fn pass(&mut self, now: Instant) {
        self.0.retain(|asked| asked.due > now);
    }
}
