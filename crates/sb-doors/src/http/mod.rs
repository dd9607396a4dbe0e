//! The HTTP channel: `/v1` routes, tokens, server-sent events.
