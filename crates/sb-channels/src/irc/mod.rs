//! IRC, with what IRCv3 adds where a server has it.
//!
//! Translates and nothing else: [`entering`] lets us in, [`keeper`] keeps the connection, [`feed`] hears,
//! [`parse`] reads lines, [`faults`] sorts refusals, [`facts`] says what the network can. It is larger than an
//! adapter that makes requests: the line protocol, its logins and the proof that a line was taken are all here.
//! Invariant: whoever is answered under an account is logged in to it at that moment.

mod batches;
mod entering;
mod facts;
mod faults;
mod feed;
mod keeper;
mod line;
mod lines;
mod link;
mod manners;
mod outgoing;
mod pace;
mod parse;
mod posts;
mod register;
mod session;
mod setup;
mod whois;
#[cfg(feature = "standins")]
pub mod standin;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use sb_channel::model::{Chat, ChatSort, FaultKind, MessageRef, Secret};
use sb_channel::net::Remote;
use sb_channel::{
    Account, Attempt, Channel, ChannelContext, Command, Features, Gesture, Inlet, Kind, Piece, Result,
};

use self::faults::fault;
use self::link::{Habits, Link, Live, Order};
use self::register::Login;
use self::session::Session;

/// This kind of messenger.
pub const KIND: Kind = Kind { manifest: facts::manifest, open: setup::open };

/// What adapter and feed share.
struct Bot {
    context: ChannelContext,
    remote: Remote,
    nick: String,
    login: Login,
    server_password: Option<Secret>,
    /// Channels we are to be in, each with the line that joins it.
    channels: Vec<(String, String)>,
    pace_ms: u64,
    commands: Arc<Mutex<Vec<String>>>,
    /// The feed's connection.
    live: Mutex<Option<Live>>,
    /// A connection that was made to see who we are, and that the feed takes over.
    waiting: Mutex<Option<Link>>,
}

impl Bot {
    fn live(&self) -> MutexGuard<'_, Option<Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn waiting(&self) -> MutexGuard<'_, Option<Link>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn open_line(&self) -> Option<Live> {
        self.live().clone().filter(Live::is_open)
    }
    /// Channels we are to be in, by their names as that server compares them.
    fn channels(&self, session: &Session) -> BTreeMap<String, String> {
        self.channels.iter().map(|(name, join)| (session.fold(name), join.clone())).collect()
    }
    fn habits(&self, session: &Session) -> Habits {
        Habits {
            pace_ms: self.pace_ms,
            channels: self.channels(session),
            commands: Arc::clone(&self.commands),
            clock: Arc::clone(&self.context.clock),
            nonce: self.context.dice.roll(),
        }
    }

    /// What a chat is called on the network now.
    async fn target(&self, live: &Live, to: &Chat) -> Result<String> {
        let Some(account) = to.id.strip_prefix("account:") else { return Ok(to.id.clone()) };
        let now = self.context.clock.now().0;
        if let Some(nick) = live.look(|session| session.nick_of(account, now)) {
            return Ok(nick);
        }
        // The nick may be somebody else's by now, so the server is asked whose it is.
        let mut nicks = vec![account.to_owned()];
        nicks.extend(live.look(|session| session.last_nick_of(account)));
        for nick in nicks.into_iter().rev() {
            let asked = nick.clone();
            if live.ask(|done| Order::WhoIs { nick: asked, done }).await?.as_deref() == Some(account) {
                return Ok(nick);
            }
        }
        let detail = format!("nobody we can see is logged in to the account {account} at the moment");
        Err(fault(FaultKind::ChatGone, detail))
    }
}

/// One nick on one network.
struct Irc {
    bot: Arc<Bot>,
    hearing: feed::Hearing,
}

#[async_trait]
impl Channel for Irc {
    async fn check(&self) -> Result<Account> {
        let tell = |live: &Live| live.look(|session| facts::account(session, &self.bot.remote.host));
        if let Some(live) = self.bot.open_line() {
            return Ok(tell(&live));
        }
        let link = self.bot.connect().await?;
        let account = tell(&link.live);
        *self.bot.waiting() = Some(link);
        Ok(account)
    }

    fn features(&self, chat: &Chat) -> Features {
        match self.bot.open_line() {
            Some(live) => live.look(|session| facts::features(chat.sort, Some(session))),
            None => facts::features(chat.sort, None),
        }
    }

    fn inlet(&self) -> Inlet<'_> {
        Inlet::Feeds(vec![("lines", &self.hearing)])
    }

    async fn send(&self, to: &Chat, piece: Piece<'_>, _: &Attempt) -> Result<MessageRef> {
        let live = self.bot.open_line().ok_or_else(faults::away)?;
        let answers = match piece {
            Piece::Text { answers, .. } => answers,
            Piece::Files { .. } => None,
        };
        let words = piece.words()?;
        let target = self.bot.target(&live, to).await?;
        let mut text = words.text.clone();
        let mut tags = Vec::new();
        if let Some((id, nick)) = answers.and_then(|at| at.0.split_once(' ')) {
            if to.sort == ChatSort::Group {
                text = format!("{nick}: {text}");
            }
            if id != "-" && live.look(|session| session.can("message-tags")) {
                // Older clients know the name it had as a draft.
                tags.extend(["+reply", "+draft/reply"].map(|name| (name, id.to_owned())));
            }
        }
        let lines = outgoing::lines(&text, live.look(|session| session.room(&target)));
        if lines.is_empty() {
            return Err(fault(FaultKind::Refused, "there are no words to say"));
        }
        let said = live.ask(|done| Order::Post { target, tags, lines, done }).await?;
        let nick = live.look(|session| session.nick.clone());
        Ok(MessageRef(format!("{} {nick}", said.as_deref().unwrap_or("-"))))
    }

    async fn gesture(&self, to: &Chat, gesture: Gesture<'_>) -> Result<()> {
        let Gesture::Typing(at_work) = gesture else { return Ok(()) };
        let Some(live) = self.bot.open_line() else { return Ok(()) };
        if live.look(|session| session.can("message-tags")) {
            let target = self.bot.target(&live, to).await?;
            let state = if at_work { "active" } else { "done" };
            live.tell(Order::InPassing(format!("@+typing={state} TAGMSG {target}")));
        }
        Ok(())
    }

    async fn offer(&self, commands: &[Command]) -> Result<()> {
        let names = commands.iter().map(|command| command.name.clone()).collect();
        *self.bot.commands.lock().unwrap_or_else(PoisonError::into_inner) = names;
        Ok(())
    }
}
