//! The engine's side of a turn, played by a test: it keeps the log and answers calls.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use sb_harness::model::*;
use sb_harness::net::{Away, FixedDice, Http, ManualClock};
use sb_harness::{
    Blobs, Events, Harness, HarnessEvent, HarnessInput, Inputs, Memory as Notes, TurnSpec, channel,
};
use sb_loop::{Keys, LoopContext, LoopHarness};
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;

/// The key every profile has.
pub const KEY: &str = "sk-test-0123456789abcdef";

/// One key for everything, and one base address for each provider, if any.
#[derive(Default)]
pub struct Ring {
    pub anthropic: Option<String>,
    pub openai: Option<String>,
    pub no_key: bool,
}

impl Keys for Ring {
    fn key(&self, _: &ProfileName, _: &str) -> Option<Secret> {
        (!self.no_key).then(|| Secret::new(KEY))
    }
    fn base_url(&self, provider: &str) -> Option<String> {
        if provider == "anthropic" { self.anthropic.clone() } else { self.openai.clone() }
    }
}

/// Blobs in memory.
#[derive(Default)]
pub struct Memory(Mutex<Vec<Bytes>>, pub Mutex<Vec<Memo>>);

impl Memory {
    pub fn put(&self, bytes: &[u8]) -> Digest {
        self.0.lock().expect("lock").push(Bytes::copy_from_slice(bytes));
        Digest::of(bytes)
    }
}

#[async_trait]
impl Blobs for Memory {
    async fn read(&self, digest: &Digest) -> std::io::Result<Bytes> {
        let all = self.0.lock().expect("lock");
        all.iter()
            .find(|b| Digest::of(b) == *digest)
            .cloned()
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
    async fn keep(&self, mut file: tokio::fs::File) -> std::io::Result<(Digest, u64)> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).await?;
        Ok((self.put(&bytes), bytes.len() as u64))
    }
    async fn open(&self, _: &Digest) -> std::io::Result<tokio::fs::File> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

#[async_trait]
impl Notes for Memory {
    async fn remember(&self, _: &ProfileName, words: &str, outside: bool) -> Result<Memo, String> {
        let mut all = self.1.lock().expect("lock");
        let memo = Memo { id: all.len() as i64 + 1, at: Timestamp(0), words: words.to_owned(), outside };
        all.push(memo.clone());
        Ok(memo)
    }
    async fn recall(&self, _: &ProfileName, words: &str, most: usize) -> Result<Vec<Memo>, String> {
        let all = self.1.lock().expect("lock");
        Ok(all.iter().filter(|m| m.words.contains(words)).take(most).cloned().collect())
    }
}

/// What the engine says of the next call.
#[derive(Debug, Clone)]
pub enum Says {
    Go,
    No(&'static str),
    Wait,
}

/// A conversation whose engine is the test.
pub struct World {
    pub harness: Arc<LoopHarness>,
    pub profile: Profile,
    pub choices: Choices,
    pub log: Vec<Entry>,
    pub blobs: Arc<Memory>,
    pub workspace: tempfile::TempDir,
    /// Answers to calls, in order; `Go` once they are used up.
    pub says: VecDeque<Says>,
    pub tainted: bool,
    turn: u64,
}

/// How a turn went.
#[derive(Debug)]
pub struct Ran {
    pub ended: Result<StopReason, TurnFault>,
    pub events: Vec<HarnessEvent>,
}

impl Ran {
    /// What a person sees: answers a paragraph apart, without what was void.
    pub fn reply(&self) -> String {
        let (mut reply, mut answer) = (String::new(), String::new());
        for event in &self.events {
            match event {
                HarnessEvent::Text(text) => answer.push_str(text),
                HarnessEvent::Void => answer.clear(),
                HarnessEvent::Break => text::add_paragraph(&mut reply, &std::mem::take(&mut answer)),
                _ => {}
            }
        }
        text::add_paragraph(&mut reply, &answer);
        reply
    }
    pub fn fault(&self) -> &TurnFault {
        self.ended.as_ref().expect_err("the turn failed")
    }
    pub fn usage(&self) -> Usage {
        let mut sum = Usage::default();
        for event in &self.events {
            if let HarnessEvent::Usage(usage) = event {
                sum += *usage;
            }
        }
        sum
    }
    pub fn calls(&self) -> Vec<&Call> {
        self.events
            .iter()
            .filter_map(|e| if let HarnessEvent::Call(call) = e { Some(call) } else { None })
            .collect()
    }
}

/// A turn at work.
pub struct Running {
    pub tell: mpsc::UnboundedSender<HarnessInput>,
    pub hear: mpsc::Receiver<HarnessEvent>,
    task: tokio::task::JoinHandle<Result<StopReason, TurnFault>>,
    heard: Vec<HarnessEvent>,
}

impl Running {
    /// As the engine does with a turn that does not stop in time.
    pub fn drop_turn(self) {
        self.task.abort();
    }
}

impl World {
    pub fn new(models: &[&str], keys: Ring) -> Self {
        let workspace = tempfile::tempdir().expect("a folder");
        let context = LoopContext {
            http: Http::new().expect("a client"),
            clock: Arc::new(ManualClock::at(Timestamp(1))),
            dice: Arc::new(FixedDice::new(1)),
            keys: Arc::new(keys),
            away: Away::default(),
            marks: Secret::new("marks"),
            own: "/nonexistent/switchboard".into(),
        };
        let profile = Profile {
            name: "p".into(),
            harness: Default::default(),
            harness_mode: None,
            models: models.iter().map(|m| m.parse().expect("a model")).collect(),
            base_url: None,
            instructions: "Be brief.".into(),
            workspace: Some(workspace.path().display().to_string()),
            tools: ToolSet::All,
            autonomy: Level::L4,
            allowed: vec![],
            mcp: vec![],
            image_model: None,
            web_hosts: Vec::new(),
            budgets: Default::default(),
            deadline_s: 600,
            agent: None,
        };
        Self {
            harness: Arc::new(LoopHarness::new(context)),
            profile,
            choices: Choices::default(),
            log: Vec::new(),
            blobs: Arc::default(),
            workspace,
            says: VecDeque::new(),
            tainted: false,
            turn: 0,
        }
    }

    pub fn path(&self) -> &Path {
        self.workspace.path()
    }

    pub fn add(&mut self, record: Record) {
        let seq = Seq(self.log.len() as i64 + 1);
        self.log.push(Entry { seq, at: Timestamp(0), turn: Some(TurnId(self.turn)), record });
    }

    pub fn said(text: &str, files: Vec<Attachment>) -> Record {
        Record::Said {
            message: MessageId(1),
            from: Principal("t".into()),
            text: text.into(),
            files,
            steered: false,
        }
    }

    /// A new turn about `text`, run to its end.
    pub async fn ask(&mut self, text: &str) -> Ran {
        self.ask_with(text, vec![]).await
    }
    pub async fn ask_with(&mut self, text: &str, files: Vec<Attachment>) -> Ran {
        self.turn += 1;
        self.add(Self::said(text, files));
        self.go_on().await
    }
    /// The same turn once more, from its log.
    pub async fn go_on(&mut self) -> Ran {
        let running = self.start(Task::Answer);
        self.finish(running).await
    }
    pub async fn compact(&mut self) -> Ran {
        self.turn += 1;
        let running = self.start(Task::Compact);
        self.finish(running).await
    }
    /// A new turn, begun only.
    pub fn begin(&mut self, text: &str) -> Running {
        self.turn += 1;
        self.add(Self::said(text, vec![]));
        self.start(Task::Answer)
    }

    pub fn start(&mut self, task: Task) -> Running {
        let ((tell, hear), (inputs, events)): (_, (Inputs, Events)) = channel();
        let spec = TurnSpec {
            turn: TurnId(self.turn),
            session: SessionId(1),
            task,
            profile: Arc::new(self.profile.clone()),
            choices: self.choices.clone(),
            log: self.log.clone(),
            starts: 1,
            blobs: self.blobs.clone(),
            memory: self.blobs.clone(),
            tainted: self.tainted,
        };
        let harness = self.harness.clone();
        let task = tokio::spawn(async move { harness.turn(spec, inputs, events).await });
        Running { tell, hear, task, heard: Vec::new() }
    }

    /// Plays the engine until the turn ends.
    pub async fn finish(&mut self, mut running: Running) -> Ran {
        while let Some(event) = running.hear.recv().await {
            self.react(&running, &event);
            running.heard.push(event);
        }
        Ran { ended: running.task.await.expect("no panic"), events: running.heard }
    }

    /// Plays the engine until an event is one that is looked for.
    pub async fn until(&mut self, running: &mut Running, wanted: impl Fn(&HarnessEvent) -> bool) {
        let found = async {
            loop {
                let event = running.hear.recv().await.expect("the turn goes on");
                self.react(running, &event);
                let found = wanted(&event);
                running.heard.push(event);
                if found {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(30), found).await.expect("the event comes");
    }

    fn react(&mut self, running: &Running, event: &HarnessEvent) {
        match event {
            HarnessEvent::Log(record) => self.add(record.clone()),
            HarnessEvent::Took(message) => {
                let mut record = Self::said("and be quick", vec![]);
                if let Record::Said { message: id, steered, .. } = &mut record {
                    (*id, *steered) = (*message, true);
                }
                self.add(record);
            }
            HarnessEvent::Call(call) => {
                let answer = match self.says.pop_front().unwrap_or(Says::Go) {
                    Says::Go => {
                        self.add(Record::Acting { call: call.id.clone() });
                        HarnessInput::Go(call.id.clone())
                    }
                    Says::No(why) => HarnessInput::No(call.id.clone(), why.into()),
                    Says::Wait => HarnessInput::Wait(call.id.clone()),
                };
                // The turn may have ended meanwhile.
                let _ = running.tell.send(answer);
            }
            _ => {}
        }
    }
}
