//! The settings of one nick on one network, judged before anything is sent.

use std::sync::{Arc, Mutex};

use sb_channel::model::{Fault, FaultKind};
use sb_channel::net::{Remote, Tls};
use sb_channel::{Channel, ChannelContext, Result, Settings};

use super::feed::Hearing;
use super::register::Login;
use super::{Bot, Irc};

/// Milliseconds between two lines, unless the settings say otherwise.
const PACE_MS: u64 = 2_000;

fn refused(detail: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Refused, "reading the settings", detail)
}

/// Makes the channel.
///
/// # Errors
/// A setting that cannot be, with what to do.
pub(super) fn open(context: ChannelContext, settings: &Settings) -> Result<Arc<dyn Channel>> {
    let nick = settings.needed("nick")?.expose().to_owned();
    if !is_nick(&nick) {
        return Err(refused("`nick` takes letters, digits and any of -_[]{}\\|^`, and begins with no digit"));
    }
    let mut remote = server(settings.needed("server")?.expose())?;
    let certificate = settings.get("certificate").cloned();
    let pin = settings.text("fingerprint").map(fingerprint).transpose()?;
    let local = matches!(remote.host.as_str(), "localhost" | "127.0.0.1" | "::1");
    match &mut remote.tls {
        Some(tls) => *tls = Tls { pin, identity: certificate.clone(), roots: None },
        None if ["password", "server_password"].iter().any(|key| settings.get(key).is_some()) && !local => {
            return Err(refused(
                "without TLS anybody on the way could read the password: leave irc:// away from `server`",
            ));
        }
        None if certificate.is_some() || pin.is_some() => {
            return Err(refused("`certificate` and `fingerprint` are for TLS: leave irc:// away from `server`"));
        }
        None => {}
    }
    let account = settings.text("account").unwrap_or(&nick).to_owned();
    let password = settings.get("password").cloned();
    let login = match (settings.text("login").unwrap_or("plain"), password) {
        ("external", _) if certificate.is_none() => {
            return Err(refused("login external needs `certificate`: a certificate and its key, as PEM"));
        }
        ("external", _) => Login::External,
        ("nickserv", Some(password)) => Login::NickServ { account, password },
        ("nickserv", None) => return Err(refused("login nickserv needs `password`")),
        (_, Some(password)) => Login::Plain { account, password },
        (_, None) => Login::None,
    };
    let pace_ms = match settings.text("pace_ms").map(str::parse) {
        None => PACE_MS,
        Some(Ok(ms)) if ms <= 60_000 => ms,
        Some(_) => return Err(refused("`pace_ms` takes milliseconds, 60000 at most")),
    };
    let bot = Arc::new(Bot {
        context,
        remote,
        nick,
        login,
        server_password: settings.get("server_password").cloned(),
        channels: channels(settings.text("channels").unwrap_or_default())?,
        pace_ms,
        commands: Arc::default(),
        live: Mutex::default(),
        waiting: Mutex::default(),
    });
    Ok(Arc::new(Irc { hearing: Hearing(bot.clone()), bot }))
}

fn is_nick(nick: &str) -> bool {
    let special = |c: char| "-_[]{}\\|^`".contains(c);
    let begins = nick.chars().next().is_some_and(|c| !c.is_ascii_digit() && c != '-');
    begins && nick.len() <= 60 && nick.chars().all(|c| special(c) || c.is_alphanumeric())
}

fn server(text: &str) -> Result<Remote> {
    let wrong = || {
        refused(format!(
            "`server` takes a host and perhaps a port, such as irc.libera.chat or irc://127.0.0.1:6667, not {text:?}"
        ))
    };
    let (scheme, rest) = text.split_once("://").unwrap_or(("ircs", text));
    let tls = match scheme {
        "ircs" => Some(Tls::default()),
        "irc" => None,
        _ => return Err(wrong()),
    };
    let usual = if tls.is_some() { 6697 } else { 6667 };
    let rest = rest.trim_end_matches('/');
    let bracketed = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, port) = match bracketed {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port))),
    };
    let port = match port.map(str::parse) {
        None => usual,
        Some(Ok(port)) if port != 0 => port,
        Some(_) => return Err(wrong()),
    };
    let plain = |c: char| c.is_alphanumeric() || "-.:_".contains(c);
    if host.is_empty() || !host.chars().all(plain) || (bracketed.is_none() && host.contains(':')) {
        return Err(wrong());
    }
    Ok(Remote { host: host.to_owned(), port, tls })
}

/// 64 hexadecimal digits, perhaps with colons.
fn fingerprint(text: &str) -> Result<[u8; 32]> {
    let digits: Vec<u8> =
        text.chars().filter(|c| *c != ':').map_while(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    let counted = text.chars().filter(|c| *c != ':').count();
    let wrong = "`fingerprint` takes the SHA-256 of a certificate: 64 hexadecimal digits";
    bytes.try_into().ok().filter(|_| counted == 64).ok_or_else(|| refused(wrong))
}

/// Channels, each with the line that joins it.
fn channels(text: &str) -> Result<Vec<(String, String)>> {
    let mut channels = Vec::new();
    for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
        let (name, key) = one.split_once(' ').map_or((one, None), |(name, key)| (name, Some(key.trim())));
        let plain = |c: char| !c.is_control() && !c.is_whitespace();
        let marked = name.len() > 1 && name.starts_with(['#', '&', '+', '!']);
        if !marked || name.len() > 64 || !name.chars().all(plain) || key.is_some_and(|key| !key.chars().all(plain)) {
            return Err(refused(format!(
                "`channels` takes names that begin with #, set apart by commas, such as \"#lab, #ops\"; {one:?} is none"
            )));
        }
        channels.push((name.to_owned(), ["JOIN", name].into_iter().chain(key).collect::<Vec<_>>().join(" ")));
    }
    if channels.len() > 50 {
        return Err(refused("`channels` takes 50 at most"));
    }
    Ok(channels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_host_and_perhaps_a_port_over_tls_unless_it_says_otherwise() {
        let read = |text: &str| server(text).map(|to| (to.host, to.port, to.tls.is_some()));
        assert_eq!(read("irc.libera.chat").expect("one"), ("irc.libera.chat".to_owned(), 6697, true));
        assert_eq!(read("ircs://a.b:7000/").expect("one"), ("a.b".to_owned(), 7000, true));
        assert_eq!(read("irc://[::1]:6668").expect("one"), ("::1".to_owned(), 6668, false));
        for wrong in ["", "https://a.b", "a.b:0", "a.b:x", "a b", "a:b:c"] {
            let why = server(wrong).expect_err(wrong).to_string();
            assert!(why.contains("such as irc.libera.chat"), "{why}");
        }
    }

    #[test]
    fn channels_are_named_with_their_keys() {
        let read: [_; 2] = channels("#lab, #ops sesame ,").expect("channels").try_into().expect("two");
        assert_eq!(read.map(|(_, join)| join), ["JOIN #lab", "JOIN #ops sesame"]);
        assert!(channels("lab").expect_err("none").to_string().contains("begin with #"));
    }

    #[test]
    fn a_fingerprint_is_read_with_and_without_colons() {
        let colons = ["ab"; 32].join(":");
        assert_eq!(fingerprint(&colons).expect("one"), [0xab; 32]);
        assert_eq!(fingerprint(&"ab".repeat(32)).expect("one"), [0xab; 32]);
        for wrong in ["", "ab", &"xy".repeat(32), &"ab".repeat(33)] {
            assert!(fingerprint(wrong).is_err(), "{wrong}");
        }
    }
}
