//! Guessing is limited: how often one source may show a token that is none.
//!
//! A source is an address, and only ever counts against itself: an address lets nobody in. Each has a
//! bucket of tries that fills up again with time. Only a wrong token takes one; whoever has none left is
//! refused before what it shows is looked up. Many can share an address, so what was right from there
//! lately is remembered, as digests, and is let through all the same. Pure: the time is given.
//! Invariant: neither book holds more than [`MOST_SOURCES`].

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::http::HeaderMap;
use subtle::ConstantTimeEq;
use tokio::time::Instant;

use crate::model::Digest;

/// Wrong tokens that a source may show at once.
pub const GUESSES: u32 = 30;
/// After which time it may show one more.
const ONE_MORE_AFTER: Duration = Duration::from_secs(2);
/// Sources that are remembered; beyond, the one that was wrong longest ago is forgotten.
const MOST_SOURCES: usize = 4096;
/// Right tokens that are remembered of one source; beyond, the one used longest ago is forgotten.
const MOST_RIGHT: usize = 8;

/// Where a connection came from, as the listener knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer(pub Option<IpAddr>);

/// What shares one bucket: an IPv4 address, or the half of an IPv6 address that names a network, since
/// a single host has all of the other half to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Unknown,
    V4([u8; 4]),
    V6([u16; 4]),
}

impl Source {
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(ip) => Self::V4(ip.octets()),
            IpAddr::V6(ip) => {
                let [a, b, c, d, ..] = ip.segments();
                Self::V6([a, b, c, d])
            }
        }
    }

    /// Who a request counts against. Behind a proxy it is whom the proxy saw: the last address, since
    /// all before it were written by whoever asked.
    pub fn find(peer: Option<Peer>, headers: &HeaderMap, behind_proxy: bool) -> Self {
        let seen = if behind_proxy { forwarded(headers) } else { None };
        seen.or(peer.and_then(|p| p.0)).map_or(Self::Unknown, Self::of)
    }
}

fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    let text = last.rsplit(',').next()?.trim();
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

/// Who was wrong, and when each has all its tries again; and what was right, and how lately.
#[derive(Debug, Default)]
pub(crate) struct Guesses {
    full_at: HashMap<Source, Instant>,
    right: HashMap<Source, Right>,
}

/// What was right from one source, the latest last.
#[derive(Debug)]
struct Right {
    last: Instant,
    tokens: Vec<Digest>,
}

impl Guesses {
    /// Whether a source may show this token now; else how long until it may.
    pub fn may(&self, source: Source, token: Option<&Digest>, now: Instant) -> Result<(), Duration> {
        let Some(full_at) = self.full_at.get(&source) else { return Ok(()) };
        let missing = full_at.saturating_duration_since(now) + ONE_MORE_AFTER;
        match missing.saturating_sub(ONE_MORE_AFTER * GUESSES) {
            Duration::ZERO => Ok(()),
            _ if token.is_some_and(|token| self.was_right(source, token)) => Ok(()),
            wait => Err(wait),
        }
    }

    /// Compares with all that are remembered, each in constant time.
    fn was_right(&self, source: Source, token: &Digest) -> bool {
        let tokens = self.right.get(&source).map(|right| right.tokens.as_slice()).unwrap_or_default();
        tokens.iter().fold(false, |found, known| found | bool::from(known.0.ct_eq(&token.0)))
    }

    /// A source was right.
    pub fn right(&mut self, source: Source, token: Digest, now: Instant) {
        if self.right.len() >= MOST_SOURCES
            && !self.right.contains_key(&source)
            && let Some(oldest) = self.right.iter().min_by_key(|(_, r)| r.last).map(|(source, _)| *source)
        {
            self.right.remove(&oldest);
        }
        let right = self.right.entry(source).or_insert(Right { last: now, tokens: Vec::new() });
        right.last = now;
        right.tokens.retain(|known| *known != token);
        if right.tokens.len() >= MOST_RIGHT {
            right.tokens.remove(0);
        }
        right.tokens.push(token);
    }

    /// What was right no longer is.
    pub fn forget(&mut self, source: Source, token: &Digest) {
        if let Some(right) = self.right.get_mut(&source) {
            right.tokens.retain(|known| known != token);
        }
    }

    /// A source was wrong.
    pub fn wrong(&mut self, source: Source, now: Instant) {
        if self.full_at.len() >= MOST_SOURCES && !self.full_at.contains_key(&source) {
            self.make_room(now);
        }
        let full_at = self.full_at.entry(source).or_insert(now);
        *full_at = (*full_at).max(now) + ONE_MORE_AFTER;
    }

    /// Forgets all that have their tries again; where all miss some, whoever misses least.
    fn make_room(&mut self, now: Instant) {
        self.full_at.retain(|_, full_at| *full_at > now);
        if self.full_at.len() >= MOST_SOURCES
            && let Some(least) = self.full_at.iter().min_by_key(|(_, at)| **at).map(|(source, _)| *source)
        {
            self.full_at.remove(&least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(address: &str) -> Source {
        Source::of(address.parse().expect("an address"))
    }

    fn second(start: Instant, n: u64) -> Instant {
        start + Duration::from_secs(n)
    }

    #[test]
    fn a_source_has_so_many_tries_and_one_more_every_two_seconds() {
        let (mut guesses, start, it) = (Guesses::default(), Instant::now(), source("192.0.2.1"));
        for _ in 0..GUESSES {
            assert_eq!(guesses.may(it, None, start), Ok(()));
            guesses.wrong(it, start);
        }
        assert_eq!(guesses.may(it, None, start), Err(ONE_MORE_AFTER));
        assert_eq!(guesses.may(it, None, second(start, 1)), Err(Duration::from_secs(1)));
        assert_eq!(guesses.may(source("192.0.2.2"), None, start), Ok(()));
        assert_eq!(guesses.may(it, None, second(start, 2)), Ok(()));
        guesses.wrong(it, second(start, 2));
        assert!(guesses.may(it, None, second(start, 3)).is_err());
        assert_eq!(guesses.may(it, None, second(start, 62)), Ok(()));
    }

    #[test]
    fn what_is_one_address_or_one_network_is_one_source() {
        assert_eq!(source("192.0.2.1"), source("::ffff:192.0.2.1"));
        assert_ne!(source("192.0.2.1"), source("192.0.2.2"));
        assert_eq!(source("2001:db8:1:2::1"), source("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_ne!(source("2001:db8:1:2::1"), source("2001:db8:1:3::1"));
    }

    #[test]
    fn only_a_stated_proxy_is_believed_and_only_in_what_it_added() {
        let peer = Some(Peer(Some("192.0.2.9".parse().expect("an address"))));
        let case = |lines: &[&str], behind_proxy: bool| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", line.parse().expect("a value"));
            }
            Source::find(peer, &headers, behind_proxy)
        };
        assert_eq!(case(&["192.0.2.1"], false), source("192.0.2.9"));
        assert_eq!(case(&[], true), source("192.0.2.9"));
        assert_eq!(case(&["odd"], true), source("192.0.2.9"));
        assert_eq!(case(&["192.0.2.7, 192.0.2.1"], true), source("192.0.2.1"));
        assert_eq!(case(&["192.0.2.7", "192.0.2.1"], true), source("192.0.2.1"));
        for written in ["192.0.2.1:443", "::ffff:192.0.2.1", "[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]:443"] {
            assert_eq!(case(&[written], true), source("192.0.2.1"), "{written}");
        }
        assert_eq!(Source::find(None, &HeaderMap::new(), true), Source::Unknown);
    }

    #[test]
    fn however_many_sources_guess_the_book_stays_small() {
        let (mut guesses, start) = (Guesses::default(), Instant::now());
        let worst = source("192.0.2.1");
        for _ in 0..GUESSES {
            guesses.wrong(worst, start);
        }
        for n in 0..10_000_u32 {
            guesses.wrong(Source::V4((0x0a00_0000 + n).to_be_bytes()), start);
            assert!(guesses.full_at.len() <= MOST_SOURCES);
        }
        assert!(guesses.may(worst, None, start).is_err(), "who guessed most is kept longest");
        guesses.wrong(source("192.0.2.2"), second(start, 1000));
        assert_eq!(guesses.full_at.len(), 1, "who has all tries again is forgotten");
    }

    #[test]
    fn what_was_right_lately_is_let_through_while_its_source_guesses() {
        let (mut guesses, start, it) = (Guesses::default(), Instant::now(), source("192.0.2.1"));
        let token = |n: u8| Digest([n; 32]);
        for n in 0..10 {
            guesses.right(it, token(n), start);
        }
        guesses.right(it, token(3), start);
        for _ in 0..GUESSES {
            guesses.wrong(it, start);
        }
        let passes = |guesses: &Guesses, n| guesses.may(it, Some(&token(n)), start).is_ok();
        let passing: Vec<u8> = (0..20).filter(|n| passes(&guesses, *n)).collect();
        assert_eq!(passing, [2, 3, 4, 5, 6, 7, 8, 9], "so many, the latest");
        guesses.forget(it, &token(3));
        assert!(!passes(&guesses, 3) && passes(&guesses, 4));
        for n in 0..10_000_u32 {
            let later = second(start, 1 + u64::from(n));
            guesses.right(Source::V4((0x0a00_0000 + n).to_be_bytes()), token(1), later);
        }
        assert_eq!(guesses.right.len(), MOST_SOURCES);
        assert!(!passes(&guesses, 4), "who was right longest ago is forgotten");
    }
}
