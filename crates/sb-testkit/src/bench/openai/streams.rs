//! Thousands of streams open at once: what each holds of the server's memory, and how late its words are.
//!
//! The model of this section answers when it is told to, all streams at once, with the moment as its words;
//! a client reads how long ago that was. One clock: both are in this process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use super::super::Plan;
use super::super::echo::Echo;
use super::super::figures::{Spread, Table, cell, ms, whole};
use super::super::machine::resident;
use super::super::server::Home;
use super::COMPLETIONS;

/// Times that all are told something.
const ROUNDS: u32 = 5;

/// What the model says: nothing yet, the moment in microseconds, or that it is done.
type Saying = watch::Receiver<Option<u64>>;

#[derive(Clone)]
struct Source {
    saying: Saying,
    open: Arc<watch::Sender<usize>>,
}

pub(super) async fn measure(plan: &Plan) -> Result<String> {
    let count = if plan.quick { 200 } else { 2_000 };
    more_files()?;
    let mut table = Table::new(&[
        "open streams",
        "anonymous MB before",
        "with them",
        "KB a stream",
        "words after p50 ms",
        "p99",
        "most",
    ]);
    for ours in [false, true] {
        let (say, saying) = watch::channel(None);
        let (open, opened) = watch::channel(0);
        let source = Source { saying, open: Arc::new(open) };
        let base = format!("http://{}/v1", serve(source).await?);
        let row = if ours {
            eprintln!("openai: {count} streams through the program");
            let home = Home::make(plan, "openai:small", Some(&base))?;
            let (server, _) = home.start_with(&["--parallel", &count.to_string()])?;
            let row = run(&server.address, "bench", server.pid(), count, say, opened).await?;
            server.stop()?;
            row
        } else {
            eprintln!("openai: {count} streams through the floor");
            let pass = Echo::start_as(&plan.own, &["--pass", &base])?;
            run(&pass.address, "small", pass.pid(), count, say, opened).await?
        };
        let name = if ours { "Switchboard" } else { "a pass-through (floor)" };
        let mut cells = vec![cell(format!("{name}, {}", whole(count as f64)))];
        cells.extend(row);
        table.row(&cells);
    }
    Ok(format!(
        "### Many streams at once\n\nEach has a connection to its reader and one to the model, both counted, and a session of its own. Then all models say a word at the same moment, {ROUNDS} times; timed from there to its arrival at each reader.\n\n{}",
        table.text()
    ))
}

/// Lets this process have as many open files as the system allows.
pub(super) fn more_files() -> Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    Ok(())
}

async fn run(
    address: &str,
    model: &str,
    pid: u32,
    count: usize,
    say: watch::Sender<Option<u64>>,
    mut opened: watch::Receiver<usize>,
) -> Result<Vec<String>> {
    let begin = Instant::now();
    let (heard, mut hears) = mpsc::unbounded_channel();
    // Whatever the first ones wake stays out of the account.
    let (_, before) = resident(pid);
    let mut readers = Vec::new();
    for n in 0..count {
        readers.push(tokio::spawn(read(address.to_owned(), model.to_owned(), n, begin, heard.clone())));
        let wanted = n + 1;
        // Gently: how fast they can come is another question.
        if wanted.is_multiple_of(50) || wanted == count {
            let all = opened.wait_for(|open| *open >= wanted);
            tokio::time::timeout(Duration::from_secs(60), all)
                .await
                .context("not all streams were opened")??;
        }
    }
    drop(heard);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (_, with) = resident(pid);
    let mut late = Vec::new();
    for _ in 0..ROUNDS {
        say.send(Some(u64::try_from(begin.elapsed().as_micros())?))?;
        for _ in 0..count {
            let after = tokio::time::timeout(Duration::from_secs(60), hears.recv()).await?;
            late.push(after.context("a stream ended early")?);
        }
    }
    drop(say);
    for reader in readers {
        reader.await??;
    }
    let late = Spread::of(late);
    Ok(vec![
        format!("{before:.1}"),
        format!("{with:.1}"),
        format!("{:.0}", (with - before) * 1024.0 / count as f64),
        ms(late.p50()),
        ms(late.p99()),
        ms(late.most()),
    ])
}

/// One reader: asks, and tells how late each word is.
async fn read(
    address: String,
    model: String,
    n: usize,
    begin: Instant,
    heard: mpsc::UnboundedSender<Duration>,
) -> Result<()> {
    let body =
        format!(r#"{{"model":"{model}","stream":true,"messages":[{{"role":"user","content":"talk {n}"}}]}}"#);
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let head = format!(
        "POST {COMPLETIONS} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        super::super::server::TOKEN,
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).await?;
    let (mut read, mut last) = (Vec::new(), 0);
    while stream.read_buf(&mut read).await? > 0 {
        let now = begin.elapsed();
        while let Some(end) = read.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = read.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            // The moment stands between two bars, whatever else is joined to it.
            for said in line.split('|').filter_map(|part| part.parse::<u64>().ok()) {
                ensure!(said >= last, "words came in another order");
                last = said;
                // Nobody listens any more if another reader failed.
                let _ = heard.send(now.saturating_sub(Duration::from_micros(said)));
            }
        }
    }
    Ok(())
}

async fn serve(source: Source) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    let router = Router::new().route("/v1/chat/completions", post(answer)).with_state(source);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

async fn answer(State(source): State<Source>) -> Response {
    source.open.send_modify(|open| *open += 1);
    let chunk = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"small\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let first = chunk(r#"{"role":"assistant","content":""}"#, "null");
    let pieces = futures_util::stream::unfold(
        (source.saying, Some(first), false),
        move |(mut saying, first, over)| async move {
            if let Some(first) = first {
                return Some((Ok::<_, std::convert::Infallible>(first), (saying, None, over)));
            }
            if over {
                return None;
            }
            if saying.changed().await.is_err() {
                let end = chunk("{}", "\"stop\"") + "data: [DONE]\n\n";
                return Some((Ok(end), (saying, None, true)));
            }
            let said = saying.borrow_and_update().unwrap_or_default();
            Some((Ok(chunk(&format!("{{\"content\":\"|{said}| \"}}"), "null")), (saying, None, false)))
        },
    );
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(pieces)).into_response()
}
