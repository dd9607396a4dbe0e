//! What became of what we say, as the server tells: taken, refused, or nobody knows.

use sb_channel::model::{Chat, Fault};

use super::{Bot, Server, in_short, world};

const LABELS: &str = "batch echo-message labeled-response message-tags";
const PLAIN: &str = "account-tag server-time";

async fn let_in(abilities: &str) -> (Bot, Server) {
    let (mut bot, [mut server]) = world::<1>(&[]);
    server.let_in(abilities).await;
    bot.is_in().await.expect("let in");
    (bot, server)
}

/// The label, or the ping's token, that a line bears.
fn token(line: &str) -> String {
    let (_, rest) = line.split_once("label=").or_else(|| line.split_once("PING :")).expect("a token");
    rest.split([' ', ';']).next().unwrap_or_default().to_owned()
}

/// What a server says to a post to `target`, and how that is treated.
const REFUSALS: &[(&str, &str, &str)] = &[
    ("ann", "263 robo PRIVMSG :Please wait a while and try again.", "Passing { wait_ms: None }"),
    ("ann", "437 robo ann :temporarily unavailable", "Passing { wait_ms: None }"),
    ("ann", "439 robo ann :Please wait 30 seconds.", "ChatBusy { wait_ms: Some(30000) }"),
    ("ann", "401 robo ann :No such nick/channel", "ChatGone"),
    ("#lab", "403 robo #lab :No such channel", "ChatGone"),
    ("#lab", "404 robo #lab :Cannot send to channel (+m)", "ChatGone"),
    ("#lab", "404 robo #lab :Can't send colors to channel (+c is set)", "Format"),
    ("#lab", "442 robo #lab :You're not on that channel", "ChatGone"),
    ("#lab", "473 robo #lab :Cannot join channel (+i)", "ChatGone"),
    ("#lab", "474 robo #lab :Cannot join channel (+b)", "ChatGone"),
    ("#lab", "475 robo #lab :Cannot join channel (+k)", "ChatGone"),
    ("#lab", "477 robo #lab :You need a registered nick", "ChatGone"),
    ("#lab", "489 robo #lab :Cannot join channel (TLS only)", "ChatGone"),
    ("ann", "486 robo ann :You must be logged in to message this user", "ChatGone"),
    ("ann", "531 robo ann :You cannot send messages to this user", "ChatGone"),
    ("ann", "716 robo ann :is in +g mode", "ChatGone"),
    ("ann", "412 robo :No text to send", "Refused"),
    ("ann", "417 robo :Input line was too long", "Refused"),
    ("ann", "407 robo ann :Too many targets", "Refused"),
    ("ann", "904 robo ann :SASL authentication failed", "Auth"),
];

#[tokio::test(start_paused = true)]
async fn each_refusal_is_treated_as_what_it_says() {
    for labels in [true, false] {
        for (target, refusal, treatment) in REFUSALS {
            let (bot, mut server) = let_in(if labels { LABELS } else { PLAIN }).await;
            let chat = if target.starts_with('#') { Chat::group(*target) } else { Chat::direct(*target) };
            let post = bot.post(chat, "hello");
            let said = server.told().await.expect("a line");
            assert!(said.ends_with(&format!("PRIVMSG {target} :hello")), "{said}");
            let label = if labels { format!("@label={} ", token(&said)) } else { String::new() };
            if !labels {
                server.told().await.expect("a ping");
            }
            server.say(&format!("{label}:s {refusal}")).await;
            let why: Fault = post.await.expect("it ends").expect_err(refusal);
            assert_eq!(in_short(&why), *treatment, "{refusal}, labels: {labels}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_post_is_proven_by_its_label_or_by_a_ping_behind_it() {
    let (bot, mut server) = let_in(LABELS).await;
    let post = bot.post(Chat::direct("ann"), "one\ntwo");
    server.expect("PRIVMSG ann :one").await;
    let last = server.told().await.expect("a line");
    server.say(&format!("@label={};msgid=m7 :robo!r@h PRIVMSG ann :two", token(&last))).await;
    assert_eq!(post.await.expect("it ends").expect("sent").0, "m7 robo");
    // A server may have nothing to say, or say it in a batch.
    for answer in [
        "@label=T :s ACK",
        "@label=T :s BATCH +1 labeled-response\n@batch=1 :s 301 robo ann :Away\n:s BATCH -1",
    ] {
        let post = bot.post(Chat::direct("ann"), "three");
        let line = server.told().await.expect("a line");
        for line in answer.replace("label=T", &format!("label={}", token(&line))).lines() {
            server.say(line).await;
        }
        assert_eq!(post.await.expect("it ends").expect("sent").0, "- robo");
    }
    let (bot, mut server) = let_in(PLAIN).await;
    let post = bot.post(Chat::direct("ann"), "one");
    server.expect("PRIVMSG ann :one").await;
    let ping = server.told().await.expect("a ping");
    server.say(":s 301 robo ann :Gone to lunch").await;
    server.say(&format!(":s PONG s :{}", token(&ping))).await;
    assert_eq!(post.await.expect("it ends").expect("sent").0, "- robo");
}

#[tokio::test(start_paused = true)]
async fn whatever_nobody_answers_may_have_been_done() {
    for abilities in [LABELS, PLAIN] {
        let (bot, mut server) = let_in(abilities).await;
        let post = bot.post(Chat::direct("ann"), "hello");
        server.told().await.expect("a line");
        let why = post.await.expect("it ends").expect_err("no answer");
        assert_eq!(in_short(&why), "Passing { wait_ms: None }?");
        let post = bot.post(Chat::direct("ann"), "again");
        while !server.told().await.expect("a line").ends_with(":again") {}
        server.say("ERROR :Closing Link").await;
        let why = post.await.expect("it ends").expect_err("cut off");
        assert_eq!(in_short(&why), "ChatBusy { wait_ms: None }?");
        let why = bot.post(Chat::direct("ann"), "later").await.expect("it ends").expect_err("away");
        assert_eq!(in_short(&why), "ChatBusy { wait_ms: None }");
    }
}

/// Holds: M-irc-05.
#[tokio::test(start_paused = true)]
async fn an_answer_goes_only_to_a_nick_that_is_logged_in_to_the_account_that_asked() {
    let ann = || Chat::direct("account:ann");
    let (bot, mut server) = let_in(PLAIN).await;
    // Nothing is known of her yet, so the nick like her account is looked at.
    let post = bot.post(ann(), "hello");
    server.expect("WHOIS :ann").await;
    server.say(":s 311 robo ann a h * :Somebody").await;
    server.say(":s 318 robo ann :End").await;
    assert_eq!(in_short(&post.await.expect("it ends").expect_err("nobody")), "ChatGone");
    server.say("@account=Ann :ann_!a@h PRIVMSG robo :it is me").await;
    let post = bot.post(ann(), "hello");
    server.expect("PRIVMSG ann_ :hello").await;
    let ping = server.told().await.expect("a ping");
    server.say(&format!(":s PONG s {}", token(&ping))).await;
    post.await.expect("it ends").expect("sent");
    // A while later the nick may be somebody else's.
    tokio::time::sleep(std::time::Duration::from_secs(59)).await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let post = bot.post(ann(), "later");
    let mut told = server.told().await.expect("a line");
    while told.starts_with("PING") {
        server.say(":s PONG s :alive").await;
        told = server.told().await.expect("a line");
    }
    assert_eq!(told, "WHOIS :ann_");
    server.say(":s 330 robo ann_ mallory :is logged in as").await;
    server.say(":s 318 robo ann_ :End").await;
    server.expect("WHOIS :ann").await;
    server.say(":s 330 robo ann Ann :is logged in as").await;
    server.say(":s 318 robo ann :End").await;
    server.expect("PRIVMSG ann :later").await;
    let ping = server.told().await.expect("a ping");
    server.say(&format!(":s PONG s {}", token(&ping))).await;
    post.await.expect("it ends").expect("sent");
}

#[tokio::test(start_paused = true)]
async fn nothing_more_leaves_for_a_nick_that_changed_its_owner() {
    for leaves in [":ann!a@h NICK :ann_", ":ann!a@h QUIT :gone"] {
        let (bot, mut server) = let_in(LABELS).await;
        let post = bot.post(Chat::direct("ann"), &["word"; 9].join("\n"));
        server.expect("PRIVMSG ann :word").await;
        server.say(leaves).await;
        let why = post.await.expect("it ends").expect_err("gone");
        assert_eq!(in_short(&why), "ChatBusy { wait_ms: None }?");
        // What had left before is all that comes.
        server.say("PING :end").await;
        let mut left = 1;
        while server.told().await.expect("a line") != "PONG :end" {
            left += 1;
        }
        assert!(left < 9, "{left}");
    }
}

#[tokio::test(start_paused = true)]
async fn lines_leave_no_faster_than_the_server_takes_them() {
    let (mut bot, [mut server]) = world::<1>(&[("pace_ms", "2000")]);
    server.let_in(LABELS).await;
    bot.is_in().await.expect("let in");
    let post = bot.post(Chat::direct("ann"), &["word"; 10].join("\n"));
    let began = tokio::time::Instant::now();
    let mut at = Vec::new();
    for _ in 0..10 {
        server.told().await.expect("a line");
        at.push(began.elapsed().as_secs());
    }
    assert_eq!(at, [0, 0, 0, 0, 2, 4, 6, 8, 10, 12]);
    post.abort();
}

#[tokio::test(start_paused = true)]
async fn no_line_has_more_than_512_bytes_once_our_name_stands_before_it() {
    let (bot, mut server) = let_in(PLAIN).await;
    let host = "h".repeat(63);
    server.say(&format!(":robo!switchboar@{host} JOIN #{}", "c".repeat(49))).await;
    let channel = format!("#{}", "c".repeat(49));
    let text = "🚢".repeat(400);
    let post = bot.post(Chat::group(channel.clone()), &text);
    let mut whole = String::new();
    loop {
        let line = server.told().await.expect("a line");
        if line.starts_with("PING") {
            server.say(&format!(":s PONG s :{}", token(&line))).await;
            break;
        }
        assert!(format!(":robo!switchboar@{host} {line}\r\n").len() <= 512, "{}", line.len());
        whole += line.split_once(" :").expect("words").1;
    }
    assert_eq!(whole, text);
    post.await.expect("it ends").expect("sent");
}
