//! Which profiles are offered to other agents, and how.

use std::sync::Arc;

use anyhow::Result;
use sb_doors::a2a::A2aOffer;
use sb_engine::Engine;
use sb_net::Away;

use crate::settings::Settings;
use crate::usage::usage;

/// What the settings offer; none: nothing.
pub async fn offer(engine: &Engine, settings: &Settings, tls: bool) -> Result<Option<Arc<A2aOffer>>> {
    if settings.a2a.is_empty() {
        return Ok(None);
    }
    if let Some(odd) = settings.a2a.iter().find(|name| !engine.has_profile(name)) {
        return Err(usage(format!(
            "There is no profile {odd:?} to offer with --a2a. `switchboard profile list` shows those there are.",
            odd = odd.0
        )));
    }
    if settings.a2a_push_private {
        tracing::warn!(
            "--a2a-push-private: other agents may have this server post to addresses of its own network"
        );
    }
    Ok(Some(Arc::new(A2aOffer {
        profiles: settings.a2a.clone(),
        public_url: settings.public_url.clone(),
        tls: tls || settings.behind_proxy,
        version: env!("CARGO_PKG_VERSION"),
        push_private: settings.a2a_push_private,
        away: Away::default(),
        begun: engine.now(),
    })))
}
