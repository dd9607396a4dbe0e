//! `talk` on a terminal: prompt, streamed answer, approvals in place, Ctrl-C.
//!
//! While the agent works, Ctrl-C sends `/stop`, and a second one leaves, also where the turn has ended in
//! between; else it goes on without us. At a question nothing but a clear answer decides.

use std::future::ready;
use std::io::{self, Write};
use std::time::Duration;

use tokio::time::Instant;

use super::approval::{Choice, QUESTION, WHICH, Waiting, apart, choice};
use super::screen::Screen;
use super::{Person, Typed};
use crate::local::client::{Desk, DeskError, DeskErrorKind, Replies, ReplyStep, To};

const PROMPT: &str = "> ";
/// A second Ctrl-C that soon after the first leaves.
const TWICE: Duration = Duration::from_secs(2);

/// Whom a person talks to, and where.
#[derive(Debug, Clone)]
pub struct Partner {
    pub desk: Desk,
    pub profile: String,
    /// None: the conversation that is meant where no name is given.
    pub conversation: Option<String>,
}

impl Partner {
    pub(crate) fn to(&self) -> To<'_> {
        To::Conversation { profile: &self.profile, name: self.conversation.as_deref() }
    }
}

/// Why talking ended early.
#[derive(Debug, thiserror::Error)]
pub enum TalkError {
    #[error(transparent)]
    Desk(#[from] DeskError),
    #[error("The terminal cannot be read or written: {0}.")]
    Terminal(#[from] io::Error),
}

type Result<T> = std::result::Result<T, TalkError>;

/// Whether to read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Stay,
    Leave,
}

/// Talks until the person leaves.
pub async fn talk<P: Person, W: Write>(partner: Partner, person: P, out: W) -> Result<()> {
    let mut talk =
        Talk { partner, person, screen: Screen::new(out), session: None, may_wait: false, stopped: None };
    let mut warned = false;
    loop {
        // Pressed when the answer was just whole, it is for us.
        if talk.has_interrupt().await && talk.just_stopped() {
            return Ok(());
        }
        match talk.person.read(PROMPT).await? {
            Typed::Line(line) if line.trim().is_empty() => {}
            Typed::Line(line) => {
                (warned, talk.stopped) = (false, None);
                if talk.exchange(line).await? == Flow::Leave {
                    return Ok(());
                }
            }
            Typed::Interrupt if !warned && !talk.just_stopped() => {
                warned = true;
                talk.screen.line("Ctrl-C again, or Ctrl-D, leaves.")?;
            }
            Typed::Interrupt | Typed::End => return Ok(()),
        }
    }
}

struct Talk<P, W> {
    partner: Partner,
    person: P,
    screen: Screen<W>,
    /// The session the last answer was of.
    session: Option<String>,
    /// A call was seen waiting, and not yet seen decided.
    may_wait: bool,
    /// When the last turn was told to stop.
    stopped: Option<Instant>,
}

impl<P: Person, W: Write> Talk<P, W> {
    /// Whether Ctrl-C was pressed and nobody has heeded it yet.
    async fn has_interrupt(&mut self) -> bool {
        tokio::select! {
            biased;
            () = self.person.interrupted() => true,
            () = ready(()) => false,
        }
    }

    fn just_stopped(&self) -> bool {
        self.stopped.is_some_and(|at| at.elapsed() < TWICE)
    }

    /// One message and its answer, with every question on the way.
    async fn exchange(&mut self, mut text: String) -> Result<Flow> {
        loop {
            if self.answer(&text).await? == Flow::Leave {
                return Ok(Flow::Leave);
            }
            let Some(waiting) = self.waiting().await? else { return Ok(Flow::Stay) };
            match self.ask(&waiting).await? {
                Some(words) => text = words,
                None => return Ok(Flow::Leave),
            }
        }
    }

    /// Sends a message and shows its answer as it comes.
    async fn answer(&mut self, text: &str) -> Result<Flow> {
        match self.partner.desk.say_streaming(self.partner.to(), text).await {
            Ok(replies) => self.show(replies).await,
            Err(why) => self.refused(why),
        }
    }

    async fn show(&mut self, mut replies: Replies) -> Result<Flow> {
        let mut stopping = false;
        loop {
            let step = tokio::select! {
                step = replies.next() => step,
                () = self.person.interrupted() => {
                    if stopping {
                        self.screen.line("Left. What was said is kept: `switchboard session list` shows where.")?;
                        return Ok(Flow::Leave);
                    }
                    (stopping, self.stopped) = (true, Some(Instant::now()));
                    self.stop();
                    continue;
                }
            };
            match step {
                Ok(Some(ReplyStep::Session(session))) => self.session = Some(session),
                Ok(Some(ReplyStep::Delta(text))) => self.screen.delta(&text)?,
                Ok(Some(ReplyStep::Tool { name, state })) => {
                    self.may_wait |= state == "waiting";
                    self.screen.tool(&name, &state)?;
                }
                Ok(Some(ReplyStep::Done(mut answer))) => {
                    self.may_wait |= answer.waits();
                    if answer.waits() {
                        // It is asked in place, right after.
                        answer.said = apart(&answer.said).0.to_owned();
                    }
                    self.screen.finish(&answer)?;
                    self.session = answer.session.or(self.session.take());
                }
                Ok(None) => return Ok(Flow::Stay),
                Err(why) => return self.refused(why),
            }
        }
    }

    /// Stops the turn, beside the stream that shows it.
    fn stop(&self) {
        let partner = self.partner.clone();
        tokio::spawn(async move {
            // What comes of it is seen in the answer; if it fails, a second Ctrl-C still leaves.
            let _ = partner.desk.say(partner.to(), "/stop").await;
        });
    }

    /// A refusal is shown and the talk goes on; a server that is gone ends it.
    fn refused(&mut self, why: DeskError) -> Result<Flow> {
        match why.kind {
            DeskErrorKind::Refused { .. } => {
                self.screen.line(&why.said)?;
                Ok(Flow::Stay)
            }
            _ => Err(why.into()),
        }
    }

    /// The request that waits for the person, if one does.
    async fn waiting(&mut self) -> Result<Option<Waiting>> {
        let Some(session) = self.session.as_deref().filter(|_| self.may_wait) else { return Ok(None) };
        let trace = self.partner.desk.trace(session).await?;
        let waiting = trace.waiting.as_ref().and_then(Waiting::read);
        self.may_wait = waiting.is_some();
        Ok(waiting)
    }

    /// Asks until there is a clear answer: the message that gives it, or none if the person leaves.
    async fn ask(&mut self, waiting: &Waiting) -> Result<Option<String>> {
        self.screen.line(&waiting.shown())?;
        let question = if waiting.ways.is_empty() { QUESTION } else { WHICH };
        loop {
            match self.person.read(question).await? {
                Typed::Line(line) => match choice(&waiting.request, &line) {
                    Choice::Send(words) => return Ok(Some(words)),
                    Choice::Unclear if !waiting.ways.is_empty() => {
                        self.screen.line("A number lets it go ahead in that way, n and why refuses it.")?
                    }
                    Choice::Unclear => self.screen.line(
                        "y lets it go ahead, n and why refuses it, a also lets the same again go ahead in this session.",
                    )?,
                },
                Typed::Interrupt => return Ok(Some("/stop".to_owned())),
                Typed::End => {
                    let session = self.session.as_deref().unwrap_or_default();
                    self.screen.line(&format!(
                        "It keeps waiting. Decide later with: switchboard continue {session} --approve, or --decline <why>"
                    ))?;
                    return Ok(None);
                }
            }
        }
    }
}
