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
    use sb_engine::channel::standin::{listen, serve, with_page};
    use sb_net::{Http, SystemClock};
    use tokio::net::TcpListener;

    use super::Standin;
    use crate::output::{self, quoted};
    use crate::settings::address;
    use crate::usage::usage;

    /// Where a bridge listens that is tried on a stand-in which calls it.
    const CALLED_AT: &str = "127.0.0.1:8443";

    pub async fn run(args: &Standin) -> Result<()> {
        let standins = sb_channels::standins();
        let found = standins.iter().find(|(kind, _)| (kind.manifest)().id == args.kind);
        let Some((kind, open)) = found else {
            let ids: Vec<&str> = standins.iter().map(|(kind, _)| (kind.manifest)().id).collect();
            return Err(usage(format!(
                "There is no stand-in of {:?}; there is one of {}.",
                args.kind,
                ids.join(", ")
            )));
        };
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
        let standin = open(Arc::new(SystemClock), Some(outside.clone()));
        // One person and a group to begin with; the person is named in the line, so that she may decide.
        let ann = standin.person("Ann");
        let chat = standin.direct(&ann);
        standin.group("The lab");
        let (manifest, allowed) = ((kind.manifest)(), ann.id.clone().unwrap_or_default());
        output::line(&format!("{}, imitated. Type as Ann here: {url}/", manifest.label))?;
        output::line("Let a bridge run on it, in another terminal:")?;
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(std::path::Path::to_str).unwrap_or("switchboard");
        let id = manifest.id;
        let mut line = format!(
            "{} bridge --via {id} --slug {id}-standin --profile assistant --allow {allowed} --approvers {allowed}",
            quoted(program)
        );
        let lines = standin.lines();
        for (key, value) in standin.settings() {
            if let Some(served) = lines.iter().find(|line| line.setting == key) {
                let listener = TcpListener::bind((at.ip(), 0)).await?;
                line += &format!(" --set {key}={}{}", served.scheme, listener.local_addr()?);
                tokio::spawn(listen(listener, Arc::clone(&served.talks)));
            } else if key == "api_url" {
                line += &format!(" --set api_url={url}");
            } else if manifest.fields.iter().any(|field| field.key == key && field.required) {
                line += &format!(" --set {key}={}", quoted(&value));
            }
        }
        if standin.calling(outside).is_some() {
            // It calls the bridge, which must be told where it can be called.
            line += &format!(" --listen {CALLED_AT} --public-url http://{CALLED_AT}");
        }
        output::line(&line)?;
        Ok(serve(listener, with_page(standin, manifest.label, &ann, &chat)).await?)
    }
}
