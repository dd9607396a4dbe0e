//! Where a server is: whether its description could be one, and the addresses that cannot work.
//!
//! The older transport (an event stream opened first, and posts beside it) is not spoken; a server that
//! knows nothing else is told apart from one that is not there.

use std::time::Duration;

use futures_util::StreamExt;
use http::{HeaderName, HeaderValue};
use sb_harness::model::{McpAt, McpServer, Secret};

/// The most servers' names may have.
const LONGEST: usize = 24;
/// How long a server is asked whether it speaks the older transport only.
const ASKING: Duration = Duration::from_secs(5);
/// Headers that are the protocol's own.
const RESERVED: [&str; 5] =
    ["accept", "content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"];

/// Whether a server described so could be reached at all; a sentence says why not.
pub fn check(server: &McpServer) -> Result<(), String> {
    let name = &server.name;
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if name.is_empty() || name.len() > LONGEST || !name.bytes().all(plain) {
        return Err(format!("{name:?} is no name for an MCP server: use 1 to {LONGEST} of a-z, 0-9 and -."));
    }
    if server.limit_s == 0 {
        return Err("A call needs some time: --limit takes 1 second or more.".to_owned());
    }
    match &server.at {
        McpAt::Command { command, .. } if command.trim().is_empty() => {
            Err("An MCP server needs a command after --, or an address with --url.".to_owned())
        }
        McpAt::Command { .. } => server.secrets.iter().try_for_each(|name| check_variable(name)),
        McpAt::Url(url) => {
            check_url(url)?;
            server.secrets.iter().try_for_each(|name| check_header(name))
        }
    }
}

fn check_variable(name: &str) -> Result<(), String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    if name.is_empty() || name.as_bytes()[0].is_ascii_digit() || !name.bytes().all(plain) {
        return Err(format!("{name:?} is no name of a variable: use letters, digits and _."));
    }
    Ok(())
}

fn check_header(name: &str) -> Result<(), String> {
    match HeaderName::from_bytes(name.as_bytes()) {
        Ok(header) if RESERVED.contains(&header.as_str()) => {
            Err(format!("The header {name} is the protocol's own; it cannot be given."))
        }
        Ok(_) => Ok(()),
        Err(_) => Err(format!("{name:?} is no name of a header.")),
    }
}

/// What is wrong with an address may be secret, so none of it is said again.
fn check_url(url: &str) -> Result<(), String> {
    let Ok(parsed) = reqwest::Url::parse(url) else {
        return Err("That is no address: --url takes http://… or https://….".to_owned());
    };
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
        return Err("An MCP server's address begins with http:// or https:// and names a host.".to_owned());
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("An MCP server's address takes no user and password: it is shown to whoever looks. Give them as a header: --header Authorization=VARIABLE.".to_owned());
    }
    if parsed.fragment().is_some() {
        return Err("An MCP server's address takes no fragment (#…).".to_owned());
    }
    Ok(())
}

/// The headers of every request, each marked as secret.
pub(crate) fn headers(secrets: &[(String, Secret)]) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let header = |(name, value): &(String, Secret)| {
        let key = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let mut value = HeaderValue::from_str(value.expose()).ok()?;
        value.set_sensitive(true);
        Some((key, value))
    };
    secrets
        .iter()
        .map(|secret| {
            header(secret).ok_or_else(|| format!("The value of the header {} cannot be sent.", secret.0))
        })
        .collect()
}

/// Whether a server that could not be spoken to knows the older transport: it answers a plain request with an
/// event stream that names where to post.
pub(crate) async fn is_older(client: &reqwest::Client, url: &str, secrets: &[(String, Secret)]) -> bool {
    let Ok(headers) = headers(secrets) else { return false };
    let asked = async {
        let request =
            client.get(url).header("accept", "text/event-stream").headers(headers.into_iter().collect());
        let response = request.send().await.ok()?;
        let media_type = response.headers().get("content-type")?.to_str().ok()?.to_owned();
        if !response.status().is_success() || !media_type.starts_with("text/event-stream") {
            return None;
        }
        let first = response.bytes_stream().next().await?.ok()?;
        Some(String::from_utf8_lossy(&first[..first.len().min(200)]).contains("endpoint"))
    };
    matches!(tokio::time::timeout(ASKING, asked).await, Ok(Some(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(url: &str, secrets: &[&str]) -> Result<(), String> {
        check(&McpServer {
            name: "s".into(),
            at: McpAt::Url(url.into()),
            secrets: secrets.iter().map(|s| (*s).to_owned()).collect(),
            only: vec![],
            without: vec![],
            overrides: Default::default(),
            untrusted: false,
            limit_s: 60,
            seen: Default::default(),
        })
    }

    #[test]
    fn an_address_that_gives_a_password_away_is_refused_without_repeating_it() {
        assert_eq!(at("https://example.org/mcp?x=1", &["Authorization"]), Ok(()));
        for (url, says) in [
            ("https://user:hunter2@example.org/mcp", "--header"),
            ("ftp://example.org", "http://"),
            ("hunter2", "no address"),
            ("https://example.org/mcp#hunter2", "fragment"),
        ] {
            let why = at(url, &[]).expect_err("refused");
            assert!(why.contains(says) && !why.contains("hunter2"), "{url}: {why}");
        }
        for header in ["Mcp-Session-Id", "a b"] {
            assert!(at("https://example.org/", &[header]).is_err(), "{header}");
        }
    }
}
