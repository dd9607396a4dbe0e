//! The floor of a server before a model: it reads a request, sends it on, and gives back what comes.

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use reqwest::Client;
use tokio::net::TcpListener;

#[derive(Clone)]
struct To {
    client: Client,
    url: String,
}

/// Serves until the process ends; prints the address it listens on. `base`: where the model is.
///
/// # Errors
/// If no port can be had.
pub async fn serve(base: String) -> Result<()> {
    super::streams::more_files()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    // There is no TLS here, but a client wants a kind of it chosen.
    drop(rustls::crypto::ring::default_provider().install_default());
    let to = To { client: Client::builder().no_proxy().build()?, url: format!("{base}/chat/completions") };
    axum::serve(listener, Router::new().route("/{*any}", post(pass)).with_state(to)).await?;
    Ok(())
}

async fn pass(State(to): State<To>, headers: HeaderMap, body: Bytes) -> Response {
    let mut asked = to.client.post(&to.url).body(body).header(header::CONTENT_TYPE, "application/json");
    if let Some(token) = headers.get(header::AUTHORIZATION) {
        asked = asked.header(header::AUTHORIZATION, token);
    }
    match asked.send().await {
        Ok(answer) => {
            let mut response = Response::builder().status(answer.status());
            for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH] {
                if let Some(value) = answer.headers().get(&name) {
                    response = response.header(name, value);
                }
            }
            response
                .body(Body::from_stream(answer.bytes_stream()))
                .unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response())
        }
        Err(why) => (StatusCode::BAD_GATEWAY, why.to_string()).into_response(),
    }
}
