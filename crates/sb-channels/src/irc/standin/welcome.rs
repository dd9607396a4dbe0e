//! Coming in to the imitated network: abilities, login, nick.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sb_channel::standin::Breakage;

use super::super::line::{Line, write};
use super::server::{answer, join};
use super::state::{State, User, fold};
use super::{ACCOUNT, HOST, NICK, PASSWORD};

/// What the server can, in two lines, as a real one needs them now and then.
const OFFERED: [&str; 2] = [
    "account-notify account-tag away-notify batch cap-notify chghost echo-message extended-join",
    "labeled-response message-tags multi-prefix server-time standard-replies draft/chathistory draft/read-marker draft/multiline=max-bytes=16384,max-lines=100 sasl=PLAIN,EXTERNAL",
];

pub(super) fn hear(state: &mut State, id: u64, line: &Line, bare: bool) {
    match line.command.as_str() {
        "CAP" if bare => answer(state, id, line, "421", &["CAP"], "Unknown command"),
        "CAP" => agree(state, id, line),
        "AUTHENTICATE" if !bare => log_in(state, id, line),
        "NICK" => rename(state, id, line),
        "USER" => {
            state.clients.get_mut(&id).into_iter().for_each(|client| client.named = true);
        }
        "PASS" | "PONG" => {}
        "PING" => state.tell(id, &format!(":{HOST} {}", write(&[], "PONG", &[HOST, line.words()]))),
        "QUIT" => state.close(id, "Closing Link"),
        _ => answer(state, id, line, "451", &[], "You have not registered"),
    }
    welcome(state, id, bare);
}

fn agree(state: &mut State, id: u64, line: &Line) {
    let nick = state.clients.get(&id).and_then(|client| client.nick.clone()).unwrap_or_else(|| "*".to_owned());
    let Some(client) = state.clients.get_mut(&id) else { return };
    match line.param(0).to_ascii_uppercase().as_str() {
        "LS" => {
            client.agreeing |= !client.registered;
            let new = line.param(1) >= "302";
            let [first, second] = OFFERED;
            if new {
                state.tell(id, &format!(":{HOST} {}", write(&[], "CAP", &[&nick, "LS", "*", first])));
                state.tell(id, &format!(":{HOST} {}", write(&[], "CAP", &[&nick, "LS", second])));
            } else {
                let both = format!("{first} {second}");
                let both = both.split(' ').filter_map(|one| one.split('=').next()).collect::<Vec<_>>().join(" ");
                state.tell(id, &format!(":{HOST} {}", write(&[], "CAP", &[&nick, "LS", &both])));
            }
        }
        "REQ" => {
            client.agreeing |= !client.registered;
            let asked: Vec<&str> = line.words().split_whitespace().collect();
            let offered = OFFERED.join(" ");
            let names = offered.split(' ').filter_map(|one| one.split('=').next());
            let known = |cap: &&str| names.clone().any(|one| one == cap.trim_start_matches('-'));
            let taken = asked.iter().all(known);
            if taken {
                for cap in &asked {
                    match cap.strip_prefix('-') {
                        Some(cap) => drop(client.caps.remove(cap)),
                        None => drop(client.caps.insert((*cap).to_owned())),
                    }
                }
            }
            let word = if taken { "ACK" } else { "NAK" };
            state.tell(id, &format!(":{HOST} {}", write(&[], "CAP", &[&nick, word, line.words()])));
        }
        "LIST" => {
            let caps = client.caps.iter().cloned().collect::<Vec<_>>().join(" ");
            state.tell(id, &format!(":{HOST} {}", write(&[], "CAP", &[&nick, "LIST", &caps])));
        }
        "END" => client.agreeing = false,
        other => answer(state, id, line, "410", &[other], "Invalid CAP command"),
    }
}

fn log_in(state: &mut State, id: u64, line: &Line) {
    let revoked = state.entries.front() == Some(&Breakage::Revoked);
    let Some(client) = state.clients.get_mut(&id) else { return };
    let said = line.param(0);
    let Some(mechanism) = client.sasl.clone() else {
        match said {
            "PLAIN" | "EXTERNAL" => {
                client.sasl = Some(said.to_owned());
                client.sasl_words.clear();
                state.tell(id, "AUTHENTICATE +");
            }
            _ => answer(state, id, line, "904", &[], "SASL authentication failed"),
        }
        return;
    };
    if said == "*" {
        client.sasl = None;
        return answer(state, id, line, "906", &[], "SASL authentication aborted");
    }
    if said != "+" {
        client.sasl_words.push_str(said);
    }
    if said.len() == 400 && client.sasl_words.len() < 4_000 {
        return;
    }
    client.sasl = None;
    let words = STANDARD.decode(&client.sasl_words).unwrap_or_default();
    let parts: Vec<&[u8]> = words.split(|b| *b == 0).collect();
    let fits = mechanism == "PLAIN"
        && parts.len() == 3
        && parts[1] == ACCOUNT.as_bytes()
        && parts[2] == PASSWORD.as_bytes();
    if !fits || revoked {
        if revoked {
            state.entries.pop_front();
        }
        return answer(state, id, line, "904", &[], "SASL authentication failed");
    }
    client.account = Some(ACCOUNT.to_owned());
    let source = format!("*!*@{HOST}");
    answer(state, id, line, "900", &[&source, ACCOUNT], "You are now logged in as robo");
    answer(state, id, line, "903", &[], "SASL authentication successful");
}

/// Somebody is called otherwise, or for the first time.
pub(super) fn rename(state: &mut State, id: u64, line: &Line) {
    let nick = line.param(0).to_owned();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_[]{}\\|^`".contains(c);
    let begins = nick.starts_with(|c: char| !c.is_ascii_digit() && c != '-');
    if nick.is_empty() {
        return answer(state, id, line, "431", &[], "No nickname given");
    }
    if !begins || nick.len() > 30 || !nick.chars().all(plain) {
        return answer(state, id, line, "432", &[&nick], "Erroneous nickname");
    }
    let taken = state.user(&nick).is_some_and(|user| user.client != Some(id));
    if taken {
        return answer(state, id, line, "433", &[&nick], "Nickname is already in use");
    }
    let Some(client) = state.clients.get_mut(&id) else { return };
    let (before, registered) = (client.nick.replace(nick.clone()), client.registered);
    let Some(before) = before.filter(|_| registered) else { return };
    let told = format!(":{} {}", state.source(&before), write(&[], "NICK", &[&nick]));
    if let Some(user) = state.users.remove(&fold(&before)) {
        state.users.insert(fold(&nick), User { nick: nick.clone(), ..user });
    }
    let mut near = vec![id];
    for channel in state.channels.values_mut() {
        if !channel.members.remove(&fold(&before)) {
            continue;
        }
        channel.members.insert(fold(&nick));
        near.extend(channel.members.iter().filter_map(|nick| state.users.get(nick)?.client));
    }
    near.sort_unstable();
    near.dedup();
    near.into_iter().for_each(|client| state.tell(client, &told));
}

/// Lets a client in once it said all it has to.
fn welcome(state: &mut State, id: u64, bare: bool) {
    let Some(client) = state.clients.get_mut(&id) else { return };
    if client.registered || client.agreeing || !client.named {
        return;
    }
    let Some(nick) = client.nick.clone() else { return };
    // Somebody may have taken it between its being asked for and now.
    if state.users.contains_key(&fold(&nick)) {
        return answer(state, id, &Line::default(), "433", &[&nick], "Nickname is already in use");
    }
    if fold(&nick) == NICK && state.entries.pop_front().is_some() {
        return state.close(id, "Closing Link: (Server is full)");
    }
    let Some(client) = state.clients.get_mut(&id) else { return };
    client.registered = true;
    let account = client.account.clone();
    state.users.insert(fold(&nick), User { nick: nick.clone(), account, client: Some(id), bot: false });
    let none = Line::default();
    let greeting = format!("Welcome to the imitated network {}", state.source(&nick));
    answer(state, id, &none, "001", &[], &greeting);
    answer(state, id, &none, "004", &[HOST, "standin", "B", "nt"], "");
    let mut words = vec!["CASEMAPPING=ascii", "CHANTYPES=#", "PREFIX=(ov)@+", "NICKLEN=30", "NETWORK=Imitated"];
    words.extend(if bare { vec![] } else { vec!["BOT=B", "CHATHISTORY=100"] });
    answer(state, id, &none, "005", &words, "are supported by this server");
    answer(state, id, &none, "422", &[], "MOTD File is missing");
    // Where it was before it is again.
    let member = |channel: &&super::state::Channel| channel.members.contains(&fold(&nick));
    let names: Vec<String> = state.channels.values().filter(member).map(|channel| channel.name.clone()).collect();
    names.iter().for_each(|name| join(state, &nick, name));
}
