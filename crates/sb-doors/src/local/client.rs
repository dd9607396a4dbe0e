//! [`Desk`]: a command's end of the home's socket.
//!
//! It turns calls into requests and answers into the types of [`wire`](super::wire), and knows nothing
//! of how they are shown. Its errors are sentences for the person who typed the command; what the
//! server said of a refusal is passed on word for word.
//!
//! Whoever serves the socket may be another command, which ends when it is done. A connection that ends
//! so before its answer is made anew, where asking twice does no harm: see [`Again`].

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;

use super::wire::{
    AddToken, Backup, Doctor, NewToken, ProfileInfo, PutMcp, PutProfile, ServerInfo, SessionInfo, TestMcp,
    TokenInfo, Trace,
};
use crate::model::McpFound;

mod channels;
mod failure;
mod jobs;
mod ledger;
mod replies;

use failure::refusal;
pub use failure::{DeskError, DeskErrorKind, Result};
pub use replies::{Answer, Replies, ReplyStep, SharedFile};
use replies::{Resend, Words};

/// A command reaches its server at once or not at all.
const CONNECT: Duration = Duration::from_secs(5);

/// So long a request may come upon one after another that is just ending.
const ENDING: Duration = Duration::from_secs(5);

/// What [`Again::reach`] comes to; the error is a sentence for a person.
pub type Reaching<'a> = Pin<Box<dyn Future<Output = std::result::Result<(), String>> + Send + 'a>>;

/// How a home is reached again when whoever served it has ended.
pub trait Again: Send + Sync {
    /// A key for one message, used for no other: under it a message that is sent twice is taken once.
    fn key(&self) -> String;
    /// Returns when somebody serves the socket, if need be this process itself.
    fn reach(&self) -> Reaching<'_>;
}

/// A server reached through its home's socket. Clones share their connections.
#[derive(Clone)]
pub struct Desk {
    http: reqwest::Client,
    again: Option<Arc<dyn Again>>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("again", &self.again.is_some()).finish_non_exhaustive()
    }
}

/// Whom words are for.
#[derive(Debug, Clone, Copy)]
pub enum To<'a> {
    /// A conversation of a profile; none: the one that is meant where no name is given.
    Conversation { profile: &'a str, name: Option<&'a str> },
    /// The conversation of one session, which must still be its current one.
    Session(&'a str),
}

impl Desk {
    /// A client of the server that serves this socket. Connects with the first call.
    #[expect(
        clippy::disallowed_methods,
        reason = "it reaches this machine's own socket only, which the client for the outside cannot"
    )]
    pub fn at(socket: &Path) -> Result<Self> {
        let built = reqwest::Client::builder()
            .unix_socket(socket)
            .connect_timeout(CONNECT)
            // A connection for each request: one that lies idle may be closed just as it is used again.
            .pool_max_idle_per_host(0)
            // Nothing here is encrypted, so the machine's certificates need not be read.
            .tls_certs_only([])
            .build();
        let http = built.map_err(|why| DeskError::new(DeskErrorKind::Garbled, why.to_string()))?;
        Ok(Self { http, again: None })
    }

    /// The same, reached again in this way.
    pub fn reached_by(self, again: Arc<dyn Again>) -> Self {
        Self { again: Some(again), ..self }
    }

    /// Who serves.
    pub async fn server(&self) -> Result<ServerInfo> {
        self.get("/desk/server").await
    }

    /// All profiles.
    pub async fn profiles(&self) -> Result<Vec<ProfileInfo>> {
        self.get("/desk/profiles").await
    }

    /// One profile.
    pub async fn profile(&self, name: &str) -> Result<ProfileInfo> {
        self.get(&format!("/desk/profiles/{}", segment(name))).await
    }

    /// Adds or changes a profile.
    pub async fn put_profile(&self, put: &PutProfile) -> Result<ProfileInfo> {
        let path = format!("/desk/profiles/{}", segment(put.profile.name.as_str()));
        json(self.send(self.ask(Method::PUT, &path).json(put), !put.new).await?).await
    }

    /// Removes a profile with its tokens and key.
    pub async fn remove_profile(&self, name: &str) -> Result<()> {
        self.delete(&format!("/desk/profiles/{}", segment(name))).await
    }

    /// Adds an MCP server to a profile, once it was seen to work.
    pub async fn put_mcp(&self, profile: &str, put: &PutMcp) -> Result<McpFound> {
        let path = format!("/desk/profiles/{}/mcp/{}", segment(profile), segment(&put.server.name));
        json(self.send(self.ask(Method::PUT, &path).json(put), false).await?).await
    }

    /// Looks at an MCP server's tools.
    pub async fn test_mcp(&self, profile: &str, server: &str, accept: bool) -> Result<McpFound> {
        let path = format!("/desk/profiles/{}/mcp/{}/test", segment(profile), segment(server));
        json(self.send(self.ask(Method::POST, &path).json(&TestMcp { accept }), true).await?).await
    }

    /// Removes an MCP server with what was sealed for it.
    pub async fn remove_mcp(&self, profile: &str, server: &str) -> Result<()> {
        self.delete(&format!("/desk/profiles/{}/mcp/{}", segment(profile), segment(server))).await
    }

    /// The tokens of one profile, or of all.
    pub async fn tokens(&self, profile: Option<&str>) -> Result<Vec<TokenInfo>> {
        self.get(&query("/desk/tokens", &[("profile", profile)])).await
    }

    /// Makes a token.
    pub async fn add_token(&self, profile: &str, add: AddToken) -> Result<NewToken> {
        let path = format!("/desk/profiles/{}/tokens", segment(profile));
        json(self.send(self.ask(Method::POST, &path).json(&add), false).await?).await
    }

    /// Takes a token back.
    pub async fn remove_token(&self, profile: &str, id: &str) -> Result<()> {
        self.delete(&format!("/desk/profiles/{}/tokens/{}", segment(profile), segment(id))).await
    }

    /// Sessions, the last active first.
    pub async fn sessions(&self, profile: Option<&str>, most: usize) -> Result<Vec<SessionInfo>> {
        let most = most.to_string();
        self.get(&query("/desk/sessions", &[("profile", profile), ("most", Some(&most))])).await
    }

    /// One session with all that happened in it.
    pub async fn trace(&self, session: &str) -> Result<Trace> {
        self.get(&format!("/desk/sessions/{}", segment(session))).await
    }

    /// Copies the home into a new file, named by an absolute path.
    pub async fn backup(&self, to: &Backup) -> Result<Backup> {
        json(self.send(self.ask(Method::POST, "/desk/backup").json(to), false).await?).await
    }

    /// What is wrong with the home.
    pub async fn doctor(&self) -> Result<Doctor> {
        self.get("/desk/doctor").await
    }

    /// Says something and waits for the whole answer.
    pub async fn say(&self, to: To<'_>, text: &str) -> Result<Answer> {
        json(self.send(self.speak(to, text, false), true).await?).await
    }

    /// Says something and gives the answer as it is written.
    pub async fn say_streaming(&self, to: To<'_>, text: &str) -> Result<Replies> {
        let request = self.speak(to, text, true);
        // Under its key it may also be asked anew while nothing of the answer was seen.
        let second = request
            .try_clone()
            .zip(self.again.clone())
            .map(|(request, again)| -> Resend { Box::new(move || Box::pin(repeat(request, again, true))) });
        Ok(Replies::new(self.send(request, true).await?, second))
    }

    fn speak(&self, to: To<'_>, text: &str, stream: bool) -> RequestBuilder {
        let (path, conversation) = match to {
            To::Conversation { profile, name } => {
                (format!("/v1/profiles/{}/messages", segment(profile)), name)
            }
            To::Session(id) => (format!("/desk/sessions/{}/messages", segment(id)), None),
        };
        let words = Words { text, conversation, stream, terminal: true };
        let request = self.ask(Method::POST, &path).json(&words);
        match &self.again {
            Some(again) => request.header("idempotency-key", again.key()),
            None => request,
        }
    }

    fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        // The host is never looked up: the socket is where it leads.
        self.http.request(method, format!("http://switchboard{path}"))
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        json(self.send(self.ask(Method::GET, path), true).await?).await
    }

    async fn delete(&self, path: &str) -> Result<()> {
        self.send(self.ask(Method::DELETE, path), false).await.map(|_| ())
    }

    /// Sends a request, and if it found nobody, again. `repeats`: doing it twice does no harm, so it is
    /// sent again also where it may have been done.
    async fn send(&self, request: RequestBuilder, repeats: bool) -> Result<Response> {
        let second = request.try_clone().zip(self.again.clone());
        match (once(request).await, second) {
            (Err(why), Some((second, again))) if why.is_to_repeat(repeats) => {
                repeat(second, again, repeats).await
            }
            (outcome, _) => outcome,
        }
    }
}

async fn once(request: RequestBuilder) -> Result<Response> {
    let response = request.send().await.map_err(|why| DeskError::of(&why))?;
    if response.status().is_success() { Ok(response) } else { Err(refusal(response).await) }
}

/// Sends a request again, after the home is reached again, until it finds one who stays.
async fn repeat(mut request: RequestBuilder, again: Arc<dyn Again>, repeats: bool) -> Result<Response> {
    let began = tokio::time::Instant::now();
    loop {
        again.reach().await.map_err(|said| DeskError::new(DeskErrorKind::Nobody, said))?;
        let next = request.try_clone().filter(|_| began.elapsed() < ENDING);
        match (once(request).await, next) {
            (Err(why), Some(next)) if why.is_to_repeat(repeats) => request = next,
            (outcome, _) => return outcome,
        }
    }
}

async fn json<T: DeserializeOwned>(response: Response) -> Result<T> {
    response.json().await.map_err(|why| DeskError::of(&why))
}

/// One piece of a path, as an address spells it.
fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn query(path: &str, given: &[(&str, Option<&str>)]) -> String {
    let given: Vec<_> =
        given.iter().filter_map(|(name, value)| Some(format!("{name}={}", segment((*value)?)))).collect();
    if given.is_empty() { path.to_owned() } else { format!("{path}?{}", given.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_typed_stays_one_piece_of_the_path() {
        assert_eq!(segment("../a b?c"), "%2E%2E%2Fa%20b%3Fc");
        assert_eq!(query("/x", &[("a", None), ("b", Some("1&2"))]), "/x?b=1%262");
        assert_eq!(query("/x", &[("a", None)]), "/x");
    }

    #[tokio::test]
    async fn a_socket_that_is_not_there_is_told_as_nobody() {
        // Sets up what every client of this process shares.
        sb_engine::harness::net::Http::new().expect("a client for the outside");
        let folder = tempfile::tempdir().expect("a folder");
        let desk = Desk::at(&folder.path().join("socket")).expect("a client");
        let error = desk.server().await.expect_err("nobody serves");
        assert!(error.is_nobody(), "{error:?}");
    }
}
