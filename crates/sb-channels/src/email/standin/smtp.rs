//! The SMTP server by which we send: it knows its people, and refuses as servers do.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sb_channel::net::Stream;
use sb_channel::standin::Breakage;
use tokio::io::BufReader;

use super::command::{Wire, line, say};
use super::{ADDRESS, PASSWORD, Provider};

/// Bytes of a mail.
const LARGEST: usize = 25 * 1024 * 1024;

/// Serves one connection until it ends.
pub(super) async fn talk(provider: &Provider, stream: Box<dyn Stream>) -> io::Result<()> {
    let mut wire = BufReader::new(stream);
    let (mut is_in, mut from, mut to) = (false, false, Vec::new());
    say(&mut wire, "220 standin.test ESMTP").await?;
    while let Some(raw) = line(&mut wire).await? {
        provider.change(|state| state.requests += 1);
        let text = String::from_utf8_lossy(&raw).into_owned();
        let (verb, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let answer = match verb.to_ascii_uppercase().as_str() {
            "EHLO" => {
                for can in ["standin.test", "SIZE 26214400", "8BITMIME", "SMTPUTF8", "AUTH PLAIN LOGIN XOAUTH2"] {
                    say(&mut wire, &format!("250-{can}")).await?;
                }
                "250 ENHANCEDSTATUSCODES".to_owned()
            }
            "HELO" | "NOOP" => "250 2.0.0 Ok".to_owned(),
            "QUIT" => {
                say(&mut wire, "221 2.0.0 Farewell").await?;
                return Ok(());
            }
            "RSET" => {
                (from, to) = (false, Vec::new());
                "250 2.0.0 Ok".to_owned()
            }
            "AUTH" => {
                let is_right = authenticate(&mut wire, rest).await?;
                is_in = is_right && !provider.goes_wrong(|how| how == Breakage::Revoked);
                if is_in { "235 2.7.0 Taken" } else { "535 5.7.8 Wrong user or password" }.to_owned()
            }
            _ if !is_in => "530 5.7.0 Log in first".to_owned(),
            "MAIL" if sized(rest) > LARGEST => "552 5.3.4 Too large".to_owned(),
            "MAIL" if address(rest) == ADDRESS => {
                (from, to) = (true, Vec::new());
                "250 2.1.0 Ok".to_owned()
            }
            "MAIL" => "553 5.7.1 That is not your address".to_owned(),
            "RCPT" if !from => "503 5.5.1 MAIL first".to_owned(),
            "RCPT" => {
                let address = address(rest);
                if provider.goes_wrong(|how| matches!(how, Breakage::RateLimit(_))) {
                    "450 4.2.1 Too many for this mailbox; try again later".to_owned()
                } else if provider.goes_wrong(|how| how == Breakage::ChatGone) || !provider.knows(&address) {
                    "550 5.1.1 No such mailbox".to_owned()
                } else {
                    to.push(address);
                    "250 2.1.5 Ok".to_owned()
                }
            }
            "DATA" if to.is_empty() => "503 5.5.1 RCPT first".to_owned(),
            "DATA" => {
                say(&mut wire, "354 Go on, and end with a dot").await?;
                let Some(mail) = content(&mut wire).await? else { return Ok(()) };
                let answer = take(provider, &to, mail);
                (from, to) = (false, Vec::new());
                match answer {
                    Some(answer) => answer.to_owned(),
                    // The answer is lost.
                    None => return Ok(()),
                }
            }
            _ => "502 5.5.1 No such command".to_owned(),
        };
        say(&mut wire, &answer).await?;
    }
    Ok(())
}

/// Takes a mail, or not; none if its answer is lost.
fn take(provider: &Provider, to: &[String], mail: Option<Vec<u8>>) -> Option<&'static str> {
    let Some(mail) = mail else { return Some("552 5.3.4 Too large") };
    let refusal = provider.change(|state| match state.posts.front() {
        Some(Breakage::Flaky) => Some("451 4.3.0 Try again later"),
        Some(Breakage::Format) => Some("554 5.6.1 That form is not taken"),
        Some(Breakage::Refused) => Some("554 5.7.1 Not taken"),
        _ => None,
    });
    if refusal.is_some() {
        provider.change(|state| state.posts.pop_front());
        return refusal;
    }
    to.iter().for_each(|to| provider.hand_over(to, &mail));
    let now = provider.0.clock.now();
    provider.change(|state| {
        if state.files_sent {
            state.sent.add(mail.clone(), now, &["\\Seen".to_owned()]);
        }
    });
    let is_lost = provider.goes_wrong(|how| how == Breakage::LostAnswer);
    (!is_lost).then_some("250 2.0.0 Taken")
}

impl Provider {
    /// Whether the next thing that was planned to go wrong is such a one; then it is over.
    fn goes_wrong(&self, is: impl Fn(Breakage) -> bool) -> bool {
        self.change(|state| {
            let goes = state.posts.front().is_some_and(|how| is(*how));
            if goes {
                state.posts.pop_front();
            }
            goes
        })
    }

    fn knows(&self, address: &str) -> bool {
        self.look(|state| state.people.iter().any(|person| person.id.as_deref() == Some(address)))
    }
}

async fn authenticate(wire: &mut Wire, rest: &str) -> io::Result<bool> {
    let (way, first) = rest.split_once(' ').unwrap_or((rest, ""));
    let mut ask = async |prompt: &str| {
        say(wire, &format!("334 {prompt}")).await?;
        Ok::<_, io::Error>(line(wire).await?.unwrap_or_default())
    };
    let decoded = |said: &[u8]| String::from_utf8_lossy(&STANDARD.decode(said).unwrap_or_default()).into_owned();
    Ok(match way.to_ascii_uppercase().as_str() {
        "PLAIN" => {
            let said = if first.is_empty() { ask("").await? } else { first.as_bytes().to_vec() };
            decoded(&said).ends_with(&format!("\0{ADDRESS}\0{PASSWORD}"))
        }
        "LOGIN" => {
            let user = if first.is_empty() { ask("VXNlcm5hbWU6").await? } else { first.as_bytes().to_vec() };
            let password = ask("UGFzc3dvcmQ6").await?;
            decoded(&user) == ADDRESS && decoded(&password) == PASSWORD
        }
        "XOAUTH2" => decoded(first.as_bytes()) == format!("user={ADDRESS}\x01auth=Bearer {PASSWORD}\x01\x01"),
        _ => false,
    })
}

/// The mail up to the lone dot; an inner none if it is too large, an outer one if the client is gone.
async fn content(wire: &mut Wire) -> io::Result<Option<Option<Vec<u8>>>> {
    let (mut mail, mut is_large) = (Vec::new(), false);
    while let Some(raw) = line(wire).await? {
        if raw == b"." {
            return Ok(Some((!is_large).then_some(mail)));
        }
        is_large |= mail.len() + raw.len() > LARGEST;
        if !is_large {
            mail.extend_from_slice(raw.strip_prefix(b".").unwrap_or(&raw));
            mail.extend_from_slice(b"\r\n");
        }
    }
    Ok(None)
}

/// The address between angle brackets.
fn address(text: &str) -> String {
    let inner = text.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inner.map(|(address, _)| address.to_lowercase()).unwrap_or_default()
}

fn sized(text: &str) -> usize {
    let size = text.split(' ').find_map(|word| word.strip_prefix("SIZE="));
    size.and_then(|size| size.parse().ok()).unwrap_or(0)
}
