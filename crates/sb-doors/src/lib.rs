//! Ways in: wire to engine API and back.
