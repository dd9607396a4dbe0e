//! The program as people run it: the real binary, in homes of its own, on free ports.

mod agents;
mod bridging;
mod commands;
mod deciding;
mod ending;
mod ledger;
mod mcp;
mod messenger_kill;
mod metrics;
mod reaching;
mod sheets;
mod soak;
mod starting;
mod terminal;
mod tls;
mod tokens;
mod world;
