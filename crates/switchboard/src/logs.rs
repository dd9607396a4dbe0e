//! Log lines: to stderr, so that stdout stays what a command printed.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::args::server::LogForm;

/// What a server logs.
pub const SERVER: &str = "info";
/// What a command logs.
pub const COMMAND: &str = "error";

/// Begins logging. `RUST_LOG` says otherwise what is logged.
pub fn begin(form: LogForm, usual: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let begun = match form {
        LogForm::Text => lines.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogForm::Json => lines.json().try_init(),
    };
    // Fails only if something in this process logs already; then that stands.
    drop(begun);
}
