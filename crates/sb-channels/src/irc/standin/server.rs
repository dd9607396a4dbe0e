//! The imitated network as a client knows it: what it answers to each line.
//!
//! Written from the protocol's own documents: RFC 1459 and 2812, and IRCv3's pages. Lines that a client sends
//! too fast, or too long, are refused as servers do.

use sb_channel::model::Timestamp;
use sb_channel::standin::Breakage;

use super::super::line::{Line, write};
use super::state::{Channel, LONGEST, Said, State, User, fold};
use super::{HOST, NICK, history, welcome};

/// Acts on one line of a client.
pub(super) fn hear(state: &mut State, id: u64, text: &str, now: Timestamp, bare: bool) {
    if !state.bears(id, now) {
        return state.close(id, "Closing Link: (Excess Flood)");
    }
    let Some(line) = Line::parse(text) else { return };
    let body = if text.starts_with('@') { text.split_once(' ').map_or(text, |(_, body)| body) } else { text };
    let registered = state.clients.get(&id).is_some_and(|client| client.registered);
    if body.len() > LONGEST - 2 {
        return answer(state, id, &line, "417", &[], "Input line was too long");
    }
    if !registered {
        return welcome::hear(state, id, &line, bare);
    }
    act(state, id, &line, now, bare);
}

fn act(state: &mut State, id: u64, line: &Line, now: Timestamp, bare: bool) {
    let Some(me) = state.clients.get(&id).and_then(|client| client.nick.clone()) else { return };
    match line.command.as_str() {
        "PING" => state.tell(id, &format!(":{HOST} {}", write(&[], "PONG", &[HOST, line.words()]))),
        "PRIVMSG" | "NOTICE" | "TAGMSG" => say(state, id, &me, line, now),
        "JOIN" => line.param(0).split(',').for_each(|name| join(state, &me, name)),
        "PART" => line.param(0).split(',').for_each(|name| part(state, &me, name)),
        "NICK" => welcome::rename(state, id, line),
        "CAP" | "AUTHENTICATE" => welcome::hear(state, id, line, bare),
        "QUIT" => state.close(id, &format!("Closing Link: {me} (Quit: {})", line.words())),
        "WHOIS" => whois(state, id, line),
        "WHO" | "NAMES" => names(state, id, line.param(0)),
        "KICK" => kick(state, &me, line.param(0), line.param(1), line.words()),
        "TOPIC" => topic(state, id, &me, line),
        "MODE" if line.params.len() > 1 => {}
        "MODE" => answer(state, id, line, "324", &[line.param(0), "+nt"], ""),
        "CHATHISTORY" if !bare => history::tell(state, id, &me, line),
        "MARKREAD" if !bare => history::mark(state, id, &me, line),
        "PONG" | "AWAY" | "USERHOST" | "ISON" => {}
        other => answer(state, id, line, "421", &[other], "Unknown command"),
    }
}

/// A numeric answer, under the label of the line it answers.
pub(super) fn answer(state: &mut State, id: u64, to: &Line, number: &str, params: &[&str], words: &str) {
    let nick = state.clients.get(&id).and_then(|client| client.nick.clone()).unwrap_or_else(|| "*".to_owned());
    let mut all = vec![nick.as_str()];
    all.extend(params);
    all.extend((!words.is_empty()).then_some(words));
    let label = label(state, id, to);
    let head = label.as_ref().map(|label| write(&[("label", label)], "", &[])).unwrap_or_default();
    state.tell(id, &format!("{head}:{HOST} {}", write(&[], number, &all)));
}

fn label(state: &State, id: u64, line: &Line) -> Option<String> {
    let can = state.clients.get(&id)?.caps.contains("labeled-response");
    line.tag("label").filter(|_| can).map(str::to_owned)
}

fn say(state: &mut State, id: u64, me: &str, line: &Line, now: Timestamp) {
    let (target, words) = (line.param(0).to_owned(), if line.params.len() > 1 { line.words() } else { "" });
    let posts = line.command == "PRIVMSG";
    if posts && words.is_empty() {
        return answer(state, id, line, "412", &[], "No text to send");
    }
    let planned = (posts && fold(me) == NICK).then(|| state.posts.pop_front()).flatten();
    let lost = planned == Some(Breakage::LostAnswer);
    if let Some(how) = planned.filter(|_| !lost) {
        return refuse(state, id, line, &target, how);
    }
    let inside = state.channels.get(&fold(&target)).map(|channel| channel.members.contains(&fold(me)));
    match inside {
        Some(false) => return answer(state, id, line, "404", &[&target], "Cannot send to channel"),
        None if target.starts_with('#') => return answer(state, id, line, "403", &[&target], "No such channel"),
        None if state.user(&target).is_none() => {
            return answer(state, id, line, "401", &[&target], "No such nick/channel");
        }
        _ => {}
    }
    let (name, at) = state.tick(now);
    let account = state.user(me).and_then(|user| user.account.clone());
    let bot = state.user(me).is_some_and(|user| user.bot);
    let tags = State::own_tags(line);
    let typing = tags.iter().find(|(name, _)| name == "+typing").map(|(_, value)| value.clone());
    let said =
        Said { id: name, at, from: me.to_owned(), account, bot, target: target.clone(), text: words.to_owned(), tags };
    if posts {
        state.keep(said.clone());
        state.deliver(&said);
    } else {
        if let Some(typing) = typing.filter(|_| fold(me) == NICK) {
            state.note_typing(&target, &typing, now);
        }
        relay(state, &said, line);
    }
    if lost {
        return state.close(id, "");
    }
    echo(state, id, &said, line);
}

/// Others get what is neither kept nor answered.
fn relay(state: &mut State, said: &Said, line: &Line) {
    let tags_only = line.command == "TAGMSG";
    let params: Vec<&str> = if tags_only { vec![&said.target] } else { vec![&said.target, &said.text] };
    let told = format!(":{} {}", state.source(&said.from), write(&[], &line.command, &params));
    for to in state.readers(&said.target, &said.from) {
        let can = state.clients.get(&to).is_some_and(|client| client.caps.contains("message-tags"));
        if can || !tags_only {
            state.tell_tagged(to, said, &[], &told);
        }
    }
}

fn echo(state: &mut State, id: u64, said: &Said, line: &Line) {
    let label = label(state, id, line);
    let echoes = state.clients.get(&id).is_some_and(|client| client.caps.contains("echo-message"));
    match (label, echoes && line.command == "PRIVMSG") {
        (label, true) => {
            let tags: Vec<(&str, &str)> = label.iter().map(|label| ("label", label.as_str())).collect();
            state.tell_said(id, said, &tags);
        }
        (Some(label), false) => {
            let head = write(&[("label", &label)], "", &[]);
            state.tell(id, &format!("{head}:{HOST} ACK"));
        }
        (None, false) => {}
    }
}

fn refuse(state: &mut State, id: u64, line: &Line, target: &str, how: Breakage) {
    let too_fast = |seconds| format!("Message target change too fast. Please wait {seconds} seconds");
    match how {
        Breakage::Flaky => answer(state, id, line, "263", &["PRIVMSG"], "Please wait a while and try again."),
        Breakage::RateLimit(seconds) => answer(state, id, line, "439", &[target], &too_fast(seconds)),
        Breakage::Revoked => state.close(id, "Closing Link: robo (K-Lined: no bots here)"),
        Breakage::ChatGone if target.starts_with('#') => {
            answer(state, id, line, "404", &[target], "Cannot send to channel (+m)");
        }
        Breakage::ChatGone => answer(state, id, line, "401", &[target], "No such nick/channel"),
        Breakage::Format => {
            answer(state, id, line, "404", &[target], "Can't send colors to channel (+c is set)");
        }
        Breakage::Refused => answer(state, id, line, "531", &[target], "You cannot send messages to this user"),
        Breakage::LostAnswer => {}
    }
}

/// Lets somebody into a channel, which is made if there is none.
pub(super) fn join(state: &mut State, nick: &str, name: &str) {
    let Some(id) = state.user(nick).and_then(|user| user.client) else { return };
    if !name.starts_with('#') || name.len() < 2 {
        return answer(state, id, &Line::default(), "403", &[name], "No such channel");
    }
    let made = Channel { name: name.to_owned(), members: Default::default(), topic: String::new() };
    let channel = state.channels.entry(fold(name)).or_insert(made);
    channel.members.insert(fold(nick));
    let (name, topic) = (channel.name.clone(), channel.topic.clone());
    let members: Vec<String> = channel.members.iter().cloned().collect();
    let account = state.user(nick).and_then(|user| user.account.clone()).unwrap_or_else(|| "*".to_owned());
    let source = state.source(nick);
    for client in members.iter().filter_map(|member| state.users.get(member)?.client).collect::<Vec<_>>() {
        let extended = state.clients.get(&client).is_some_and(|client| client.caps.contains("extended-join"));
        let params: Vec<&str> = if extended { vec![&name, &account, "Somebody"] } else { vec![&name] };
        state.tell(client, &format!(":{source} {}", write(&[], "JOIN", &params)));
    }
    if !topic.is_empty() {
        answer(state, id, &Line::default(), "332", &[&name], &topic);
    }
    names(state, id, &name);
}

fn names(state: &mut State, id: u64, name: &str) {
    let here = state.channels.get(&fold(name)).map(|channel| channel.members.clone()).unwrap_or_default();
    let nicks: Vec<String> =
        here.iter().filter_map(|nick| state.users.get(nick)).map(|user: &User| user.nick.clone()).collect();
    answer(state, id, &Line::default(), "353", &["=", name], &nicks.join(" "));
    answer(state, id, &Line::default(), "366", &[name], "End of /NAMES list");
}

/// Tells everybody in a channel.
fn tell_channel(state: &mut State, name: &str, line: &str) {
    let members = state.channels.get(&fold(name)).map(|channel| channel.members.clone()).unwrap_or_default();
    let clients: Vec<u64> = members.iter().filter_map(|member| state.users.get(member)?.client).collect();
    clients.into_iter().for_each(|client| state.tell(client, line));
}

fn part(state: &mut State, me: &str, name: &str) {
    let line = format!(":{} PART {name}", state.source(me));
    tell_channel(state, name, &line);
    if let Some(channel) = state.channels.get_mut(&fold(name)) {
        channel.members.remove(&fold(me));
    }
}

/// Puts somebody out of a channel.
pub(super) fn kick(state: &mut State, by: &str, name: &str, whom: &str, why: &str) {
    let line = format!(":{} {}", state.source(by), write(&[], "KICK", &[name, whom, why]));
    tell_channel(state, name, &line);
    if let Some(channel) = state.channels.get_mut(&fold(name)) {
        channel.members.remove(&fold(whom));
    }
}

fn topic(state: &mut State, id: u64, me: &str, line: &Line) {
    let name = line.param(0).to_owned();
    if line.params.len() < 2 {
        return answer(state, id, line, "331", &[&name], "No topic is set");
    }
    if let Some(channel) = state.channels.get_mut(&fold(&name)) {
        line.words().clone_into(&mut channel.topic);
    }
    let told = format!(":{} {}", state.source(me), write(&[], "TOPIC", &[&name, line.words()]));
    tell_channel(state, &name, &told);
}

fn whois(state: &mut State, id: u64, line: &Line) {
    let nick = line.params.last().cloned().unwrap_or_default();
    match state.user(&nick).map(|user| (user.nick.clone(), user.account.clone())) {
        Some((known, account)) => {
            answer(state, id, line, "311", &[&known, "user", "host.irc.invalid", "*"], "Somebody");
            if let Some(account) = account {
                answer(state, id, line, "330", &[&known, &account], "is logged in as");
            }
        }
        None => answer(state, id, line, "401", &[&nick], "No such nick/channel"),
    }
    answer(state, id, line, "318", &[&nick], "End of /WHOIS list");
}
