//! From an address to a connection that was let in, and what is asked for there first.

use std::time::Duration;

use sb_channel::Result;
use sb_channel::net::Stream;
use tokio::io::{AsyncWriteExt, ReadHalf, WriteHalf};

use super::Bot;
use super::faults::{self, lost};
use super::line::{Line, write};
use super::lines::Lines;
use super::link::{Link, Order};
use super::register::{Registering, Step};
use super::session::Session;

/// Being let in may take so long.
const WELCOME: Duration = Duration::from_secs(25);

impl Bot {
    /// A new connection, let in: from here on things can be said.
    pub(super) async fn connect(&self) -> Result<Link> {
        let stream = self.context.http.open(&self.remote).await?;
        let (input, mut output) = tokio::io::split(stream);
        let mut lines = Lines::new(input);
        let mut session = Session::new(&self.nick);
        let mut registering = Registering::new(self.login.clone());
        let entering = self.enter(&mut lines, &mut output, &mut session, &mut registering);
        match tokio::time::timeout(WELCOME, entering).await {
            Ok(entered) => entered?,
            Err(_) => return Err(registering.overdue(WELCOME)),
        }
        let habits = self.habits(&session);
        let link = Link::keep(lines, output, session, habits);
        self.greet(&link);
        *self.live() = Some(link.live.clone());
        Ok(link)
    }

    async fn enter(
        &self,
        lines: &mut Lines<ReadHalf<Box<dyn Stream>>>,
        output: &mut WriteHalf<Box<dyn Stream>>,
        session: &mut Session,
        registering: &mut Registering,
    ) -> Result<()> {
        let broken = |why: std::io::Error| lost(&why.to_string());
        let mut say = Registering::begin(self.server_password.as_ref(), session);
        loop {
            for line in std::mem::take(&mut say) {
                output.write_all(format!("{line}\r\n").as_bytes()).await.map_err(broken)?;
            }
            output.flush().await.map_err(broken)?;
            let text = lines.next().await.map_err(broken)?;
            let text = text.ok_or_else(|| faults::of_ending("it gave no reason"))?;
            let Some(line) = Line::parse(&text) else { continue };
            session.learn(&line, self.context.clock.now().0);
            match registering.hear(&line, session)? {
                Step::Say(more) => say = more,
                Step::Done => return Ok(()),
            }
        }
    }

    /// What is asked for as soon as we are in.
    fn greet(&self, link: &Link) {
        let live = &link.live;
        let (nick, wanted) = live.look(|session| (session.nick.clone(), session.wanted.clone()));
        let (ours, logged_in) = live.look(|session| (session.is_us(&wanted), session.account.is_some()));
        if let Some(mode) = live.look(|session| session.bot_mode.clone()) {
            live.tell(Order::Line(format!("MODE {nick} +{mode}")));
        }
        // Whoever is logged in may have the rest of an older connection of theirs removed.
        if logged_in && !ours {
            live.tell(Order::Line(write(&[], "PRIVMSG", &["NickServ", &format!("GHOST {wanted}")])));
            live.tell(Order::Line(format!("NICK {wanted}")));
        }
        self.channels.iter().for_each(|(_, join)| live.tell(Order::Line(join.clone())));
    }
}
