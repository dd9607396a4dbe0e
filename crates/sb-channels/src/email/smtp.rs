//! Submitting a mail: SMTP as far as one who sends needs it, over a stream that is handed in.
//!
//! Nothing secret is said before TLS stands. Invariant: once the final dot was sent, whatever goes wrong may
//! have been done; before it, nothing was.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sb_channel::Result;
use sb_channel::model::text::one_line;
use sb_channel::model::{Fault, FaultKind};
use sb_channel::net::{Http, Stream};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use super::settings::Server;
use super::tokens::Key;

/// For each answer; servers take their time over the final dot.
const PATIENCE: Duration = Duration::from_secs(60);
/// For its first words: a server that waits for TLS says none.
const GREETING: Duration = Duration::from_secs(30);
const FINAL_PATIENCE: Duration = Duration::from_secs(600);
/// What a busy server is given, since it names no time itself.
const WAIT_MS: u64 = 60_000;
const LONGEST_LINE: u64 = 8 * 1024;
const MOST_LINES: usize = 100;

/// An open, logged-in line to the server.
pub(super) struct Line {
    stream: BufReader<Box<dyn Stream>>,
    /// What it can, a line each, in upper case.
    can: Vec<String>,
    host: String,
}

/// An answer: its code, its finer code such as `5.1.1`, its words.
struct Answer {
    code: u16,
    fine: String,
    words: String,
    lines: Vec<String>,
}

/// What is being done, which says what a refusal means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Greeting,
    LogIn,
    Sender,
    Recipient,
    Content,
}

impl Line {
    /// Connects, agrees on TLS, logs in.
    pub async fn open(http: &Http, server: &Server, key: &Key) -> Result<Self> {
        let host = format!("{}:{}", server.remote.host, server.remote.port);
        let stream = BufReader::new(server.connect(http).await?);
        let mut line = Self { stream, can: Vec::new(), host };
        let greeting = line.answer(GREETING).await.map_err(|fault| server.advised(fault))?;
        line.expect(greeting, 220, Step::Greeting)?;
        line.hello().await?;
        if server.starts_plain {
            line = line.begin_tls(http, server).await?;
        }
        line.log_in(key).await.map_err(|fault| match fault.kind {
            FaultKind::Refused => server.advised(fault),
            _ => fault,
        })?;
        Ok(line)
    }

    /// Hands over one mail.
    pub async fn submit(&mut self, from: &str, to: &str, mail: &[u8]) -> Result<()> {
        let international = super::address::is_international(to) || super::address::is_international(from);
        if international && !self.can("SMTPUTF8") {
            let detail = format!("{} takes no addresses beyond ASCII (SMTPUTF8), so {to} cannot be written to", self.host);
            return Err(Fault::new(FaultKind::Refused, "sending a mail", detail));
        }
        let mut begin = format!("MAIL FROM:<{from}>");
        if self.can("SIZE") {
            begin += &format!(" SIZE={}", mail.len());
        }
        if self.can("8BITMIME") {
            begin += " BODY=8BITMIME";
        }
        if international {
            begin += " SMTPUTF8";
        }
        self.ask(&begin, 250, Step::Sender).await?;
        self.ask(&format!("RCPT TO:<{to}>"), 250, Step::Recipient).await?;
        self.ask("DATA", 354, Step::Content).await?;
        let content = with_dots(mail);
        self.write(&content).await?;
        // From here on it may have been taken, whatever is heard of it.
        let wait_ms = Some(WAIT_MS);
        let maybe = |fault: Fault| Fault { kind: FaultKind::Passing { wait_ms }, maybe_done: true, ..fault };
        self.write(b".\r\n").await.map_err(maybe)?;
        let answer = self.answer(FINAL_PATIENCE).await.map_err(maybe)?;
        self.expect(answer, 250, Step::Content)?;
        // The mail is theirs; whether they hear the farewell changes nothing.
        let _ = self.write(b"QUIT\r\n").await;
        Ok(())
    }

    /// Says farewell without having sent anything.
    pub async fn leave(mut self) {
        let _ = self.write(b"QUIT\r\n").await;
    }

    async fn hello(&mut self) -> Result<()> {
        let said = self.ask("EHLO [127.0.0.1]", 250, Step::Greeting).await?;
        self.can = said.lines.into_iter().skip(1).map(|line| line.to_ascii_uppercase()).collect();
        Ok(())
    }

    async fn begin_tls(mut self, http: &Http, server: &Server) -> Result<Self> {
        if !self.can("STARTTLS") {
            if server.may_stay_plain {
                return Ok(self);
            }
            let detail = format!("{} offers no STARTTLS, so nothing is said to it: write smtps://HOST if it speaks TLS from the first byte", self.host);
            return Err(Fault::new(FaultKind::Refused, "connecting", detail));
        }
        self.ask("STARTTLS", 220, Step::Greeting).await?;
        // What was sent along with the answer came before TLS, and is thrown away with the buffer.
        let stream = http.secure(&server.remote, self.stream.into_inner()).await?;
        let mut line = Self { stream: BufReader::new(stream), can: Vec::new(), host: self.host };
        line.hello().await?;
        Ok(line)
    }

    async fn log_in(&mut self, key: &Key) -> Result<()> {
        let ways = self.can.iter().find_map(|line| line.strip_prefix("AUTH")).unwrap_or_default().to_owned();
        let offers = |way: &str| ways.split([' ', '=']).any(|offered| offered == way);
        if ways.is_empty() {
            let detail = format!("{} offers no way to log in (AUTH)", self.host);
            return Err(Fault::new(FaultKind::Refused, "logging in to send", detail));
        }
        let said = match key {
            Key::Token { .. } => {
                let said = self.say(&format!("AUTH XOAUTH2 {}", STANDARD.encode(key.xoauth2()))).await?;
                // A refusal is told as JSON first, and waits for an empty line.
                if said.code == 334 { self.say("").await? } else { said }
            }
            Key::Password { user, password } if offers("LOGIN") && !offers("PLAIN") => {
                self.ask("AUTH LOGIN", 334, Step::LogIn).await?;
                self.ask(&STANDARD.encode(user), 334, Step::LogIn).await?;
                self.say(&STANDARD.encode(password.expose())).await?
            }
            Key::Password { user, password } => {
                let both = STANDARD.encode(format!("\0{user}\0{}", password.expose()));
                self.say(&format!("AUTH PLAIN {both}")).await?
            }
        };
        self.expect(said, 235, Step::LogIn).map(drop)
    }

    fn can(&self, what: &str) -> bool {
        self.can.iter().any(|line| line.split(' ').next() == Some(what))
    }

    async fn ask(&mut self, command: &str, code: u16, step: Step) -> Result<Answer> {
        let answer = self.say(command).await?;
        self.expect(answer, code, step)
    }

    async fn say(&mut self, command: &str) -> Result<Answer> {
        if command.contains(['\r', '\n', '\0']) {
            return Err(Fault::new(FaultKind::Refused, "sending a mail", "a command cannot hold a line break"));
        }
        self.write(format!("{command}\r\n").as_bytes()).await?;
        self.answer(PATIENCE).await
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let writing = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        match tokio::time::timeout(FINAL_PATIENCE, writing).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(self.lost(&why.to_string())),
            Err(_) => Err(self.lost("it takes nothing any more")),
        }
    }

    async fn answer(&mut self, patience: Duration) -> Result<Answer> {
        match tokio::time::timeout(patience, self.read()).await {
            Ok(answer) => answer,
            Err(_) => Err(self.lost(&format!("it said nothing for {} seconds", patience.as_secs()))),
        }
    }

    async fn read(&mut self) -> Result<Answer> {
        let mut lines: Vec<String> = Vec::new();
        loop {
            let mut raw = Vec::new();
            let read = (&mut self.stream).take(LONGEST_LINE).read_until(b'\n', &mut raw).await;
            read.map_err(|why| self.lost(&why.to_string()))?;
            let line = String::from_utf8_lossy(&raw).trim_end().to_owned();
            let code = line.get(..3).and_then(|code| code.parse().ok()).filter(|_| raw.ends_with(b"\n"));
            let Some(code) = code.filter(|_| lines.len() < MOST_LINES) else {
                let why = if raw.is_empty() { "it closed the connection" } else { "it answered with no SMTP" };
                return Err(self.lost(why));
            };
            lines.push(line.get(4..).unwrap_or_default().to_owned());
            if line.as_bytes().get(3) != Some(&b'-') {
                let first = lines[0].split(' ').next().unwrap_or_default().to_owned();
                let is_fine = first.split('.').count() == 3 && first.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                let fine = if is_fine { first } else { String::new() };
                return Ok(Answer { code, fine, words: lines.join(" "), lines });
            }
        }
    }

    fn lost(&self, why: &str) -> Fault {
        let detail = format!("the connection to {} broke off: {why}", self.host);
        Fault::new(FaultKind::Passing { wait_ms: None }, "sending a mail", detail)
    }

    fn expect(&self, answer: Answer, code: u16, step: Step) -> Result<Answer> {
        if answer.code == code || (code == 250 && answer.code == 251) {
            return Ok(answer);
        }
        let doing = if step == Step::LogIn { "logging in to send" } else { "sending a mail" };
        let said = one_line(&answer.words, 200);
        let detail = format!("{} answered {} {said}", self.host, answer.code);
        Err(Fault::new(meaning(&answer, step), doing, detail))
    }
}

/// What follows from a refusal.
fn meaning(answer: &Answer, step: Step) -> FaultKind {
    let wait_ms = Some(WAIT_MS);
    match (answer.code, answer.fine.as_str(), step) {
        // A mailbox that is full or takes no more for now says nothing about the others.
        (450 | 452, _, Step::Recipient) => FaultKind::ChatBusy { wait_ms },
        (400..=499, ..) => FaultKind::Passing { wait_ms },
        (530 | 534 | 535 | 538, ..) | (_, "5.7.30" | "5.7.8" | "5.7.9", _) | (.., Step::LogIn) => FaultKind::Auth,
        (552 | 554, "5.6.0" | "5.6.1" | "5.6.2" | "5.6.3", _) => FaultKind::Format,
        (550 | 551 | 553, "" | "5.1.1" | "5.1.2" | "5.1.3" | "5.1.6" | "5.1.10" | "5.2.1" | "5.4.1", Step::Recipient) => {
            FaultKind::ChatGone
        }
        _ => FaultKind::Refused,
    }
}

/// The mail with its lines ended as they must be, and no line that is the end.
fn with_dots(mail: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(mail.len() + mail.len() / 50 + 2);
    for line in mail.split_inclusive(|byte| *byte == b'\n') {
        if line.first() == Some(&b'.') {
            out.push(b'.');
        }
        match line.strip_suffix(b"\n") {
            Some(line) => {
                out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
                out.extend_from_slice(b"\r\n");
            }
            None => {
                out.extend_from_slice(line);
                out.extend_from_slice(b"\r\n");
            }
        }
    }
    out
}
