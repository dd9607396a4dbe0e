//! How many files this process may have open, sockets included.
//!
//! Systems give a program few of them and let it have more if it asks. A server asks once, at its start; what
//! it starts later gets as many, which nothing here depends on.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// What is asked for where the system sets no bound, and the most that any use is known for.
const MOST: u64 = 65_536;
/// What is given where the system does not say.
const USUAL: u64 = 1_024;

/// Asks for as many as the system lets us have, and says how many those are. Each stream holds two connections,
/// its reader's and its model's: what a shell gives is meant for less.
pub fn raise() -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return USUAL };
    let wanted = hard.min(MOST);
    if soft >= wanted {
        return soft;
    }
    match setrlimit(Resource::RLIMIT_NOFILE, wanted, hard) {
        Ok(()) => wanted,
        Err(why) => {
            tracing::debug!(error = %why, soft, hard, "the limit of open files stays as it is");
            soft
        }
    }
}
