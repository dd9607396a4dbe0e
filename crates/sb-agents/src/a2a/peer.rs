//! An agent elsewhere: its card, where it is asked, and what comes back.
//!
//! The operator named the card's address, so its host may be a private one. Where the card leads is the agent's
//! word: the same host and port, or a public place, which is shown no key. Redirects are not followed at all.

use std::time::Duration;

use futures_util::StreamExt;
use sb_harness::model::text::one_line;
use sb_harness::model::{Profile, Secret};
use sb_harness::net::{Ask, Body, Content, Http, Method, Request};
use sb_wire::a2a::{Card, Operation, Version};
use sb_wire::jsonrpc::{self, Message};
use sb_wire::sse::Decoder;
use serde_json::{Value, json};

use super::A2aContext;
use super::trouble::{Trouble, garbled};

/// Where cards are, below an agent's address.
const WELL_KNOWN: &str = "/.well-known/agent-card.json";
const LARGEST_CARD: u64 = 1024 * 1024;
const CARD_PATIENCE: Duration = Duration::from_secs(20);
/// One event, or one whole answer: a file may be in it.
const LARGEST_EVENT: usize = 32 * 1024 * 1024;
/// All of one stream.
const LARGEST_STREAM: usize = 256 * 1024 * 1024;
/// Events that mean nothing to us, in one stream.
const MOST_ODD: usize = 1_000;

/// An agent whose card was read.
pub(super) struct Peer {
    /// As it is called in words for people.
    pub label: String,
    pub card: Card,
    pub keyed: bool,
    url: String,
    version: Version,
    http: Http,
    key: Option<Secret>,
    tenant: Option<String>,
}

/// An answer that is coming: one document, or a stream of events.
pub(super) struct Incoming {
    body: Body,
    decoder: Decoder,
    streams: bool,
    whole: Vec<u8>,
    read: usize,
    odd: usize,
    over: bool,
    /// A result that was looked at and is still to be given.
    first: Option<Value>,
}

/// Why an address cannot be an agent's, if so. None of it is said again: what is wrong with it may be secret.
pub(super) fn check(address: &str) -> Result<(), String> {
    let Some((_, rest)) = split(address) else {
        return Err(
            "That is no agent's address: it begins with http:// or https:// and names a host.".to_owned()
        );
    };
    if address.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("An agent's address has no spaces and no control characters in it.".to_owned());
    }
    if authority(rest).contains('@') {
        return Err(
            "An agent's address takes no user and password: it is shown to whoever looks. Give the key with --api-key-stdin."
                .to_owned(),
        );
    }
    Ok(())
}

fn split(address: &str) -> Option<(&'static str, &str)> {
    let of = |scheme: &'static str| address.strip_prefix(scheme).map(|rest| (scheme, rest));
    of("https://").or_else(|| of("http://")).filter(|(_, rest)| !authority(rest).is_empty())
}

fn authority(rest: &str) -> &str {
    rest.split(['/', '?', '#', '\\']).next().unwrap_or_default()
}

/// `host:port` of an address, the port always told.
fn place(address: &str) -> Option<String> {
    let (scheme, rest) = split(address)?;
    let host = authority(rest).to_ascii_lowercase();
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'));
    let port = if scheme == "https://" { 443 } else { 80 };
    Some(if has_port { host } else { format!("{host}:{port}") })
}

/// The card itself, or the address below which it is.
fn card_url(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    match path.ends_with(".json") || path.contains("/.well-known/") {
        true => address.to_owned(),
        false => format!("{}{WELL_KNOWN}", path.trim_end_matches('/')),
    }
}

impl Peer {
    /// Reads the card at an address and chooses how to ask.
    pub async fn find(context: &A2aContext, address: &str, profile: &Profile) -> Result<Self, Trouble> {
        let unasked = |why: String| Trouble::Unasked(why);
        check(address).map_err(unasked)?;
        let let_in: Vec<String> = place(address).into_iter().collect();
        let cleared = context.away.clear(&card_url(address), &let_in).await;
        let cleared = cleared.map_err(|why| unasked(why.0))?;
        let http = cleared.http().map_err(|why| unasked(why.0))?;
        let key = context.keys.key(profile);
        let card = read_card(&http, cleared.url(), key.as_ref()).await?;
        let label = one_line(&card.name, 80);
        let chosen = card.choose().map(|(interface, version)| (interface.clone(), version));
        let Some((interface, version)) = chosen else {
            let offers = one_line(&card.offers(), 200);
            let offers = if offers.is_empty() { "nothing".to_owned() } else { offers };
            return Err(unasked(format!(
                "{label} offers {offers}, and here JSONRPC in version 1.0 or 0.3 is spoken"
            )));
        };
        let same = place(&interface.url).is_some() && place(&interface.url) == place(address);
        let downgraded = address.starts_with("https://") && !interface.url.starts_with("https://");
        let away = place(&interface.url).unwrap_or_default();
        if downgraded || (!same && key.is_some()) {
            return Err(unasked(format!(
                "{label}'s card leads to {}, another place than the one that was named, and our key is not shown there. If that is right, name the card by that host and port",
                one_line(&away, 100)
            )));
        }
        let http = match same {
            true => http,
            false => {
                let place = context.away.clear(&interface.url, &[]).await.map_err(|why| {
                    unasked(format!(
                        "{label}'s card leads to another place than the one that was named: {} If that is right, name the card by that host and port",
                        why.0
                    ))
                })?;
                place.http().map_err(|why| unasked(why.0))?
            }
        };
        let (url, tenant, keyed) = (interface.url, interface.tenant, key.is_some());
        Ok(Self { label, card, keyed, url, version, http, key, tenant })
    }

    pub fn version(&self) -> Version {
        self.version
    }

    /// Asks for something; the answer's head has come. `patience`: for every silence.
    pub async fn ask(
        &self,
        what: Operation,
        mut params: Value,
        patience: Duration,
    ) -> Result<Incoming, Trouble> {
        let Some(method) = what.method(self.version) else {
            return Err(garbled("its version has no such operation"));
        };
        if let Some(tenant) = &self.tenant {
            params["tenant"] = tenant.as_str().into();
        }
        let request = Message::Request { id: json!("1"), method: method.to_owned(), params };
        let headers = vec![
            ("accept", "text/event-stream, application/json".to_owned()),
            ("a2a-version", self.version.name().to_owned()),
        ];
        let secret_headers = self.key.iter().map(|key| ("authorization", "Bearer ", key.clone())).collect();
        let body = jsonrpc::line(&request).into_bytes().into();
        let ask = Ask { url: self.url.clone(), headers, secret_headers, body, idle: patience };
        let answer = self.http.post(ask).await.map_err(Trouble::Fault)?;
        Ok(Incoming {
            body: answer.body,
            decoder: Decoder::new(LARGEST_EVENT),
            streams: answer.media_type == "text/event-stream",
            whole: Vec::new(),
            read: 0,
            odd: 0,
            over: false,
            first: None,
        })
    }

    /// Asks for something that has one answer.
    pub async fn one(&self, what: Operation, params: Value, patience: Duration) -> Result<Value, Trouble> {
        let mut incoming = self.ask(what, params, patience).await?;
        incoming.next().await?.ok_or_else(|| garbled("it ended without an answer"))
    }
}

impl Incoming {
    /// Waits until there is a result; none comes: false.
    pub async fn look(&mut self) -> Result<bool, Trouble> {
        self.first = self.next().await?;
        Ok(self.first.is_some())
    }

    /// Whether it is a stream, so that more may come.
    pub fn streams(&self) -> bool {
        self.streams
    }

    /// The next result; none: there are no more. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<Value>, Trouble> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        loop {
            while let Some(event) = self.decoder.pull() {
                if let Some(result) = self.result(&event.data)? {
                    return Ok(Some(result));
                }
            }
            if self.over {
                return Ok(None);
            }
            match self.body.next().await {
                Some(piece) => self.push(&piece.map_err(Trouble::Fault)?)?,
                None => {
                    self.over = true;
                    if !self.streams {
                        let whole = String::from_utf8_lossy(&std::mem::take(&mut self.whole)).into_owned();
                        return match self.result(&whole)? {
                            Some(result) => Ok(Some(result)),
                            None => Err(garbled("its answer is no answer of the protocol")),
                        };
                    }
                    if let Some(event) = self.decoder.finish() {
                        return self.result(&event.data);
                    }
                }
            }
        }
    }

    fn push(&mut self, piece: &[u8]) -> Result<(), Trouble> {
        self.read += piece.len();
        let too_large = || garbled("it sends more than is taken");
        if self.read > if self.streams { LARGEST_STREAM } else { LARGEST_EVENT } {
            return Err(too_large());
        }
        if self.streams {
            return self.decoder.push(piece).map_err(|_| too_large());
        }
        self.whole.extend_from_slice(piece);
        Ok(())
    }

    /// What an answer gives. What is none is passed over, for so long.
    fn result(&mut self, text: &str) -> Result<Option<Value>, Trouble> {
        match jsonrpc::read(text) {
            Some(Message::Answer { result, .. }) => result.map(Some).map_err(Trouble::Failed),
            _ => {
                self.odd += 1;
                if self.odd > MOST_ODD { Err(garbled("it sends what means nothing")) } else { Ok(None) }
            }
        }
    }
}

async fn read_card(http: &Http, url: &str, key: Option<&Secret>) -> Result<Card, Trouble> {
    let mut request =
        Request::new(Method::Get, Secret::new(url), Content::Nothing).patient_for(CARD_PATIENCE);
    request.headers.push(("accept", "application/json".to_owned()));
    request.secret_headers.extend(key.map(|key| ("authorization", "Bearer ", key.clone())));
    let mut bytes = Vec::new();
    let poured = http.pour(request, &mut bytes, LARGEST_CARD).await;
    poured.map_err(|fault| match fault.status {
        Some(404 | 410) => Trouble::Unasked(format!(
            "There is no agent's card at that address ({}). The harness names the card, or what stands before {WELL_KNOWN}",
            fault.detail
        )),
        _ => Trouble::Fault(fault),
    })?;
    let card = serde_json::from_slice::<Value>(&bytes).ok().and_then(|card| Card::read(&card).ok());
    card.ok_or_else(|| garbled("what is at the address is no agent's card"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_card_or_what_a_card_is_below() {
        for (address, card) in [
            ("https://a.example", "https://a.example/.well-known/agent-card.json"),
            ("https://a.example/x/", "https://a.example/x/.well-known/agent-card.json"),
            ("https://a.example/x/card.json", "https://a.example/x/card.json"),
            ("http://a:1/.well-known/agent.json?v=1", "http://a:1/.well-known/agent.json?v=1"),
        ] {
            assert_eq!((check(address), card_url(address).as_str()), (Ok(()), card));
        }
        for odd in ["", "a.example", "https://", "https:///x", "ftp://a", "https://u:p@a", "https://a b"] {
            assert!(check(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_place_is_host_and_port_however_it_is_written() {
        for (address, at) in [
            ("https://A.example/x", "a.example:443"),
            ("http://a.example", "a.example:80"),
            ("http://[::1]/", "[::1]:80"),
            ("http://[::1]:9/", "[::1]:9"),
            ("http://a:8000?x", "a:8000"),
        ] {
            assert_eq!(place(address).as_deref(), Some(at));
        }
    }
}
