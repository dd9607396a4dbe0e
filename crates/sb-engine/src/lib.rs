//! Runs it all; offers the engine API.
