//! The floor of a turn over HTTP: an axum server that reads a body and answers with one of a given size.
//!
//! It runs in a process of its own, as the program under measure does.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use axum::serve::ListenerExt;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Deserialize)]
struct Asked {
    text: String,
}

#[derive(Serialize)]
struct Answered {
    said: String,
}

/// Serves until the process ends; prints the address it listens on.
///
/// # Errors
/// If no port can be had.
pub async fn serve(size: usize) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    let answer = async move |body: Bytes| {
        let asked: Asked = serde_json::from_slice(&body).unwrap_or(Asked { text: String::new() });
        // As long as the program's answer, quotes and name of the field included.
        let said = asked.text.chars().cycle().take(size.saturating_sub(11)).collect();
        Json(Answered { said })
    };
    axum::serve(listener, Router::new().route("/{*any}", post(answer))).await?;
    Ok(())
}

/// The echo server as a child; it ends when this is dropped.
pub(super) struct Echo {
    child: Child,
    pub address: String,
}

impl Echo {
    pub fn start(own: &Path, size: usize) -> Result<Self> {
        Self::start_as(own, &["--echo", &size.to_string()])
    }

    /// Another floor of this program's, which prints its address too.
    pub fn start_as(own: &Path, args: &[&str]) -> Result<Self> {
        let mut command = Command::new(own);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().context("the floor does not start")?;
        let output = child.stdout.take().context("the floor has no output")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        Ok(Self { child, address: address.trim().to_owned() })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
