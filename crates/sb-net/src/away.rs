//! Asks places that somebody else chose: looked up, judged, pinned, and judged again at every redirect.
//!
//! A name is looked up once; every address found must pass, and the connection goes to those addresses and
//! no others, so a name that answers differently a moment later leads nowhere. No proxy of the environment
//! is used: it would look the name up again, elsewhere. Nothing of ours is sent along, no cookie, no key.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue, LOCATION};
use sb_model::text::one_line;

use crate::guard::{self, Refused, Target};
use crate::http::{Http, NoAnswer};

/// The most redirects that are followed.
const MOST_HOPS: usize = 5;
/// The most addresses of one name that are looked at.
const MOST_ADDRESSES: usize = 32;

/// Looks names up; a trait so that tests decide what a name means.
pub trait Resolve: Send + Sync + 'static {
    /// The addresses of a host.
    fn addresses<'a>(&'a self, host: &'a str) -> Looking<'a>;
}
/// What [`Resolve::addresses`] gives.
pub type Looking<'a> = Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// The machine's own resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemNames;

impl Resolve for SystemNames {
    fn addresses<'a>(&'a self, host: &'a str) -> Looking<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|at| at.ip()).take(MOST_ADDRESSES).collect())
        })
    }
}

/// Goes to places that somebody else chose. Clones share the resolver.
#[derive(Clone)]
pub struct Away {
    names: Arc<dyn Resolve>,
    guarded: bool,
}

/// What is fetched, and how much of it.
#[derive(Debug, Clone)]
pub struct Fetch {
    pub url: String,
    /// The operator's hosts that may be private; see [`guard::read`].
    pub let_in: Vec<String>,
    /// As many bytes are read; the rest is left.
    pub most: usize,
    /// For all of it, redirects and reading included.
    pub limit: Duration,
}

/// What was fetched.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// Where it came from in the end.
    pub url: String,
    pub status: u16,
    /// As declared, parameters included; empty if it was not.
    pub content_type: String,
    pub body: Bytes,
    /// There was more.
    pub cut: bool,
}

/// A place that passed, with the addresses it is pinned to.
#[derive(Debug, Clone)]
pub struct Cleared {
    target: Target,
    addresses: Vec<SocketAddr>,
}

impl Default for Away {
    fn default() -> Self {
        Self::new(Arc::new(SystemNames))
    }
}

impl Away {
    /// Goes where the guard lets it, names looked up by `names`.
    pub fn new(names: Arc<dyn Resolve>) -> Self {
        Self { names, guarded: true }
    }

    /// Goes anywhere: what the red-team suite holds the guard against, and nothing else may use.
    #[cfg(feature = "unguarded")]
    pub fn unguarded(names: Arc<dyn Resolve>) -> Self {
        Self { names, guarded: false }
    }

    /// Looks a place up and judges all its addresses.
    ///
    /// # Errors
    /// If any of them is not public, and the operator did not let the host in.
    pub async fn clear(&self, url: &str, let_in: &[String]) -> Result<Cleared, Refused> {
        let target = match self.guarded {
            true => guard::read(url, let_in)?,
            false => anything(url)?,
        };
        let found = match target.literal {
            Some(address) => vec![address],
            None => self.names.addresses(&target.host).await.map_err(|_| no_such(&target))?,
        };
        if found.is_empty() {
            return Err(no_such(&target));
        }
        for address in found.iter().filter(|_| self.guarded) {
            guard::check(*address, target.let_in).map_err(|what| {
                Refused(format!("{} leads to {what}, which is not asked.", one_line(&target.host, 100)))
            })?;
        }
        let addresses =
            found.into_iter().take(MOST_ADDRESSES).map(|ip| SocketAddr::new(ip, target.port)).collect();
        Ok(Cleared { target, addresses })
    }

    /// Fetches a page; any status is one.
    ///
    /// # Errors
    /// If a place on the way is refused, there are too many redirects, or no answer in time. The words name
    /// hosts, never more of an address.
    pub async fn get(&self, fetch: &Fetch) -> Result<Fetched, Refused> {
        let within = tokio::time::timeout(fetch.limit, self.follow(fetch)).await;
        within.unwrap_or_else(|_| {
            Err(Refused(format!("It did not answer within {} seconds.", fetch.limit.as_secs())))
        })
    }

    async fn follow(&self, fetch: &Fetch) -> Result<Fetched, Refused> {
        let mut url = fetch.url.clone();
        let mut secure = false;
        for _ in 0..=MOST_HOPS {
            let place = self.clear(&url, &fetch.let_in).await?;
            let host = one_line(&place.target.host, 100);
            if secure && place.target.url.scheme() != "https" {
                return Err(Refused(format!("It redirects to {host} without TLS, which is not followed.")));
            }
            secure = place.target.url.scheme() == "https";
            let response = place.ask().await?;
            let moved = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
            let next = response.headers().get(LOCATION).filter(|_| moved);
            let Some(next) = next else { return read(response, &place, fetch.most).await };
            let next = next.to_str().ok().and_then(|to| place.target.url.join(to).ok());
            url = next.ok_or_else(|| Refused(format!("{host} redirects to what is no address.")))?.into();
        }
        Err(Refused(format!("It redirects more than {MOST_HOPS} times.")))
    }
}

impl Cleared {
    /// A client whose connections for this place's host go to the addresses that were judged.
    ///
    /// # Errors
    /// If the machine's certificates cannot be read.
    pub fn http(&self) -> Result<Http, Refused> {
        Http::pinned(&self.target.host, &self.addresses)
            .map_err(|_| Refused("No connection can be set up.".to_owned()))
    }

    /// The address to ask, as it was judged.
    pub fn url(&self) -> &str {
        self.target.url.as_str()
    }

    async fn ask(&self) -> Result<reqwest::Response, Refused> {
        let host = one_line(&self.target.host, 100);
        let mut url = self.target.url.clone();
        // The name that was pinned: with a dot at its end it would be another.
        if self.target.literal.is_none() {
            url.set_host(Some(&self.target.host)).map_err(|_| Refused(format!("{host} is no host.")))?;
        }
        url.set_fragment(None);
        let mut request = reqwest::Request::new(reqwest::Method::GET, url);
        request.headers_mut().insert(
            ACCEPT,
            HeaderValue::from_static("text/html,text/plain,application/json,text/*;q=0.9,*/*;q=0.5"),
        );
        let response = self.http()?.execute(request).await.map_err(|why| match why {
            NoAnswer::Network(why) if why.is_connect() => Refused(format!("{host} could not be reached.")),
            _ => Refused(format!("The connection to {host} broke off.")),
        })?;
        match response.remote_addr() {
            Some(at) if !self.addresses.iter().any(|pinned| pinned.ip() == at.ip()) => {
                Err(Refused(format!("{host} was reached elsewhere than it was looked up.")))
            }
            _ => Ok(response),
        }
    }
}

async fn read(response: reqwest::Response, place: &Cleared, most: usize) -> Result<Fetched, Refused> {
    let status = response.status().as_u16();
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let content_type = one_line(content_type, 200);
    let mut body = Vec::new();
    let mut pieces = std::pin::pin!(response.bytes_stream());
    let mut cut = false;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| {
            Refused(format!("The connection to {} broke off.", one_line(&place.target.host, 100)))
        })?;
        let room = most - body.len();
        cut = piece.len() > room;
        body.extend_from_slice(piece.get(..room).unwrap_or(&piece));
        if cut {
            break;
        }
    }
    Ok(Fetched { url: place.url().to_owned(), status, content_type, body: body.into(), cut })
}

fn no_such(target: &Target) -> Refused {
    Refused(format!("There is no host {}.", one_line(&target.host, 100)))
}

/// An address read without a judgement.
fn anything(url: &str) -> Result<Target, Refused> {
    let url = reqwest::Url::parse(url).map_err(|_| Refused("That is no address.".to_owned()))?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = url.port_or_known_default().unwrap_or_default();
    Ok(Target { literal: host.parse().ok(), url, host, port, let_in: true })
}
