//! Faults on demand.

use super::params::Refusal;
use super::platform::Platform;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// The server fails: 500.
    Flaky,
    /// Too fast: 429, with so many seconds to wait.
    RateLimit(u32),
    /// The token is not known any more: 401.
    Revoked,
    /// The person has blocked the bot: 403.
    ChatGone,
    /// The call is acted on, then the connection breaks.
    LostAnswer,
    /// Formatting is not taken: 400.
    Format,
    /// The method is not known to this server: 404.
    Unknown,
    /// Any other refusal: 400 with these words.
    Says(&'static str),
}

/// Which calls it hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// Those that put, edit or upload something.
    Posts,
    /// Drafts, typing, reactions, answers to presses.
    Gestures,
    /// `getUpdates`.
    Polls,
    Any,
}

/// A fault that is still to come.
pub(super) struct Planned {
    pub what: Break,
    pub of: Calls,
    pub times: u32,
}

impl Calls {
    fn holds(self, method: &str) -> bool {
        let post = [
            "sendmessage",
            "sendphoto",
            "senddocument",
            "sendvoice",
            "sendaudio",
            "sendvideo",
            "sendmediagroup",
            "editmessagetext",
        ];
        let gesture = ["sendmessagedraft", "sendchataction", "setmessagereaction", "answercallbackquery"];
        match self {
            Calls::Posts => post.contains(&method),
            Calls::Gestures => gesture.contains(&method),
            Calls::Polls => method == "getupdates",
            Calls::Any => true,
        }
    }
}

impl Platform {
    /// What goes wrong with this call.
    pub(super) fn breaks(&mut self, method: &str) -> Option<Break> {
        let planned = self.planned.iter_mut().find(|planned| planned.of.holds(method))?;
        let what = planned.what;
        planned.times -= 1;
        self.planned.retain(|planned| planned.times > 0);
        Some(what)
    }
}

impl Break {
    /// The refusal it is; nothing where the call is acted on first.
    pub(super) fn refusal(self) -> Option<Refusal> {
        Some(match self {
            Break::Flaky => Refusal::new(500, "Internal Server Error: restart"),
            Break::RateLimit(seconds) => {
                let mut refusal = Refusal::new(429, format!("Too Many Requests: retry after {seconds}"));
                refusal.retry_after = Some(seconds);
                refusal
            }
            Break::Revoked => Refusal::new(401, "Unauthorized"),
            Break::ChatGone => Refusal::new(403, "Forbidden: bot was blocked by the user"),
            Break::LostAnswer => return None,
            Break::Format => {
                Refusal::bad("can't parse entities: Unsupported start tag \"x\" at byte offset 0")
            }
            Break::Unknown => Refusal::new(404, "Not Found: method not found"),
            Break::Says(words) => Refusal::bad(words),
        })
    }

    /// By its name, with a number where it takes one: for callers from outside.
    pub(super) fn named(name: &str, number: u32) -> Option<Self> {
        Some(match name {
            "flaky" => Break::Flaky,
            "rate_limit" => Break::RateLimit(number),
            "revoked" => Break::Revoked,
            "chat_gone" => Break::ChatGone,
            "lost_answer" => Break::LostAnswer,
            "format" => Break::Format,
            "unknown" => Break::Unknown,
            _ => return None,
        })
    }
}
