//! A child's input and output as a transport of the SDK: one JSON document a line.
//!
//! The SDK's own reads lines of any length and hides what is no MCP; this one bounds both and remembers
//! why it gave up. Reading stops while nobody takes what was read, so a flood fills a pipe, not memory.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use sb_harness::net::{CompanionLines, write_line};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{Mutex, mpsc};
use tokio::task::AbortHandle;

use crate::heard::Heard;

/// Messages read and not yet taken.
const AHEAD: usize = 8;

/// A child spoken to.
pub(crate) struct Lines {
    input: Arc<Mutex<Option<ChildStdin>>>,
    read: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    heard: Arc<Heard>,
    reading: AbortHandle,
}

impl Lines {
    pub fn new(input: ChildStdin, output: CompanionLines<ChildStdout>, heard: Arc<Heard>) -> Self {
        let (give, read) = mpsc::channel(AHEAD);
        let reading = tokio::spawn(read_all(output, give, heard.clone())).abort_handle();
        Self { input: Arc::new(Mutex::new(Some(input))), read, heard, reading }
    }
}

async fn read_all(
    mut output: CompanionLines<ChildStdout>,
    give: mpsc::Sender<RxJsonRpcMessage<RoleClient>>,
    heard: Arc<Heard>,
) {
    loop {
        let line = match output.next().await {
            Ok(Some(line)) => line,
            Ok(None) => return,
            Err(why) if why.kind() == io::ErrorKind::InvalidData => {
                return heard.fails("it sent a message larger than 8 MB");
            }
            Err(_) => return heard.fails("its output cannot be read"),
        };
        if heard.line(line.len() + 1).is_err() {
            return;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(message) => {
                heard.message();
                if give.send(message).await.is_err() {
                    return;
                }
            }
            Err(_) if heard.garbage(&line).is_err() => return,
            Err(_) => {}
        }
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.heard.asked();
        let input = self.input.clone();
        async move {
            let line = serde_json::to_vec(&message)?;
            match input.lock().await.as_mut() {
                Some(input) => write_line(input, line).await,
                None => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.read.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.reading.abort();
        // Without its input a server knows that it is to end. One that does not read holds the lock: it is
        // killed soon anyway.
        if let Ok(mut input) = self.input.try_lock() {
            *input = None;
        }
        Ok(())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// Puts what a child says beside into the log, until it says no more.
pub(crate) async fn log_beside(mut beside: CompanionLines<ChildStderr>, heard: Arc<Heard>, server: String) {
    while let Ok(Some(line)) = beside.next_beginning().await {
        if let Some(said) = heard.beside(&line) {
            tracing::info!(%server, %said, "an MCP server says");
        }
    }
}
