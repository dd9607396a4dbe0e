//! A profile's MCP servers, as the operator sets them up: added once they were seen to work, looked at again,
//! removed. What fails changes nothing.

use std::collections::BTreeMap;

use sb_core::model::{McpFound, McpServer, McpToolState, Profile, ProfileName, Secret};
use sb_store::secret_name;

use crate::Engine;
use crate::error::{EngineError, EngineErrorKind, Result};

/// What the sealed value of a server's variable or header is called among the profile's secrets.
pub fn mcp_secret(server: &str, name: &str) -> String {
    format!("mcp/{server}/{name}")
}

impl Engine {
    /// Adds a server to a profile, or puts it in place of the one of its name, once it was begun and its
    /// tools were listed: these count as seen. `given`: the values of its variables or headers; one that is
    /// left out keeps the value it has. `new`: only if there is none of this name.
    pub async fn put_mcp(
        &self,
        name: &ProfileName,
        mut server: McpServer,
        given: BTreeMap<String, Secret>,
        new: bool,
    ) -> Result<McpFound> {
        let mut profile = self.profile(name).await?;
        let former = profile.mcp.iter().position(|s| s.name == server.name);
        if former.is_some() && new {
            return Err(bad(format!(
                "The profile {name} has an MCP server {} already. `switchboard profile mcp remove {name} {}` removes it; --replace puts this one in its place.",
                server.name, server.name
            )));
        }
        server.seen.clear();
        let mut candidate = profile.clone();
        candidate.mcp = vec![server.clone()];
        self.inner().agents.check(&candidate).map_err(bad)?;
        let mut found = self.find(&profile, &server, given.clone()).await?;
        server.seen = found.tools.iter().map(|tool| (tool.name.clone(), tool.digest)).collect();
        for (variable, value) in &given {
            let secret = secret_name(name, &mcp_secret(&server.name, variable));
            self.store().put_secret(&secret, value).await?;
        }
        let dropped = match former {
            Some(at) => std::mem::replace(&mut profile.mcp[at], server.clone()).secrets,
            None => {
                profile.mcp.push(server.clone());
                Vec::new()
            }
        };
        self.put_profile(profile, None).await?;
        for variable in dropped.iter().filter(|variable| !server.secrets.contains(variable)) {
            self.store().remove_secret(&secret_name(name, &mcp_secret(&server.name, variable))).await?;
        }
        found.tools.iter_mut().for_each(|tool| tool.state = McpToolState::Seen);
        Ok(found)
    }

    /// Begins a server, lists its tools and ends it. `accept`: what is found counts as seen from now on.
    pub async fn find_mcp(&self, name: &ProfileName, server: &str, accept: bool) -> Result<McpFound> {
        let mut profile = self.profile(name).await?;
        let at = position(&profile, server)?;
        let mut found = self.find(&profile, &profile.mcp[at], BTreeMap::new()).await?;
        if accept {
            let seen = found.tools.iter().map(|tool| (tool.name.clone(), tool.digest)).collect();
            profile.mcp[at].seen = seen;
            self.put_profile(profile, None).await?;
            found.tools.iter_mut().for_each(|tool| tool.state = McpToolState::Seen);
        }
        Ok(found)
    }

    /// Removes a server with what was sealed for it.
    pub async fn remove_mcp(&self, name: &ProfileName, server: &str) -> Result<()> {
        let mut profile = self.profile(name).await?;
        let gone = profile.mcp.remove(position(&profile, server)?);
        self.put_profile(profile, None).await?;
        for variable in &gone.secrets {
            self.store().remove_secret(&secret_name(name, &mcp_secret(server, variable))).await?;
        }
        Ok(())
    }

    async fn find(
        &self,
        profile: &Profile,
        server: &McpServer,
        given: BTreeMap<String, Secret>,
    ) -> Result<McpFound> {
        self.inner().agents.find_mcp(profile, server, given).await.map_err(bad)
    }
}

fn bad(said: String) -> EngineError {
    EngineError::new(EngineErrorKind::Bad, said)
}

fn position(profile: &Profile, server: &str) -> Result<usize> {
    profile.mcp.iter().position(|s| s.name == server).ok_or_else(|| {
        let said = format!(
            "The profile {} has no MCP server {server:?}. `switchboard profile mcp list {}` shows those it has.",
            profile.name, profile.name
        );
        EngineError::new(EngineErrorKind::NotFound, said)
    })
}
