//! Starting an agent process and its session: taken up where it was, if the agent can, else begun anew.
//!
//! No session is worked with before the agent is in a mode that asks: refused if it offers none.

use std::time::Duration;

use sb_harness::model::{Entry, ModelRef, Record, TurnFault, TurnFaultKind};
use sb_harness::net::child::Exit;
use sb_harness::net::model::Secret;
use sb_harness::net::redact;
use sb_wire::jsonrpc::{Failure, Message, NO_SUCH_METHOD};
use serde_json::{Value, json};

use super::link::Link;
use super::presets::{Asking, Launch};
use super::settings::Setting;
use crate::lending::Pass;

/// How long an agent may take to start, or to open a session: some look around a network first.
const PATIENCE: Duration = Duration::from_secs(60);
/// The wire's version.
const VERSION: u64 = 1;
/// It wants a login first.
const AUTH_REQUIRED: i64 = -32000;

/// An agent process with its session.
pub(super) struct Agent {
    pub link: Link,
    pub launch: Launch,
    /// Its own id of the session.
    pub session: String,
    /// What a prompt may hold besides words: pictures.
    pub images: bool,
    /// What it said its session has cost so far, in millionths of a dollar.
    pub cost_micros: u64,
    /// What people said when they declined, which the wire has no room for.
    pub untold: Vec<String>,
    /// What it lets us set, as it told last.
    pub mode: Option<Setting>,
    model: Option<Setting>,
    /// The mode it was set to.
    pub asks_in: Option<String>,
    /// By which it calls tools of ours; none: it takes none.
    pub pass: Option<Pass>,
}

/// What a session is opened with.
#[derive(Debug, Clone, Default)]
pub(super) struct Opening {
    /// The agent's own id of a session that is to be taken up.
    pub known: Option<String>,
    /// Ours, as agents are told it.
    pub version: &'static str,
}

/// How a session was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opened {
    /// It knows what was said before.
    Known,
    /// It knows nothing.
    New,
    /// It was to know what was said before, and could not be brought to.
    Lost,
}

impl Agent {
    pub fn is_of(&self, launch: &Launch) -> bool {
        self.launch.is_same(launch)
    }

    /// Starts a process, and its session: the one it is known by, or a new one.
    pub async fn open(
        launch: Launch,
        opening: &Opening,
        pass: Option<Pass>,
    ) -> Result<(Self, Opened), TurnFault> {
        let mut spoken = launch.spoken.clone();
        if let (Some(name), Some(pass)) = (launch.server_key, &pass) {
            spoken.variables.push((name.to_owned(), pass.secret().clone()));
        }
        let link = Link::start(&spoken).map_err(|why| not_started(&launch, &why))?;
        let mut agent = Self {
            link,
            launch,
            session: String::new(),
            images: false,
            cost_micros: 0,
            untold: Vec::new(),
            mode: None,
            model: None,
            asks_in: None,
            pass,
        };
        let info = json!({"name": "switchboard", "title": "Switchboard", "version": opening.version});
        let offers = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
        let hello = json!({"protocolVersion": VERSION, "clientCapabilities": offers, "clientInfo": info});
        let able = agent.call("initialize", hello).await.map_err(|why| agent.refused("start", why))?;
        if able["protocolVersion"].as_u64() != Some(VERSION) {
            let what = format!(
                "{} speaks version {} of the protocol, and here version {VERSION} is spoken. Install a version of it that does",
                agent.launch.label, able["protocolVersion"]
            );
            return Err(TurnFault::new(TurnFaultKind::Refused, what));
        }
        let can = &able["agentCapabilities"];
        agent.images = can["promptCapabilities"]["image"] == true;
        if can["mcpCapabilities"]["http"] != true {
            agent.pass = None;
        }
        let taken_up = match &opening.known {
            Some(id) => agent.take_up(id, can).await,
            None => None,
        };
        let (opened, offered) = match taken_up {
            Some(offered) => (Opened::Known, offered),
            None => {
                let new = json!({"cwd": agent.launch.spoken.dir, "mcpServers": agent.servers()});
                let offered =
                    agent.call("session/new", new).await.map_err(|why| agent.unopened(why, &able))?;
                agent.session = offered["sessionId"].as_str().unwrap_or_default().to_owned();
                (if opening.known.is_some() { Opened::Lost } else { Opened::New }, offered)
            }
        };
        if agent.session.is_empty() {
            let what = format!("{} opened a session without an id", agent.launch.label);
            return Err(TurnFault::new(TurnFaultKind::Crashed, what));
        }
        (agent.mode, agent.model) = (Setting::mode(&offered), Setting::model(&offered));
        // Which modes there are may depend on the model, so that is first.
        agent.work_with(agent.launch.model.clone()).await?;
        agent.make_it_ask().await?;
        Ok((agent, opened))
    }

    /// Takes up a session it had in another process.
    async fn take_up(&mut self, id: &str, can: &Value) -> Option<Value> {
        let method = match (can["sessionCapabilities"]["resume"].is_object(), can["loadSession"] == true) {
            (true, _) => "session/resume",
            (false, true) => "session/load",
            (false, false) => return None,
        };
        let params = json!({"sessionId": id, "cwd": self.launch.spoken.dir, "mcpServers": self.servers()});
        match self.call(method, params).await {
            // Without modes it could not be made to ask: a new session may offer them.
            Ok(offered) if self.needs_mode() && Setting::mode(&offered).is_none() => None,
            Ok(offered) => {
                self.session = id.to_owned();
                Some(offered)
            }
            Err(why) => {
                tracing::debug!(agent = %self.launch.label, ?why, "a session could not be taken up");
                None
            }
        }
    }

    /// MCP servers it is given, as the wire has them; again where a session is taken up.
    fn servers(&self) -> Vec<Value> {
        self.pass.iter().map(|pass| pass.server(self.launch.server_key)).collect()
    }

    fn needs_mode(&self) -> bool {
        matches!(self.launch.asks, Some(Asking::Mode(_)))
    }

    /// Modes in which it asks before it acts.
    pub fn asking_modes(&self) -> Vec<String> {
        match &self.launch.asks {
            Some(Asking::Mode(wanted)) => wanted.clone(),
            Some(Asking::SetUp) | None => {
                self.mode.as_ref().and_then(|mode| mode.current.clone()).into_iter().collect()
            }
        }
    }

    /// Sets a mode that asks, unless it is made to by what it was started with.
    async fn make_it_ask(&mut self) -> Result<(), TurnFault> {
        let Some(Asking::Mode(wanted)) = self.launch.asks.clone() else { return Ok(()) };
        let offered = self.mode.clone();
        let mode = offered.as_ref().and_then(|o| wanted.iter().find(|mode| o.values.contains(mode)));
        let (Some(setting), Some(mode)) = (offered.as_ref(), mode) else {
            let what = match &offered {
                Some(modes) => format!("it offers the modes {}", modes.told()),
                None => "it offers no modes".to_owned(),
            };
            return Err(TurnFault::new(
                TurnFaultKind::Refused,
                format!(
                    "{} offers no mode that asks before it acts ({what}). If one of them does, name it with `switchboard profile set --harness-mode`; `--harness-mode asks` says that its own set-up makes it ask",
                    self.launch.label
                ),
            ));
        };
        let (method, params) = setting.request(&self.session, mode);
        let set =
            self.call(method, params).await.map_err(|why| self.refused("be set to a mode that asks", why))?;
        // Whoever tells how it stands now must not tell another.
        let now = Setting::mode(&set).and_then(|now| now.current);
        if let Some(now) = now.filter(|now| now != mode) {
            let what = format!(
                "{} was to ask before it acts, in its mode {mode}, and stayed in the mode {now}",
                self.launch.label
            );
            return Err(TurnFault::new(TurnFaultKind::Refused, what));
        }
        self.asks_in = Some(mode.clone());
        Ok(())
    }

    /// Has it work with this model, unless what it was started with says so already.
    pub async fn work_with(&mut self, model: Option<ModelRef>) -> Result<(), TurnFault> {
        self.launch.model.clone_from(&model);
        let Some(model) = model.filter(|model| !model.id.is_empty()) else { return Ok(()) };
        let offered = self.model.clone();
        let names = [model.id.clone(), format!("{}/{}", model.provider, model.id), model.to_string()];
        let named = offered.as_ref().and_then(|o| names.iter().find(|name| o.values.contains(name)));
        let (setting, name) = match (offered.as_ref(), named) {
            (Some(setting), Some(name)) => (setting, name),
            _ if self.launch.model_told => return Ok(()),
            (offered, _) => {
                let what = match offered {
                    Some(models) => format!("it offers {}", models.told()),
                    None => "it lets nobody choose one".to_owned(),
                };
                return Err(TurnFault::new(
                    TurnFaultKind::Refused,
                    format!(
                        "{} does not offer the model {model} ({what}). Name one it offers with `switchboard profile set --model`, or leave the choice to it: --model \"\"",
                        self.launch.label
                    ),
                ));
            }
        };
        if setting.current.as_ref() == Some(name) {
            return Ok(());
        }
        let (method, params) = setting.request(&self.session, name);
        let set = self.call(method, params).await;
        let set = set.map_err(|why| self.refused(&format!("work with the model {name}"), why))?;
        if set["configOptions"].is_array() {
            (self.mode, self.model) = (Setting::mode(&set), Setting::model(&set));
        } else if let Some(model) = &mut self.model {
            model.current = Some(name.clone());
        }
        Ok(())
    }

    /// Asks for something and waits for the answer. Whatever else it says meanwhile is of no turn.
    async fn call(&mut self, method: &str, params: Value) -> Result<Value, Unanswered> {
        let id = self.link.ask(method, params).await;
        let answered = async {
            loop {
                match self.link.next().await {
                    None => return Err(Unanswered::Gone),
                    Some(Message::Answer { id: of, result }) if of == id => {
                        return result.map_err(Unanswered::Refused);
                    }
                    Some(Message::Request { id, method, .. }) => refuse(&self.link, id, &method).await,
                    Some(_) => {}
                }
            }
        };
        tokio::time::timeout(PATIENCE, answered).await.unwrap_or(Err(Unanswered::Silent))
    }

    fn unopened(&mut self, why: Unanswered, able: &Value) -> TurnFault {
        match &why {
            Unanswered::Refused(failure) if failure.code == AUTH_REQUIRED => {
                let names = able["authMethods"].as_array().into_iter().flatten();
                let ways: Vec<&str> = names.filter_map(|m| m["name"].as_str()).collect();
                let ways =
                    if ways.is_empty() { String::new() } else { format!(" (it knows: {})", ways.join(", ")) };
                TurnFault::new(
                    TurnFaultKind::Auth,
                    format!(
                        "{} wants a login{ways}. Log in with it once as the user that runs Switchboard, or give the profile a key",
                        self.launch.label
                    ),
                )
            }
            _ => self.refused("open a session", why),
        }
    }

    fn refused(&self, what: &str, why: Unanswered) -> TurnFault {
        let (label, said) = (&self.launch.label, self.plain(&self.link.last_words()));
        let after = if said.is_empty() { String::new() } else { format!(". Its last words: {said}") };
        match why {
            Unanswered::Refused(failure) => {
                let detail = failure.data.as_str().or(failure.data["details"].as_str()).unwrap_or_default();
                let message = self.plain(&format!("{} {detail}", failure.message));
                TurnFault::new(TurnFaultKind::Refused, format!("{label} would not {what}: {message}"))
            }
            Unanswered::Gone => {
                TurnFault::new(TurnFaultKind::Crashed, format!("{label} ended when it was to {what}{after}"))
            }
            Unanswered::Silent => TurnFault::new(
                TurnFaultKind::Deadline,
                format!("{label} took longer than {} seconds to {what}{after}", PATIENCE.as_secs()),
            ),
        }
    }

    /// What an agent said, on one line, without what it was given as a secret.
    fn plain(&self, text: &str) -> String {
        let secrets: Vec<&Secret> = self.launch.spoken.variables.iter().map(|(_, value)| value).collect();
        let last: String =
            text.lines().rev().take(3).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" ");
        redact(last.trim(), &secrets)
    }

    /// It said no more in mid-turn.
    pub async fn died(&mut self) -> TurnFault {
        let (exit, words) = self.link.end().await;
        let how = match exit {
            Some(Exit::Code(code)) => format!("ended with exit code {code}"),
            Some(Exit::Signal(signal)) => format!("was ended by signal {signal}"),
            Some(Exit::TimedOut) | None => "closed its output".to_owned(),
        };
        let words = self.plain(&words);
        let said =
            if words.is_empty() { "without a word".to_owned() } else { format!("with these words: {words}") };
        let label = &self.launch.label;
        TurnFault::new(
            TurnFaultKind::Crashed,
            format!("{label} {how} in the middle of this, {said}. The next message starts it again"),
        )
    }
}

/// Why there was no answer.
#[derive(Debug)]
enum Unanswered {
    Refused(Failure),
    Gone,
    Silent,
}

/// Nothing of what an agent may ask outside a turn is given.
async fn refuse(link: &Link, id: Value, method: &str) {
    let answer = match method {
        "session/request_permission" => Ok(json!({"outcome": {"outcome": "cancelled"}})),
        _ => Err(Failure::new(NO_SUCH_METHOD, "This is not offered.")),
    };
    link.answer(id, answer).await;
}

fn not_started(launch: &Launch, why: &std::io::Error) -> TurnFault {
    let program = &launch.spoken.program;
    let what = match (why.kind(), launch.install) {
        (std::io::ErrorKind::NotFound, Some(how)) => format!(
            "{} cannot be started: there is no program {program} here. It is installed by: {how}",
            launch.label
        ),
        _ => format!("The agent {program} cannot be started: {why}"),
    };
    TurnFault::new(TurnFaultKind::Refused, what)
}

/// The agent's own id of a session, unless something of what it knows was undone since.
pub(crate) fn known_session(log: &[Entry]) -> Option<&str> {
    let opened = |e: &Entry| match &e.record {
        Record::Opened { id } => Some(id.clone()),
        _ => None,
    };
    let last = log.iter().rev().find_map(opened)?;
    let first = log.iter().find(|e| opened(e).as_deref() == Some(&last))?;
    let undone = log.iter().any(|e| e.seq > first.seq && matches!(e.record, Record::Undone { .. }));
    let Record::Opened { id } = &first.record else { return None };
    (!undone).then_some(id)
}

#[cfg(test)]
mod tests {
    use sb_harness::model::{Seq, Timestamp, TurnId};

    use super::*;

    #[test]
    fn what_was_undone_is_no_longer_known() {
        let log = |records: Vec<Record>| -> Vec<Entry> {
            let entry = |(n, record)| Entry { seq: Seq(n), at: Timestamp(0), turn: None, record };
            (1..).zip(records).map(entry).collect()
        };
        let opened = |id: &str| Record::Opened { id: id.to_owned() };
        let undone = Record::Undone { turn: TurnId(1) };
        assert_eq!(known_session(&log(vec![])), None);
        assert_eq!(known_session(&log(vec![opened("a")])), Some("a"));
        assert_eq!(known_session(&log(vec![opened("a"), undone.clone()])), None);
        assert_eq!(known_session(&log(vec![opened("a"), undone, opened("b")])), Some("b"));
    }
}
