//! What a server does now and then: forgets keys past their time, removes files never finished, and
//! keeps its metrics small.

use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;
use sb_engine::Engine;
use sb_engine::model::Clock;
use sb_net::SystemClock;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

const METRICS: Duration = Duration::from_secs(30);
const PURGE: Duration = Duration::from_secs(60 * 60);

/// Begins it; it ends with `closing`.
pub fn begin(engine: Engine, metrics: PrometheusHandle, closing: CancellationToken) {
    tokio::spawn(async move {
        let (mut purge, mut upkeep) = (interval(PURGE), interval(METRICS));
        purge.set_missed_tick_behavior(MissedTickBehavior::Delay);
        upkeep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = closing.cancelled() => return,
                _ = upkeep.tick() => metrics.run_upkeep(),
                _ = purge.tick() => {
                    if let Err(why) = engine.store().purge(SystemClock.now()).await {
                        tracing::warn!(error = %why, "old keys and unfinished files could not be removed");
                    }
                }
            }
        }
    });
}
