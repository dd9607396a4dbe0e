//! What an agent asks of us in a turn: leave to act, and files it wants read or written.
//!
//! It may put several questions at once; they are put before people one after the other, since a turn waits
//! for one decision at a time. Only what allows this once is ever answered.

use sb_harness::HarnessEvent;
use sb_harness::model::{Call, CallId, DECLINED, Record};
use sb_wire::jsonrpc::{BAD_PARAMS, Failure, INTERNAL, NO_SUCH_METHOD};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::calls::{self, LeadsOut};
use super::files;
use super::lent::{STOPPED, fails};
use super::options::Options;
use super::places::within;
use super::turn::Run;
use crate::exit::Exit;
use crate::lending::Given;

/// Changes that were allowed and may still be asked of us to make.
const MOST_ALLOWED: usize = 20;

/// A question of the agent's, and how it wants to be answered.
pub(super) struct Question {
    id: Value,
    pub call: Call,
    pub wants: Wants,
}

pub(super) enum Wants {
    /// One of these options.
    Permission(Options),
    /// A file written.
    Write { path: String, content: String },
    /// What comes of a tool of ours.
    Lent(oneshot::Sender<Given>),
}

impl Question {
    pub fn lent(call: Call, answer: oneshot::Sender<Given>) -> Self {
        Self { id: Value::Null, call, wants: Wants::Lent(answer) }
    }

    /// Nobody waits for its answer any more.
    fn is_given_up(&self) -> bool {
        matches!(&self.wants, Wants::Lent(answer) if answer.is_closed())
    }

    /// It is about a call of a tool of ours with this input.
    pub fn is_for(&self, tool: &str, input: &Value) -> bool {
        matches!(self.wants, Wants::Lent(_)) && self.call.tool == tool && self.call.input == *input
    }
}

impl Run {
    pub async fn withdraw(&self, question: Question) {
        let answer = match question.wants {
            Wants::Permission(_) => Ok(json!({"outcome": {"outcome": "cancelled"}})),
            Wants::Write { .. } => Err(Failure::new(INTERNAL, "This was stopped.")),
            Wants::Lent(answer) => return fails(answer, STOPPED),
        };
        self.agent.link.answer(question.id, answer).await;
    }

    pub async fn requested(&mut self, id: Value, method: &str, params: &Value) -> Result<(), Exit> {
        match method {
            "session/request_permission" => self.asks_permission(id, params).await,
            "fs/read_text_file" => {
                self.reads(id, params).await;
                Ok(())
            }
            "fs/write_text_file" => self.writes(id, params).await,
            _ => {
                self.agent.link.answer(id, Err(Failure::new(NO_SUCH_METHOD, "This is not offered."))).await;
                Ok(())
            }
        }
    }

    async fn asks_permission(&mut self, id: Value, params: &Value) -> Result<(), Exit> {
        let modes = self.agent.mode.as_ref().map(|mode| mode.values.as_slice()).unwrap_or_default();
        let options = Options::read(&params["options"], modes, &self.agent.asking_modes());
        let Some((call_id, known)) = self.calls.update(&params["toolCall"]) else {
            self.agent.link.answer(id, Err(Failure::new(BAD_PARAMS, "The call has no id."))).await;
            return Ok(());
        };
        let (call, shown) = (known.as_call(&call_id, &self.workspace), known.shown());
        let ours = known.program_name.clone();
        if self.is_lent(ours.as_deref()) && self.stopping.is_none() && options.allow.len() == 1 {
            self.agent.link.answer(id, Ok(options.allowance(0))).await;
            return Ok(());
        }
        let left_out: Vec<String> = options.left_out.iter().map(|name| format!("\"{name}\"")).collect();
        if !left_out.is_empty() {
            let text = format!(
                "{shown}: the answer {} is not offered, since it would make the agent stop asking.",
                left_out.join(", ")
            );
            self.log(Record::Noted { text, by: self.by(), told: false }).await?;
        }
        let refused = options.refusal();
        let why = match call {
            _ if self.stopping.is_some() => String::new(),
            Ok(call) if !options.allow.is_empty() => {
                self.waiting.push_back(Question { id, call, wants: Wants::Permission(options) });
                return self.next_question().await;
            }
            Err(LeadsOut(path)) => format!("{shown} was not allowed: {path} is outside the workspace."),
            Ok(_) => format!("{shown} was not allowed: it could not be allowed for this once alone."),
        };
        self.agent.link.answer(id, Ok(refused)).await;
        if !why.is_empty() {
            self.log(Record::Noted { text: why, by: self.by(), told: false }).await?;
        }
        Ok(())
    }

    /// Puts a question in the row.
    pub async fn ask_for(&mut self, question: Question) -> Result<(), Exit> {
        self.waiting.push_back(question);
        self.next_question().await
    }

    /// Puts the next question before the gate, if none is there.
    pub async fn next_question(&mut self) -> Result<(), Exit> {
        if self.asked.is_some() {
            return Ok(());
        }
        self.waiting.retain(|question| !question.is_given_up());
        let Some(question) = self.waiting.pop_front() else { return Ok(()) };
        let call = question.call.clone();
        self.log_call(&call).await?;
        let event = match &question.wants {
            Wants::Permission(options) => HarnessEvent::CallBy(call, options.ways.clone()),
            Wants::Write { .. } | Wants::Lent(_) => HarnessEvent::Call(call),
        };
        self.asked = Some(question);
        self.waits = false;
        self.send(event).await
    }

    /// The question before the gate, which has decided. Where the agent gave it up and asked for the same again, the
    /// decision is for what waits: that it hung up may be seen only after it asked again.
    pub fn decided(&mut self) -> Option<Question> {
        let mut question = self.asked.take()?;
        if question.is_given_up() {
            let same = |other: &Question| {
                other.is_for(&question.call.tool, &question.call.input) && !other.is_given_up()
            };
            if let Some(again) = self.waiting.iter().position(same).and_then(|at| self.waiting.remove(at)) {
                question.wants = again.wants;
            }
        }
        Some(question)
    }

    /// It may: once, in this one of the ways it wants to be allowed in.
    pub async fn go(&mut self, way: usize) -> Result<(), Exit> {
        let Some(question) = self.decided() else { return Ok(()) };
        match question.wants {
            Wants::Lent(answer) => self.runs(question.call, answer).await?,
            Wants::Permission(options) => {
                if let (Some(path), Some(text)) =
                    (question.call.input["path"].as_str(), self.new_text(&question.call.id))
                {
                    self.allowed.push((path.to_owned(), text));
                    if self.allowed.len() > MOST_ALLOWED {
                        self.allowed.remove(0);
                    }
                }
                self.agent.link.answer(question.id, Ok(options.allowance(way))).await;
                self.tool_is(&question.call.id, "running").await?;
            }
            Wants::Write { path, content } => {
                let written = files::write(&self.workspace, &path, content).await;
                let (ok, text) = match &written {
                    Ok(()) => (true, format!("Wrote {path}.")),
                    Err(why) => (false, format!("{path}: {why}")),
                };
                let answer = written.map(|()| json!({})).map_err(|why| Failure::new(INTERNAL, why));
                self.agent.link.answer(question.id, answer).await;
                self.result(question.call.id, ok, text, false).await?;
            }
        }
        self.next_question().await
    }

    /// It may not.
    pub async fn no(&mut self, why: String) -> Result<(), Exit> {
        let Some(question) = self.decided() else { return Ok(()) };
        let Question { id, call, wants } = question;
        if let Some(known) = self.calls.get_mut(&call.id.0) {
            known.settled = true;
        }
        // What a person said stands in the log already.
        if !self.waits {
            self.result(call.id, false, why.clone(), false).await?;
        }
        let told = match wants {
            Wants::Permission(options) => {
                self.agent.link.answer(id, Ok(options.refusal())).await;
                false
            }
            Wants::Write { .. } => {
                self.agent.link.answer(id, Err(Failure::new(INTERNAL, why.clone()))).await;
                false
            }
            Wants::Lent(answer) => answer.send(Given { ok: false, text: why.clone() }).is_ok(),
        };
        // That it was refused it knows; a reason it may not.
        self.declined = (!told && why != DECLINED).then(|| format!("(About {}: {why})", call.tool));
        self.next_question().await
    }

    /// The words an agent wants a file to hold, where its question says so.
    fn new_text(&mut self, call: &CallId) -> Option<String> {
        self.calls.get_mut(&call.0)?.new_text()
    }

    async fn reads(&self, id: Value, params: &Value) {
        let path = params["path"].as_str().and_then(|path| within(&self.workspace, path));
        let answer = match path {
            None => Err(Failure::new(BAD_PARAMS, "This path is outside the workspace.")),
            Some(path) => {
                let (line, limit) = (params["line"].as_u64(), params["limit"].as_u64());
                let read = files::read(&self.workspace, &path, line, limit).await;
                read.map(|content| json!({"content": content})).map_err(|why| Failure::new(INTERNAL, why))
            }
        };
        self.agent.link.answer(id, answer).await;
    }

    /// Quirk: some agents ask us to write though it was not offered, after they asked for leave.
    async fn writes(&mut self, id: Value, params: &Value) -> Result<(), Exit> {
        let path = params["path"].as_str().and_then(|path| within(&self.workspace, path));
        let (Some(path), Some(content)) = (path, params["content"].as_str()) else {
            let why = "A path inside the workspace and a content are needed.";
            self.agent.link.answer(id, Err(Failure::new(BAD_PARAMS, why))).await;
            return Ok(());
        };
        let content = content.to_owned();
        let allowed = (path.clone(), content.clone());
        if let Some(at) = self.allowed.iter().position(|a| *a == allowed) {
            self.allowed.remove(at);
            let written = files::write(&self.workspace, &path, content).await;
            let answer = written.map(|()| json!({})).map_err(|why| Failure::new(INTERNAL, why));
            self.agent.link.answer(id, answer).await;
            return Ok(());
        }
        let call = calls::write(&format!("write {id}"), &path, &content);
        let question = Question { id, call, wants: Wants::Write { path, content } };
        if self.stopping.is_some() {
            self.withdraw(question).await;
            return Ok(());
        }
        self.waiting.push_back(question);
        self.next_question().await
    }
}
