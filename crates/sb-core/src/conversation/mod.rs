//! The conversation: everything that happens between taking a message and its ending, as one machine.
//!
//! **Promises.** Every message taken gets exactly one ending, whatever crashes. Messages are taken up
//! in the order of taking. One turn at a time. A call acts only after the change that says so is
//! committed. What was decided is recorded with who decided, before anything acts on it.
//!
//! **How.** [`Conversation::handle`] takes one input and gives what to record (one transaction) and
//! what to perform afterwards. It never fails and never waits. Its shell commits, then performs; if a
//! commit fails it throws the machine away and loads another, which is told [`Input::Recovered`] and
//! derives every effect again from what is stored. So the fields of [`Conversation`] beyond the
//! snapshot are only ever conveniences of this process.
//!
//! **Files.** One for each thing that can happen: `arrived` (with `choose`, `sessions`, `decide` and
//! `stop` for the commands), `begin`, `budget`, `hear` (the harness, and `house` for what
//! the house does for it), `end`, `recover`, and `posting` for what goes
//! to a messenger. This one dispatches.

mod arrived;
mod begin;
mod budget;
mod choose;
mod decide;
mod end;
mod hear;
mod house;
mod posting;
mod recover;
mod run;
mod sessions;
mod stop;

use std::collections::HashMap;
use std::sync::Arc;

use sb_model::{
    Attachment, Call, CallId, Change, Decision, EndKind, Ending, Entry, Exchange, HarnessEvent, HarnessInput,
    Message, MessageId, Phase, Principal, Profile, Record, Refusal, Seq, Session, SessionBrief, SessionId,
    Snapshot, StopReason, Timestamp, ToolUpdate, TurnFault, TurnId, Usage,
};

pub use posting::Growing;

use crate::apply::apply;
use crate::ids::Ids;
use crate::outside::Prints;
use run::{Plan, Run, Slot};

/// One thing that happened.
#[derive(Debug)]
pub enum Input {
    /// A message was taken. `seen` holds what its command looks at, if [`Conversation::looks_at`] asked.
    Arrived(Message, Seen),
    /// The message's files are where the agent can open them.
    Prepared(MessageId, Prepared),
    /// Whoever wrote a waiting message changed it.
    Edited(MessageId, String),
    /// Whoever wrote a waiting message took it back.
    Unsent(MessageId),
    /// A place to run a turn is ours.
    Granted,
    /// What came from outside in a session before, so far as this process did not hear it; right before
    /// [`Input::Opened`], where [`Conversation::knows_outside`] says no.
    Outside(SessionId, Prints),
    /// The turn's harness was started; what its turn had logged before.
    Opened(TurnId, Vec<Entry>),
    Harness(TurnId, HarnessEvent),
    /// It wants a call that cannot be done as things stand, whoever would allow it; why, for the model.
    CannotBe(TurnId, Call, String),
    /// The harness returned.
    Ended(TurnId, Result<StopReason, TurnFault>),
    /// The time asked for with [`Conversation::wake_at`] has come.
    Wake,
    /// The program ends cleanly: nothing more is handled; what is at work is taken up at the next start.
    Closing,
    /// The machine was loaded anew: first input after a start, a takeover, a failed commit.
    Recovered,
}

/// A message's files, ready for the agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prepared {
    /// One for each file: where it is, or why it is not there.
    pub lines: Vec<String>,
    /// Those that came from a messenger, kept now; after those the message had at once.
    pub files: Vec<Attachment>,
}

/// What a command may look at besides the snapshot; read by the shell right before it is handled.
#[derive(Debug, Default)]
pub struct Seen {
    /// Sessions of this conversation, newest first.
    pub sessions: Vec<SessionBrief>,
    /// The sessions whose id begins as `/resume` says.
    pub resumable: Vec<Session>,
    /// The current session's last exchanges, newest first.
    pub exchanges: Vec<Exchange>,
    /// The current session's last decisions, newest first.
    pub decisions: Vec<Decision>,
}

/// What to do once the changes are committed.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Put the message's files where the agent can open them; answer with [`Input::Prepared`].
    Prepare(MessageId),
    /// Ask for a place; answer with [`Input::Granted`]. Urgent: its person has waited already.
    WantSlot {
        urgent: bool,
    },
    FreeSlot,
    /// Start the harness on the snapshot's turn; answer with [`Input::Opened`], then what it says.
    Run(TurnId),
    Tell(HarnessInput),
    /// Tell the harness what came of a call that the house did; it stands in the log there.
    TellDone(CallId, SessionId, Seq),
    /// The harness did not stop in time: drop it.
    Abandon(TurnId),
    /// Hand in this waiting message again, as arrived, with what its command looks at.
    Recall(MessageId),
    Show(Show),
}

/// What somebody who follows is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Show {
    /// The turn of these messages works in this session.
    Began(SessionId, Vec<MessageId>),
    Text(String),
    Break,
    Void,
    Tool(ToolUpdate),
    /// How a message ended; `Waiting` is for the moment only.
    Ended(MessageId, Ending),
}

/// One transaction, then these.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    pub record: Vec<Change>,
    pub perform: Vec<Effect>,
}

/// What the machine is told about its profile; set anew before each input, so rights hold from the next call.
#[derive(Debug, Clone)]
pub struct Context {
    pub profile: Arc<Profile>,
    /// Names of the tools the profile gives.
    pub tools: Arc<[String]>,
    /// The harness takes words while it works.
    pub steers: bool,
    /// The harness ends its turn where a person must decide, and goes on from its log. One that does not keeps its
    /// turn open until then, and asks for one call at a time.
    pub parks: bool,
    /// The agent is suspended, or one above it is: a sentence that says so.
    pub suspended: Option<Arc<str>>,
    /// What those whose messages wait used today; told where the profile has a budget for it.
    pub spent: Arc<HashMap<Principal, Usage>>,
}

/// One conversation. See the module's page.
#[derive(Debug)]
pub struct Conversation {
    state: Snapshot,
    /// See [`Context`].
    pub context: Context,
    ids: Ids,
    now: Timestamp,
    out: Outcome,
    slot: Slot,
    plan: Option<Plan>,
    run: Option<Run>,
    /// The words of the current session that came from outside; none: nobody has told us yet.
    outside: Option<(SessionId, Prints)>,
    /// The newest message that was taken when we were loaded: up to it, what waits is in the snapshot.
    loaded_to: MessageId,
    /// The files of waiting messages; none yet: they are being prepared.
    prepared: HashMap<MessageId, Option<Prepared>>,
}

impl Conversation {
    /// A machine over what is stored. `seed` gives it its ids; take it from dice. Tell it
    /// [`Input::Recovered`] first.
    pub fn new(state: Snapshot, context: Context, seed: u64) -> Self {
        Self {
            loaded_to: state.newest,
            state,
            context,
            ids: Ids::new(seed),
            now: Timestamp(0),
            out: Outcome::default(),
            slot: Slot::None,
            plan: None,
            run: None,
            outside: None,
            prepared: HashMap::new(),
        }
    }

    /// One input, everything it causes. Pure; never fails.
    pub fn handle(&mut self, now: Timestamp, input: Input) -> Outcome {
        self.now = now.max(self.now);
        match input {
            Input::Arrived(message, seen) => self.arrived(message, seen),
            Input::Prepared(message, prepared) => self.ready(message, prepared),
            Input::Edited(message, text) => self.edited(message, text),
            Input::Unsent(message) => self.unsent(message),
            Input::Granted => self.granted(),
            Input::Outside(session, prints) => self.outside = Some((session, prints)),
            Input::Opened(turn, entries) => self.opened(turn, &entries),
            Input::Harness(turn, event) => self.hear(turn, event),
            Input::CannotBe(turn, call, why) => self.cannot_be(turn, &call, why),
            Input::Ended(turn, how) => self.harness_ended(turn, how),
            Input::Wake => self.wake(),
            Input::Closing => self.lay_down(),
            Input::Recovered => self.recover(),
        }
        std::mem::take(&mut self.out)
    }

    /// The clock leapt over so many milliseconds, in which nothing could happen: a run did not take them.
    pub fn leapt(&mut self, ms: i64) {
        if let Some(run) = &mut self.run {
            run.since = run.since.plus_ms(ms);
            run.drop_at = run.drop_at.map(|at| at.plus_ms(ms));
        }
    }

    /// When it wants [`Input::Wake`], if nothing else happens first.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let working = self.state.turn.as_ref().is_some_and(|t| t.phase == Phase::Running);
        let run = self.run.as_ref().and_then(|run| run.wake_at(working, self.deadline_ms()));
        let settled = self.settles_at().filter(|at| *at > self.now && self.is_free());
        [run, settled, self.expires_at()].into_iter().flatten().min()
    }

    /// Whether it has heard all that came from outside in the current session.
    pub fn knows_outside(&self) -> bool {
        let session = self.session_id();
        session.is_none() || self.outside.as_ref().is_some_and(|(of, _)| Some(*of) == session)
    }

    /// The state as committed, once the last outcome is.
    pub fn state(&self) -> &Snapshot {
        &self.state
    }

    /// Nothing runs, waits for its turn or is planned: it may be forgotten until something arrives.
    pub fn is_dormant(&self) -> bool {
        let parked = self.state.turn.as_ref().is_some_and(|t| t.phase == Phase::Parked);
        let waits = !self.state.waiting.is_empty() && !parked;
        self.run.is_none() && self.plan.is_none() && self.slot == Slot::None && !waits
    }

    /// Whether handling this message needs [`Seen`] filled, and with what.
    pub fn looks_at(message: &Message) -> Option<crate::commands::Command> {
        use crate::commands::Command as C;
        let (_, command) = crate::commands::read(message).ok().flatten()?;
        let looks = matches!(
            command,
            C::Status
                | C::Retry { .. }
                | C::Undo
                | C::Sessions
                | C::Resume(_)
                | C::Approve { .. }
                | C::Decline { .. }
        );
        looks.then_some(command)
    }

    /// How a message stands that has no ending yet: waiting for a person, if its turn does.
    pub fn stands(&self, message: MessageId) -> Option<Ending> {
        let turn = self.state.turn.as_ref()?;
        turn.pending.as_ref()?;
        let of_turn = turn.messages.iter().find(|(m, _)| m.id == message).map(|(_, from)| *from);
        let held = self.state.waiting.iter().any(|m| m.id == message);
        (of_turn.is_some() || held).then(|| self.waiting_ending(of_turn))
    }

    /// What its turn has said so far for this message, for somebody who begins to follow now.
    pub fn so_far(&self, message: MessageId) -> String {
        let turn = self.state.turn.as_ref();
        let from = turn.and_then(|t| t.messages.iter().find(|(m, _)| m.id == message)).map(|(_, from)| *from);
        match (&self.run, from) {
            (Some(run), Some(from)) => run.words(from),
            _ => String::new(),
        }
    }

    /// Whether an answer is being written, so that the next words belong to it.
    pub fn is_writing(&self) -> bool {
        self.run.as_ref().is_some_and(|run| !run.growing.is_empty())
    }

    // --- what every file of this module uses ---

    /// Records a change and folds it over the state.
    fn record(&mut self, change: Change) {
        apply(&mut self.state, &change);
        self.out.record.push(change);
    }

    fn perform(&mut self, effect: Effect) {
        self.out.perform.push(effect);
    }

    /// Appends to the current session's log. Without a session there is nothing to append to.
    fn log(&mut self, turn: Option<TurnId>, record: Record) -> Seq {
        let Some(session) = &self.state.session else { return Seq(0) };
        let (session, seq) = (session.id, session.last.next());
        if let (Some(run), Some(of)) = (&mut self.run, turn)
            && run.turn == of
        {
            run.note(seq, &record);
        }
        let entry = Entry { seq, at: self.now, turn, record };
        self.record(Change::Logged { session, entry });
        seq
    }

    /// The message has its ending, for good, and no turn's reply says it.
    fn end_message(&mut self, message: MessageId, ending: Ending) {
        self.post_answer(message, &ending);
        self.set_ending(message, ending);
    }

    /// The message has its ending, for good.
    fn set_ending(&mut self, message: MessageId, ending: Ending) {
        self.prepared.remove(&message);
        self.record(Change::Ended { message, ending: ending.clone() });
        self.perform(Effect::Show(Show::Ended(message, ending)));
    }

    /// A waiting message is answered by the turn at work. Words the agent is to heed narrow what the turn
    /// may do; a command only decides about it.
    fn join(&mut self, turn: TurnId, message: MessageId, from: Seq, heeded: bool) {
        let Some(of) = self.state.turn.as_ref().map(|t| t.rights) else { return };
        let said = self.state.waiting.iter().find(|m| m.id == message).filter(|_| heeded);
        let rights = said.map_or(of, |m| of.least(m.rights));
        self.record(Change::Joined { turn, message, from, rights });
    }

    /// An answer of our own to a command.
    fn answer(&mut self, message: MessageId, said: impl Into<String>) {
        let ending = Ending::plain(EndKind::Replied, said, self.session_id());
        self.end_message(message, ending);
    }

    fn refuse(&mut self, message: MessageId, refusal: Refusal, said: impl Into<String>) {
        let mut ending = Ending::plain(EndKind::Refused, said, self.session_id());
        ending.refusal = Some(refusal);
        self.end_message(message, ending);
    }

    fn session_id(&self) -> Option<SessionId> {
        self.state.session.as_ref().map(|s| s.id)
    }

    fn deadline_ms(&self) -> i64 {
        i64::from(self.context.profile.deadline_s) * 1000
    }
}
