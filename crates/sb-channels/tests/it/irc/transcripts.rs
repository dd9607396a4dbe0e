//! Every kept transcript of a connection goes as it is written.
//!
//! Each line begins with who it is of: `<` the server says it, `>` we must say it next, `=` an event that must have
//! come of it, `!` how the connection must end. `set` is a setting, `post` words that we are to say to a chat, and
//! `sent` or `failed` what must come of them. Everything else is a comment.

use std::path::{Path, PathBuf};

use sb_channel::model::{Chat, ChatSort, Person};
use sb_channel::{Event, Result};
use serde_json::{Value, json};

use super::{Bot, Server, in_short, world};

#[tokio::test(start_paused = true)]
async fn each_transcript_goes_as_it_is_written() {
    let all = fixtures();
    assert!(all.len() > 25, "{} transcripts", all.len());
    for path in all {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        println!("{name}");
        play(&std::fs::read_to_string(path).expect("a file")).await;
    }
}

/// Every oddity the adapter speaks of has the transcript it names.
#[test]
fn each_quirk_names_a_transcript_that_is_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/irc");
    let mut quirks = 0;
    for entry in std::fs::read_dir(&folder).expect("files") {
        let path = entry.expect("an entry").path();
        let Ok(source) = std::fs::read_to_string(&path) else { continue };
        for quirk in source.split("Quirk: ").skip(1) {
            let named = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
            let name: String = quirk.chars().take_while(named).collect();
            assert!(folder.join(format!("fixtures/{name}.txt")).exists(), "{}: {name}", path.display());
            quirks += 1;
        }
    }
    assert!(quirks > 2);
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/irc/fixtures");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

async fn play(transcript: &str) {
    let line = |line: &str| line.split_once(' ').map(|(of, rest)| (of.to_owned(), rest.to_owned()));
    let lines: Vec<(String, String)> = transcript.lines().filter_map(line).collect();
    let settings: Vec<(&str, &str)> = lines
        .iter()
        .filter(|(of, _)| of == "set")
        .map(|(_, setting)| setting.split_once('=').expect("a value"))
        .collect();
    let (mut bot, [mut server]) = world::<1>(&settings);
    let mut posts = std::collections::VecDeque::new();
    for (of, rest) in &lines {
        match of.as_str() {
            "<" => server.say(rest).await,
            ">" => server.expect(rest).await,
            "=" => {
                let event = bot.next().await.expect("an event").expect("no end");
                assert_eq!(told(&event), serde_json::from_str::<Value>(rest).expect("JSON"));
            }
            "!" => assert_eq!(ending(&mut bot).await, *rest),
            "post" => {
                bot.is_in().await.expect("let in");
                let (to, text) = rest.split_once(' ').expect("words");
                let chat = if to.starts_with('#') { Chat::group(to) } else { Chat::direct(to) };
                posts.push_back(bot.post(chat, &text.replace("\\n", "\n")));
            }
            "sent" | "failed" => {
                let outcome = posts.pop_front().expect("a post").await.expect("it ends");
                let short = outcome.as_ref().map_or_else(in_short, |at| at.0.clone());
                assert_eq!((short, outcome.is_ok()), (rest.clone(), of == "sent"), "{outcome:?}");
            }
            _ => {}
        }
    }
    nothing_more(&mut bot, &mut server).await;
}

/// How the connection ended: the treatment, then what is said about it.
async fn ending(bot: &mut Bot) -> String {
    let end: Result<()> = match bot.is_in().await {
        Err(why) => Err(why),
        Ok(()) => match bot.next().await.expect("an end") {
            Err(why) => Err(why),
            Ok(event) => panic!("it goes on: {event:?}"),
        },
    };
    let why = end.expect_err("an end");
    format!("{} {}", in_short(&why), why.detail)
}

/// The feed has nothing more to tell, and we say nothing more but that we are there.
async fn nothing_more(bot: &mut Bot, server: &mut Server) {
    if bot.is_in().await.is_err() {
        return;
    }
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let more = bot.events.try_recv();
    assert!(!matches!(more, Ok(Ok(_))), "{more:?}");
    server.say("PING :end").await;
    if let Some(line) = server.told().await {
        assert_eq!(line, "PONG :end");
    }
}

/// An event with what is empty left out.
fn told(event: &Event) -> Value {
    match event {
        Event::Said(said) => {
            let mut fields = serde_json::Map::new();
            let sort = if said.chat.sort == ChatSort::Direct { "direct" } else { "group" };
            fields.insert(sort.into(), said.chat.id.clone().into());
            fields.insert("by".into(), person(&said.person));
            fields.insert("text".into(), said.text.clone().into());
            let message = said.message.as_ref().map(|at| at.0.clone());
            let some = [
                ("addressed", (said.addressed && sort == "group").then_some(json!(true))),
                (
                    "key",
                    (!said.key.starts_with("n-") && !said.key.starts_with("h-")).then(|| json!(said.key)),
                ),
                ("message", message.filter(|at| !at.starts_with("- ")).map(|at| json!(at))),
                ("at", said.at.map(|at| json!(at.0))),
            ];
            fields.extend(some.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
            Value::Object(fields)
        }
        Event::Gone { chat, why } => json!({"gone": chat, "why": why}),
        Event::Back { chat } => json!({"back": chat}),
        other => panic!("IRC has no {other:?}"),
    }
}

fn person(person: &Person) -> Value {
    let known = person.id.clone().unwrap_or_else(|| format!("nobody, called {}", person.name));
    json!(if person.bot { format!("{known}, a program") } else { known })
}
