//! The home's own socket: how commands on this machine reach the running server.
//!
//! It speaks HTTP over a Unix socket (mode 0600, `<home>/socket`): the `/v1` routes of the HTTP
//! channel without a token, as `cli:<user>` with every right, and the `/desk` routes that run things.

pub mod wire;
