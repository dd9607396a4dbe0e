//! Judges an address that somebody else chose, before anything is sent to it. Pure.
//!
//! What counts is where the bytes would go, however that is written: the address is parsed as a browser
//! parses it (hexadecimal, octal and short forms of numbers included), and every form in which IPv6 carries
//! an IPv4 address is judged by the address carried. Only what is known to be public passes; an operator
//! may let in private places by name, but never those where a cloud keeps its credentials.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// Ports on which web pages are usual; other services take a request for orders.
const PORTS: [u16; 7] = [80, 443, 8000, 8008, 8080, 8443, 8888];
/// Where clouds answer whoever asks from inside.
const METADATA_NAMES: [&str; 4] = ["metadata", "metadata.google.internal", "instance-data", "metadata.goog"];
/// Endings of names that mean something inside a network only.
const INSIDE_NAMES: [&str; 7] =
    ["localhost", "local", "internal", "home.arpa", "lan", "intranet", "localdomain"];

/// Why an address is not asked, in words for whoever gave it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// An address that was read and may be looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub url: Url,
    /// In lower case, without brackets and without a dot at its end.
    pub host: String,
    pub port: u16,
    /// The address itself, if the host is one.
    pub literal: Option<IpAddr>,
    /// The operator let in this very host.
    pub let_in: bool,
}

/// Where an address of the network lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Public,
    /// Of this machine or a network of its own; for those an operator let in.
    Private(&'static str),
    /// Nobody's business, whoever lets it in.
    Never(&'static str),
}

/// Reads an address. `let_in`: hosts of the operator's, as `host` or `host:port`, that may be private.
///
/// # Errors
/// If it is no web address, hides a user and password, or names a host or port that is never asked.
pub fn read(text: &str, let_in: &[String]) -> Result<Target, Refused> {
    let refused = |why: &str| Refused(why.to_owned());
    let text = text.trim();
    let url = Url::parse(text)
        .map_err(|_| refused("That is no address: it begins with https:// or http:// and names a host."))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("Only http:// and https:// addresses are asked."));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("An address with a user or password in it is not asked."));
    }
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.');
    let host = host.to_ascii_lowercase();
    if host.is_empty() {
        return Err(refused("That address names no host."));
    }
    let port = url.port_or_known_default().unwrap_or_default();
    let let_in = let_in.iter().any(|entry| names(entry, &host, port));
    let literal = host.parse::<IpAddr>().ok();
    if METADATA_NAMES.contains(&host.as_str()) {
        return Err(refused("That host is never asked: it is where a cloud keeps its credentials."));
    }
    if literal.is_none() && !let_in && is_inside_name(&host) {
        return Err(Refused(format!("{host} is a name inside a network; only public hosts are asked.")));
    }
    if !let_in && !PORTS.contains(&port) {
        return Err(Refused(format!("Port {port} is not asked; web pages are on 80, 443 and a few others.")));
    }
    if let Some(address) = literal {
        check(address, let_in).map_err(|what| Refused(format!("{host} is {what}, which is not asked.")))?;
    }
    Ok(Target { url, host, port, literal, let_in })
}

/// Whether an address found for a host may be connected to; else what it is.
///
/// # Errors
/// If it is not public, and nobody let it in.
pub fn check(address: IpAddr, let_in: bool) -> Result<(), &'static str> {
    match place(address) {
        Place::Public => Ok(()),
        Place::Private(_) if let_in => Ok(()),
        Place::Private(what) | Place::Never(what) => Err(what),
    }
}

/// Where an address lies.
pub fn place(address: IpAddr) -> Place {
    match address {
        IpAddr::V4(v4) => place_of_v4(v4),
        IpAddr::V6(v6) => place_of_v6(v6),
    }
}

fn place_of_v4(address: Ipv4Addr) -> Place {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (0, ..) => Place::Never("no host's address"),
        (127, ..) => Place::Private("this machine"),
        (10, ..) | (172, 16..=31, _) | (192, 168, _) => Place::Private("an address of a private network"),
        (100, 64..=127, _) => Place::Private("an address inside a provider's network"),
        (169, 254, _) => Place::Never("a link-local address"),
        (168, 63, 129) => Place::Never("an address of a cloud's own"),
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18..=19, _) | (198, 51, 100) | (203, 0, 113) => {
            Place::Never("an address set aside")
        }
        (224..=239, ..) => Place::Never("an address of a group"),
        (240..=255, ..) => Place::Never("an address set aside"),
        _ => Place::Public,
    }
}

fn place_of_v6(address: Ipv6Addr) -> Place {
    let s = address.segments();
    let carried = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        place_of_v4(Ipv4Addr::new(a, b, c, d))
    };
    match s {
        [0, 0, 0, 0, 0, 0, 0, 0] => Place::Never("no host's address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Place::Private("this machine"),
        // Mapped, and the old compatible form.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0, 0, 0, 0, 0, 0, high, low] => carried(high, low),
        // NAT64.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => carried(high, low),
        // 6to4.
        [0x2002, high, low, ..] => carried(high, low),
        // Teredo and the rest of the range for protocols, documentation.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            Place::Never("an address set aside")
        }
        [0xfc00..=0xfdff, ..] if address == METADATA_V6 => {
            Place::Never("where a cloud keeps its credentials")
        }
        [0xfc00..=0xfdff, ..] => Place::Private("an address of a private network"),
        [0xfe80..=0xfebf, ..] => Place::Never("a link-local address"),
        [0xff00..=0xffff, ..] => Place::Never("an address of a group"),
        [0x2000..=0x3fff, ..] => Place::Public,
        _ => Place::Never("an address set aside"),
    }
}

const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// A name of one word, or with an ending that no public host has.
fn is_inside_name(host: &str) -> bool {
    let ends =
        |ending: &&str| host.strip_suffix(*ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    !host.contains('.') || INSIDE_NAMES.iter().any(ends)
}

/// Whether an entry of the operator's names this host and port.
fn names(entry: &str, host: &str, port: u16) -> bool {
    let entry = entry.trim().to_ascii_lowercase();
    let bare = entry.trim_matches(['[', ']']);
    if bare.trim_end_matches('.') == host {
        return true;
    }
    entry.rsplit_once(':').is_some_and(|(named, at)| {
        named.trim_matches(['[', ']']).trim_end_matches('.') == host && at.parse() == Ok(port)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        read(text, &[]).expect_err(text).0
    }

    #[test]
    fn what_is_not_public_is_refused_however_it_is_written() {
        for text in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://127.0.0.1./",
            "http://%31%32%37.0.0.1/",
            "http://127。0。0。1/",
            "http://①②⑦.0.0.1/",
            "http://0/",
            "http://0.0.0.0/",
            "http://10.1.2.3/",
            "http://172.31.255.255/",
            "http://192.168.0.1/",
            "http://100.64.0.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://0xa9fea9fe/",
            "http://168.63.129.16/",
            "http://198.18.0.1/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "http://[::]/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[64:ff9b:1::1]/",
            "http://[2002:7f00:1::]/",
            "http://[2002:a9fe:a9fe::1]/",
            "http://[2001:0:7f00:1::]/",
            "http://[fe80::1]/",
            "http://[fec0::1]/",
            "http://[fc00::1]/",
            "http://[fd00:ec2::254]/",
            "http://[ff02::1]/",
            "http://[::ffff:0:7f00:1]/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://router/",
            "http://printer.local/",
            "http://vault.internal/",
            "http://metadata.google.internal/",
            "http://metadata/",
        ] {
            let why = refused(text);
            assert!(
                why.contains("not asked") || why.contains("never asked") || why.contains("only public"),
                "{text}: {why}"
            );
        }
    }

    #[test]
    fn what_is_no_plain_web_address_is_refused_and_says_why() {
        for (text, why) in [
            ("", "no address"),
            ("example.org", "no address"),
            ("file:///etc/passwd", "Only http"),
            ("gopher://example.org/", "Only http"),
            ("ftp://example.org/", "Only http"),
            ("http://user:pw@example.org/", "user or password"),
            ("http://example.org@127.0.0.1/", "user or password"),
            ("https://example.org:22/", "Port 22"),
            ("http://example.org:6379/", "Port 6379"),
            ("http://", "no address"),
        ] {
            assert!(refused(text).contains(why), "{text}: {}", refused(text));
        }
    }

    #[test]
    fn public_places_pass() {
        for text in [
            "https://example.org/a?b#c",
            "http://93.184.215.14/",
            "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
            "https://[64:ff9b::5db8:d70e]/",
            "https://example.org.:8443/",
            "https://bücher.example/",
        ] {
            read(text, &[]).expect(text);
        }
    }

    #[test]
    fn an_operator_lets_in_one_host_and_never_where_credentials_are() {
        let named = ["127.0.0.1:9000".to_owned(), "wiki.internal".to_owned(), "[::1]:9000".to_owned()];
        for yes in
            ["http://127.0.0.1:9000/", "http://wiki.internal./", "http://[::1]:9000/", "http://0x7f.1:9000/"]
        {
            assert!(read(yes, &named).expect(yes).let_in, "{yes}");
        }
        for no in
            ["http://127.0.0.1:9001/", "http://127.0.0.2:9000/", "http://vault.internal/", "http://[::1]/"]
        {
            assert!(read(no, &named).is_err(), "{no}");
        }
        let all = ["169.254.169.254".to_owned(), "metadata.google.internal".to_owned(), "0.0.0.0".to_owned()];
        for no in ["http://169.254.169.254/", "http://metadata.google.internal/", "http://0.0.0.0/"] {
            assert!(read(no, &all).is_err(), "{no}");
        }
        let carried = "::ffff:169.254.169.254".parse().expect("an address");
        assert!(check(carried, true).is_err());
    }
}
