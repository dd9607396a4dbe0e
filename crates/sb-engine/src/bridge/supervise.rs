//! Starting bridges, starting them again when they fail, and ending them so that nothing is lost.
//!
//! A start that fails is tried again after 30 s, doubling to 15 minutes; it concerns that channel alone.
//! Changing a channel restarts only it: its feeds end at once, its lanes finish what they are sending,
//! and what is unsent is in the outbox.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use sb_channel::{AnyKind, ChannelContext, Command, Inlet, State};
use sb_core::commands;
use sb_core::model::{ChannelConfig, Fault, FaultKind, Slug};
use sb_store::Store;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::config::{check_config, settings};
use super::feed::{self, of_store};
use super::places::Lanes;
use super::status::{BridgeState, Log};
use super::{Bridge, BridgeStatus, locked};
use crate::Engine;

const FIRST_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// A check that takes longer has failed.
const CHECKING: Duration = Duration::from_secs(30);
/// How long lanes may take to finish what they are sending.
const ENDING: Duration = Duration::from_secs(4);
/// No post is put off for longer, unless the platform asks for it or a person has to write first.
const LONGEST_PAUSE_MS: i64 = 10 * 60 * 1000;
/// How long a running bridge is left to itself before it is seen whether something lies unsent.
const SWEEP: Duration = Duration::from_secs(60);

/// A channel that is looked after.
pub(crate) struct Supervised {
    closing: CancellationToken,
    task: tokio::task::JoinHandle<()>,
    /// It was started by itself, whether it is enabled or not; cancelled once it was disabled or removed.
    alone: Option<CancellationToken>,
}

impl Engine {
    /// Starts all enabled channels. None of them holds up another, or the caller.
    pub async fn start_channels(&self) -> crate::Result<usize> {
        self.inner().serve_channels();
        for conversation in self.store().held().await? {
            self.inner().bridges.holds(conversation);
        }
        let enabled: Vec<_> = self.store().channels().await?.into_iter().filter(|c| c.enabled).collect();
        for config in &enabled {
            self.supervise(config.slug.clone(), None);
        }
        Ok(enabled.len())
    }

    /// Starts one channel now, and once: what a `bridge` on its own does. The token is cancelled once the channel
    /// was disabled or removed; a change starts it anew.
    ///
    /// # Errors
    /// If it cannot start: wrong settings, wrong credentials, a platform that cannot be reached.
    pub async fn start_channel(&self, slug: &Slug) -> Result<(BridgeStatus, CancellationToken), Fault> {
        for conversation in self.store().held().await.map_err(of_store)? {
            self.inner().bridges.holds(conversation);
        }
        let log = self.inner().bridges.log(slug);
        let bridge = start(self, slug, Arc::clone(&log), CancellationToken::new()).await?;
        let (engine, closing) = (self.clone(), bridge.closing.clone());
        let task = tokio::spawn(async move {
            go(&engine, &bridge).await;
        });
        let ended = CancellationToken::new();
        let supervised = Supervised { closing, task, alone: Some(ended.clone()) };
        locked(&self.inner().bridges.supervised).insert(slug.clone(), supervised);
        Ok((log.status(), ended))
    }

    /// A channel was added or changed: it alone is started anew, if it is to run here.
    pub(crate) async fn restart_channel(&self, slug: &Slug) -> crate::Result<()> {
        let alone = self.stop_channel(slug).await;
        let stored = self.store().channel(slug).await?;
        if stored.is_some_and(|c| alone.is_some() || (c.enabled && self.inner().serves_channels())) {
            self.supervise(slug.clone(), alone);
        }
        Ok(())
    }

    /// A channel was disabled or removed: it ends, and so does the bridge that runs for it alone.
    pub(crate) async fn end_channel(&self, slug: &Slug) {
        if let Some(alone) = self.stop_channel(slug).await {
            alone.cancel();
        }
    }

    async fn stop_channel(&self, slug: &Slug) -> Option<CancellationToken> {
        let mut running = locked(&self.inner().bridges.supervised).remove(slug)?;
        let alone = running.alone.take();
        end(running).await;
        alone
    }

    /// How a channel is. One that was never started here is off.
    pub fn channel_status(&self, slug: &Slug) -> BridgeStatus {
        self.inner().bridges.log(slug).status()
    }

    /// Ends all channels; what is being sent is finished, within a few seconds.
    pub(crate) async fn end_channels(&self) {
        let all: Vec<Supervised> = {
            let mut supervised = locked(&self.inner().bridges.supervised);
            supervised.drain().map(|(_, s)| s).collect()
        };
        all.iter().for_each(|s| s.closing.cancel());
        for one in all {
            end(one).await;
        }
    }

    fn supervise(&self, slug: Slug, alone: Option<CancellationToken>) {
        let (closing, log) = (CancellationToken::new(), self.inner().bridges.log(&slug));
        // Now, not once the task gets its turn: whoever looks next sees that it is on its way.
        log.change(|s| s.state = BridgeState::Starting);
        let (engine, token, name) = (self.clone(), closing.clone(), slug.clone());
        let task = tokio::spawn(async move { keep_up(engine, name, log, token).await });
        locked(&self.inner().bridges.supervised).insert(slug, Supervised { closing, task, alone });
    }
}

async fn end(one: Supervised) {
    one.closing.cancel();
    if tokio::time::timeout(ENDING, one.task).await.is_err() {
        tracing::warn!("a channel did not end in time; what it was sending may be sent again");
    }
}

/// Starts a channel until it runs, and stays with it until it is told to end.
async fn keep_up(engine: Engine, slug: Slug, log: Arc<Log>, closing: CancellationToken) {
    let mut wait = FIRST_WAIT;
    loop {
        log.change(|s| s.state = BridgeState::Starting);
        let started = tokio::select! {
            () = closing.cancelled() => break,
            started = start(&engine, &slug, Arc::clone(&log), closing.clone()) => started,
        };
        match started {
            Ok(bridge) => return go(&engine, &bridge).await,
            Err(why) => {
                let now = engine.inner().clock.now();
                let again = now.plus_ms(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
                log.say(now, &format!("it could not start, again in {} s: {why}", wait.as_secs()));
                log.change(|s| s.state = BridgeState::Failed { why: why.to_string(), again: Some(again) });
            }
        }
        tokio::select! {
            () = closing.cancelled() => break,
            () = tokio::time::sleep(wait) => wait = (wait * 2).min(LONGEST_WAIT),
        }
    }
    log.change(|s| s.state = BridgeState::Off);
}

/// Opens a channel and checks who we are there.
async fn start(
    engine: &Engine,
    slug: &Slug,
    log: Arc<Log>,
    closing: CancellationToken,
) -> Result<Arc<Bridge>, Fault> {
    let inner = engine.inner();
    let config = inner.store.channel(slug).await.map_err(of_store)?;
    let config = config.ok_or_else(|| refused(format!("there is no channel {slug}")))?;
    let kind = find_kind(&inner.kinds, &config)?;
    let secrets = inner.store.channel_secrets(slug).await.map_err(of_store)?;
    let named: Vec<String> = secrets.iter().map(|(name, _)| name.clone()).collect();
    let manifest = kind.manifest();
    check_config(&manifest, &config, &named).map_err(|why| refused(why.0))?;
    let context = ChannelContext {
        http: inner.http.clone(),
        clock: Arc::clone(&inner.clock),
        dice: Arc::clone(&inner.dice),
        state: Arc::new(Kept { store: inner.store.clone(), slug: slug.clone() }),
        by_webhook: inner.public_url().is_some(),
    };
    let channel = kind.open(context, &settings(&config.settings, secrets))?;
    let checked = tokio::time::timeout(CHECKING, channel.check()).await;
    let account = checked.unwrap_or_else(|_| Err(passing("it did not answer in time".to_owned())))?;
    let hook = inner.public_url().map(|url| format!("{}/hooks/{slug}", url.trim_end_matches('/')));
    if matches!(channel.inlet(), Inlet::Webhook(_)) && hook.is_none() {
        return Err(refused(
            "this messenger calls us: name the address it can reach with --public-url".to_owned(),
        ));
    }
    let guests = inner.store.guests(Some(slug)).await.map_err(of_store)?;
    let now = inner.clock.now();
    let bridge = Arc::new(Bridge {
        config,
        channel,
        account,
        log: Arc::clone(&log),
        breaker: Mutex::default(),
        lanes: Lanes::default(),
        closing,
        tasks: TaskTracker::new(),
        guests: RwLock::new(guests.into_iter().map(|g| g.id).collect()),
        known_as: Mutex::new(HashMap::new()),
        moved: Mutex::new(HashMap::new()),
        quotas: Mutex::default(),
    });
    if let (Inlet::Webhook(_), Some(hook)) = (bridge.channel.inlet(), hook) {
        // A platform may call while it is told where.
        engine.inner().bridges.put(Arc::clone(&bridge));
        let reachable = Reachable { engine, bridge: Some(&bridge) };
        bridge.channel.register(Some(&hook)).await?;
        reachable.stay();
    }
    log.change(|s| {
        s.state = BridgeState::Running;
        s.account = Some(bridge.account.clone());
        s.connected = Some(now);
        s.trouble = None;
    });
    log.say(now, &format!("running as {}", bridge.account.name));
    bridge.account.notes.iter().for_each(|note| log.say(now, note));
    Ok(bridge)
}

/// A bridge that can be called already, until its start fails or is given up.
struct Reachable<'a> {
    engine: &'a Engine,
    bridge: Option<&'a Arc<Bridge>>,
}

impl Reachable<'_> {
    fn stay(mut self) {
        self.bridge = None;
    }
}

impl Drop for Reachable<'_> {
    fn drop(&mut self) {
        if let Some(bridge) = self.bridge {
            self.engine.inner().bridges.remove(bridge);
        }
    }
}

/// Runs a started bridge until it closes.
async fn go(engine: &Engine, bridge: &Arc<Bridge>) {
    let now = engine.inner().clock.now();
    if let Err(why) = engine.store().hurry(&bridge.config.slug, now.plus_ms(LONGEST_PAUSE_MS), now).await {
        tracing::warn!(channel = %bridge.config.slug, error = %why, "what is put off stays so");
    }
    engine.inner().bridges.put(Arc::clone(bridge));
    if let Inlet::Feeds(feeds) = bridge.channel.inlet() {
        for (name, _) in feeds {
            bridge.tasks.spawn(feed::run(engine.clone(), Arc::clone(bridge), name));
        }
    }
    let offered = bridge.channel.offer(&menu()).await;
    if let Err(why) = offered {
        bridge.log.say(engine.inner().clock.now(), &format!("its menu of commands was not taken: {why}"));
    }
    loop {
        bridge.sweep(engine).await;
        tokio::select! {
            () = bridge.closing.cancelled() => break,
            // Lanes with something unsent look after it themselves; this finds what none does.
            () = tokio::time::sleep(SWEEP) => {}
        }
    }
    engine.inner().bridges.remove(bridge);
    bridge.tasks.close();
    bridge.tasks.wait().await;
    bridge.log.change(|s| s.state = BridgeState::Off);
}

/// The commands as a platform's menu offers them.
fn menu() -> Vec<Command> {
    let entry = |e: &commands::Entry| Command { name: e.name.to_owned(), help: e.help.to_owned() };
    commands::TABLE.iter().map(entry).collect()
}

fn find_kind(kinds: &[Arc<dyn AnyKind>], config: &ChannelConfig) -> Result<Arc<dyn AnyKind>, Fault> {
    let found = kinds.iter().find(|k| k.manifest().id == config.kind);
    found.cloned().ok_or_else(|| refused(format!("there is no messenger of the kind {:?}", config.kind)))
}

/// What an adapter keeps, in the store.
struct Kept {
    store: Store,
    slug: Slug,
}

#[async_trait]
impl State for Kept {
    async fn get(&self) -> sb_channel::Result<Option<String>> {
        self.store.channel_state(&self.slug).await.map_err(of_store)
    }
    async fn set(&self, words: String) -> sb_channel::Result<()> {
        self.store.put_channel_state(&self.slug, &words).await.map_err(of_store)
    }
}

fn refused(detail: String) -> Fault {
    Fault { kind: FaultKind::Refused, doing: "starting".to_owned(), detail, maybe_done: false, status: None }
}

fn passing(detail: String) -> Fault {
    Fault { kind: FaultKind::Passing { wait_ms: None }, ..refused(detail) }
}
