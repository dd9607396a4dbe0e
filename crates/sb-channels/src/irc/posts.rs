//! What became of what we said: each post waits here until the server tells.
//!
//! A post is proven in one of two ways. Where the server labels its answers, our own line comes back with its
//! label. Where not, a ping follows the post: servers do things in their order, so its answer means that the
//! post was taken, and a refusal of that target before it means that it was not.

use std::collections::VecDeque;

use sb_channel::Result;
use sb_channel::model::{Fault, FaultKind};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::faults::{self, fault};
use super::keeper::ANSWER;
use super::line::{Line, write};
use super::link::Done;
use super::session::Session;

/// One line of a post: whose it is, and whether it is the last of it.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    post: u64,
    last: bool,
}

/// See the module.
pub struct Posts {
    /// Makes this connection's tokens others than those of the one before.
    nonce: u64,
    count: u64,
    open: VecDeque<Post>,
}

struct Post {
    number: u64,
    /// Folded.
    target: String,
    token: String,
    left: Left,
    due: Instant,
    done: Done<Option<String>>,
}

/// What of a post left.
#[derive(PartialEq)]
enum Left {
    None,
    Some,
    All,
}

impl Posts {
    pub fn new(nonce: u64) -> Self {
        Self { nonce, count: 0, open: VecDeque::new() }
    }

    /// Begins a post: its lines as they are to leave.
    pub fn begin(
        &mut self,
        session: &Session,
        target: &str,
        tags: &[(&'static str, String)],
        said: &[String],
        done: Done<Option<String>>,
    ) -> Vec<(String, Part)> {
        self.count += 1;
        let (post, token) = (self.count, format!("p{:x}-{}", self.nonce & 0xffff_ffff, self.count));
        let labels = session.labels();
        let mut lines = Vec::new();
        for (at, words) in said.iter().enumerate() {
            let last = labels && at + 1 == said.len();
            let mut all: Vec<(&str, &str)> = if last { vec![("label", &token)] } else { vec![] };
            all.extend(tags.iter().filter(|_| at == 0).map(|(name, value)| (*name, value.as_str())));
            lines.push((write(&all, "PRIVMSG", &[target, words]), Part { post, last }));
        }
        if !labels {
            lines.push((write(&[], "PING", &[&token]), Part { post, last: true }));
        }
        let (target, due) = (session.fold(target), Instant::now() + ANSWER);
        self.open.push_back(Post { number: post, target, token, left: Left::None, due, done });
        lines
    }

    /// Whether this line is still to leave: not if its post was settled, or if whoever waits for it was gone before
    /// anything of it left.
    pub fn wants(&mut self, part: Part) -> bool {
        let given_up = |post: &Post| post.left == Left::None && oneshot::Sender::is_closed(&post.done);
        self.open.retain(|post| post.number != part.post || !given_up(post));
        self.open.iter().any(|post| post.number == part.post)
    }

    /// This line leaves now.
    pub fn leaves(&mut self, part: Part) {
        for post in self.open.iter_mut().filter(|post| post.number == part.post) {
            post.left = if part.last { Left::All } else { Left::Some };
            post.due = Instant::now() + ANSWER;
        }
    }

    /// When something here is overdue next.
    pub fn due(&self) -> Option<Instant> {
        self.open.iter().filter(|post| post.left != Left::None).map(|post| post.due).min()
    }

    /// What became of posts, as far as the line says; `label` is the line's own, or its batch's. True if it says
    /// no more than that.
    pub fn judge(&mut self, line: &Line, label: Option<&str>, session: &Session) -> bool {
        if line.command == "PONG" {
            self.settle(self.of_token(line.words()), Ok(None));
            return true;
        }
        if matches!(line.command.as_str(), "NICK" | "QUIT") {
            self.leave_off(&session.fold(line.nick()));
            return false;
        }
        let refusal = faults::of_line(line);
        if let Some(label) = label {
            let outcome = match (refusal, line.command.as_str()) {
                (Some(why), _) => Some(Err(why)),
                (None, "PRIVMSG") => Some(Ok(line.tag("msgid").map(str::to_owned))),
                (None, "ACK") => Some(Ok(None)),
                (None, _) => None,
            };
            outcome.into_iter().for_each(|outcome| self.settle(self.of_token(label), outcome));
            return true;
        }
        let Some(why) = refusal else { return false };
        let target = session.fold(line.param(1));
        let of_target = |post: &Post| post.left != Left::None && post.target == target;
        // Some refusals name no target; they are of what left first.
        let of_none = |post: &Post| post.left != Left::None && matches!(line.number(), Some(263 | 412 | 417 | 421));
        let of = self.open.iter().position(of_target).or_else(|| self.open.iter().position(of_none));
        self.settle(of, Err(why));
        of.is_some()
    }

    /// Nobody is called so any more, or soon somebody else is: what has not left is not for them.
    fn leave_off(&mut self, target: &str) {
        while let Some(at) = self.open.iter().position(|post| post.target == target) {
            let maybe_done = self.open[at].left != Left::None;
            let moved = fault(FaultKind::ChatBusy { wait_ms: None }, "whoever it is for has another nick now, or left");
            self.settle(Some(at), Err(Fault { maybe_done, ..moved }));
        }
    }

    /// An answer of several lines is over: none of them was a refusal.
    pub fn answered(&mut self, label: &str) {
        self.settle(self.of_token(label), Ok(None));
    }

    /// Gives up those whose answer is overdue.
    pub fn pass(&mut self, now: Instant) {
        let overdue = |post: &Post| post.left != Left::None && post.due <= now;
        while let Some(at) = self.open.iter().position(overdue) {
            let unknown = fault(FaultKind::Passing { wait_ms: None }, "the server does not say what became of it");
            self.settle(Some(at), Err(Fault { maybe_done: true, ..unknown }));
        }
    }

    /// Tells whoever waits that there will be no answer.
    pub fn end(&mut self, why: &Fault) {
        for post in self.open.drain(..) {
            let outcome = match post.left {
                Left::None => faults::away(),
                _ => Fault { maybe_done: true, kind: FaultKind::ChatBusy { wait_ms: None }, ..why.clone() },
            };
            let _ = post.done.send(Err(outcome));
        }
    }

    fn of_token(&self, token: &str) -> Option<usize> {
        self.open.iter().position(|post| post.token == token)
    }

    fn settle(&mut self, at: Option<usize>, outcome: Result<Option<String>>) {
        if let Some(post) = at.and_then(|at| self.open.remove(at)) {
            let _ = post.done.send(outcome);
        }
    }
}
