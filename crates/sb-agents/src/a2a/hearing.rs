//! What an agent tells of its task: words, files, progress, and how it ended.

use sb_harness::HarnessEvent;
use sb_harness::model::text::one_line;
use sb_harness::model::{Record, StopReason, TurnFaultKind};
use sb_wire::a2a::{Artifact, Content, Event, Part, Role, State, Status};
use serde_json::json;

use super::files;
use super::known::is_id;
use super::reply::Shown;
use super::trouble::{self, garbled};
use super::turn::Run;
use crate::exit::Exit;

/// Lines of progress that are kept for the trace.
const MOST_STEPS: usize = 40;
/// Characters of one message's words.
const MOST_SAID: usize = 1024 * 1024;

impl Run<'_> {
    /// Takes one event in; what ends the turn, if it does. `whole`: the task was looked up.
    pub async fn take(&mut self, event: Event, whole: bool) -> Result<Option<StopReason>, Exit> {
        match event {
            Event::Task(task) => {
                if !self.is_ours(&task.id, &task.context).await? {
                    return Ok(None);
                }
                for artifact in &task.artifacts {
                    self.artifact(artifact, false).await?;
                }
                if let Some(message) = task.history.last().filter(|message| message.role == Role::Agent) {
                    self.spoken = message.said();
                }
                self.status(task.status, whole).await
            }
            Event::Status { task, context, status } => {
                if !self.is_ours(&task, &context).await? {
                    return Ok(None);
                }
                self.status(status, whole).await
            }
            Event::Artifact { task, context, artifact, append, .. } => {
                if self.is_ours(&task, &context).await? {
                    self.artifact(&artifact, append).await?;
                }
                Ok(None)
            }
            Event::Message(message) => {
                if let Some(context) = message.context.clone().filter(|context| is_id(context)) {
                    self.known.context = context;
                }
                self.known.task = None;
                self.say(&message.said()).await?;
                self.parts(&message.parts).await?;
                Ok(Some(StopReason::Done))
            }
        }
    }

    /// Whether it is about this turn's task; the first that is named is it.
    async fn is_ours(&mut self, task: &str, context: &str) -> Result<bool, Exit> {
        if !self.accepted {
            if !is_id(task) {
                return Err(self.failed(&garbled("its task has no id that can be kept")));
            }
            if is_id(context) {
                self.known.context = context.to_owned();
            }
            (self.task, self.accepted) = (Some(task.to_owned()), true);
            self.known.task = self.task.clone();
            self.keep_place().await?;
            self.outside("a2a_task", json!({"task": task}), "The agent has taken the message.").await?;
        }
        Ok(self.task.as_deref() == Some(task))
    }

    async fn artifact(&mut self, artifact: &Artifact, append: bool) -> Result<(), Exit> {
        let Ok((shown, files)) = self.reply.take(artifact, append) else {
            self.cancel().await;
            let label = self.peer()?.label.clone();
            let what = "says more than one reply may hold, so it was stopped";
            return Err(Exit::Fault(trouble::ended(&label, what, "", TurnFaultKind::Crashed)));
        };
        match shown {
            Some(Shown::More(words)) => self.send_event(HarnessEvent::Text(words)).await?,
            Some(Shown::Anew(words)) => {
                self.send_event(HarnessEvent::Void).await?;
                self.send_event(HarnessEvent::Text(words)).await?;
            }
            None => {}
        }
        self.parts(&files).await
    }

    /// The files among some parts, for the person.
    async fn parts(&mut self, parts: &[Part]) -> Result<(), Exit> {
        for part in parts.iter().filter(|part| matches!(part.content, Content::Raw(_))) {
            self.files += 1;
            if self.files > files::MOST {
                if self.files == files::MOST + 1 {
                    let text = format!("It gave more than {} files; the rest was left.", files::MOST);
                    self.remarks.push(text);
                }
                continue;
            }
            match files::keep(&*self.spec.blobs, part).await {
                Ok(file) => {
                    self.log(Record::Shared { file: file.clone() }).await?;
                    self.send_event(HarnessEvent::File(file)).await?;
                }
                Err(why) => self.remarks.push(why),
            }
        }
        Ok(())
    }

    async fn status(&mut self, status: Status, whole: bool) -> Result<Option<StopReason>, Exit> {
        let said = status.said();
        if !status.state.is_final() {
            if !said.trim().is_empty() && self.steps.last() != Some(&one_line(&said, 200)) {
                if self.steps.len() < MOST_STEPS {
                    self.steps.push(one_line(&said, 200));
                }
                self.send_event(HarnessEvent::Thought(said)).await?;
            }
            return Ok(None);
        }
        // Between a stream's break and its being followed again something may have been missed.
        if std::mem::take(&mut self.broke)
            && !whole
            && let Some(id) = self.task.clone()
            && let Ok(task) = self.task_as_it_is(&id).await
        {
            for artifact in &task.artifacts {
                self.artifact(artifact, false).await?;
            }
        }
        self.known.task = self.known.task.take().filter(|_| status.state.is_interrupted());
        let files: Vec<Part> = status.message.iter().flat_map(|message| message.parts.clone()).collect();
        let label = self.peer()?.label.clone();
        let fault = |what, kind| Err(Exit::Fault(trouble::ended(&label, what, &said, kind)));
        match status.state {
            State::Failed => fault("failed", TurnFaultKind::Crashed),
            State::Rejected => fault("would not do this", TurnFaultKind::Refused),
            State::Canceled => fault("was told by somebody else to stop", TurnFaultKind::Crashed),
            State::AuthRequired => fault(
                "wants a login or a leave of its own first: give it that where it runs, then write again",
                TurnFaultKind::Auth,
            ),
            _ => {
                self.say(&said).await?;
                self.parts(&files).await?;
                let spoken = std::mem::take(&mut self.spoken);
                if self.reply.words().trim().is_empty() && self.files == 0 {
                    self.say(&spoken).await?;
                }
                Ok(Some(StopReason::Done))
            }
        }
    }

    /// Words beside the artifacts, unless they stand there already.
    async fn say(&mut self, words: &str) -> Result<(), Exit> {
        let words = words.trim();
        if words.is_empty() || self.reply.words().contains(words) {
            return Ok(());
        }
        let words = match words.char_indices().nth(MOST_SAID) {
            Some((at, _)) => &words[..at],
            None => words,
        };
        let more = self.reply.add(words);
        self.send_event(HarnessEvent::Text(more)).await
    }
}
