//! The imitated network refuses what real ones refuse, and tells what real ones tell.

use std::cell::Cell;
use std::sync::Arc;

use sb_channel::model::Timestamp;
use sb_channel::net::{Remote, RuntimeClock, Stream};
use sb_channel::standin::StandIn;
use sb_channels::irc::KIND;
use sb_channels::irc::standin::{IrcStandIn, PASSWORD};
use sb_testkit::messenger::{Messenger, Subject};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

struct Client(BufReader<Box<dyn Stream>>);

impl Client {
    async fn of(network: &IrcStandIn) -> Client {
        let remote = Remote { host: "127.0.0.1".to_owned(), port: 6667, tls: None };
        Client(BufReader::new(network.http().open(&remote).await.expect("a stream")))
    }
    async fn say(&mut self, line: &str) {
        self.0.write_all(format!("{line}\r\n").as_bytes()).await.expect("open");
        self.0.flush().await.expect("open");
    }
    /// What comes, up to the first line that has these words.
    async fn until(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            let read = tokio::time::timeout(std::time::Duration::from_secs(20), self.0.read_line(&mut line));
            assert!(read.await.expect("in time").expect("open") > 0, "closed before {words:?}");
            if line.contains(words) {
                return line.trim_end().to_owned();
            }
        }
    }
    async fn named(network: &IrcStandIn, nick: &str) -> Client {
        let mut client = Client::of(network).await;
        client.say(&format!("NICK {nick}")).await;
        client.say("USER u 0 * :u").await;
        client.until(" 422 ").await;
        client
    }
}

fn network() -> IrcStandIn {
    let clock = Arc::new(RuntimeClock::at(Timestamp(1_796_000_000_000)));
    clock.begin();
    IrcStandIn::new(clock)
}

#[tokio::test(start_paused = true)]
async fn what_servers_refuse_is_refused() {
    let network = network();
    let mut ann = Client::named(&network, "ann").await;
    for (line, answer) in [
        ("PRIVMSG nobody :hi", " 401 ann nobody "),
        ("PRIVMSG #none :hi", " 403 ann #none "),
        ("PRIVMSG ann", " 412 ann "),
        ("NICK 1ann", " 432 ann 1ann "),
        ("NICK", " 431 ann "),
        ("JOIN lab", " 403 ann lab "),
        ("NONSENSE", " 421 ann NONSENSE "),
        ("CAP WHAT", " 410 ann WHAT "),
        ("CAP REQ :message-tags none-such", " NAK "),
        ("WHOIS nobody", " 401 ann nobody "),
    ] {
        ann.say(line).await;
        ann.until(answer).await;
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    }
    ann.say(&format!("PRIVMSG ann :{}", "x".repeat(600))).await;
    ann.until(" 417 ann ").await;
    let mut other = Client::of(&network).await;
    other.say("NICK ANN").await;
    other.until(" 433 * ANN ").await;
    other.say("JOIN #lab").await;
    other.until(" 451 ").await;
    // Whoever writes too fast is put out.
    for _ in 0..20 {
        ann.say("PING x").await;
    }
    ann.until("ERROR :Closing Link: (Excess Flood)").await;
}

#[tokio::test(start_paused = true)]
async fn a_login_is_judged() {
    use base64::Engine;
    let network = network();
    for (password, answer) in [("wrong", " 904 "), (PASSWORD, " 903 ")] {
        let mut client = Client::of(&network).await;
        client.say("CAP REQ :sasl").await;
        client.until(" ACK :sasl").await;
        client.say("AUTHENTICATE PLAIN").await;
        client.until("AUTHENTICATE +").await;
        let words = base64::engine::general_purpose::STANDARD.encode(format!("\0robo\0{password}"));
        client.say(&format!("AUTHENTICATE {words}")).await;
        client.until(answer).await;
    }
}

thread_local! {
    static NETWORK: Cell<Option<IrcStandIn>> = const { Cell::new(None) };
}

/// A messenger on an imitated network, and the network itself.
fn irc() -> (Messenger, IrcStandIn) {
    let subject = Subject {
        kind: Arc::new(KIND),
        standin: |clock| {
            let network = IrcStandIn::new(clock);
            NETWORK.set(Some(network.clone()));
            Arc::new(network)
        },
    };
    let messenger = Messenger::new(&subject);
    (messenger, NETWORK.take().expect("it was made"))
}

/// Holds: M-irc-01.
#[test]
fn a_file_that_is_shared_is_named() {
    irc().0.live(async |life| {
        life.say("!tool share_file {\"name\": \"report.txt\", \"text\": \"the report\"}\n!say Here it is.");
        life.until_said("Here it is.").await;
        life.until_said("report.txt, which could not be sent here").await;
    });
}

/// Who is not logged in is nobody: neither heard, nor offered a code, nor able to decide.
///
/// Holds: M-irc-05, T-05.
#[test]
fn whoever_takes_the_nick_of_an_approver_decides_nothing() {
    let (mut messenger, network) = irc();
    messenger.live(async |life| {
        life.say("!tool write_file {\"path\": \"a.txt\", \"content\": \"x\"}\n!say Written.");
        life.until_said("1. Allow once").await;
        // The server says of these lines that no account is behind them, whatever their tags claim.
        for line in [
            ":Ann!a@h PRIVMSG robo :1",
            "@+account=ann :Ann!a@h PRIVMSG robo :1",
            "@account=mallory :Ann!a@h PRIVMSG robo :1",
        ] {
            network.send_raw(line);
            life.pass(5_000).await;
        }
        assert_eq!(life.seen().count("Written."), 0, "{:#?}", life.seen());
        life.say("1");
        life.until_said("Written.").await;
    });
}
