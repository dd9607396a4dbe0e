//! `standin`: a messenger imitated on this machine, and the line that lets a bridge try it.

use anyhow::Result;

use crate::args::messenger::Standin;

/// Serves it until Ctrl-C.
#[cfg(not(feature = "standins"))]
pub async fn run(_: Standin) -> Result<()> {
    Err(anyhow::anyhow!("This program was built without stand-ins; build it with the feature `standins`."))
}

/// Serves it until Ctrl-C.
#[cfg(feature = "standins")]
pub async fn run(args: Standin) -> Result<()> {
    imitated::run(&args).await
}

#[cfg(feature = "standins")]
mod imitated {
    use std::sync::Arc;

    use anyhow::{Result, anyhow};
    use sb_channels::telegram::standin::{self, TelegramStandIn};
    use sb_net::{Http, SystemClock};
    use tokio::net::TcpListener;

    use super::Standin;
    use crate::output::{self, quoted};
    use crate::settings::address;
    use crate::usage::usage;

    pub async fn run(args: &Standin) -> Result<()> {
        if args.kind != "telegram" {
            return Err(usage(format!("There is no stand-in of {:?}; there is one of telegram.", args.kind)));
        }
        let at = address(&args.listen)?;
        if !at.ip().to_canonical().is_loopback() {
            return Err(usage(
                "A stand-in lets whoever reaches it type as anybody, so it listens on this machine only: --listen 127.0.0.1:PORT.",
            ));
        }
        let listener = TcpListener::bind(at).await.map_err(|why| {
            anyhow!("{at} cannot be listened on: {why}. Take another port with --listen 127.0.0.1:PORT (0 takes any free one).")
        })?;
        let url = format!("http://{}", listener.local_addr()?);
        let outside = Http::new().map_err(|why| anyhow!("No HTTP client can be set up: {why}."))?;
        let standin = TelegramStandIn::new(Arc::new(SystemClock), standin::TOKEN).calling(outside);
        // One person and a group to begin with; the person is named in the line, so that she may decide.
        let ann = standin.person("Ann");
        standin.direct(&ann);
        standin.group("The lab", false);
        let id = ann.id.unwrap_or_default();
        output::line(&format!("Telegram, imitated. Type as Ann here: {url}/"))?;
        output::line("Let a bridge run on it, in another terminal:")?;
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(std::path::Path::to_str).unwrap_or("switchboard");
        output::line(&format!(
            "{} bridge --via telegram --slug telegram-standin --profile assistant --allow {id} --approvers {id} --set token={} --set api_url={url}",
            quoted(program),
            standin::TOKEN
        ))?;
        Ok(standin::serve(listener, standin).await?)
    }
}
