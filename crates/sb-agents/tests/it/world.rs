//! An engine whose agents are programs beside the tests, and a person who talks to them.

use std::sync::Arc;

use async_trait::async_trait;
use sb_agents::{AcpContext, AcpHarness, Launching, PiHarness};
use sb_engine::harness::Harness;
use sb_engine::harness::net::{Away, Http, SystemClock, SystemDice};
use sb_engine::model::*;
use sb_engine::{Agents, Follow};
use sb_loop::{Keys, LoopContext, LoopHarness};
use sb_testkit::app::TestApp;

struct NoKeys;

impl Launching for NoKeys {
    fn key(&self, _: &Profile, _: &str) -> Option<Secret> {
        None
    }
    fn base_url(&self, _: &Profile, _: &str) -> Option<String> {
        None
    }
}

impl Keys for NoKeys {
    fn key(&self, _: &ProfileName, _: &str) -> Option<Secret> {
        None
    }
    fn base_url(&self, _: &str) -> Option<String> {
        None
    }
}

struct Elsewhere {
    acp: Arc<AcpHarness>,
    pi: Arc<PiHarness>,
}

#[async_trait]
impl Agents for Elsewhere {
    fn harness(&self, profile: &Profile) -> Arc<dyn Harness> {
        match profile.harness {
            HarnessRef::Pi(_) => self.pi.clone(),
            _ => self.acp.clone(),
        }
    }
    fn tools(&self, _: &Profile) -> Vec<String> {
        Vec::new()
    }
    fn check(&self, profile: &Profile) -> Result<(), String> {
        match profile.harness {
            HarnessRef::Pi(_) => PiHarness::check(profile),
            _ => AcpHarness::check(profile),
        }
    }
    async fn changed(&self, _: &ProfileName) {}
}

/// The command that starts one of our examples.
pub fn example(name: &str, arguments: &str) -> String {
    let this = std::env::current_exe().unwrap();
    let built = this.parent().and_then(|deps| deps.parent()).unwrap().join("examples").join(name);
    assert!(built.is_file(), "the example {name} is built beside the tests: {}", built.display());
    format!("\"{}\" {arguments}", built.display())
}

pub fn agent(arguments: &str) -> HarnessRef {
    HarnessRef::Acp(example("acp_agent", arguments))
}

pub async fn app() -> TestApp {
    app_with(|_| ()).await
}

pub async fn app_with(change: impl FnOnce(&mut Profile)) -> TestApp {
    let lender = Arc::new(LoopHarness::new(LoopContext {
        http: Http::new().unwrap(),
        clock: Arc::new(SystemClock),
        dice: Arc::new(SystemDice),
        keys: Arc::new(NoKeys),
        away: Away::default(),
        marks: Secret::new("marks"),
        own: "/nonexistent/switchboard".into(),
    }));
    let (launching, dice) = (Arc::new(NoKeys), Arc::new(SystemDice));
    let acp = AcpHarness::new(AcpContext { launching, lender, dice, version: "0" });
    let elsewhere = Elsewhere { acp: Arc::new(acp), pi: Arc::new(PiHarness::new(Arc::new(NoKeys))) };
    let app = TestApp::with_agents(Arc::new(elsewhere), 4).await;
    let mut profile = Profile { harness: agent(""), models: Vec::new(), ..app.profile("assistant") };
    change(&mut profile);
    std::fs::create_dir_all(app.workspace()).unwrap();
    app.engine.put_profile(profile, None).await.unwrap();
    app
}

pub async fn send(app: &TestApp, text: &str) -> Follow {
    send_with(app, text, Vec::new()).await
}

pub async fn send_with(app: &TestApp, text: &str, files: Vec<Attachment>) -> Follow {
    let profile: ProfileName = "assistant".into();
    let manner = Manner {
        busy: Busy::Queue,
        debounce_ms: 0,
        commands_wait: true,
        stop_words: true,
        names_writers: false,
        ask_expiry_ms: None,
    };
    let inbound = Inbound {
        conversation: ConversationId::new("http", &profile, "ops"),
        profile,
        session: None,
        key: None,
        from: Principal("http:ann".into()),
        rights: Rights::ALL,
        text: text.to_owned(),
        files,
        manner,
        origin: None,
    };
    app.engine.follow(app.engine.submit(inbound).await.expect("it is taken").receipt)
}

pub async fn say(app: &TestApp, text: &str) -> Ending {
    send(app, text).await.ending().await.expect("an ending")
}

/// Ends the agent process that waits for the next turn, as a restart of ours would: it is gone when this returns.
pub async fn end_process(app: &TestApp) {
    let pid = std::fs::read_to_string(app.workspace().join(".pid")).expect("it told its id");
    let leader = nix::unistd::Pid::from_raw(pid.parse().expect("a number"));
    nix::sys::signal::killpg(leader, nix::sys::signal::Signal::SIGKILL).expect("it runs");
    sb_testkit::until("its end", async || is_gone(&pid).then_some(())).await;
}

/// Whether a process is gone, or only waits to be reaped.
pub fn is_gone(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .map_or(true, |stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}

pub async fn log(app: &TestApp, ending: &Ending) -> Vec<Record> {
    let view = app.engine.session(ending.session.unwrap()).await.expect("a session");
    view.log.into_iter().map(|e| e.record).collect()
}
