//! One pi process with its session: commands with ids of ours, their answers, and what it tells meanwhile.

use std::time::Duration;

use sb_harness::model::{Secret, TurnFault, TurnFaultKind};
use sb_harness::net::child::Exit;
use sb_harness::net::talk::Talk;
use sb_harness::net::{Spoken, redact};
use serde_json::{Value, json};

use super::launch::Started;

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running process.
pub(super) struct Pi {
    talk: Talk,
    pub started: Started,
    /// The file it keeps its session in, by which another process takes it up.
    pub session: String,
    /// Its model can be shown pictures.
    pub images: bool,
    next: u64,
}

/// How a session was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opened {
    Known,
    New,
    /// It was to know what was said before, and does not.
    Lost,
}

impl Pi {
    /// Starts a process, with the session it keeps in this file if it still does.
    pub async fn open(started: Started, known: Option<&str>) -> Result<(Self, Opened), TurnFault> {
        if let Some(session) = known {
            match Self::start(started.taking_up(session), started.clone()).await {
                Ok((pi, messages)) if messages > 0 => return Ok((pi, Opened::Known)),
                Ok(_) => {}
                Err(why) => tracing::debug!(?why, "pi could not take a session up"),
            }
        }
        let (pi, _) = Self::start(started.spoken.clone(), started).await?;
        Ok((pi, if known.is_some() { Opened::Lost } else { Opened::New }))
    }

    /// A process, and how many messages its session holds.
    async fn start(spoken: Spoken, started: Started) -> Result<(Self, u64), TurnFault> {
        let talk = Talk::start(&spoken).map_err(|why| not_started(&spoken, &why))?;
        let mut pi = Self { talk, started, session: String::new(), images: false, next: 0 };
        let asked = pi.ask("get_state", json!({})).await;
        let state = tokio::time::timeout(PATIENCE, pi.answer(&asked)).await;
        let state = match state {
            Ok(Some(state)) if state["success"] == true => state["data"].clone(),
            Ok(Some(state)) => {
                let why = pi.plain(state["error"].as_str().unwrap_or_default());
                return Err(TurnFault::new(TurnFaultKind::Refused, format!("pi would not start: {why}")));
            }
            Ok(None) => return Err(pi.died("when it was started").await),
            Err(_) => {
                let what = format!("pi took longer than {} seconds to start", PATIENCE.as_secs());
                return Err(TurnFault::new(TurnFaultKind::Deadline, what));
            }
        };
        if state["model"].is_null() {
            let what = "pi knows no model to work with. Name one with `switchboard profile set --model provider:id`, give the profile its key, or log in with pi once as the user that runs Switchboard";
            return Err(TurnFault::new(TurnFaultKind::Refused, what));
        }
        let takes = state["model"]["input"].as_array();
        pi.images = takes.is_some_and(|takes| takes.iter().any(|sort| sort == "image"));
        pi.session = state["sessionFile"].as_str().unwrap_or_default().to_owned();
        Ok((pi, state["messageCount"].as_u64().unwrap_or_default()))
    }

    /// Sends a command; its answer has the id that is given back. That it is gone shows by [`next`](Self::next).
    pub async fn ask(&mut self, command: &str, mut fields: Value) -> String {
        let id = format!("s{}", self.next);
        self.next += 1;
        fields["id"] = id.clone().into();
        fields["type"] = command.into();
        let _ = self.talk.say(fields.to_string()).await;
        id
    }

    /// What it tells next; none: it says no more. What is no message is passed over, and what an extension of its
    /// asks of a person is answered as not answered. Cancel-safe.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.talk.next().await?;
            let Ok(told) = serde_json::from_str::<Value>(&line) else {
                tracing::debug!(bytes = line.len(), "pi said something that is no message");
                continue;
            };
            if told["type"] == "extension_ui_request" {
                if matches!(told["method"].as_str(), Some("select" | "confirm" | "input" | "editor")) {
                    let unanswered =
                        json!({"type": "extension_ui_response", "id": told["id"], "cancelled": true});
                    let _ = self.talk.say(unanswered.to_string()).await;
                }
                continue;
            }
            return Some(told);
        }
    }

    async fn answer(&mut self, id: &str) -> Option<Value> {
        loop {
            let told = self.next().await?;
            if told["type"] == "response" && told["id"] == id {
                return Some(told);
            }
        }
    }

    /// Whether it has ended by now.
    pub async fn has_ended(&mut self) -> bool {
        self.talk.ended_within(Duration::ZERO).await.is_some()
    }

    /// It said no more.
    pub async fn died(&mut self, when: &str) -> TurnFault {
        // Its outputs end a moment before it does.
        let exit = self.talk.ended_within(Duration::from_millis(500)).await;
        let how = match exit {
            Some(Exit::Code(code)) => format!("ended with exit code {code}"),
            Some(Exit::Signal(signal)) => format!("was ended by signal {signal}"),
            Some(Exit::TimedOut) | None => "closed its output".to_owned(),
        };
        let words = self.plain(&self.talk.last_words());
        let said =
            if words.is_empty() { "without a word".to_owned() } else { format!("with these words: {words}") };
        let what = format!("pi {how} {when}, {said}. The next message starts it again");
        TurnFault::new(TurnFaultKind::Crashed, what)
    }

    /// The end of what it said, on one line, without what it was given as a secret.
    pub fn plain(&self, text: &str) -> String {
        let secrets: Vec<&Secret> = self.started.spoken.variables.iter().map(|(_, value)| value).collect();
        let lines: Vec<&str> = text.trim().lines().collect();
        let last = lines[lines.len().saturating_sub(3)..].join(" ");
        redact(last.trim(), &secrets)
    }
}

fn not_started(spoken: &Spoken, why: &std::io::Error) -> TurnFault {
    let program = &spoken.program;
    let what = match why.kind() {
        std::io::ErrorKind::NotFound => format!(
            "pi cannot be started: there is no program {program} here. It is installed by: npm install -g @mariozechner/pi-coding-agent"
        ),
        _ => format!("{program} cannot be started: {why}"),
    };
    TurnFault::new(TurnFaultKind::Refused, what)
}
