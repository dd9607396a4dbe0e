//! `up` and `serve`: everything of a home, started, served and ended.
//!
//! The order of the start is the order of the errors: settings, the home's lock, the port; only then is
//! work taken up or a profile made. The end takes five seconds at most, and what is unfinished then is
//! taken up by the next start.

mod a2a;
pub mod bridge;
mod care;
mod files;
mod first;
mod lines;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, anyhow};
use metrics_exporter_prometheus::PrometheusHandle;
use sb_doors::a2a::run_pushes;
use sb_doors::http::{self, HttpDoor, Tls};
use sb_engine::Engine;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::args::server::{ServerFlags, Survives};
use crate::door::Serves;
use crate::environment::Environment;
use crate::home::Home;
use crate::settings::Settings;
use crate::usage::usage;
use crate::{door, logs, opening, output, reach};

/// Longest that everything open may take to end.
const CLOSING: Duration = Duration::from_millis(4500);
/// How long the store stays open for whoever has asked before the end began.
const ANSWERING: Duration = Duration::from_secs(1);

/// Runs a server until it is told to end. `up`: with every enabled channel, and in a home without a
/// profile one is made.
pub async fn run(home: &Home, environment: &Environment, flags: ServerFlags, up: bool) -> Result<()> {
    let settings = Settings::find(flags, environment, &home.settings())?;
    logs::begin(settings.log, logs::SERVER, environment);
    if let Some(token) = &environment.token {
        http::check_machine_token(token).map_err(|why| anyhow!("{why}"))?;
    }
    http::check_address(settings.listen, settings.behind_proxy || settings.tls.is_some()).map_err(usage)?;
    let tls = settings.tls.as_ref().map(|(certificate, key)| Tls::read(certificate, key));
    let tls = tls.transpose().map_err(|why| anyhow!("{why}"))?;
    // From here on a signal ends it cleanly, whatever it is at.
    let mut signals = Signals::new()?;
    let store = reach::take(home, settings.durability).await?;
    let listener = listen(settings.listen).await?;
    if settings.durability == Survives::Process {
        tracing::warn!(
            "--durability process: what is accepted survives the end of this process, not a loss of power"
        );
    }
    let address = listener.local_addr()?;
    let places = http::places(files::raise());
    let metrics = metrics()?;
    let reached = settings.public_url.clone();
    let engine = opening::engine(home, environment, store, settings.parallel, reached).await?;
    let closing = CancellationToken::new();
    let serves = Serves { listen: Some(address.to_string()), channels: up, bridge: None };
    let local = door::open(home, &engine, serves, &closing)?;
    let mut serving = JoinSet::new();
    let url = lines::url(address, tls.is_some());
    let outcome = async {
        let made = if up { first::make(home, environment, &settings, &engine, true).await? } else { None };
        let profiles = engine.profiles().await?;
        let mut said = lines::start(home, environment, &url, &profiles, made.as_ref(), up);
        if up {
            said.extend(lines::channels(&engine).await?);
        }
        said.extend(lines::agents(&settings, &url));
        for said in said {
            // A server goes on also when nobody reads what it prints.
            drop(output::line(&said));
        }
        // Only now is anything answered: whoever sees that it is up finds the lines printed. What
        // connected meanwhile has waited.
        serving.spawn(local);
        let offer = a2a::offer(&engine, &settings, tls.is_some()).await?;
        if let Some(offer) = &offer {
            tokio::spawn(run_pushes(engine.clone(), offer.clone(), closing.clone()));
        }
        let door = HttpDoor {
            engine: engine.clone(),
            machine_token: environment.token.clone(),
            metrics: Some(metrics.clone()),
            behind_proxy: settings.behind_proxy,
            only_loopback: http::is_only_loopback(address, settings.behind_proxy),
            cors_origins: settings.cors_origins.clone(),
            closing: closing.clone(),
        };
        let public = http::router_with(door, offer);
        match tls {
            Some(tls) => serving.spawn(http::serve_tls(listener, places, tls, public, closing.clone())),
            None => serving.spawn(http::serve(listener, places, public, closing.clone())),
        };
        care::begin(engine.clone(), metrics, closing.clone());
        let taken_up = engine.take_up().await?;
        if up {
            engine.start_channels().await?;
        }
        tracing::info!(%address, home = %home.folder.display(), taken_up, "up");
        tokio::select! {
            Some(ended) = serving.join_next() => ended?.map_err(|why| anyhow!("Serving failed: {why}.")),
            () = signals.next() => Ok(()),
        }
    };
    let outcome = outcome.await;
    end(home, engine, closing, serving).await?;
    outcome
}

/// Ends all that is open, within five seconds.
async fn end(
    home: &Home,
    engine: Engine,
    closing: CancellationToken,
    mut serving: JoinSet<std::io::Result<()>>,
) -> Result<()> {
    tracing::info!("closing");
    // First the socket's name, so that whoever has connected is the last.
    door::remove(home);
    closing.cancel();
    let all = async {
        // A command that is being answered still finds what it asks for.
        let answered = tokio::time::timeout(ANSWERING, served(&mut serving));
        drop(tokio::join!(engine.rest(), answered));
        tokio::join!(engine.close(), served(&mut serving)).0
    };
    match tokio::time::timeout(CLOSING, all).await {
        Ok(closed) => closed?,
        Err(_) => tracing::warn!("what was at work took too long to end; the next start takes it up"),
    }
    Ok(())
}

async fn served(serving: &mut JoinSet<std::io::Result<()>>) {
    while serving.join_next().await.is_some() {}
}

async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|why| match why.kind() {
        std::io::ErrorKind::AddrInUse => anyhow!(
            "Port {} of {} is in use already. Stop what uses it, or take another with --listen {}:PORT (0 takes any free one).",
            address.port(),
            address.ip(),
            address.ip()
        ),
        _ => anyhow!("{address} cannot be listened on: {why}. Choose another address with --listen."),
    })
}

/// Begins to collect metrics.
fn metrics() -> Result<PrometheusHandle> {
    let installed = http::metrics_builder().and_then(|builder| builder.install_recorder());
    installed.map_err(|why| anyhow!("Metrics cannot be collected: {why}."))
}

/// What tells a server to end.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }
    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
