//! MCP servers as a toolbox of the built-in loop, spoken to by the official SDK.
//!
//! A server is a child in a process group of its own, or an address over streamable HTTP; one connection
//! for each profile, begun when a turn first needs it and ended when nobody does. What a server says of its
//! tools ([`gating`]) becomes facts for the one gate; nothing is decided here. Invariants: whatever a server
//! does (floods, hangs, dies, lies), only its own calls suffer; a definition the operator has not seen
//! reaches no model; dropping a connection leaves no process behind.

mod connection;
mod content;
mod gating;
mod heard;
mod lines;
mod listing;
mod names;
mod place;
mod slot;
mod toolbox;

pub use place::check;
pub use toolbox::{McpContext, McpLimits, McpSecrets, McpToolbox, called};
