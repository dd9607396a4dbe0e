//! [`McpToolbox`]: the MCP servers of all profiles, as the loop and the operator's commands use them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use sb_harness::Blobs;
use sb_harness::model::{Call, McpFound, McpServer, McpToolState, Profile, ProfileName, Secret};
use sb_harness::net::Http;
use sb_loop::{Done, Offer, Outcome, Toolbox};

use crate::connection::{Connection, NoResult, span};
use crate::slot::{self, Slot};
use crate::{content, gating, listing, names};

/// Where the sealed values of variables and headers come from.
#[async_trait]
pub trait McpSecrets: Send + Sync + 'static {
    /// One value; a sentence says why it cannot be had.
    async fn value(&self, profile: &ProfileName, server: &str, name: &str) -> Result<Secret, String>;
}

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct McpLimits {
    /// A server's start, and the listing of its tools.
    pub begin: Duration,
    /// How long a server is kept that nobody uses.
    pub idle: Duration,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self { begin: Duration::from_secs(30), idle: Duration::from_secs(600) }
    }
}

/// All it may touch of the outside.
pub struct McpContext {
    pub http: Http,
    pub secrets: Arc<dyn McpSecrets>,
    pub limits: McpLimits,
}

type Slots = HashMap<(ProfileName, String), Arc<Slot>>;

/// The MCP servers of all profiles.
pub struct McpToolbox {
    context: Arc<McpContext>,
    slots: Mutex<Slots>,
}

/// The names by which a profile's agent calls the tools that its operator gave it.
pub fn called(profile: &Profile) -> Vec<String> {
    let of = |server: &McpServer| {
        let given = names::seen(server).into_iter().filter(|(_, tool)| server.gives(tool));
        given.map(|(called, _)| called).collect::<Vec<_>>()
    };
    profile.mcp.iter().flat_map(of).collect()
}

impl McpToolbox {
    pub fn new(context: McpContext) -> Self {
        Self { context: Arc::new(context), slots: Mutex::default() }
    }

    /// Begins a server for the operator to look at, lists its tools, and ends it. `given`: values of its
    /// variables or headers that are not kept yet. The error is a sentence for the operator.
    pub async fn find(
        &self,
        profile: &Profile,
        server: &McpServer,
        mut given: BTreeMap<String, Secret>,
    ) -> Result<McpFound, String> {
        for name in &server.secrets {
            if !given.contains_key(name) {
                let value = self.context.secrets.value(&profile.name, &server.name, name).await?;
                given.insert(name.clone(), value);
            }
        }
        let (dir, limit) = (slot::folder(profile.workspace.as_deref(), server), self.context.limits.begin);
        let secrets = slot::named(server, given);
        let connection = Connection::begin(server, &dir, secrets, &self.context.http, limit).await?;
        let listed = listing::list(&connection, limit).await;
        let found = match listed {
            Ok(listed) => Ok(listing::found(server, &connection, &listed)),
            Err(why) => {
                Err(format!("The MCP server {} began, but {why}.{}", server.name, connection.printed()))
            }
        };
        connection.end().await;
        found
    }

    /// Ends the servers of a profile that was changed or removed; calls under way are let end.
    pub async fn forget(&self, profile: &ProfileName) {
        let gone = self.take(|of| of == profile);
        join_all(gone.iter().map(|slot| slot.end(false))).await;
    }

    /// Ends all servers.
    pub async fn close(&self) {
        let gone = self.take(|_| true);
        join_all(gone.iter().map(|slot| slot.end(true))).await;
    }

    fn take(&self, whose: impl Fn(&ProfileName) -> bool) -> Vec<Arc<Slot>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.extract_if(|(profile, _), _| whose(profile)).map(|(_, slot)| slot).collect()
    }

    fn slot(&self, profile: &Profile, server: &McpServer) -> Arc<Slot> {
        let dir = slot::folder(profile.workspace.as_deref(), server);
        let key = (profile.name.clone(), server.name.clone());
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Slot::new(profile.name.clone(), server.clone(), dir.clone()));
        let slot = slots.entry(key).or_insert_with(new);
        if !slot.is_of(server, &dir) {
            // What used the former one keeps it until it is done.
            *slot = new();
        }
        slot.clone()
    }
}

/// The server and its own name for a tool that the model called.
fn find<'a>(profile: &'a Profile, called: &str) -> Option<(&'a McpServer, String)> {
    profile.mcp.iter().find_map(|server| {
        let own = called.starts_with(&format!("{}__", server.name));
        let tool = own.then(|| names::seen(server).remove(called)).flatten()?;
        Some((server, tool))
    })
}

#[async_trait]
impl Toolbox for McpToolbox {
    async fn offer(&self, profile: &Profile) -> Offer {
        let of = async |server: &McpServer| match self.slot(profile, server).look(&self.context).await {
            Ok(listed) => listing::offer(profile, server, &listed),
            Err(why) => Offer {
                tools: Vec::new(),
                notes: vec![format!("The tools of the MCP server {} cannot be had now. {why}", server.name)],
            },
        };
        let offers = join_all(profile.mcp.iter().map(of)).await;
        let mut all = Offer::default();
        for offer in offers {
            all.tools.extend(offer.tools);
            all.notes.extend(offer.notes);
        }
        all
    }

    fn has(&self, profile: &Profile, tool: &str) -> bool {
        find(profile, tool).is_some()
    }

    async fn run(&self, profile: &Profile, call: &Call, blobs: Arc<dyn Blobs>) -> Outcome {
        let (server, name) =
            find(profile, &call.tool).ok_or_else(|| format!("There is no such tool as {:?}.", call.tool))?;
        let slot = self.slot(profile, server);
        let (connection, listed) = slot.ready(&self.context).await.map_err(|why| {
            format!("The call was not made: the MCP server {} does not run. {why}", server.name)
        })?;
        // It may have been begun anew since the model was told of it.
        let tool = listed.tools.iter().find(|t| t.name == *name && server.gives(&name));
        let tool = tool.ok_or_else(|| format!("The MCP server {} has this tool no more.", server.name))?;
        if listing::state(server, tool) != McpToolState::Seen {
            return Err(format!(
                "The call was not made: what the MCP server {} says of this tool changed after the operator saw it. {}",
                server.name,
                listing::remedy(profile, server)
            ));
        }
        let facts = gating::facts(server, tool);
        if facts.class != call.class {
            return Err("The call was not made: it was allowed as another sort of call.".to_owned());
        }
        let input = call.input.as_object().cloned().unwrap_or_default();
        let limit = Duration::from_secs(u64::from(server.limit_s));
        match connection.call(&name, input, limit).await {
            Ok(result) => {
                slot.succeeded().await;
                Ok(content::done(result, facts.taints, &name, &blobs).await)
            }
            Err(NoResult::Refused(why)) => {
                slot.succeeded().await;
                let text = format!("The server refuses the call: {why}");
                Ok(Done { text, failed: true, outside: facts.taints, ..Done::default() })
            }
            Err(why) => Err(self.failed(&slot, &connection, why, limit).await),
        }
    }
}

impl McpToolbox {
    /// Sees to a connection whose call has no result, and says it to the model.
    async fn failed(
        &self,
        slot: &Slot,
        connection: &Arc<Connection>,
        why: NoResult,
        limit: Duration,
    ) -> String {
        let name = &slot.server.name;
        match why {
            NoResult::TimedOut { heard } => {
                if !heard {
                    slot.give_up(connection).await;
                }
                format!(
                    "The MCP server {name} did not finish this call within {}; it was told to stop. What was asked may have been done, wholly or in part.",
                    span(limit)
                )
            }
            NoResult::Ended => format!(
                "The MCP server {name} ended in the middle of this call ({}). What was asked may have been done, wholly or in part: look before doing it again. The next call begins the server again.",
                connection.why_ended().await
            ),
            NoResult::WantsMore => format!(
                "The MCP server {name} wants more than the call's input before it answers, which is not supported here. The call is ended."
            ),
            NoResult::Refused(_) | NoResult::Garbled => {
                format!("The MCP server {name} gave an answer that cannot be read.")
            }
        }
    }
}
