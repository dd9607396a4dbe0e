//! Serves the imitated Telegram, so that anything can be pointed at it:
//! `cargo run -p sb-channels --features standins --example telegram_standin -- --port 9101`.
//!
//! Its page, where one types as a person, is at the address it prints; the Bot API is below it too.

use std::sync::Arc;

use sb_channel::net::{Http, SystemClock};
use sb_channels::telegram::standin::{self, TelegramStandIn};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => 0,
        (Some("--port"), Some(port)) => port.parse().map_err(std::io::Error::other)?,
        _ => return Err(std::io::Error::other("use --port <number>")),
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("the bot's token is {}", standin::TOKEN);
    println!("listening on http://{}", listener.local_addr()?);
    let outside = Http::new().map_err(std::io::Error::other)?;
    standin::serve(listener, TelegramStandIn::new(Arc::new(SystemClock), standin::TOKEN).calling(outside))
        .await
}
