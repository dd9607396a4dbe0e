//! Measures the program's bridge between an imitated Telegram and a stand-in model, and prints the page's section:
//! `bench_bridge BINARY [--folder DIR] [--quick]`; `bench_bridge --plain PLATFORM MODEL` is the floor it starts.

mod plain;

use std::sync::Arc;

use sb_channel::model::{Chat, Person};
use sb_channel::net::SystemClock;
use sb_channels::telegram::standin::{TOKEN, TelegramStandIn};
use sb_testkit::bench::Plan;
use sb_testkit::bench::bridge::{Messenger, Platform, measure};

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Telegram(TelegramStandIn);

impl Platform for Telegram {
    fn router(&self) -> axum::Router {
        self.0.router()
    }
    fn settings(&self, url: &str) -> Vec<(String, String)> {
        vec![("token".to_owned(), TOKEN.to_owned()), ("api_url".to_owned(), url.to_owned())]
    }
    fn person(&self) -> String {
        let person = self.0.person("Person");
        self.0.direct(&person).id
    }
    fn say(&self, person: &str, text: &str) {
        let who = Person { id: Some(person.to_owned()), name: "Person".to_owned(), bot: false };
        self.0.say(&Chat::direct(person), &who, text);
    }
    fn answers(&self, person: &str) -> Vec<String> {
        self.0.seen_of_us(&Chat::direct(person)).into_iter().map(|message| message.text).collect()
    }
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    if let ["--plain", platform, model] = words[..] {
        // One thread is enough for it, as it is for most bots.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        return runtime.block_on(plain::run(&format!("{platform}/bot{TOKEN}"), model));
    }
    let [binary, more @ ..] = &words[..] else {
        return Err("bench_bridge BINARY [--folder DIR] [--quick]".into());
    };
    let folder = more.iter().position(|word| *word == "--folder").and_then(|at| more.get(at + 1));
    let plan = Plan {
        binary: binary.into(),
        own: std::env::current_exe()?,
        folder: folder.map_or_else(std::env::temp_dir, Into::into),
        only: Vec::new(),
        quick: more.contains(&"--quick"),
    };
    let messenger = Messenger {
        kind: "telegram",
        poll: "getupdates",
        send: "sendmessage",
        make: || Arc::new(Telegram(TelegramStandIn::new(Arc::new(SystemClock), TOKEN))),
        plain: "--plain",
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    print!("{}", runtime.block_on(measure(&plan, &messenger))?);
    Ok(())
}
