//! A messenger survives SIGKILL: the real program as a bridge, an imitated Telegram in another process, and
//! what people see there afterwards. Nothing is lost, and nothing is said twice but where nobody could know.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nix::sys::signal::Signal;
use sb_testkit::soak::messenger::{self, Plan};
use sb_testkit::soak::telegram::{Telegram, count};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::world::{PROGRAM, Server, World};

/// How often it is looked whether something is seen, and how long at most.
const LOOK: Duration = Duration::from_millis(30);
const LOOKS: u32 = 1_000;
const TOLD: &str = "I was restarted";

/// One home with a bridge that is killed and started again.
struct Scene {
    world: World,
    telegram: Telegram,
    flags: Vec<String>,
}

impl Scene {
    async fn set(more: &[&str]) -> Self {
        let telegram = Telegram::start(Path::new(PROGRAM)).await.expect("a platform");
        let mut flags = telegram.flags();
        flags.extend(["--allow", "*", "--busy", "queue", "--debounce", "0"].map(str::to_owned));
        flags.extend(more.iter().copied().map(str::to_owned));
        Self { world: World::new(), telegram, flags }
    }

    /// The bridge, started with the same line every time.
    async fn bridge(&self) -> Server {
        let mut program = self.world.program();
        program.args(["bridge", "--via", "telegram"]).args(&self.flags);
        Server::start(program, 1).await
    }

    async fn person(&self, name: &str) -> String {
        self.telegram.person(name).await.expect("a person")
    }

    async fn say(&self, person: &str, text: &str) {
        self.telegram.say(person, text).await.expect("said");
    }

    async fn answers(&self, person: &str) -> Vec<String> {
        self.telegram.answers(person).await.expect("a chat")
    }

    async fn until_said(&self, person: &str, word: &str) -> Vec<String> {
        self.telegram.until_said(person, word).await.expect("an answer")
    }

    /// Waits until the newest message of a person is marked as one that will be answered.
    async fn until_taken(&self, person: &str) {
        for _ in 0..LOOKS {
            let shown = self.telegram.shown(person).await.expect("a chat");
            if shown.iter().rfind(|message| !message.ours).is_some_and(|message| message.mark.is_some()) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        panic!("what {person} said is not marked");
    }

    /// Waits until a growing reply is shown to a person.
    async fn until_growing(&self, person: &str) {
        for _ in 0..LOOKS {
            let state = self.telegram.state(person).await.expect("a chat");
            if state["draft"]["text"].as_str().is_some_and(|text| text.split_whitespace().count() > 3) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        panic!("no reply grows for {person}");
    }

    /// What is unsent: chat and words.
    async fn unsent(&self) -> Vec<(String, String)> {
        let posts = self.world.json(&["outbox", "list", "--json"]).await;
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let posts = posts.as_array().expect("a list").iter();
        posts.map(|post| (text(&post["chat"]), text(&post["text"]))).collect()
    }

    async fn until_unsent(&self, word: &str) {
        for _ in 0..LOOKS {
            if self.unsent().await.iter().any(|(_, text)| text.contains(word)) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        panic!("{word} is not in the outbox");
    }
}

/// Each of these words is said once, in this order.
fn assert_said_once_in_order(answers: &[String], words: &[&str]) {
    for word in words {
        assert_eq!(count(answers, word), 1, "{word} in {answers:#?}");
    }
    let at: Vec<_> = words.iter().map(|word| answers.iter().position(|text| text.contains(word))).collect();
    assert!(at.is_sorted(), "{words:?} in {answers:#?}");
}

/// Holds: F-05, F-06, F-34, B-34, B-36.
#[tokio::test]
async fn kill_9_with_one_chat_in_mid_stream_one_queued_and_one_unsent_gives_three_answers() {
    let scene = Scene::set(&["--parallel", "1"]).await;
    let (ann, ben, cem) = (scene.person("Ann").await, scene.person("Ben").await, scene.person("Cem").await);
    let mut bridge = scene.bridge().await;
    scene.telegram.break_posts("flaky", 1_000).await.expect("it fails");
    scene.say(&cem, "!say C1.").await;
    scene.say(&cem, "!say C2.").await;
    scene.until_unsent("C2.").await;
    scene.say(&ann, "!stream 120 50\n!say A1.").await;
    scene.until_growing(&ann).await;
    scene.say(&ann, "!say A2.").await;
    scene.say(&ben, "!say B1.").await;
    scene.until_taken(&ann).await;
    scene.until_taken(&ben).await;
    assert!(!bridge.end(Signal::SIGKILL).await.success());
    for person in [&ann, &ben, &cem] {
        assert_eq!(scene.answers(person).await, [""; 0], "it was too late for this kill");
    }
    scene.telegram.mend().await.expect("it works again");
    let _again = scene.bridge().await;
    scene.until_said(&ann, "A2.").await;
    scene.until_said(&ben, "B1.").await;
    scene.until_said(&cem, "C2.").await;
    // A chat is written to in order, so what was said twice would stand before this.
    for (person, words) in
        [(&ann, &["A1.", "A2.", "last"][..]), (&ben, &["B1.", "last"]), (&cem, &["C1.", "C2.", "last"])]
    {
        scene.say(person, "!say last").await;
        let answers = scene.until_said(person, "last").await;
        assert_said_once_in_order(&answers, words);
        let told = answers.iter().filter(|text| text.contains(TOLD)).count();
        assert_eq!(told, usize::from(person == &ann), "{answers:#?}");
        let cut = answers.iter().position(|text| text.contains(TOLD)).unwrap_or_default();
        assert_eq!(cut, 0, "told only after the answer: {answers:#?}");
    }
}

/// Holds: F-34, F-35.
#[tokio::test]
async fn an_answer_withheld_until_the_client_times_out_is_repeated_at_most_once() {
    let mut scene = Scene::set(&[]).await;
    let wire = Wire::before(&scene.telegram.url).await;
    scene.flags.extend(scene.telegram.flags_at(&wire.url));
    let (ann, ben, cem) = (scene.person("Ann").await, scene.person("Ben").await, scene.person("Cem").await);
    let mut bridge = scene.bridge().await;
    // Cem's answer is put into his chat, and nobody ever says so.
    wire.withheld.store(1, Ordering::SeqCst);
    scene.say(&cem, "!say W1.").await;
    scene.say(&cem, "!say W2.").await;
    scene.until_said(&cem, "W1.").await;
    assert_eq!(wire.withheld.load(Ordering::SeqCst), 0);
    // Meanwhile other chats go on; the connection breaks once, then twice in a row.
    for (times, first, then) in [(1, "L1.", "L2."), (2, "L3.", "L4.")] {
        scene.telegram.break_posts("lost_answer", times).await.expect("answers are lost");
        scene.say(&ann, &format!("!say {first}")).await;
        scene.say(&ann, &format!("!say {then}")).await;
        let answers = scene.until_said(&ann, then).await;
        assert_eq!(count(&answers, first), 2, "{answers:#?}");
        assert_eq!(count(&answers, then), 1, "{answers:#?}");
    }
    assert_eq!(count(&scene.answers(&cem).await, "W2."), 0, "the patience of a call is over already");
    let answers = scene.until_said(&cem, "W2.").await;
    assert_eq!((count(&answers, "W1."), count(&answers, "W2.")), (2, 1), "{answers:#?}");
    // And one that is killed while it waits to be told.
    wire.withheld.store(1, Ordering::SeqCst);
    scene.say(&ben, "!say K1.").await;
    scene.until_said(&ben, "K1.").await;
    bridge.end(Signal::SIGKILL).await;
    let _again = scene.bridge().await;
    scene.say(&ben, "!say K2.").await;
    let answers = scene.until_said(&ben, "K2.").await;
    assert_eq!((count(&answers, "K1."), count(&answers, "K2.")), (2, 1), "{answers:#?}");
    for (person, last) in [(&ann, "L4."), (&cem, "W2.")] {
        assert_eq!(count(&scene.answers(person).await, last), 1);
    }
}

/// Holds: F-05, F-06, F-34.
#[tokio::test]
async fn fifty_messages_in_flight_at_a_kill_are_all_answered() {
    const CHATS: usize = 50;
    let scene = Scene::set(&[]).await;
    let mut people = Vec::new();
    for n in 0..CHATS {
        people.push(scene.person(&format!("Person {n}")).await);
    }
    let mut bridge = scene.bridge().await;
    for (n, person) in people.iter().enumerate() {
        scene.say(person, &format!("!wait 0.2\n!say M{n}.")).await;
    }
    let word = |n: usize| format!("M{n}.");
    let answered = async || {
        let mut answered = BTreeSet::new();
        for (n, person) in people.iter().enumerate() {
            if count(&scene.answers(person).await, &word(n)) > 0 {
                answered.insert(n);
            }
        }
        answered
    };
    while answered().await.len() < 5 {
        tokio::time::sleep(LOOK).await;
    }
    bridge.end(Signal::SIGKILL).await;
    let before = answered().await;
    assert!(before.len() < CHATS - 10, "only {} were in flight", CHATS - before.len());
    // What the platform has, and the program could not note, may be repeated; nothing else.
    let unsent: BTreeSet<String> = scene.unsent().await.into_iter().map(|(chat, _)| chat).collect();
    let _again = scene.bridge().await;
    for (n, person) in people.iter().enumerate() {
        scene.until_said(person, &word(n)).await;
        scene.say(person, "!say last").await;
    }
    for (n, person) in people.iter().enumerate() {
        let answers = scene.until_said(person, "last").await;
        let most = 1 + usize::from(before.contains(&n) && unsent.contains(person));
        assert!((1..=most).contains(&count(&answers, &word(n))), "{most} at most: {answers:#?}");
        assert_eq!(count(&answers, "last"), 1, "{answers:#?}");
    }
}

/// `cargo xtask soak --messenger` is the long one.
///
/// Holds: F-05, F-06, F-34.
#[tokio::test(flavor = "multi_thread")]
async fn people_who_keep_writing_are_all_answered_in_order_however_often_it_is_killed() {
    let plan = Plan { binary: PROGRAM.into(), kills: 5, chats: 6, seed: 42 };
    let verdict = messenger::run(plan).await.expect("the soak runs");
    assert!(verdict.wrong.is_empty(), "{verdict}");
    assert!(verdict.at_work * 2 > verdict.kills && verdict.said > 30, "{verdict}");
}

/// What stands between the program and its platform: it can keep an answer back for ever.
struct Wire {
    url: String,
    /// Sent messages whose answers are still to be kept back.
    withheld: Arc<AtomicU32>,
}

impl Wire {
    async fn before(url: &str) -> Self {
        let platform = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let withheld = Arc::new(AtomicU32::new(0));
        let count = withheld.clone();
        tokio::spawn(async move {
            while let Ok((from, _)) = listener.accept().await {
                tokio::spawn(pass(from, platform.clone(), count.clone()));
            }
        });
        Self { url, withheld }
    }
}

/// One connection: requests go on, answers come back unless this one's is kept back.
#[expect(clippy::disallowed_methods, reason = "a wire between two programs on this machine")]
async fn pass(mut from: TcpStream, platform: String, withheld: Arc<AtomicU32>) {
    let Ok(mut to) = TcpStream::connect(platform).await else { return };
    let (mut asked, mut answered) = (vec![0; 16_384], vec![0; 16_384]);
    let mut keeps_back = false;
    loop {
        tokio::select! {
            read = from.read(&mut asked) => {
                let Ok(bytes @ 1..) = read else { return };
                if asked[..bytes].windows(18).any(|words| words == b"/sendMessage HTTP/") {
                    let one_less = |left: u32| left.checked_sub(1);
                    keeps_back |= withheld.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok();
                }
                if to.write_all(&asked[..bytes]).await.is_err() {
                    return;
                }
            }
            read = to.read(&mut answered) => {
                let Ok(bytes @ 1..) = read else { return };
                if !keeps_back && from.write_all(&answered[..bytes]).await.is_err() {
                    return;
                }
            }
        }
    }
}
