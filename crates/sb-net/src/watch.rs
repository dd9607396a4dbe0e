//! A process beside us that ends the programs we started if we ourselves are killed.
//!
//! It is told each process group that begins and ends, by a pipe that only we hold open. Killed in whatever way, we
//! let go of the pipe; then it kills the groups that are left, and ends. Where it is killed instead, the next group
//! that begins starts another and tells it of all of them. Nothing runs before its group is named here: see `hold`.
//! Invariant: a group it is told of is one of ours.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use nix::unistd::Pid;

/// Words of the plainest shell, so that nothing need be installed.
const SCRIPT: &str = r#"
groups=' '
while read -r what group; do
    case "$what" in
        begins) groups="$groups$group " ;;
        ends) groups="${groups%% $group *} ${groups#* $group }" ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
"#;

static WATCH: Mutex<Watch> = Mutex::new(Watch { watcher: None, groups: BTreeSet::new() });

struct Watch {
    watcher: Option<Child>,
    groups: BTreeSet<i32>,
}

/// A process is about to be started: whoever watches is there before it is, and needs only be told.
pub(crate) fn ready() {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    if watch.watcher.is_none()
        && let Err(why) = watch.start()
    {
        warn(&why);
    }
}

/// A group was started, led by this process.
pub(crate) fn begins(leader: Pid) {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    if !watch.groups.insert(leader.as_raw()) {
        return;
    }
    if watch.tell("begins", leader.as_raw()).is_err()
        && let Err(why) = watch.start()
    {
        warn(&why);
    }
}

fn warn(why: &io::Error) {
    tracing::warn!(error = %why, "what is started now would outlive us if we were killed");
}

/// A group of ours is gone.
pub(crate) fn ends(leader: Pid) {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    if watch.groups.remove(&leader.as_raw()) {
        // One that is gone too is started again with the next group.
        let _ = watch.tell("ends", leader.as_raw());
    }
}

impl Watch {
    fn tell(&mut self, what: &str, leader: i32) -> io::Result<()> {
        let input = self.watcher.as_mut().and_then(|watcher| watcher.stdin.as_mut());
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        input.ok_or_else(gone)?.write_all(format!("{what} {leader}\n").as_bytes())
    }

    /// Starts one and tells it of every group.
    #[expect(clippy::disallowed_methods, reason = "this room is the one that starts programs")]
    fn start(&mut self) -> io::Result<()> {
        if let Some(mut former) = self.watcher.take() {
            drop(former.stdin.take());
            let _ = former.kill();
            let _ = former.wait();
        }
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT]).env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.watcher = Some(command.spawn()?);
        let groups = self.groups.clone();
        groups.into_iter().try_for_each(|leader| self.tell("begins", leader))
    }
}
