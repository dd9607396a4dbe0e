//! What a mailbox is configured with: where its servers are, how we log in, whose verdict is believed.
//!
//! Everything is judged here, before anything is connected to; an error names the field and what to set.

use sb_channel::model::{Fault, FaultKind, Secret};
use sb_channel::net::{Http, Remote, Stream, Tls};
use sb_channel::{Result, Settings};

use super::address;
use super::verdict::Trusted;

/// A configured mailbox.
pub(super) struct Mailbox {
    /// Ours, in the form of an id.
    pub address: String,
    /// What it is called beside our address.
    pub name: Option<String>,
    pub user: String,
    pub login: Login,
    pub imap: Server,
    pub smtp: Server,
    /// What is read.
    pub folder: String,
    pub trusted: Trusted,
    /// The provider files what it takes from us by itself, so that it can be found; else we keep copies.
    pub provider_files: bool,
}

/// How we log in.
pub(super) enum Login {
    Password(Secret),
    /// By a token that is got with these.
    OAuth(Grant),
}

/// What a token is got with.
pub(super) struct Grant {
    pub url: String,
    pub client: String,
    pub secret: Option<Secret>,
    pub refresh: Option<Secret>,
    pub scope: Option<String>,
}

/// A server, and when TLS begins.
pub(super) struct Server {
    pub remote: Remote,
    /// It is agreed on after the first words; else it begins with the first byte.
    pub starts_plain: bool,
    /// It may stay plain: the server is this very machine.
    pub may_stay_plain: bool,
    sort: Sort,
}

/// A kind of server: its name, and its ports with TLS from the first byte and without.
type Sort = (&'static str, u16, u16);
const IMAP: Sort = ("imap", 993, 143);
const SMTP: Sort = ("smtp", 465, 587);

pub(super) fn wrong(detail: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Refused, "reading the settings", detail)
}

impl Mailbox {
    pub fn read(settings: &Settings) -> Result<Self> {
        let text = |key: &str| settings.text(key).map(str::trim).filter(|text| !text.is_empty());
        let named = settings.needed("address")?.expose().trim();
        let address = address::id(named).ok_or_else(|| {
            wrong(format!("`address` must be the mailbox's own, such as agent@example.org; {named:?} is none"))
        })?;
        let needed = |key: &str| {
            text(key).ok_or_else(|| wrong(format!("`{key}` is not set: the server's name, as your provider says it")))
        };
        let roots = text("trust_certificates");
        Ok(Self {
            name: text("name").map(str::to_owned),
            user: text("user").unwrap_or(named).to_owned(),
            login: login(settings)?,
            imap: server(needed("imap")?, IMAP, roots)?,
            smtp: server(needed("smtp")?, SMTP, roots)?,
            folder: text("folder").unwrap_or("INBOX").to_owned(),
            trusted: Trusted::read(settings)?,
            provider_files: text("sent_copies") == Some("provider"),
            address,
        })
    }

    pub fn domain(&self) -> &str {
        self.address.rsplit_once('@').map_or("", |(_, domain)| domain)
    }
}

fn login(settings: &Settings) -> Result<Login> {
    if let Some(password) = settings.get("password") {
        return Ok(Login::Password(password.clone()));
    }
    let text = |key: &str| settings.text(key).map(str::to_owned);
    let (Some(url), Some(client)) = (text("oauth_url"), text("oauth_client")) else {
        return Err(wrong(
            "set `password` (where people log in twice, an app password), or `oauth_url` and `oauth_client` with `oauth_refresh` or `oauth_secret`",
        ));
    };
    let (secret, refresh) = (settings.get("oauth_secret").cloned(), settings.get("oauth_refresh").cloned());
    if secret.is_none() && refresh.is_none() {
        return Err(wrong("a token needs `oauth_refresh` (of a person's consent) or `oauth_secret` (of an app)"));
    }
    if !url.starts_with("https://") && !is_this_machine(sb_channel::net::host_of(&url).as_str()) {
        return Err(wrong("`oauth_url` must begin with https://"));
    }
    Ok(Login::OAuth(Grant { url, client, secret, refresh, scope: text("oauth_scope") }))
}

/// Reads `imaps://host:993`, `imap://host` or just `host`.
fn server(text: &str, (name, tls_port, plain_port): Sort, roots: Option<&str>) -> Result<Server> {
    let how = |detail: &str| {
        wrong(format!(
            "`{name}` {detail}: write {name}s://HOST for TLS from the first byte (port {tls_port}), or {name}://HOST for STARTTLS (port {plain_port})"
        ))
    };
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let starts_plain = match scheme.strip_prefix(name) {
        Some("") => true,
        Some("s") => false,
        None if scheme.is_empty() => false,
        _ => return Err(how(&format!("cannot begin with {scheme}://"))),
    };
    let port = if starts_plain { plain_port } else { tls_port };
    let rest = rest.trim_end_matches('/');
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (host, port.parse().map_err(|_| how("has a port that is no number"))?)
        }
        _ => (rest, port),
    };
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    if host.is_empty() || host.contains(['/', '@', ' ', '?', '#']) {
        return Err(how("names no host"));
    }
    let may_stay_plain = starts_plain && is_this_machine(&host);
    let tls = Tls { roots: roots.map(str::to_owned), ..Tls::default() };
    Ok(Server { remote: Remote { host, port, tls: Some(tls) }, starts_plain, may_stay_plain, sort: (name, tls_port, plain_port) })
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

impl Server {
    /// Opens a stream, with TLS if that begins with the first byte.
    pub async fn connect(&self, http: &Http) -> Result<Box<dyn Stream>> {
        let plain = || Remote { tls: None, ..self.remote.clone() };
        let first = if self.starts_plain { plain() } else { self.remote.clone() };
        http.open(&first).await.map_err(|fault| self.advised(fault))
    }

    /// A failure before anything was agreed on: most often a port that was meant for something else.
    pub fn advised(&self, fault: Fault) -> Fault {
        let (name, tls_port, plain_port) = self.sort;
        let detail = format!(
            "{}; is it the right port? {name}s://HOST is TLS from the first byte (port {tls_port}), {name}://HOST is STARTTLS (port {plain_port})",
            fault.detail
        );
        Fault { detail, ..fault }
    }
}
