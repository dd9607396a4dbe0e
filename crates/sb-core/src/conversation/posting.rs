//! What a conversation on a messenger posts: replies, our own answers, questions, notices.
//!
//! Every post is recorded in the commit of the decision it tells of, under a key made of what it is
//! about, so that nothing is said twice and nothing is forgotten. A turn's words are cut into stretches
//! by its questions: each stretch is one post, and so is each question. What has no messenger behind it
//! posts nothing.

use sb_model::text::{add_paragraph, one_line};
use sb_model::{
    Address, Change, Choice, EndKind, Ending, Message, MessageId, Origin, Pending, Post, PostKey, Task, Tone,
    Turn, TurnFault, TurnId,
};

use super::Conversation;
use crate::reply::{self, RESTARTED};

const ALLOW: &str = "Allow once";
const ALWAYS: &str = "Always in this session";
const DECLINE: &str = "Decline";
/// Choices that a question has at most: an agent's ways, always, and declining.
const MOST_CHOICES: usize = 8;
/// Visible characters of a call that a question shows.
const CALL_SHOWN: usize = 6_000;

/// A reply that is being written, for whoever shows it growing.
#[derive(Debug, Clone, PartialEq)]
pub struct Growing {
    /// What it will be posted under.
    pub key: PostKey,
    pub to: Address,
    /// What is written of it so far.
    pub words: String,
}

impl Conversation {
    /// The reply that the turn at work is writing, if a messenger waits for it.
    pub fn growing(&self) -> Option<Growing> {
        let turn = self.state.turn.as_ref()?;
        let run = self.run.as_ref().filter(|r| r.turn == turn.id)?;
        let to = address_of(turn)?.clone();
        Some(Growing { key: PostKey::reply(turn.id, run.asked), to, words: run.stretch_words() })
    }

    /// Our own answer to one message.
    pub(super) fn post_answer(&mut self, message: MessageId, ending: &Ending) {
        if ending.kind == EndKind::Dropped || ending.said.is_empty() {
            return;
        }
        let waiting = self.state.waiting.iter().find(|m| m.id == message);
        let Some(origin) = waiting.and_then(|m| m.origin.as_deref()) else { return };
        let mut post = Post::new(PostKey::answer(message), origin.address.clone());
        post.text.clone_from(&ending.said);
        post.answers.extend(origin.address.message.clone());
        self.post(post);
    }

    /// What the turn says at its end: the words since its last question, and a remark of ours.
    pub(super) fn post_reply(&mut self, turn: &Turn, remark: Option<&str>, failed: Option<&TurnFault>) {
        let Some(to) = address_of(turn) else { return };
        let run = self.run.as_ref().filter(|r| r.turn == turn.id);
        let key = match run {
            Some(run) => PostKey::reply(turn.id, run.asked),
            // Nobody is at work on it, so what it showed before is not at hand: this is said apart.
            None => PostKey::closing(turn.id),
        };
        let mut post = Post::new(key, to.clone());
        if let Some(run) = run {
            post.text = run.stretch_words();
            post.files = run.stretch_files();
        }
        if let Some(remark) = remark {
            add_paragraph(&mut post.text, remark);
        }
        post.failed = failed.is_some();
        if failed.is_some_and(|fault| fault.kind.may_pass()) && turn.task == Task::Answer {
            let says = format!("/retry {}", turn.id);
            post.choices = vec![Choice { label: "Try again".to_owned(), says, tone: Tone::Plain }];
        }
        post.answers = turn.messages.iter().filter_map(|(m, _)| message_ref(m)).collect();
        self.post(post);
    }

    /// A person must decide: what was written before is posted, then the question.
    pub(super) fn post_question(&mut self, turn: TurnId, pending: &Pending) {
        let Some(stored) = self.state.turn.as_ref().filter(|t| t.id == turn) else { return };
        let Some(to) = address_of(stored).cloned() else { return };
        if let Some(run) = self.run.as_ref() {
            let mut words = Post::new(PostKey::reply(turn, run.asked), to.clone());
            words.text = run.stretch_words();
            words.files = run.stretch_files();
            if !words.text.is_empty() || !words.files.is_empty() {
                self.post(words);
            }
        }
        let post = self.question(pending, PostKey::question(pending.request, None), &to);
        self.post(post);
    }

    /// Words that are no answer came while a question stands: it is shown again.
    pub(super) fn post_question_again(&mut self, message: &Message) {
        let pending = self.state.turn.as_ref().and_then(|t| t.pending.clone());
        let (Some(pending), Some(origin)) = (pending, message.origin.as_deref()) else { return };
        let key = PostKey::question(pending.request, Some(message.id));
        let mut post = self.question(&pending, key, &origin.address);
        post.text = format!("Your message is held until this is answered.\n\n{}", post.text);
        self.post(post);
    }

    fn question(&self, pending: &Pending, key: PostKey, to: &Address) -> Post {
        let mut post = Post::new(key, to.clone());
        post.choices = choices(pending, self.may_stand(pending));
        post.text = question_text(pending, &post.choices);
        post
    }

    /// The question is over: its card says how, and its buttons go. From here on a late answer is no message.
    pub(super) fn close_question(&mut self, pending: &Pending, how: &str) {
        let on_messenger = self.state.turn.as_ref().and_then(address_of).is_some();
        if !on_messenger {
            return;
        }
        let text = format!("{how}\n\n**{}**\n{}", one_line(&pending.call.tool, 80), call_block(pending));
        self.record(Change::Reposted { key: PostKey::question(pending.request, None), text });
        self.record(Change::AskClosed(true));
    }

    /// The chat is told, once and before anything else, that its answer was cut off.
    pub(super) fn post_restarted(&mut self) {
        let Some(turn) = &self.state.turn else { return };
        let Some(to) = address_of(turn) else { return };
        let mut post = Post::new(PostKey::restarted(turn.id), to.clone());
        post.text = RESTARTED.to_owned();
        self.post(post);
    }

    fn post(&mut self, post: Post) {
        self.record(Change::Posted(Box::new(post)));
    }
}

/// Where a turn's words go: to the place its first message came from.
pub(super) fn address_of(turn: &Turn) -> Option<&Address> {
    turn.messages.iter().find_map(|(m, _)| m.origin.as_deref()).map(|o| &o.address)
}

/// Whether both came from the same place; what came from elsewhere is another turn.
pub(super) fn is_same_place(one: &Message, other: &Message) -> bool {
    match (one.origin.as_deref(), other.origin.as_deref()) {
        (Some(one), Some(other)) => one.address.is_same_place(&other.address),
        (None, None) => true,
        _ => false,
    }
}

fn message_ref(message: &Message) -> Option<sb_model::MessageRef> {
    message.origin.as_deref().and_then(|o: &Origin| o.address.message.clone())
}

/// What a person may answer. What is the agent's own stands behind what it means, so that no name can mislead.
pub(super) fn choices(pending: &Pending, may_stand: bool) -> Vec<Choice> {
    let (request, ways) = (pending.request, &pending.ways);
    let choice = |label: String, says: String, tone| Choice { label, says, tone };
    let named = |what: &str, name: Option<&String>| match name {
        Some(name) => format!("{what}: {name}"),
        None => what.to_owned(),
    };
    let mut choices = match ways.are_several() {
        true => (1..)
            .zip(&ways.allow)
            .map(|(n, name)| choice(named(ALLOW, Some(name)), format!("/approve {request} {n}"), Tone::Good))
            .collect(),
        false => {
            vec![choice(named(ALLOW, ways.allow.first()), format!("/approve {request}"), Tone::Good)]
        }
    };
    if may_stand {
        choices.push(choice(ALWAYS.to_owned(), format!("/approve {request} always"), Tone::Plain));
    }
    choices.push(choice(named(DECLINE, ways.decline.as_ref()), format!("/decline {request}"), Tone::Bad));
    choices
}

fn question_text(pending: &Pending, choices: &[Choice]) -> String {
    let short = pending.request.short();
    let options: Vec<String> =
        choices.iter().enumerate().map(|(n, c)| format!("{}. {}", n + 1, c.label)).collect();
    let number = if pending.ways.are_several() { " <number>" } else { "" };
    format!(
        "**May I run {}?** ({}; request {short})\n\n{}\n\n{}\n\nAnswer with a number or its words, or with /approve {short}{number} or /decline {short} <why>.",
        one_line(&pending.call.tool, 80),
        pending.reason,
        call_block(pending),
        options.join("\n"),
    )
}

/// The call as people judge it: whole, unless it is very long.
fn call_block(pending: &Pending) -> String {
    let (shown, cut) = reply::call_block(&pending.call, CALL_SHOWN);
    match cut {
        true => format!("{shown}\n(It is longer than is shown here; `switchboard trace` shows all of it.)"),
        false => shown,
    }
}

/// The choice that a whole message names: its number, or its words whatever their case. Nothing else counts.
pub(super) fn chosen(text: &str, choices: &[Choice]) -> Option<usize> {
    let typed = text.trim().trim_end_matches(['.', '!']);
    let by_number = typed.parse::<usize>().ok().filter(|n| (1..=choices.len()).contains(n)).map(|n| n - 1);
    by_number.or_else(|| choices.iter().position(|c| c.label.eq_ignore_ascii_case(typed)))
}

/// Whether a message has the form of an answer to some question, whichever it was.
pub(super) fn is_answer(text: &str) -> bool {
    let typed = text.trim().trim_end_matches(['.', '!']);
    let is_number = typed.parse::<usize>().is_ok_and(|n| (1..=MOST_CHOICES).contains(&n));
    let is = |words: &str| typed.eq_ignore_ascii_case(words);
    let begins = |words: &str| {
        let before = typed.get(..words.len()).zip(typed.get(words.len()..));
        before.is_some_and(|(first, rest)| first.eq_ignore_ascii_case(words) && rest.starts_with(": "))
    };
    is_number || [ALLOW, ALWAYS, DECLINE].into_iter().any(is) || [ALLOW, DECLINE].into_iter().any(begins)
}
