//! A mailbox under the whole engine: who decides, what is found again, what a restart leaves.

use bytes::Bytes;
use sb_channel::standin::{Breakage, SeenFile};
use sb_channels::email::standin;
use sb_engine::model::{Busy, Clock, Slug, Timestamp};
use sb_testkit::messenger::{Life, Messenger, SLUG};

use super::{PASS, dated, filing_subject, mail, provider, subject};

fn deliver(verdict: &str, from: &str, id: &str, text: &str, now: Timestamp) {
    provider().deliver(&mail(
        verdict,
        &format!("From: {from}\nMessage-ID: <{id}>\nDate: {}", dated(now)),
        text,
    ));
}

fn log(life: &Life) -> String {
    let status = life.engine.channel_status(&Slug::from(SLUG));
    format!("{status:?}")
}

async fn logged(life: &Life, words: &str) {
    for _ in 0..600 {
        if log(life).contains(words) {
            return;
        }
        life.pass(100).await;
    }
    panic!("never logged: {words}: {}", log(life));
}

/// Holds: T-21, M-email-04.
#[test]
fn an_approver_whom_nobody_vouches_for_decides_nothing() {
    let mut messenger = Messenger::new(&subject());
    let clock = messenger.clock.clone();
    messenger.live(async |life| {
        life.say("!tool write_file {\"path\": \"notes.md\", \"text\": \"milk\"}\n!say It is done.");
        let asked = life.until_said("1. Allow once").await;
        let ann = life.ann.id.clone().expect("an address");
        let forged = "dmarc=fail header.from=example.org";
        deliver(forged, &ann, "forged@example.org", "1", clock.now());
        logged(life, "dmarc=fail").await;
        deliver("", &ann, "bare@example.org", "1", clock.now());
        logged(life, "no verdict at all").await;
        life.pass(5_000).await;
        assert_eq!(life.seen().messages.len(), asked.messages.len(), "{:#?}", life.seen());
        deliver(PASS, &ann, "true@example.org", "1", clock.now());
        life.until_said("It is done.").await;
    });
}

/// Holds: F-35.
#[test]
fn where_sent_mail_is_filed_a_lost_answer_doubles_nothing() {
    for lost in 1..=3 {
        let mut messenger = Messenger::with(&filing_subject(), |options| options.busy = Busy::Queue);
        messenger.live(async |life| {
            life.standin.break_next(Breakage::LostAnswer, lost);
            life.say("!say Only once.");
            life.pass(180_000).await;
            life.standin.mend();
            life.say("!say What comes after.");
            life.until_said("What comes after.").await;
            assert_eq!(life.seen().count("Only once."), 1, "{lost} lost answers: {:#?}", life.seen().texts());
        });
    }
}

/// A mail that goes once more has the same id, by which most receivers drop it.
#[test]
fn a_mail_that_goes_again_has_the_same_id() {
    Messenger::new(&subject()).live(async |life| {
        life.standin.break_next(Breakage::LostAnswer, 1);
        life.say("!say Perhaps twice.");
        life.pass(120_000).await;
        let seen = life.seen();
        let ids: Vec<_> = seen.ours().map(|m| m.reference.0.clone()).collect();
        assert!(!ids.is_empty() && ids.iter().all(|id| *id == ids[0] && id.starts_with("ob-")), "{ids:?}");
    });
}

/// Holds: F-08.
#[test]
fn a_mailbox_made_anew_repeats_nothing_and_loses_nothing() {
    Messenger::new(&subject()).live(async |life| {
        life.say("!say One.");
        life.until_said("One.").await;
        life.say("!say Two.");
        life.until_said("Two.").await;
        provider().make_anew();
        logged(life, "the mailbox was made anew").await;
        life.say("!say Three.");
        life.until_said("Three.").await;
        life.rest().await;
        assert_eq!(life.seen().ours().count(), 3, "{:#?}", life.seen().texts());
    });
}

/// Holds: M-email-10.
#[test]
fn a_file_of_a_mail_outlives_a_restart() {
    let mut messenger = Messenger::new(&subject());
    let notes = SeenFile {
        name: "notes.txt".into(),
        media_type: "text/plain".into(),
        bytes: Bytes::from_static(b"three lines\n"),
    };
    messenger.live(async |life| {
        life.pass(1_000).await;
        // The open session goes on; one to fetch the file by is not to be had.
        life.standin.break_receiving(Breakage::Flaky, 1_000);
        assert!(life.standin.send_files(&life.chat, &life.ann, "Look at this.", &[notes]));
        while life.standin.unacknowledged() > 0 {
            life.pass(100).await;
        }
        assert_eq!(life.seen().ours().count(), 0);
        life.standin.mend();
    });
    messenger.live(async |life| {
        let seen = life.until_said("notes.txt").await;
        assert_eq!(seen.count("12 bytes"), 1, "{:#?}", seen.texts());
    });
}

/// Holds: M-email-09.
#[test]
fn an_answer_goes_in_the_thread_of_the_latest_mail() {
    Messenger::new(&subject()).live(async |life| {
        let first = life.say("!say One.");
        let seen = life.until_said("One.").await;
        assert_eq!(seen.ours().last().and_then(|m| m.answers.clone()).map(|a| a.0), Some(first.clone()));
        let second = life.say("!say Two.");
        let seen = life.until_said("Two.").await;
        assert_eq!(seen.ours().last().and_then(|m| m.answers.clone()).map(|a| a.0), Some(second.clone()));
        life.rest().await;
        let sent = String::from_utf8(provider().sent().pop().expect("a copy")).expect("text");
        let references = sent.split("References: ").nth(1).and_then(|rest| rest.split("\r\nSubject").next());
        let references = references.unwrap_or(&sent);
        let ours = seen.ours().next().map(|m| m.reference.0.clone()).unwrap_or_default();
        let of = |id: &str| references.find(id).unwrap_or_else(|| panic!("{id} is not in {references}"));
        assert!(of(&ours) < of(&second), "{references}");
        assert!(
            sent.contains("Subject: Re: A question\r\n") && sent.contains("Auto-Submitted: auto-replied\r\n")
        );
        assert!(
            provider().flags().iter().all(|flags| flags.contains("\\Seen") && flags.contains("\\Answered"))
        );
        assert_eq!(standin::ADDRESS, "agent@standin.test");
    });
}

fn report(id: &str, to: &str, status: &str) -> Vec<u8> {
    let fields = "From: MAILER-DAEMON@standin.test\nReturn-Path: <>\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=r";
    let body = format!(
        "--r\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n--r\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; x\r\n\r\nFinal-Recipient: rfc822; {to}\r\nAction: failed\r\nStatus: {status}\r\n--r\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: <{id}>\r\nTo: {to}\r\n--r--\r\n"
    );
    mail("", fields, &body)
}

/// Holds: B-31.
#[test]
fn a_report_closes_a_chat_only_where_it_names_a_mail_we_sent_there() {
    Messenger::new(&subject()).live(async |life| {
        life.say("!say One.");
        let seen = life.until_said("One.").await;
        life.rest().await;
        let id = seen.ours().last().expect("ours").reference.0.clone();
        let ann = life.ann.id.clone().expect("an address");
        let gone = async || {
            let facts = life.engine.store().chat_facts(&Slug::from(SLUG), &ann).await;
            facts.expect("facts").gone.is_some()
        };
        for (id, to, status) in [
            ("ob-made-up@standin.test", &*ann, "5.1.1"),
            (&id, "ben@example.org", "5.1.1"),
            (&id, &*ann, "5.2.2"),
        ] {
            provider().deliver(&report(id, to, status));
            logged(life, &format!("mail to {to} is failed ({status})")).await;
            life.pass(1_000).await;
            assert!(!gone().await, "{id} {to} {status}");
        }
        provider().deliver(&report(&id, &ann, "5.1.1"));
        for _ in 0..100 {
            life.pass(100).await;
        }
        assert!(gone().await);
        life.say("!say Here again.");
        life.until_said("Here again.").await;
    });
}
