//! Serves the stand-in model servers, so that anything can be pointed at them:
//! `cargo run -p sb-testkit --example model_standin -- --port 8899`.
//!
//! Anthropic clients take `http://127.0.0.1:8899` as their base address, OpenAI's take `…:8899/v1`.

use sb_testkit::models::{Models, router};
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
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, router(Models::default())).await
}
