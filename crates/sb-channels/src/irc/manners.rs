//! What a connection does unasked: it answers what clients ask of clients, and comes back to a channel that put
//! us out.

use std::collections::BTreeMap;
use std::time::Duration;

use sb_channel::text::one_line;
use tokio::time::Instant;

use super::line::write;

/// A client's questions are answered no oftener.
const COURTESY: Duration = Duration::from_secs(10);
/// We come back to a channel that put us out, once in a while.
const COME_BACK: Duration = Duration::from_secs(30);
const FORGIVEN: Duration = Duration::from_secs(10 * 60);

/// See the module.
#[derive(Default)]
pub struct Manners {
    answered: Option<Instant>,
    /// Lines by which we come back, and when.
    coming_back: Vec<(Instant, String)>,
    /// When each channel put us out last; no more of them than we are to be in.
    put_out: BTreeMap<String, Instant>,
}

impl Manners {
    /// The line that answers a client's question, if there is one and it is time for it.
    pub fn answer(&mut self, nick: &str, what: &str) -> Option<String> {
        let now = Instant::now();
        if self.answered.is_some_and(|at| now.duration_since(at) < COURTESY) {
            return None;
        }
        let (asked, rest) = what.split_once(' ').unwrap_or((what, ""));
        let said = match asked {
            "VERSION" => "\u{1}VERSION Switchboard\u{1}".to_owned(),
            "PING" => format!("\u{1}PING {}\u{1}", one_line(rest, 40)),
            "DCC" => "Files sent by DCC are not taken here; a link is.".to_owned(),
            _ => return None,
        };
        self.answered = Some(now);
        Some(write(&[], "NOTICE", &[nick, &said]))
    }

    /// A channel put us out, and this line joins it. We come back once; whoever puts us out again means it.
    pub fn put_out(&mut self, channel: &str, join: &str) {
        let now = Instant::now();
        let before = self.put_out.insert(channel.to_owned(), now);
        if before.is_none_or(|at| now.duration_since(at) > FORGIVEN) {
            self.coming_back.push((now + COME_BACK, join.to_owned()));
        }
    }

    /// When we come back somewhere next.
    pub fn due(&self) -> Option<Instant> {
        self.coming_back.iter().map(|(at, _)| *at).min()
    }

    /// The lines by which we come back now.
    pub fn pass(&mut self, now: Instant) -> Vec<String> {
        let (due, later) = std::mem::take(&mut self.coming_back).into_iter().partition(|(at, _)| *at <= now);
        self.coming_back = later;
        let due: Vec<(Instant, String)> = due;
        due.into_iter().map(|(_, line)| line).collect()
    }
}
