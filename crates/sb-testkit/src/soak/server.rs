//! The real binary: started, killed, started again, always in the same home.
#![allow(
    clippy::disallowed_methods,
    reason = "it starts the real program and speaks to it as a stranger would"
)]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::process::{Child, Command};

use super::client::Reach;

const TOKEN: &str = "soak-token-0123456789";

pub(super) struct Server {
    binary: PathBuf,
    home: PathBuf,
    /// The command that starts it.
    verb: &'static str,
    reach: Reach,
    address: String,
    child: Option<Child>,
}

impl Server {
    /// A home with the profile the soak talks to.
    pub async fn prepare(binary: &Path, home: &Path, verb: &'static str) -> Result<Self> {
        let address = {
            let free = std::net::TcpListener::bind("127.0.0.1:0")?;
            free.local_addr()?.to_string()
        };
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder().pool_max_idle_per_host(0).build()?;
        let reach = Reach { http, base: format!("http://{address}"), token: TOKEN.to_owned() };
        let server =
            Self { binary: binary.to_owned(), home: home.to_owned(), verb, reach, address, child: None };
        let workspace = server.workspace();
        let workspace = workspace.to_str().context("a home that is text")?;
        server
            .command(&[
                "profile",
                "add",
                "soak",
                "--model",
                "scripted",
                "--autonomy",
                "L5",
                "--workspace",
                workspace,
            ])
            .await?;
        Ok(server)
    }

    pub fn client(&self) -> Reach {
        self.reach.clone()
    }

    pub fn workspace(&self) -> PathBuf {
        self.home.join("workspaces").join("soak")
    }

    pub async fn start(&mut self) -> Result<()> {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.home.join("soak.log"))?;
        let child = self
            .program(&[self.verb, "--listen", &self.address])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .context("the program does not start")?;
        self.child = Some(child);
        for _ in 0..400 {
            if self
                .reach
                .http
                .get(format!("{}/readyz", self.reach.base))
                .send()
                .await
                .is_ok_and(|r| r.status().is_success())
            {
                return Ok(());
            }
            if let Some(status) = self.child.as_mut().and_then(|c| c.try_wait().ok().flatten()) {
                let log = std::fs::read_to_string(self.home.join("soak.log")).unwrap_or_default();
                bail!(
                    "the program ended with {status}: {}",
                    log.lines().rev().take(5).collect::<Vec<_>>().join(" / ")
                );
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        bail!("the program is not ready after ten seconds");
    }

    /// SIGKILL, and its end.
    pub async fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().await?;
        }
        Ok(())
    }

    pub async fn stop(mut self) -> Result<()> {
        self.kill().await
    }

    /// Runs one command of the program and gives what it printed.
    pub async fn command(&self, args: &[&str]) -> Result<String> {
        let output = self.program(args).output().await?;
        if !output.status.success() {
            bail!("{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn program(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(args)
            .env("SWITCHBOARD_HOME", &self.home)
            .env("SWITCHBOARD_TOKEN", TOKEN)
            .kill_on_drop(true);
        command
    }
}
