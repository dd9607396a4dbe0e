//! Serves the imitated WhatsApp, so that anything can be pointed at it:
//! `cargo run -p sb-channels --features standins --example whatsapp_standin -- --port 9102`.
//!
//! Its page, where one types as a person, is at the address it prints; the Cloud API is below it too.

use std::sync::Arc;

use sb_channel::net::{Http, SystemClock};
use sb_channel::standin::{serve, with_page};
use sb_channels::whatsapp::standin;
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
    let outside = Http::new().map_err(std::io::Error::other)?;
    let platform = standin::open(Arc::new(SystemClock), Some(outside));
    let ann = platform.person("Ann");
    let chat = platform.direct(&ann);
    println!("Ann is {}", ann.id.as_deref().unwrap_or_default());
    println!("listening on http://{}", listener.local_addr()?);
    serve(listener, with_page(platform, "WhatsApp", &ann, &chat)).await
}
