//! Log lines: to stderr, so that stdout stays what a command printed.
//!
//! Invariant: no line holds a secret. Whoever logs does not put one in; a last look at every line strikes
//! out what slipped through, since an error's text may come from anywhere.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use sb_engine::model::Secret;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::args::server::LogForm;
use crate::environment::Environment;

mod secrets;

/// What a server logs. The SDK of MCP would log whole addresses and what tools say; what matters of it, we say.
pub const SERVER: &str = "info,rmcp=off";
/// What a command logs.
pub const COMMAND: &str = "error,rmcp=off";

/// Begins logging. `RUST_LOG` says otherwise what is logged.
pub fn begin(form: LogForm, usual: &str, environment: &Environment) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    let known = environment.token.iter().chain(environment.keys.values()).cloned().collect();
    let writer = Struck { known, to: io::stderr };
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    let begun = match form {
        LogForm::Text => lines.with_ansi(io::stderr().is_terminal()).try_init(),
        LogForm::Json => lines.json().try_init(),
    };
    // Fails only if something in this process logs already; then that stands.
    drop(begun);
}

/// Makes a writer for each line, which strikes secrets out of it.
struct Struck<M> {
    known: Arc<[Secret]>,
    to: M,
}

/// One line, written on when it is whole.
struct Line<W: Write> {
    known: Arc<[Secret]>,
    text: Vec<u8>,
    to: W,
}

impl<'a, M, W: Write> MakeWriter<'a> for Struck<M>
where
    M: Fn() -> W,
{
    type Writer = Line<W>;
    fn make_writer(&'a self) -> Line<W> {
        Line { known: self.known.clone(), text: Vec::new(), to: (self.to)() }
    }
}

impl<W: Write> Write for Line<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Drop for Line<W> {
    fn drop(&mut self) {
        let line = secrets::struck(&String::from_utf8_lossy(&self.text), &self.known);
        // A log that cannot be written is nothing a line can tell.
        drop(self.to.write_all(line.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_of_json_holds_no_secret_and_stays_json() {
        let memory = Memory::default();
        let into = memory.clone();
        let known = Arc::from([Secret::new("the-machine\"s-own")]);
        let writer = Struck { known, to: move || into.clone() };
        let lines = tracing_subscriber::fmt().json().with_writer(writer).finish();
        tracing::subscriber::with_default(lines, || {
            tracing::info!(error = "sent the-machine\"s-own", "Bearer 0123456789abcdef\" was refused");
            tracing::warn!(path = "C:\\sk-0123456789abcdef\n", "two");
        });
        let text = String::from_utf8(memory.0.lock().expect("nobody panicked").clone()).expect("text");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert_eq!(lines[0]["fields"]["error"], "sent [secret]");
        assert_eq!(lines[0]["fields"]["message"], "Bearer [secret]\" was refused");
        assert_eq!(lines[1]["fields"]["path"], "C:\\[secret]\n");
    }
}
