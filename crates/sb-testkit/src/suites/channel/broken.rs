//! Adapters broken on purpose: what each does wrong, a law or the simulation must see.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use sb_channel::{
    Account, AnyKind, Attempt, Batch, Channel, ChannelContext, Command, Event, Features, Feed, Gesture,
    Incoming, Inlet, LiveReply, Manifest, Piece, Result, Settings, Updates, Verdict, Webhook, WebhookRequest,
};
use sb_core::model::text::Rendered;
use sb_core::model::{Chat, Fault, FaultKind, FileRef, MessageRef, Person};
use tokio::io::AsyncWrite;

/// What an adapter does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// Tells the platform to forget a batch before it is stored.
    AcknowledgesEarly,
    /// Says now and then that something was sent which was not.
    Forgets,
    /// Sends now and then twice.
    SendsTwice,
    /// Sends now and then into another chat: the one it sent to last.
    MixesChats,
    /// Names the envelope, not the message.
    NamesTheEnvelope,
    /// Tells of our own messages as if people had written them, and does not know who we are.
    HearsItself,
    /// Calls every failure final.
    GivesUp,
    /// Calls a limit something that passes at once.
    ForgetsTheWait,
    /// Calls a closed chat something that passes.
    KnocksForEver,
    /// Calls a lost answer a failure that changed nothing, and hears nothing of what came of it.
    DeniesTheDeed,
    /// Does not tell refused formatting from a refusal.
    BlamesTheWords,
    /// Never says that we are at work.
    HidesWork,
    /// Never ends saying so, nor takes a mark off.
    KeepsMarks,
    /// Shows nothing of a reply while it is written.
    HidesGrowth,
    /// Puts an edited reply beside the old one.
    EditsByCopy,
    /// Leaves the choices away.
    DropsButtons,
    /// Lets buttons stand when a question is over.
    KeepsButtons,
    /// Says of everybody that they are the first person.
    MistakesPeople,
    /// Says of everything that it was meant for us.
    AnswersEverything,
    /// Cuts what it fetches and sends short.
    CutsFiles,
    /// Makes several messages of what was sent together, and does not say that they are one album.
    ScattersAlbums,
    /// Opens a feed and then waits for ever when its connection breaks.
    StaysDeaf,
    /// Cuts long texts off.
    CutsTexts,
    /// Hears its own words as a person's.
    Echoes,
    /// Begins with what comes from now on.
    SkipsTheBacklog,
    /// Shows that we are at work whether asked to or not.
    AlwaysTypes,
    /// Sends something ahead of every text.
    Announces,
    /// Leaves the choices out of a question's words.
    CutsQuestions,
}

/// A kind that is an adapter with a flaw.
pub struct Broken {
    pub kind: Arc<dyn AnyKind>,
    pub flaw: Flaw,
}

impl AnyKind for Broken {
    fn manifest(&self) -> Manifest {
        self.kind.manifest()
    }
    fn open(&self, context: ChannelContext, settings: &Settings) -> Result<Arc<dyn Channel>> {
        let whole = self.kind.open(context, settings)?;
        Ok(Arc::new(BrokenChannel {
            whole,
            flaw: self.flaw,
            sent: AtomicU64::new(0),
            chats: Mutex::default(),
            heard: Arc::default(),
        }))
    }
}

struct BrokenChannel {
    whole: Arc<dyn Channel>,
    flaw: Flaw,
    sent: AtomicU64,
    /// Those that something was sent to, the last one last.
    chats: Mutex<Vec<Chat>>,
    heard: Arc<Mutex<Heard>>,
}

/// What outlives a feed.
#[derive(Default)]
struct Heard {
    /// What is still to be told as if somebody had said it.
    echoes: Vec<(Chat, String)>,
    /// The first person who said something.
    first: Option<Person>,
    /// What was told so far.
    count: u64,
    /// Somebody was heard, by a webhook.
    begun: bool,
}

impl BrokenChannel {
    /// The first time, and every third after it.
    fn now_and_then(&self) -> bool {
        self.sent.fetch_add(1, Ordering::Relaxed).is_multiple_of(3)
    }

    fn mistaken(&self, mut why: Fault) -> Fault {
        let wait = |kind: &FaultKind| matches!(kind, FaultKind::ChatBusy { .. } | FaultKind::Passing { .. });
        match self.flaw {
            Flaw::GivesUp => why.kind = FaultKind::Refused,
            Flaw::ForgetsTheWait if wait(&why.kind) => why.kind = FaultKind::ChatBusy { wait_ms: None },
            Flaw::KnocksForEver if why.kind == FaultKind::ChatGone => why.kind = FaultKind::Refused,
            Flaw::DeniesTheDeed => why.maybe_done = false,
            Flaw::BlamesTheWords if why.kind == FaultKind::Format => why.kind = FaultKind::Refused,
            _ => {}
        }
        why
    }

    /// Tells the feed that somebody said this.
    fn echo(&self, to: &Chat, piece: Piece<'_>) {
        if let (Flaw::Echoes, Piece::Text { words, .. }) = (self.flaw, piece) {
            self.heard.lock().unwrap().echoes.push((to.clone(), words.text.clone()));
        }
    }

    /// The last chat that something was sent to, other than this one.
    fn other(&self, to: &Chat) -> Option<Chat> {
        let mut chats = self.chats.lock().unwrap();
        let other = chats.iter().rev().find(|chat| chat.id != to.id).cloned();
        chats.retain(|chat| chat != to);
        chats.push(to.clone());
        other
    }

    async fn announce(&self, to: &Chat, attempt: &Attempt) -> Result<()> {
        let words = Rendered { text: "Something is coming.".to_owned(), spans: Vec::new() };
        let key = format!("{}:ahead", attempt.key);
        let piece = Piece::Text { words: &words, choices: &[], answers: None };
        self.whole.send(to, piece, &Attempt { key, ..attempt.clone() }).await.map(drop)
    }

    async fn put(&self, to: &Chat, piece: Piece<'_>, attempt: &Attempt) -> Result<MessageRef> {
        let mut rendered = Rendered { text: String::new(), spans: Vec::new() };
        let piece = match piece {
            Piece::Text { words, choices, answers } => {
                let mut words = words;
                if self.flaw == Flaw::CutsTexts && words.text.chars().count() > 500 {
                    let text = words.text.chars().take(500).collect();
                    rendered.text = text;
                    words = &rendered;
                }
                if self.flaw == Flaw::CutsQuestions && words.text.contains("1. ") {
                    let text = words.text.split("1. ").next().unwrap_or_default().to_owned();
                    rendered.text = text;
                    words = &rendered;
                }
                let choices = if self.flaw == Flaw::DropsButtons { &[] } else { choices };
                Piece::Text { words, choices, answers }
            }
            files => files,
        };
        self.echo(to, piece);
        if self.flaw == Flaw::Announces && matches!(piece, Piece::Text { .. }) {
            self.announce(to, attempt).await?;
        }
        let sent = self.whole.send(to, piece, attempt).await;
        if self.flaw == Flaw::AlwaysTypes {
            self.whole.gesture(to, Gesture::Typing(true)).await?;
        }
        sent
    }
}

#[async_trait]
impl Channel for BrokenChannel {
    async fn check(&self) -> Result<Account> {
        let account = self.whole.check().await?;
        Ok(match self.flaw {
            Flaw::HearsItself => Account { id: "nobody".to_owned(), ..account },
            _ => account,
        })
    }
    fn features(&self, chat: &Chat) -> Features {
        self.whole.features(chat)
    }
    fn inlet(&self) -> Inlet<'_> {
        match self.whole.inlet() {
            Inlet::Feeds(feeds) => {
                Inlet::Feeds(feeds.into_iter().map(|(name, _)| (name, self as &dyn Feed)).collect())
            }
            Inlet::Webhook(_) => Inlet::Webhook(self),
            Inlet::None => Inlet::None,
        }
    }
    async fn work_on(&self, to: &Chat, message: &MessageRef) -> Result<()> {
        match self.flaw {
            Flaw::HidesWork => Ok(()),
            _ => self.whole.work_on(to, message).await,
        }
    }
    async fn send(&self, to: &Chat, piece: Piece<'_>, attempt: &Attempt) -> Result<MessageRef> {
        let (other, now) = (self.other(to), self.now_and_then());
        let sent = match (self.flaw, other) {
            (Flaw::Forgets, _) if now => Ok(MessageRef("0:0".to_owned())),
            (Flaw::SendsTwice, _) if now => {
                self.put(to, piece, attempt).await?;
                self.put(to, piece, attempt).await
            }
            (Flaw::MixesChats, Some(other)) if now => {
                let strange = match piece {
                    Piece::Text { words, choices, .. } => Piece::Text { words, choices, answers: None },
                    Piece::Files { files, caption, .. } => Piece::Files { files, caption, answers: None },
                };
                match self.put(&other, strange, attempt).await {
                    Err(_) => self.put(to, piece, attempt).await,
                    sent => sent,
                }
            }
            _ => self.put(to, piece, attempt).await,
        };
        sent.map_err(|why| self.mistaken(why))
    }
    async fn edit(&self, to: &Chat, at: &MessageRef, piece: Piece<'_>) -> Result<()> {
        let attempt = Attempt { key: at.0.clone(), maybe_sent: false, handle: None };
        let edited = match (self.flaw, piece) {
            (Flaw::EditsByCopy, piece) => self.whole.send(to, piece, &attempt).await.map(|_| ()),
            (Flaw::KeepsButtons, Piece::Text { choices: [], .. }) => Ok(()),
            (_, piece) => self.whole.edit(to, at, piece).await,
        };
        edited.map_err(|why| self.mistaken(why))
    }
    async fn gesture(&self, to: &Chat, gesture: Gesture<'_>) -> Result<()> {
        match (self.flaw, gesture) {
            (Flaw::HidesWork, Gesture::Typing(_) | Gesture::Mark(..)) => Ok(()),
            (Flaw::KeepsMarks, Gesture::Mark(_, None)) => Ok(()),
            _ => self.whole.gesture(to, gesture).await,
        }
    }
    async fn fetch(
        &self,
        file: &FileRef,
        into: &mut (dyn AsyncWrite + Unpin + Send),
        most: u64,
    ) -> Result<u64> {
        match self.flaw {
            Flaw::CutsFiles => Ok(0),
            _ => self.whole.fetch(file, into, most).await,
        }
    }
    async fn offer(&self, commands: &[Command]) -> Result<()> {
        self.whole.offer(commands).await
    }
    async fn register(&self, url: Option<&str>) -> Result<()> {
        self.whole.register(url).await
    }
    fn live(&self) -> Option<&dyn LiveReply> {
        match self.flaw {
            Flaw::HidesGrowth => Some(self),
            _ => self.whole.live(),
        }
    }
}

#[async_trait]
impl LiveReply for BrokenChannel {
    async fn grow(&self, _: &Chat, _: u32, _: &Rendered) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Feed for BrokenChannel {
    async fn open(&self, after: Option<&str>) -> Result<Box<dyn Updates>> {
        let Inlet::Feeds(feeds) = self.whole.inlet() else { panic!("it had a feed") };
        let mut whole = feeds[0].1.open(after).await?;
        if self.flaw == Flaw::SkipsTheBacklog {
            // What waits there is read and thrown away.
            let _ = tokio::time::timeout(Duration::from_millis(100), whole.next()).await;
            whole.ack().await?;
        }
        Ok(Box::new(BrokenUpdates { whole, flaw: self.flaw, deaf: false, heard: self.heard.clone() }))
    }
}

struct BrokenUpdates {
    whole: Box<dyn Updates>,
    flaw: Flaw,
    deaf: bool,
    heard: Arc<Mutex<Heard>>,
}

impl Heard {
    /// What is told as if somebody had said it.
    fn echoed(&mut self) -> Vec<Event> {
        self.count += 1;
        let count = self.count;
        let heard = |(number, (chat, text)): (usize, (Chat, String))| {
            let person = Person { id: Some("42".into()), name: "Echo".into(), bot: false };
            let key = format!("echo:{count}:{number}");
            Incoming { addressed: true, ..Incoming::new(key, chat, person, text) }.into()
        };
        self.echoes.drain(..).enumerate().map(heard).collect()
    }

    /// A batch as such an adapter tells it.
    fn twisted(&mut self, flaw: Flaw, batch: &mut Batch) {
        if flaw == Flaw::DeniesTheDeed {
            batch.events.retain(|event| !matches!(event, Event::Reported(_)));
        }
        for event in &mut batch.events {
            self.count += 1;
            let Event::Said(said) = event else { continue };
            match flaw {
                Flaw::NamesTheEnvelope => said.key = format!("{}:{}", said.key, self.count),
                Flaw::MistakesPeople => {
                    said.person = self.first.get_or_insert_with(|| said.person.clone()).clone();
                }
                Flaw::AnswersEverything => said.addressed = true,
                _ => {}
            }
        }
        if flaw == Flaw::ScattersAlbums {
            batch.events = std::mem::take(&mut batch.events).into_iter().flat_map(scattered).collect();
        }
    }
}

impl Webhook for BrokenChannel {
    fn accept(&self, request: &WebhookRequest) -> Verdict {
        let Inlet::Webhook(whole) = self.whole.inlet() else { panic!("it had a webhook") };
        let (mut batch, reply) = match whole.accept(request) {
            Verdict::Take(batch, reply) => (batch, reply),
            refused => return refused,
        };
        let mut heard = self.heard.lock().unwrap();
        let says = batch.events.iter().any(|event| matches!(event, Event::Said(_)));
        let first = says && !heard.begun;
        heard.begun |= says;
        match self.flaw {
            // The platform is told that all is well, and nothing was kept.
            Flaw::AcknowledgesEarly if says => return Verdict::Refuse(reply),
            Flaw::StaysDeaf if says && !first => return Verdict::Take(Batch::default(), reply),
            Flaw::SkipsTheBacklog if first => return Verdict::Take(Batch::default(), reply),
            // Now and then, or it would talk to itself without taking any time.
            Flaw::Echoes if !says && heard.count < 10 => batch.events.extend(heard.echoed()),
            flaw => heard.twisted(flaw, &mut batch),
        }
        Verdict::Take(batch, reply)
    }
}

/// What was sent together, as messages of one file each.
fn scattered(event: Event) -> Vec<Event> {
    let Event::Said(said) = event else { return vec![event] };
    let files = said.files.iter().skip(1).cloned().enumerate();
    let others = files.map(|(at, file)| Incoming {
        key: format!("{}:{at}", said.key),
        text: String::new(),
        files: vec![file],
        album: None,
        ..(*said).clone()
    });
    let first =
        Incoming { files: said.files.iter().take(1).cloned().collect(), album: None, ..(*said).clone() };
    std::iter::once(first).chain(others).map(Event::from).collect()
}

#[async_trait]
impl Updates for BrokenUpdates {
    async fn next(&mut self) -> Result<Batch> {
        if self.deaf {
            std::future::pending::<()>().await;
        }
        let next = match self.flaw {
            Flaw::Echoes => match tokio::time::timeout(Duration::from_secs(5), self.whole.next()).await {
                Ok(next) => next,
                Err(_) => Ok(Batch { events: self.heard.lock().unwrap().echoed(), cursor: None }),
            },
            _ => self.whole.next().await,
        };
        let mut batch = match next {
            Err(_) if self.flaw == Flaw::StaysDeaf => {
                self.deaf = true;
                return Ok(Batch::default());
            }
            other => other?,
        };
        self.heard.lock().unwrap().twisted(self.flaw, &mut batch);
        if self.flaw == Flaw::AcknowledgesEarly && !batch.events.is_empty() {
            // The platform forgets what the next poll goes past.
            self.whole.ack().await?;
            let _ = tokio::time::timeout(Duration::from_millis(100), self.whole.next()).await;
        }
        Ok(batch)
    }
    async fn ack(&mut self) -> Result<()> {
        self.whole.ack().await
    }
}
