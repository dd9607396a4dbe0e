//! From an open stream to a connection that counts: abilities agreed on, logged in, named. Pure.
//!
//! Invariants: where a password was given, the server welcomes us logged in or not at all; nothing waits
//! for a server that does not know the newer steps, since the older ones are said along with them.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sb_channel::Result;
use sb_channel::model::{Fault, FaultKind, Secret};

use super::faults::{self, fault};
use super::line::{Line, write};
use super::session::Session;

/// What we make use of.
const WANTED: [&str; 14] = [
    "message-tags",
    "server-time",
    "account-tag",
    "account-notify",
    "extended-join",
    "echo-message",
    "labeled-response",
    "batch",
    "cap-notify",
    "chghost",
    "standard-replies",
    "draft/chathistory",
    "draft/multiline",
    "draft/read-marker",
];
/// Nicks that are tried when ours is taken.
const MOST_NICKS: usize = 4;
/// Base64 of a login goes in pieces of this many bytes.
const PIECE: usize = 400;

/// How we log in to the network's services.
#[derive(Debug, Clone)]
pub enum Login {
    None,
    Plain {
        account: String,
        password: Secret,
    },
    /// By the certificate of our side of TLS.
    External,
    /// By telling NickServ, where the server has no SASL.
    NickServ {
        account: String,
        password: Secret,
    },
}

impl Login {
    /// As servers call it, where it is done by SASL.
    fn mechanism(&self) -> Option<&'static str> {
        match self {
            Login::Plain { .. } => Some("PLAIN"),
            Login::External => Some("EXTERNAL"),
            Login::None | Login::NickServ { .. } => None,
        }
    }
}

/// See the module.
pub struct Registering {
    login: Login,
    offered: Vec<(String, String)>,
    logged_in: bool,
    nicks: usize,
    /// NickServ was told who we are, and this is what it said last.
    told_nickserv: Option<String>,
}

/// What a line led to.
pub enum Step {
    /// These are to be said, and more lines are to come.
    Say(Vec<String>),
    /// We are in.
    Done,
}

fn say(line: impl Into<String>) -> Result<Step> {
    Ok(Step::Say(vec![line.into()]))
}

impl Registering {
    pub fn new(login: Login) -> Self {
        Self { login, offered: Vec::new(), logged_in: false, nicks: 0, told_nickserv: None }
    }

    /// The first lines.
    pub fn begin(server_password: Option<&Secret>, session: &Session) -> Vec<String> {
        let mut lines = vec!["CAP LS 302".to_owned()];
        lines.extend(server_password.map(|password| write(&[], "PASS", &[password.expose()])));
        lines.push(format!("NICK {}", session.nick));
        lines.push(write(&[], "USER", &["switchboard", "0", "*", "Switchboard"]));
        lines
    }

    /// What follows from a line.
    ///
    /// # Errors
    /// A server that will not have us; a login that fails.
    pub fn hear(&mut self, line: &Line, session: &mut Session) -> Result<Step> {
        match (line.command.as_str(), line.param(1)) {
            ("PING", _) => say(write(&[], "PONG", &[line.words()])),
            ("CAP", "LS") => {
                let caps = line.words().split_whitespace().map(|cap| cap.split_once('=').unwrap_or((cap, "")));
                self.offered.extend(caps.map(|(name, value)| (name.to_owned(), value.to_owned())));
                // A star says that the list goes on.
                if line.param(2) == "*" { Ok(Step::Say(Vec::new())) } else { self.ask() }
            }
            ("CAP", "ACK") => match self.login.mechanism() {
                Some(mechanism) => say(format!("AUTHENTICATE {mechanism}")),
                None => say("CAP END"),
            },
            ("CAP", "NAK") if self.login.mechanism().is_some() => Err(no_sasl()),
            ("CAP", "NAK") => say("CAP END"),
            ("AUTHENTICATE", _) if line.param(0) == "+" => Ok(Step::Say(self.credentials())),
            ("903" | "907", _) => {
                self.logged_in = true;
                say("CAP END")
            }
            ("902" | "904" | "905" | "906", _) => Err(wrong_login(line.words(), &line.command)),
            ("FAIL", "ACCOUNT_REQUIRED_TO_CONNECT" | "ACCOUNT_REQUIRED") => {
                Err(wrong_login(line.words(), "nobody is let in who is not logged in"))
            }
            ("433", _) => self.other_nick(session),
            ("432", _) => {
                let detail = format!("the server does not take the nick {}: {}", session.nick, line.words());
                Err(fault(FaultKind::Refused, detail))
            }
            ("464", _) => {
                let detail = format!("the server does not take `server_password`: {} (464)", line.words());
                Err(fault(FaultKind::Auth, detail))
            }
            ("465", _) => Err(faults::of_ending(&format!("banned: {}", line.words()))),
            ("ERROR", _) => Err(faults::of_ending(line.words())),
            ("437" | "436", _) => Err(fault(FaultKind::Passing { wait_ms: None }, line.words())),
            // The end of the greeting: from here on all that the server says of itself is known.
            ("376" | "422", _) => self.welcomed(session),
            _ => Ok(self.identified(line, session)),
        }
    }

    /// What it means that we are still not let in.
    pub fn overdue(&self, waited: Duration) -> Fault {
        match &self.told_nickserv {
            Some(said) => wrong_login(if said.is_empty() { "NickServ says nothing" } else { said }, "NickServ"),
            None => {
                let detail = format!("the server did not let us in within {} seconds", waited.as_secs());
                fault(FaultKind::Passing { wait_ms: None }, detail)
            }
        }
    }

    /// Asks for what is offered and of use.
    fn ask(&self) -> Result<Step> {
        let mechanism = self.login.mechanism();
        let sasl = self.offered.iter().find(|(name, _)| name == "sasl");
        if let Some(mechanism) = mechanism {
            // Quirk: sasl_gone_with_services. The ability is there only while the network's services are.
            let (_, known) = sasl.ok_or_else(no_sasl)?;
            if !known.is_empty() && !known.split(',').any(|one| one == mechanism) {
                let detail =
                    format!("the server has no login by SASL {mechanism}, only {known}: set `login` accordingly");
                return Err(fault(FaultKind::Auth, detail));
            }
        }
        let wanted = |name: &str| WANTED.contains(&name) || (name == "sasl" && mechanism.is_some());
        let asked: Vec<&str> =
            self.offered.iter().map(|(name, _)| name.as_str()).filter(|name| wanted(name)).collect();
        match asked.is_empty() {
            true => say("CAP END"),
            false => say(write(&[], "CAP", &["REQ", &asked.join(" ")])),
        }
    }

    fn credentials(&self) -> Vec<String> {
        let said = match &self.login {
            Login::Plain { account, password } => STANDARD.encode(format!("\0{account}\0{}", password.expose())),
            _ => String::new(),
        };
        let mut lines: Vec<String> = said
            .as_bytes()
            .chunks(PIECE)
            .map(|piece| format!("AUTHENTICATE {}", String::from_utf8_lossy(piece)))
            .collect();
        // A last piece that is full does not show that it is the last.
        if said.len().is_multiple_of(PIECE) {
            lines.push("AUTHENTICATE +".to_owned());
        }
        lines
    }

    fn other_nick(&mut self, session: &mut Session) -> Result<Step> {
        self.nicks += 1;
        if self.nicks > MOST_NICKS {
            let detail = format!("the nick {} and those like it are taken", session.wanted);
            return Err(fault(FaultKind::Passing { wait_ms: None }, detail));
        }
        session.nick.push('_');
        say(format!("NICK {}", session.nick))
    }

    fn welcomed(&mut self, session: &Session) -> Result<Step> {
        if self.login.mechanism().is_some() && !self.logged_in {
            return Err(no_sasl());
        }
        match &self.login {
            Login::NickServ { account, password } if session.account.is_none() => {
                let words = format!("IDENTIFY {account} {}", password.expose());
                self.told_nickserv = Some(String::new());
                say(write(&[], "PRIVMSG", &["NickServ", &words]))
            }
            _ => Ok(Step::Done),
        }
    }

    /// Whether NickServ took what it was told. Servers say so by a number, older ones by a mode of ours.
    fn identified(&mut self, line: &Line, session: &mut Session) -> Step {
        let Login::NickServ { account, .. } = &self.login else { return Step::Say(Vec::new()) };
        let Some(said) = &mut self.told_nickserv else { return Step::Say(Vec::new()) };
        match line.command.as_str() {
            "NOTICE" if line.nick().eq_ignore_ascii_case("NickServ") => line.words().clone_into(said),
            "900" => return Step::Done,
            "MODE" if session.is_us(line.param(0)) && line.param(1).starts_with('+') && line.param(1).contains('r') => {
                session.account = Some(account.to_ascii_lowercase());
                return Step::Done;
            }
            _ => {}
        }
        Step::Say(Vec::new())
    }
}

/// The line that asks for what is offered only now, if it is of use.
pub fn ask_for_more(offered: &str, session: &Session) -> Option<String> {
    let names = offered.split_whitespace().map(|cap| cap.split('=').next().unwrap_or(cap));
    let asked: Vec<&str> = names.filter(|name| WANTED.contains(name) && !session.can(name)).collect();
    (!asked.is_empty()).then(|| write(&[], "CAP", &["REQ", &asked.join(" ")]))
}

fn no_sasl() -> Fault {
    fault(
        FaultKind::Passing { wait_ms: None },
        "the server offers no login by SASL at the moment, and we do not come in without; where it never does, set `login` to nickserv",
    )
}

fn wrong_login(said: &str, how: &str) -> Fault {
    fault(FaultKind::Auth, format!("the network does not take our login, check `account` and `password`: {said} ({how})"))
}
