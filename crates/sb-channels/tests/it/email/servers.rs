//! What servers answer, and what is made of it: scripted servers, a line at a time.

use std::sync::Arc;

use sb_channel::model::text::Rendered;
use sb_channel::model::{Chat, Fault, FaultKind};
use sb_channel::net::{Answering, Http, Lost, ManualClock, Remote, Service, Stream};
use sb_channel::standin::StandIn;
use sb_channel::{Attempt, Piece, Result};
use sb_channels::email::standin::Provider;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::{NOW, channel};

/// An SMTP server that answers each verb as it is told to: `("RCPT", "550 5.1.1 No")`. An empty answer closes.
struct Scripted {
    provider: Provider,
    says: Vec<(&'static str, &'static str)>,
}

impl Service for Scripted {
    fn call(&self, _: axum::http::Request<reqwest::Body>) -> Answering {
        Box::pin(async { Err(Lost { arrived: false }) })
    }
    fn open(&self, to: &Remote) -> Option<Box<dyn Stream>> {
        if to.port == 143 {
            return self.provider.stream(to);
        }
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(talk(theirs, self.says.clone()));
        Some(Box::new(ours))
    }
}

async fn talk(stream: tokio::io::DuplexStream, says: Vec<(&'static str, &'static str)>) {
    let mut wire = BufReader::new(stream);
    let said = |verb: &str, usual: &'static str| {
        says.iter().find(|(known, _)| *known == verb).map_or(usual, |(_, answer)| *answer)
    };
    let _ = wire.write_all(format!("{}\r\n", said("GREETING", "220 x ESMTP")).as_bytes()).await;
    let mut line = String::new();
    while wire.read_line(&mut line).await.is_ok_and(|read| read > 0) {
        let verb = line.split([' ', '\r']).next().unwrap_or_default().to_ascii_uppercase();
        let mut answer = match verb.as_str() {
            "EHLO" => said("EHLO", "250-x\r\n250-AUTH PLAIN LOGIN\r\n250 SIZE 1000000"),
            "AUTH" => said("AUTH", "235 2.7.0 Ok"),
            "DATA" => said("DATA", "354 Go on"),
            other => said(other, "250 2.0.0 Ok"),
        };
        if verb == "DATA" && answer.starts_with("354") {
            let _ = wire.write_all(b"354 Go on\r\n").await;
            loop {
                line.clear();
                if wire.read_line(&mut line).await.unwrap_or(0) == 0 || line == ".\r\n" {
                    break;
                }
            }
            answer = said(".", "250 2.0.0 Taken");
        }
        line.clear();
        if answer.is_empty() || wire.write_all(format!("{answer}\r\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn send_to(to: &str, says: &[(&'static str, &'static str)], more: &[(&str, &str)]) -> Result<()> {
    let clock = Arc::new(ManualClock::at(NOW));
    let provider = Provider::new(clock.clone());
    let mut settings = provider.settings();
    for (key, value) in more {
        settings.retain(|(known, _)| known != key);
        settings.push(((*key).to_owned(), (*value).to_owned()));
    }
    let http = Http::in_process(Arc::new(Scripted { provider, says: says.to_vec() }));
    let email = channel(http, clock, settings)?;
    let words = Rendered { text: "Hello.".to_owned(), spans: Vec::new() };
    let attempt = Attempt { key: "k".to_owned(), maybe_sent: false, handle: None };
    let piece = Piece::Text { words: &words, choices: &[], answers: None };
    email.send(&Chat::direct(to), piece, &attempt).await.map(drop)
}

async fn refusal(verb: &'static str, answer: &'static str) -> Fault {
    send_to("ann@example.org", &[(verb, answer)], &[]).await.expect_err(answer)
}

#[tokio::test]
async fn each_answer_of_a_server_has_its_treatment() {
    let wait = |fault: &Fault| matches!(fault.kind, FaultKind::Passing { wait_ms: Some(60_000) });
    for (verb, answer) in [
        ("MAIL", "421 4.7.0 Closing"),
        ("MAIL", "451 4.3.0 Try again"),
        ("RCPT", "451 4.7.1 Greylisted"),
        (".", "452 4.3.1 Full"),
        ("AUTH", "454 4.7.0 Temporary authentication failure"),
    ] {
        let fault = refusal(verb, answer).await;
        assert!(wait(&fault) && !fault.maybe_done, "{answer}: {fault:?}");
    }
    for answer in ["450 4.2.1 Too many", "452 4.2.2 Mailbox full"] {
        assert!(matches!(refusal("RCPT", answer).await.kind, FaultKind::ChatBusy { .. }), "{answer}");
    }
    for answer in
        ["550 5.1.1 User unknown", "550 No such user", "553 5.1.3 Bad address", "550 5.2.1 Disabled"]
    {
        assert_eq!(refusal("RCPT", answer).await.kind, FaultKind::ChatGone, "{answer}");
    }
    for (verb, answer) in [
        ("AUTH", "535 5.7.8 Wrong"),
        ("AUTH", "534 5.7.9 Application-specific password required"),
        ("AUTH", "504 5.5.4 Not so"),
        ("MAIL", "530 5.7.0 Log in first"),
        ("MAIL", "550 5.7.30 Basic authentication is not supported for Client Submission"),
    ] {
        let fault = refusal(verb, answer).await;
        assert_eq!(fault.kind, FaultKind::Auth, "{answer}");
        assert!(fault.detail.contains(answer), "{fault}");
    }
    for (verb, answer) in
        [("MAIL", "552 5.3.4 Too large"), ("RCPT", "554 5.7.1 Relay access denied"), (".", "554 5.7.1 Spam")]
    {
        assert_eq!(refusal(verb, answer).await.kind, FaultKind::Refused, "{answer}");
    }
    assert_eq!(refusal(".", "554 5.6.1 Not in that form").await.kind, FaultKind::Format);
}

/// Holds: F-35.
#[tokio::test]
async fn only_what_is_lost_behind_the_last_dot_may_have_been_sent() {
    for verb in ["EHLO", "AUTH", "MAIL", "RCPT", "DATA"] {
        let fault = refusal(verb, "").await;
        assert!(!fault.maybe_done && matches!(fault.kind, FaultKind::Passing { .. }), "{verb}: {fault:?}");
    }
    let fault = refusal(".", "").await;
    assert!(fault.maybe_done && matches!(fault.kind, FaultKind::Passing { .. }), "{fault:?}");
}

/// Holds: M-email-06.
#[tokio::test]
async fn an_address_beyond_ascii_needs_a_server_that_takes_it() {
    let to = "j\u{f6}s\u{e9}@example.org";
    let refused = send_to(to, &[], &[]).await.expect_err("not offered");
    assert_eq!(refused.kind, FaultKind::Refused);
    assert!(refused.detail.contains("SMTPUTF8"), "{refused}");
    let offers = "250-x\r\n250-AUTH PLAIN\r\n250 SMTPUTF8";
    send_to(to, &[("EHLO", offers)], &[]).await.expect("sent");
}

#[tokio::test]
async fn what_is_set_wrongly_is_told_with_what_to_do() {
    for (key, value, says) in [
        ("imap", "https://mail.example.org", "imaps://HOST"),
        ("imap", "imap://mail.example.org:x", "port that is no number"),
        ("smtp", "smtps://", "names no host"),
        ("authserv", "ann@example.org", "Authentication-Results"),
        ("received_above", "many", "number from 0 to 9"),
        ("address", "somebody", "agent@example.org"),
        ("smtp", "smtp://mail.example.org", "STARTTLS"),
    ] {
        let fault = send_to("ann@example.org", &[], &[(key, value)]).await.expect_err(value);
        assert!(fault.detail.contains(says), "{key}={value}: {fault}");
    }
    let silent = send_to("ann@example.org", &[("EHLO", "250 x")], &[]).await.expect_err("no AUTH");
    assert!(silent.detail.contains("no way to log in") && silent.detail.contains("right port"), "{silent}");
    let other =
        send_to("ann@example.org", &[("GREETING", "* OK IMAP4rev1 ready")], &[]).await.expect_err("IMAP");
    assert!(other.detail.contains("right port"), "{other}");
}
