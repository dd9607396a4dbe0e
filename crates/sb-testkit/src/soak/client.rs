//! One client: writes messages to its conversation, and repeats each under its key until it is answered.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use futures_util::StreamExt;
use sb_core::model::Dice;
use sb_wire::sse;
use serde_json::{Value, json};

use super::book::{Book, Page};

/// How to reach the server, wherever in its life it is.
#[derive(Clone)]
pub(super) struct Reach {
    pub http: reqwest::Client,
    pub base: String,
    pub token: String,
}

/// Patience with one message, in attempts; between two a server has time to come back.
const ATTEMPTS: u32 = 600;

pub(super) async fn write(
    reach: Reach,
    book: Arc<Book>,
    dice: Arc<impl Dice>,
    conversation: u32,
    client: u32,
) -> Result<()> {
    for n in 0.. {
        if book.is_closed() {
            break;
        }
        let name = format!("m{client}x{n}");
        let (script, acts) = match dice.roll() % 4 {
            0 => (format!("!say done-{name}"), false),
            1 => (format!("!stream 10 25\n!say done-{name}"), false),
            2 => (
                format!("!tool shell {{\"command\":\"echo {name} >> acts\"}}\n!wait 0.1\n!say done-{name}"),
                true,
            ),
            _ => (format!("!wait 0.2\n!say done-{name}"), false),
        };
        let conversation = format!("c{conversation}");
        let body = json!({"text": script, "conversation": conversation, "stream": true}).to_string();
        book.open_page(&name, Page { body, acts, ..Page::default() });
        until_answered(&reach, &book, &name).await?;
    }
    Ok(())
}

async fn until_answered(reach: &Reach, book: &Book, name: &str) -> Result<()> {
    for _ in 0..ATTEMPTS {
        match attempt(reach, book, name).await {
            Ok(true) => return Ok(()),
            Ok(false) | Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    bail!("{name} was never answered: {:?}", book.pages().get(name));
}

/// Sends the message under its key and reads its events; true once it is answered.
pub(super) async fn attempt(reach: &Reach, book: &Book, name: &str) -> Result<bool> {
    let Some(page) = book.pages().remove(name) else { bail!("no such page") };
    let url = format!("{}/v1/profiles/soak/messages", reach.base);
    let request =
        reach.http.post(url).bearer_auth(&reach.token).header("idempotency-key", name).body(page.body);
    let response = request.send().await?;
    if !response.status().is_success() {
        let (status, text) = (response.status(), response.text().await?);
        // Closing and starting pass; anything else is a finding.
        if status.is_server_error() {
            return Ok(false);
        }
        bail!("{name}: {status} {text}");
    }
    let mut decoder = sse::Decoder::new(1 << 20);
    let mut stream = response.bytes_stream();
    while let Some(bytes) = stream.next().await {
        decoder.push(&bytes?)?;
        while let Some(event) = decoder.pull() {
            let data: Value = serde_json::from_str(&event.data)?;
            match event.name.as_str() {
                "session" => book.note(name, |p| {
                    p.acknowledged = true;
                    p.session = data["session"].as_str().map(str::to_owned);
                }),
                "done" => {
                    let said = data["said"].as_str().unwrap_or_default().to_owned();
                    book.note(name, |p| {
                        p.acknowledged = true;
                        p.session = data["session"].as_str().map(str::to_owned);
                        p.answered = Some(said);
                    });
                    return Ok(true);
                }
                "error" => return Ok(false),
                _ => {}
            }
        }
    }
    Ok(false)
}
