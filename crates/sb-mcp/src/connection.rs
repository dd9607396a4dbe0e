//! One connection to one server: begun, asked, ended.
//!
//! Whatever is waited for here has a limit. Dropping a [`Connection`] kills the child's whole group at once;
//! [`Connection::end`] first lets it end by itself. Errors are sentences in our own words; what the
//! server printed is only in those for the operator.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    Implementation, JsonObject, ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, NotificationContext, RunningService,
    ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::{ClientHandler, Peer, RoleClient};
use sb_harness::model::text::one_line;
use sb_harness::model::{McpAt, McpServer, Secret};
use sb_harness::net::child::Exit;
use sb_harness::net::{Companion, Http, Spoken, host_of};
use tokio::sync::Mutex;

use crate::heard::Heard;
use crate::lines::{Lines, log_beside};
use crate::place;

/// The longest line of a server.
const LONGEST_LINE: usize = 8 * 1024 * 1024;
/// How long a child may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// How long it may take until a child whose output ended is seen to have ended, and its last words are read.
const SETTLING: Duration = Duration::from_millis(500);

/// Our side of the protocol: it can do nothing for a server, and hears that tools changed.
#[derive(Debug, Clone)]
struct Listener(Arc<Heard>);

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("switchboard", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.tools_changed.store(true, Ordering::Relaxed);
    }
}

/// A server spoken to.
#[derive(Debug)]
pub(crate) struct Connection {
    running: RunningService<RoleClient, Listener>,
    child: Mutex<Option<Companion>>,
    heard: Arc<Heard>,
}

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum NoResult {
    /// The server refused it, in its own words.
    Refused(String),
    /// Its time was up; whether anything at all was heard meanwhile.
    TimedOut { heard: bool },
    /// The connection ended.
    Ended,
    /// The server wants something of us that we did not offer.
    WantsMore,
    /// The answer is none.
    Garbled,
}

impl Connection {
    /// Begins a connection, within `limit`. The error is for the operator.
    pub async fn begin(
        server: &McpServer,
        dir: &Path,
        secrets: Vec<(String, Secret)>,
        http: &Http,
        limit: Duration,
    ) -> Result<Self, String> {
        let heard = Arc::new(Heard::new(secrets.iter().map(|(_, value)| value.clone()).collect()));
        match &server.at {
            McpAt::Command { command, args } => {
                let spoken = Spoken {
                    program: command.clone(),
                    args: args.clone(),
                    dir: dir.to_owned(),
                    variables: secrets,
                };
                Self::with_child(&server.name, &spoken, heard, limit).await
            }
            McpAt::Url(url) => Self::at_address(url, &secrets, http, heard, limit).await,
        }
    }

    async fn with_child(
        name: &str,
        spoken: &Spoken,
        heard: Arc<Heard>,
        limit: Duration,
    ) -> Result<Self, String> {
        let (mut child, input, output, beside) = Companion::start(spoken, LONGEST_LINE)
            .map_err(|why| not_started(&spoken.program, &spoken.dir, &why))?;
        let last_words = tokio::spawn(log_beside(beside, heard.clone(), name.to_owned()));
        let transport = Lines::new(input, output, heard.clone());
        let begun = Listener(heard.clone()).serve_with_lifecycle(transport, lifecycle());
        match tokio::time::timeout(limit, begun).await {
            Ok(Ok(running)) => Ok(Self { running, child: Mutex::new(Some(child)), heard }),
            Ok(Err(why)) => {
                let ended = child.ended_within(SETTLING).await;
                if ended.is_some() {
                    drop(tokio::time::timeout(SETTLING, last_words).await);
                }
                let why = match (heard.fault(), ended) {
                    (Some(fault), _) => fault,
                    (None, Some(exit)) => format!("it ended at once, {}", exited(exit)),
                    (None, None) => heard.fit(&why.to_string()),
                };
                Err(format!(
                    "{} is no MCP server that can be spoken to: {why}.{}",
                    spoken.program,
                    heard.printed()
                ))
            }
            Err(_) => Err(format!(
                "{} was started and did not answer within {}.{}",
                spoken.program,
                span(limit),
                heard.printed()
            )),
        }
    }

    async fn at_address(
        url: &str,
        secrets: &[(String, Secret)],
        http: &Http,
        heard: Arc<Heard>,
        limit: Duration,
    ) -> Result<Self, String> {
        let host = host_of(url);
        let client = http.client().ok_or("There is no network here.")?;
        let headers: HashMap<_, _> = place::headers(secrets)?.into_iter().collect();
        let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
        let transport = StreamableHttpClientTransport::with_client(client.clone(), config);
        let begun = Listener(heard.clone()).serve_with_lifecycle(transport, lifecycle());
        let why = match tokio::time::timeout(limit, begun).await {
            Ok(Ok(running)) => return Ok(Self { running, child: Mutex::new(None), heard }),
            Ok(Err(why)) if why.is_authorization_required() => {
                return Err(format!(
                    "The MCP server at {host} wants to know who asks. Give it a header: --header Authorization=VARIABLE, where the variable holds all of it (Bearer …)."
                ));
            }
            Ok(Err(why)) => heard.fit(&cause(&why)),
            Err(_) => format!("it did not answer within {}", span(limit)),
        };
        if place::is_older(&client, url, secrets).await {
            return Err(format!(
                "The MCP server at {host} speaks the older transport there (HTTP with SSE), which is not spoken here. Ask it for its streamable HTTP address, often /mcp in place of /sse."
            ));
        }
        Err(format!("The MCP server at {host} cannot be spoken to: {why}."))
    }

    /// How to ask it.
    pub fn peer(&self) -> &Peer<RoleClient> {
        self.running.peer()
    }

    /// Whether tools changed since this was last asked.
    pub fn take_tools_changed(&self) -> bool {
        self.heard.tools_changed.swap(false, Ordering::Relaxed)
    }

    /// What it calls itself, and the protocol's version.
    pub fn title(&self) -> (String, String) {
        let Some(info) = self.running.peer().peer_info() else { return Default::default() };
        let title = info.server_info.as_ref().map(|us| format!("{} {}", us.name, us.version));
        (one_line(&title.unwrap_or_default(), 80), info.protocol_version.to_string())
    }

    /// Calls a tool. Dropping the future tells the server that the call is cancelled.
    pub async fn call(
        &self,
        tool: &str,
        input: JsonObject,
        limit: Duration,
    ) -> Result<CallToolResult, NoResult> {
        let before = self.heard.messages();
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(input);
        match tokio::time::timeout(limit, self.running.peer().call_tool_once(params)).await {
            Err(_) => Err(NoResult::TimedOut { heard: self.heard.messages() > before }),
            Ok(Ok(CallToolResponse::Complete(result))) => Ok(result),
            Ok(Ok(_)) => Err(NoResult::WantsMore),
            Ok(Err(ServiceError::McpError(why))) => Err(NoResult::Refused(self.heard.fit(&why.message))),
            Ok(Err(
                ServiceError::TransportClosed
                | ServiceError::TransportSend(_)
                | ServiceError::Cancelled { .. },
            )) => Err(NoResult::Ended),
            Ok(Err(_)) => Err(NoResult::Garbled),
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.running.peer().is_transport_closed()
    }

    /// Why it ended, once it has, in words without the server's own.
    pub async fn why_ended(&self) -> String {
        if let Some(fault) = self.heard.fault() {
            return fault;
        }
        let mut child = self.child.lock().await;
        match child.as_mut() {
            Some(child) => match child.ended_within(SETTLING).await {
                Some(exit) => exited(exit),
                None => "it closed its output".to_owned(),
            },
            None => "the connection was lost".to_owned(),
        }
    }

    /// What it printed, for the operator.
    pub fn printed(&self) -> String {
        self.heard.printed()
    }

    /// Text of the server's, fit to be shown.
    pub fn fit(&self, text: &str) -> String {
        self.heard.fit(text)
    }

    /// Ends it: a child may end by itself for a moment, then its group is killed.
    pub async fn end(&self) {
        self.running.cancellation_token().cancel();
        if let Some(mut child) = self.child.lock().await.take() {
            child.ended_within(GRACE).await;
            child.kill();
        }
    }

    /// Kills it now.
    pub async fn kill(&self) {
        self.running.cancellation_token().cancel();
        drop(self.child.lock().await.take());
    }
}

fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

fn not_started(program: &str, dir: &Path, why: &std::io::Error) -> String {
    match why.kind() {
        std::io::ErrorKind::NotFound if !dir.is_dir() => {
            format!("The folder {} to start {program} in is not there.", dir.display())
        }
        std::io::ErrorKind::NotFound => format!(
            "There is no command {program}. Install it, or give its whole path; it is looked for in the PATH of whoever runs the server."
        ),
        std::io::ErrorKind::PermissionDenied => format!("{program} may not be run: {why}."),
        _ => format!("{program} could not be started: {why}."),
    }
}

/// How a child ended, as the end of a sentence.
fn exited(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("with exit code {code}"),
        Exit::Signal(signal) => format!("by signal {signal}"),
        Exit::TimedOut => "killed".to_owned(),
    }
}

/// What an error comes down to: the rest of it is names of the SDK's own.
fn cause(why: &ClientInitializeError) -> String {
    let mut at: &(dyn std::error::Error + 'static) = match why {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => return cause(fallback),
        ClientInitializeError::TransportError { error, .. } => error.error.as_ref(),
        why => why,
    };
    loop {
        let of_http = at.downcast_ref::<StreamableHttpError<reqwest::Error>>();
        at = match (of_http, at.source()) {
            (Some(StreamableHttpError::Client(why)), _) => why,
            (_, Some(source)) => source,
            (_, None) => break,
        };
    }
    at.to_string().trim_end_matches('.').to_owned()
}

/// `20 seconds`.
pub(crate) fn span(limit: Duration) -> String {
    match limit.as_secs() {
        0 => format!("{} ms", limit.as_millis()),
        1 => "1 second".to_owned(),
        s => format!("{s} seconds"),
    }
}
