//! Which mails become words of whom, and which are left, and why.

use sb_channel::{Event, Incoming};

use super::{PASS, events, mail};

async fn said(raw: Vec<u8>) -> Incoming {
    match events(&[&raw]).await.pop() {
        Some(Event::Said(said)) => *said,
        other => panic!("not said: {other:?}"),
    }
}

async fn left(raw: Vec<u8>) -> String {
    match events(&[&raw]).await.pop() {
        Some(Event::Noted { what }) => what,
        other => panic!("not left: {other:?}"),
    }
}

const ANN: &str = "From: Ann <Ann@Example.ORG>\nMessage-ID: <1@example.org>\nSubject: Lunch";

/// Holds: M-email-04, T-21.
#[tokio::test]
async fn a_writer_is_whom_the_provider_vouches_for() {
    let said = said(mail(PASS, ANN, "Hello.\r\n")).await;
    assert_eq!((said.person.id.as_deref(), said.text.as_str()), (Some("ann@example.org"), "Hello."));
    assert_eq!((said.key.as_str(), said.about.as_deref()), ("example.org:1@example.org", Some("Lunch")));
    let forged = "dmarc=pass header.from=example.org";
    let below = mail("", &format!("Authentication-Results: mx.standin.test; {forged}\n{ANN}"), "Hello.");
    for (raw, why) in [
        (mail("", ANN, "Hello."), "no verdict at all"),
        (below, "Received lines stand above"),
        (mail("dmarc=fail header.from=example.org", ANN, "Hello."), "dmarc=fail"),
        (mail("dmarc=pass header.from=evil.test", ANN, "Hello."), "about another domain"),
        (
            mail(PASS, "From: ann@example.org, ben@example.org\nSubject: x", "Hello."),
            "does not name one writer",
        ),
        (mail(PASS, &format!("From: ben@evil.test\n{ANN}"), "Hello."), "does not name one writer"),
        (mail(PASS, "From: Ann <nowhere>\nSubject: x", "Hello."), "address is none"),
    ] {
        let what = left(raw).await;
        assert!(what.contains(why), "{what}");
    }
}

/// Holds: F-13.
#[tokio::test]
async fn programs_and_lists_are_never_answered() {
    for (field, why) in [
        ("Auto-Submitted: auto-replied (vacation)", "Auto-Submitted: auto-replied"),
        ("Auto-Submitted: auto-generated", "Auto-Submitted"),
        ("Precedence: bulk", "Precedence"),
        ("List-Id: <news.example.org>", "List-Id"),
        ("List-Unsubscribe: <mailto:x@example.org>", "List-Unsubscribe"),
        ("X-Auto-Response-Suppress: DR, OOF, AutoReply", "X-Auto-Response-Suppress"),
        ("X-Autoreply: yes", "X-Autoreply"),
        ("Return-Path: <>", "no return path"),
    ] {
        let what = left(mail(PASS, &format!("{field}\n{ANN}"), "Away.")).await;
        assert!(what.contains(why), "{what}");
    }
    for (from, why) in
        [("mailer-daemon@example.org", "nobody reads"), ("no-reply@example.org", "nobody reads")]
    {
        let what = left(mail(PASS, &format!("From: {from}\nSubject: x"), "Away.")).await;
        assert!(what.contains(why), "{what}");
    }
    let echo = left(mail(PASS, "From: ann@example.org\nMessage-ID: <ob-1@standin.test>", "Hello.")).await;
    assert!(echo.contains("we wrote it"), "{echo}");
    said(mail(PASS, &format!("Auto-Submitted: no\n{ANN}"), "Hello.")).await;
}

/// Holds: M-email-07.
#[tokio::test]
async fn all_usual_character_sets_are_read() {
    let of = |charset: &str, base64: &str| {
        let kind = format!(
            "{ANN}\nMIME-Version: 1.0\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: base64"
        );
        said(mail(PASS, &kind, base64))
    };
    for (charset, base64, words) in [
        ("utf-8", "R3LDvMOfZQ==", "Grüße"),
        ("iso-8859-1", "R3L832U=", "Grüße"),
        ("windows-1252", "gCA1", "€ 5"),
        ("iso-8859-15", "pCA1", "€ 5"),
        ("iso-2022-jp", "GyRCRnxLXDhsGyhC", "日本語"),
        ("koi8-r", "8NLJ18XU", "Привет"),
        ("gb2312", "xOO6ww==", "你好"),
    ] {
        assert_eq!(of(charset, base64).await.text, words, "{charset}");
    }
}

/// Holds: M-email-08.
#[tokio::test]
async fn of_an_html_mail_the_words_are_read() {
    let html = "<html><head><style>p { color: red }</style></head><body><p>Dear agent,</p><p>buy milk &amp; br&ouml;tchen.</p><script>alert(1)</script></body></html>";
    let kind = format!("{ANN}\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8");
    let text = said(mail(PASS, &kind, html)).await.text;
    assert!(text.contains("Dear agent,") && text.contains("buy milk & brötchen."), "{text:?}");
    assert!(!text.contains("color") && !text.contains("alert") && !text.contains('<'), "{text:?}");
}

/// Holds: M-email-06.
#[tokio::test]
async fn an_address_beyond_ascii_is_somebody() {
    let from = "From: J\u{f6}s\u{e9} <J\u{f6}s\u{e9}@m\u{fc}nchen.example>\nMessage-ID: <2@x>";
    let said = said(mail("dmarc=pass header.from=xn--mnchen-3ya.example", from, "Hello.")).await;
    assert_eq!(said.person.id.as_deref(), Some("j\u{f6}s\u{e9}@xn--mnchen-3ya.example"));
}

/// Holds: M-email-01.
#[tokio::test]
async fn ten_files_of_a_mail_are_taken_under_safe_names() {
    let mut body = "--b\r\nContent-Type: text/plain\r\n\r\nTwelve.\r\n".to_owned();
    for number in 0..12 {
        body += &format!(
            "--b\r\nContent-Disposition: attachment; filename=\"../../{number}.txt\"\r\n\r\nfile {number}\r\n"
        );
    }
    body += "--b--\r\n";
    let kind = format!("{ANN}\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b");
    let said = said(mail(PASS, &kind, &body)).await;
    let names: Vec<&str> = said.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        ["0.txt", "1.txt", "2.txt", "3.txt", "4.txt", "5.txt", "6.txt", "7.txt", "8.txt", "9.txt"]
    );
}

/// Holds: T-21.
#[tokio::test]
async fn an_old_mail_sent_again_decides_nothing() {
    let old =
        said(mail(PASS, &format!("{ANN}\nDate: Tue, 3 Nov 2026 10:00:00 +0000"), "/approve ab12")).await;
    assert_eq!(old.forwarded.as_deref(), Some("Ann, dated 2026-11-03"));
    let undated = said(mail(PASS, &format!("{ANN}\nDate: someday"), "/approve ab12")).await;
    assert_eq!(undated.forwarded.as_deref(), Some("Ann, without a date"));
    assert_eq!(said(mail(PASS, ANN, "/approve ab12")).await.forwarded, None);
}

/// Holds: F-01.
#[tokio::test]
async fn a_stranger_cannot_use_up_the_ids_of_somebody_elses_mails() {
    let theirs =
        mail("dmarc=pass header.from=evil.test", "From: x@evil.test\nMessage-ID: <1@example.org>", "Hello.");
    assert_ne!(said(theirs).await.key, said(mail(PASS, ANN, "Hello.")).await.key);
}
