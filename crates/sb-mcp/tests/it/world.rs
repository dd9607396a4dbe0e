//! A profile with MCP servers, and a toolbox for it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use sb_harness::Blobs;
use sb_harness::model::*;
use sb_harness::net::Http;
use sb_loop::{Done, Offer, Outcome, Toolbox};
use sb_mcp::{McpContext, McpLimits, McpSecrets, McpToolbox};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

/// Blobs in memory.
#[derive(Default)]
pub struct Memory(pub Mutex<Vec<Bytes>>);

#[async_trait]
impl Blobs for Memory {
    async fn read(&self, _: &Digest) -> std::io::Result<Bytes> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    async fn keep(&self, mut file: tokio::fs::File) -> std::io::Result<(Digest, u64)> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).await?;
        let kept = (Digest::of(&bytes), bytes.len() as u64);
        self.0.lock().expect("lock").push(bytes.into());
        Ok(kept)
    }
    async fn open(&self, _: &Digest) -> std::io::Result<tokio::fs::File> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

/// The value of every secret is its name, said twice.
struct Named;

#[async_trait]
impl McpSecrets for Named {
    async fn value(&self, _: &ProfileName, _: &str, name: &str) -> Result<Secret, String> {
        Ok(Secret::new(format!("{name}-{name}")))
    }
}

pub struct World {
    pub toolbox: Arc<McpToolbox>,
    pub profile: Profile,
    pub blobs: Arc<Memory>,
    pub folder: tempfile::TempDir,
}

/// The server that does wrong on purpose.
pub fn faulty(how: &str, folder: &std::path::Path) -> McpServer {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sb-testkit/mcp/faulty.sh");
    let args = vec![script.display().to_string(), how.to_owned(), folder.display().to_string()];
    server(McpAt::Command { command: "sh".to_owned(), args })
}

pub fn server(at: McpAt) -> McpServer {
    McpServer {
        name: "f".into(),
        at,
        secrets: vec![],
        only: vec![],
        without: vec![],
        overrides: BTreeMap::new(),
        untrusted: false,
        limit_s: 60,
        seen: BTreeMap::new(),
    }
}

impl World {
    /// With one server, which the operator has not looked at.
    pub fn of(server: impl FnOnce(&std::path::Path) -> McpServer) -> Self {
        Self::within(server, McpLimits::default())
    }

    pub fn within(server: impl FnOnce(&std::path::Path) -> McpServer, limits: McpLimits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut profile = Profile::gone("p".into());
        profile.mcp = vec![server(folder.path())];
        let http = Http::new().expect("a client");
        let toolbox = Arc::new(McpToolbox::new(McpContext { http, secrets: Arc::new(Named), limits }));
        Self { toolbox, profile, blobs: Arc::default(), folder }
    }

    /// The same, and the operator looked at all tools.
    pub async fn seen(server: impl FnOnce(&std::path::Path) -> McpServer) -> Self {
        let mut world = Self::of(server);
        world.accept().await;
        world
    }

    pub async fn find(&self) -> Result<McpFound, String> {
        self.toolbox.find(&self.profile, &self.profile.mcp[0], BTreeMap::new()).await
    }

    /// The operator looks at the tools and takes them.
    pub async fn accept(&mut self) {
        let found = self.find().await.expect("a server");
        self.profile.mcp[0].seen = found.tools.into_iter().map(|t| (t.name, t.digest)).collect();
    }

    pub async fn offer(&self) -> Offer {
        self.toolbox.offer(&self.profile).await
    }

    pub async fn names(&self) -> Vec<String> {
        self.offer().await.tools.into_iter().map(|t| t.name).collect()
    }

    /// Calls a tool as the loop does once it may.
    pub async fn call(&self, tool: &str, input: Value) -> Outcome {
        let class = self.offer().await.tools.iter().find(|t| t.name == tool).map(|t| t.class);
        let class = class.unwrap_or(ToolClass::Read);
        let call = Call { id: "c".into(), tool: tool.into(), input, class };
        self.toolbox.run(&self.profile, &call, self.blobs.clone()).await
    }

    pub async fn done(&self, tool: &str) -> Done {
        self.call(tool, json!({})).await.expect("a result")
    }

    /// The processes begun so far.
    pub fn begun(&self) -> Vec<String> {
        let noted = std::fs::read_to_string(self.folder.path().join("begun")).unwrap_or_default();
        noted.lines().map(str::to_owned).collect()
    }

    /// Waits until a file of the folder holds something.
    pub async fn noted(&self, file: &str) -> String {
        for _ in 0..1000 {
            match std::fs::read_to_string(self.folder.path().join(file)) {
                Ok(text) if !text.is_empty() => return text,
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
        panic!("{file} was never written");
    }
}

/// Waits until a process is gone, or waits only to be reaped.
pub async fn assert_goes(pid: &str) {
    for _ in 0..1000 {
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Err(_) => return,
            Ok(stat) if stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')) => {
                return;
            }
            Ok(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("process {pid} lives on");
}
