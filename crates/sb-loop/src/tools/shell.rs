//! `shell {command}`: a command in the workspace, in a process group of its own.

use std::time::Duration;

use sb_harness::net::child::{self, Exit, Program};
use serde_json::Value;

use super::workspace::plain;
use super::{Bench, Done, Outcome, text};

const LIMIT: Duration = Duration::from_secs(120);
/// The most output that is kept, half of it from the end.
const MOST: usize = 64 * 1024;

pub(super) async fn run(bench: &Bench, input: &Value) -> Outcome {
    let program = Program {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), text(input, "command").to_owned()],
        dir: bench.workspace().to_owned(),
        input: None,
        limit: LIMIT,
        keep: MOST,
    };
    let done =
        child::run(program).await.map_err(|why| format!("The command could not be run: {}.", plain(&why)))?;
    let output = done.output.trim_end();
    let before = if output.is_empty() { String::new() } else { format!("{output}\n") };
    match done.exit {
        Exit::Code(0) => Ok(Done { text: format!("{before}[exit code 0]"), ..Done::default() }),
        Exit::Code(code) => Err(format!("{before}[exit code {code}]")),
        Exit::Signal(signal) => Err(format!("{before}[ended by signal {signal}]")),
        Exit::TimedOut => Err(format!("{before}[killed: it took longer than {} seconds]", LIMIT.as_secs())),
    }
}
