//! One conversation awake: inputs in, a commit, then what follows. The only writer of its version.
//!
//! A failed commit throws the machine away and loads another from what is stored, so memory never
//! runs ahead of the disk. After a minute with nothing to do the actor leaves; rows are all that is left.

mod leaps;
mod posting;
mod showing;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sb_core::commands::Command;
use sb_core::model::{
    Address, ConversationId, Entry, HarnessInput, Message, MessageId, Principal, Profile, ProfileName,
    SessionId, Snapshot, Timestamp, TurnId, Usage,
};
use sb_core::{Context, Conversation, Effect, Input, Prints, Seen};
use sb_harness::TurnSpec;
use sb_store::{StoreError, StoreErrorKind, Version};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use self::leaps::Leaps;
use self::posting::Posts;
use crate::Engine;
use crate::actors::Mail;
use crate::bridge::Growth;
use crate::kept::Kept;
use crate::live::Live;
use crate::meter;
use crate::prepare;
use crate::turn::{AtWork, FromTurn};

/// How long an actor with nothing to do stays.
const IDLE: Duration = Duration::from_secs(60);
/// How long it keeps the log when nothing happens.
const QUIET: Duration = Duration::from_secs(5);
/// Sessions that `/sessions` lists.
const SESSIONS_LISTED: usize = 20;

/// Lives until it has slept long enough, or its mailbox is closed.
pub(crate) async fn live(engine: Engine, id: ConversationId, mails: mpsc::UnboundedReceiver<Mail>) {
    let mut actor =
        Actor { engine, id, mails, lives: HashMap::new(), places: HashMap::new(), place: Place::None };
    let mut backoff = Duration::from_millis(50);
    loop {
        match actor.awake().await {
            Ok(()) => break,
            // The next start takes it up.
            Err(_) if actor.engine.is_closing() => break,
            // Trying again reads the same; whoever follows is told.
            Err(e) if e.kind == StoreErrorKind::Corrupt => {
                actor.engine.is_damaged(&e);
                break;
            }
            Err(e) => {
                tracing::warn!(conversation = %actor.id, error = %e, wait_ms = backoff.as_millis() as u64, "a commit failed; loading anew");
                actor.give_place_back();
                tokio::time::sleep(backoff).await;
                backoff = (backoff * 2).min(Duration::from_secs(5));
                if actor.engine.is_closing() {
                    break;
                }
            }
        }
    }
    actor.leave();
}

struct Actor {
    engine: Engine,
    id: ConversationId,
    mails: mpsc::UnboundedReceiver<Mail>,
    /// Who follows what; outlives a reload.
    lives: HashMap<MessageId, watch::Sender<Live>>,
    /// Where the messages at hand came from.
    places: HashMap<MessageId, Address>,
    place: Place,
}

/// Our place to run. Every grant is one place: kept if it was asked for, else given on at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    None,
    Asked,
    Held,
}

/// What is thrown away when a commit fails.
struct Loaded {
    conversation: Conversation,
    version: Version,
    work: Option<AtWork>,
    kept: Option<Kept>,
    /// What the lane of its chat is shown of the reply being written.
    growing: Option<watch::Sender<Growth>>,
    leaps: Leaps,
}

enum Next {
    Mail(Option<Mail>),
    Turn(TurnId, FromTurn),
    Time,
    Idle,
}

type Result<T> = std::result::Result<T, StoreError>;

impl Actor {
    async fn awake(&mut self) -> Result<()> {
        let Some(mut now) = self.load().await? else { return Ok(()) };
        self.step(&mut now, Input::Recovered).await?;
        loop {
            match self.next(&mut now).await {
                Next::Mail(None) => return Ok(()),
                Next::Mail(Some(Mail::Close)) => return self.step(&mut now, Input::Closing).await,
                Next::Mail(Some(mail)) => self.take(&mut now, mail).await?,
                Next::Turn(turn, FromTurn::Event(event)) => {
                    self.step(&mut now, Input::Harness(turn, event)).await?
                }
                Next::Turn(turn, FromTurn::Ended(how)) => {
                    now.work = None;
                    self.step(&mut now, Input::Ended(turn, how)).await?;
                }
                Next::Time => self.step(&mut now, Input::Wake).await?,
                Next::Idle if now.kept.is_some() => now.kept = None,
                Next::Idle => {
                    if now.conversation.is_dormant()
                        && self.engine.inner().actors.may_sleep(&self.id, &self.mails)
                    {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn load(&self) -> Result<Option<Loaded>> {
        let inner = self.engine.inner();
        let Some((snapshot, version)) = inner.store.load(&self.id).await? else { return Ok(None) };
        let context = self.context(&snapshot.profile);
        let conversation = Conversation::new(snapshot, context, inner.dice.roll());
        let leaps = Leaps::new(inner.clock.now());
        Ok(Some(Loaded { conversation, version, work: None, kept: None, growing: None, leaps }))
    }

    /// The profile as it is now, and how its agent stands. One that was removed keeps nothing but its name:
    /// no tools, no models.
    fn context(&self, name: &ProfileName) -> Context {
        let Some(known) = self.engine.inner().profiles.get(name) else {
            return Context {
                profile: std::sync::Arc::new(Profile::gone(name.clone())),
                tools: std::sync::Arc::from([]),
                steers: false,
                parks: true,
                suspended: None,
                spent: Default::default(),
            };
        };
        Context { suspended: self.engine.suspended(&known.profile), ..known }
    }

    /// What time it is. What the clock leapt over is no time that a run took.
    fn time(&self, now: &mut Loaded) -> Timestamp {
        let time = self.engine.inner().clock.now();
        now.conversation.leapt(now.leaps.over(time));
        time
    }

    async fn next(&mut self, now: &mut Loaded) -> Next {
        let time = self.time(now);
        let wake = now.conversation.wake_at();
        let pause = match wake {
            Some(at) => Duration::from_millis(at.ms_since(time) as u64),
            None if now.kept.is_some() => QUIET,
            None => IDLE,
        };
        // A turn that floods us with words must not keep its own deadline from being seen.
        if wake.is_some() && pause.is_zero() {
            return Next::Time;
        }
        let turn = async {
            match now.work.as_mut() {
                Some(work) => (work.turn, work.next().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            mail = self.mails.recv() => Next::Mail(mail),
            (id, from) = turn => Next::Turn(id, from),
            () = tokio::time::sleep(pause) => if wake.is_some() { Next::Time } else { Next::Idle },
        }
    }

    async fn take(&mut self, now: &mut Loaded, mail: Mail) -> Result<()> {
        match mail {
            Mail::Arrived(message, shows) => {
                let id = message.id;
                if let Some(origin) = &message.origin {
                    self.places.insert(id, origin.address.clone());
                }
                if let Some(shows) = shows {
                    self.lives.insert(id, shows);
                }
                let arrival = self.arrival(now, *message).await?;
                self.step(now, arrival).await?;
                self.catch_up(now, id).await
            }
            Mail::Wake => self.step(now, Input::Wake).await,
            Mail::Close => Ok(()),
            Mail::Granted if self.place == Place::Asked => {
                self.place = Place::Held;
                self.step(now, Input::Granted).await
            }
            Mail::Granted => {
                self.engine.release_place();
                Ok(())
            }
            Mail::Prepared(message, prepared) => self.step(now, Input::Prepared(message, prepared)).await,
            Mail::Edited(message, text) => self.step(now, Input::Edited(message, text)).await,
            Mail::Unsent(message) => self.step(now, Input::Unsent(message)).await,
            Mail::Follow(message, answer) => {
                let live = self.followed(now, message).await?;
                let _ = answer.send(live);
                Ok(())
            }
        }
    }

    /// A message's arrival, with what its command looks at.
    async fn arrival(&self, now: &Loaded, message: Message) -> Result<Input> {
        let seen = match Conversation::looks_at(&message) {
            Some(command) => self.look(now.conversation.state(), &command).await?,
            None => Seen::default(),
        };
        Ok(Input::Arrived(message, seen))
    }

    /// Reads what a command looks at. Only this actor writes it, so it cannot change meanwhile.
    async fn look(&self, state: &Snapshot, command: &Command) -> Result<Seen> {
        let store = &self.engine.inner().store;
        let mut seen = Seen::default();
        match command {
            Command::Sessions => {
                seen.sessions = store.sessions(Some(&self.id), None, SESSIONS_LISTED).await?
            }
            Command::Resume(prefix) => {
                for id in store.session_by_prefix(&self.id, prefix).await?.into_iter().take(2) {
                    seen.resumable.extend(store.session(id).await?.map(|(session, ..)| session));
                }
            }
            Command::Approve { .. } | Command::Decline { .. } => {
                if let Some(session) = &state.session {
                    seen.decisions = store.decisions(session.id).await?;
                }
            }
            _ => {
                if let Some(session) = &state.session {
                    seen.exchanges = store.exchanges(session.id, 1).await?;
                }
            }
        }
        Ok(seen)
    }

    /// One input: decide, commit, perform. What is performed may be an input again, so this loops.
    async fn step(&mut self, now: &mut Loaded, input: Input) -> Result<()> {
        let mut inputs = std::collections::VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let spent = self.spent(now, &input).await?;
            now.conversation.context =
                Context { spent, ..self.context(&now.conversation.state().profile.clone()) };
            let time = self.time(now);
            let input = self.engine.unless_it_cannot_be(&now.conversation.context.profile, input).await?;
            let outcome = now.conversation.handle(time, input);
            let posts = Posts::of(&outcome.record, now.conversation.state());
            if !outcome.record.is_empty() {
                // Fed before the commit takes the changes; if it fails, all of `now` is thrown away.
                Kept::follow(&mut now.kept, &outcome.record);
                let (turn_end, begun) = (meter::turn_end(&outcome.record), Instant::now());
                now.version = self.engine.inner().store.commit(&self.id, now.version, outcome.record).await?;
                meter::committed(begun.elapsed(), turn_end);
            }
            self.posted(posts).await?;
            for effect in outcome.perform {
                inputs.extend(self.perform(now, effect).await?);
            }
        }
        self.release_held(now).await
    }

    /// What those whose messages wait used today, where the profile has a budget for it. Nothing begins by what a
    /// harness says, so then it stands as it was.
    async fn spent(&self, now: &Loaded, input: &Input) -> Result<Arc<HashMap<Principal, Usage>>> {
        let context = &now.conversation.context;
        if matches!(input, Input::Harness(..)) || context.profile.budgets.sender.is_none() {
            return Ok(Arc::clone(&context.spent));
        }
        let inner = self.engine.inner();
        let arrived = match input {
            Input::Arrived(message, _) => Some(&message.from),
            _ => None,
        };
        let waiting = now.conversation.state().waiting.iter().map(|message| &message.from);
        let mut spent = HashMap::new();
        for by in waiting.chain(arrived) {
            if !spent.contains_key(by) {
                let used = inner.store.spent(&context.profile.name, by, inner.clock.now()).await?;
                spent.insert(by.clone(), used);
            }
        }
        Ok(Arc::new(spent))
    }

    async fn perform(&mut self, now: &mut Loaded, effect: Effect) -> Result<Vec<Input>> {
        match effect {
            Effect::Show(show) => self.show(now, show),
            Effect::WantSlot { urgent } => {
                self.place = Place::Asked;
                if self.engine.inner().places.want(&self.id, urgent) {
                    self.place = Place::Held;
                    return Ok(vec![Input::Granted]);
                }
            }
            Effect::FreeSlot => self.give_place_back(),
            Effect::Run(turn) => return self.run(now, turn).await,
            Effect::Tell(input) => {
                if let Some(work) = &now.work {
                    work.tell(input);
                }
            }
            Effect::TellDone(call, session, seq) => {
                let logged = self.engine.inner().store.log(session, seq, seq).await?;
                if let (Some(work), Some(entry)) = (&now.work, logged.into_iter().next()) {
                    work.tell(HarnessInput::Done(call, entry.record));
                }
            }
            Effect::Abandon(_) => now.work = None,
            Effect::Prepare(message) => self.prepare(now, message),
            Effect::Recall(message) => {
                let waiting = now.conversation.state().waiting.iter().find(|m| m.id == message).cloned();
                if let Some(message) = waiting {
                    return Ok(vec![self.arrival(now, message).await?]);
                }
            }
        }
        Ok(Vec::new())
    }

    async fn run(&mut self, now: &mut Loaded, turn: TurnId) -> Result<Vec<Input>> {
        let inner = self.engine.inner();
        let state = now.conversation.state();
        let Some(stored) = state.turn.as_ref().filter(|t| t.id == turn) else { return Ok(Vec::new()) };
        let profile = now.conversation.context.profile.clone();
        let harness = inner.agents.harness(&profile);
        let from = stored.messages.first().map(|(_, from)| *from);
        let log = match (now.kept.as_ref().and_then(|k| k.log(stored.session)), from) {
            (Some(log), _) => log.to_vec(),
            // Whoever remembers by itself needs little of it, however old the session is.
            (None, Some(from)) if !harness.features().rewinds => {
                inner.store.recent_log(stored.session, from).await?
            }
            (None, _) => {
                let log = inner.store.view_log(stored.session).await?;
                now.kept = Kept::of(stored.session, &log);
                log
            }
        };
        let log = sb_core::view(log);
        let outside = match now.conversation.knows_outside() {
            true => None,
            false => Some(Input::Outside(stored.session, self.prints_of(stored.session).await?)),
        };
        let spec = TurnSpec {
            turn,
            session: stored.session,
            task: stored.task,
            choices: state.choices.clone(),
            starts: stored.starts,
            blobs: std::sync::Arc::new(prepare::StoreBlobs(inner.store.clone())),
            memory: std::sync::Arc::new(crate::notes::StoreNotes::new(
                inner.store.clone(),
                inner.clock.clone(),
            )),
            tainted: state.session.as_ref().is_some_and(|s| s.tainted),
            log,
            profile: profile.clone(),
        };
        let entries = spec.log.iter().filter(|e| e.turn == Some(turn)).cloned().collect();
        now.work = Some(AtWork::start(harness, spec));
        Ok(outside.into_iter().chain([Input::Opened(turn, entries)]).collect())
    }

    /// The prints of all that a session read from outside.
    async fn prints_of(&self, session: SessionId) -> Result<Prints> {
        let look = |prints: &mut Prints, entry: Entry| prints.note(&entry.record, None);
        self.engine.inner().store.each_from_outside(session, Prints::default(), look).await
    }

    fn prepare(&self, now: &Loaded, message: MessageId) {
        let Some(message) = now.conversation.state().waiting.iter().find(|m| m.id == message).cloned() else {
            return;
        };
        let (engine, id) = (self.engine.clone(), self.id.clone());
        let workspace = now.conversation.context.profile.workspace.clone();
        tokio::spawn(async move {
            let prepared = prepare::prepare(&engine, workspace.as_deref(), &message).await;
            engine.send(&id, Mail::Prepared(message.id, prepared));
        });
    }

    fn give_place_back(&mut self) {
        match std::mem::replace(&mut self.place, Place::None) {
            Place::None => {}
            Place::Held => self.engine.release_place(),
            // If it was granted just now, the grant finds nobody who asked and goes on.
            Place::Asked => self.engine.inner().places.forget(&self.id),
        }
    }

    /// Places that were granted while we left go to whoever is next.
    fn leave(mut self) {
        self.give_place_back();
        self.mails.close();
        while let Ok(mail) = self.mails.try_recv() {
            if matches!(mail, Mail::Granted) {
                self.engine.release_place();
            }
        }
    }
}
