//! A lean HTTP client: one keep-alive connection, and the instants that matter.
//!
//! It does as little as it can, so that what is measured is the server. It knows what our servers send:
//! a length or chunks, and nothing else.

use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One answer, and when.
#[derive(Debug)]
pub(super) struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
    /// Right before the first byte of the request was written.
    pub sent: Instant,
    /// Once the last byte of the answer was here.
    pub done: Instant,
}

/// One connection, used for one request after another.
pub(super) struct Connection {
    stream: TcpStream,
    token: String,
    /// Read and not used yet.
    read: Vec<u8>,
    /// What is looked for in a stream, and when it was there.
    mark: Option<(Vec<u8>, Option<Instant>)>,
}

impl Connection {
    pub async fn open(address: &str, token: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, token: token.to_owned(), read: Vec::with_capacity(4096), mark: None })
    }

    pub async fn get(&mut self, path: &str) -> Result<Reply> {
        self.request("GET", path, "").await
    }

    pub async fn post(&mut self, path: &str, body: &str) -> Result<Reply> {
        let reply = self.request("POST", path, body).await?;
        ensure!(reply.status == 200, "{}: {}", reply.status, String::from_utf8_lossy(&reply.body));
        Ok(reply)
    }

    /// Posts for a stream of events; also when the first that holds `mark` was here.
    pub async fn stream(&mut self, path: &str, body: &str, mark: &str) -> Result<(Reply, Instant)> {
        self.mark = Some((mark.as_bytes().to_vec(), None));
        let reply = self.post(path, body).await;
        let seen = self.mark.take().and_then(|(_, seen)| seen);
        Ok((reply?, seen.context("the stream never held what it was to hold")?))
    }

    async fn request(&mut self, method: &str, path: &str, body: &str) -> Result<Reply> {
        let text = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        let sent = Instant::now();
        self.stream.write_all(text.as_bytes()).await?;
        let head = self.head().await?;
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).context("a status")?;
        let body = match header(&head, "content-length") {
            Some(length) => self.take(length.parse()?).await?,
            None if header(&head, "transfer-encoding").is_some() => self.chunks().await?,
            None => bail!("neither a length nor chunks: {head}"),
        };
        Ok(Reply { status, body, sent, done: Instant::now() })
    }

    async fn head(&mut self) -> Result<String> {
        let end = self.find(b"\r\n\r\n").await?;
        let head = self.take(end + 4).await?;
        Ok(String::from_utf8(head)?)
    }

    async fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = self.find(b"\r\n").await?;
            let line = self.take(end + 2).await?;
            let size = usize::from_str_radix(std::str::from_utf8(&line)?.trim(), 16)?;
            let chunk = self.take(size + 2).await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
            if let Some((mark, seen @ None)) = &mut self.mark
                && body.windows(mark.len()).any(|part| part == mark.as_slice())
            {
                *seen = Some(Instant::now());
            }
        }
    }

    /// Reads until `mark` is there; where it begins.
    async fn find(&mut self, mark: &[u8]) -> Result<usize> {
        loop {
            if let Some(at) = self.read.windows(mark.len()).position(|w| w == mark) {
                return Ok(at);
            }
            self.more().await?;
        }
    }

    async fn take(&mut self, length: usize) -> Result<Vec<u8>> {
        while self.read.len() < length {
            self.more().await?;
        }
        let rest = self.read.split_off(length);
        Ok(std::mem::replace(&mut self.read, rest))
    }

    async fn more(&mut self) -> Result<()> {
        ensure!(self.stream.read_buf(&mut self.read).await? > 0, "the server closed the connection");
        Ok(())
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(n, _)| n.eq_ignore_ascii_case(name))
        .map(|(_, v)| v.trim())
}
