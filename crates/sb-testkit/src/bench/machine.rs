//! What kind of machine this was: cores and disk, nothing that names it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The page's first lines.
pub(super) fn facts(folder: &Path) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory =
        field("/proc/meminfo", "MemTotal:").map_or("?".to_owned(), |kb| format!("{} GB", kb / 1_000_000));
    format!("Machine: {cores} cores, {memory} of memory, {}.\n\n", disk(folder))
}

fn disk(folder: &Path) -> String {
    let Some(device) = std::fs::metadata(folder).ok().map(|m| m.dev()) else {
        return "an unknown disk".into();
    };
    let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00));
    let kind = match block(major, minor) {
        None => "no block device",
        Some(block) if block.to_string_lossy().contains("virtio") => "virtual disk",
        Some(block) => match rotates(&block) {
            Some(true) => "rotating disk",
            Some(false) => "solid-state disk",
            None => "disk",
        },
    };
    let system = system(&format!("{major}:{minor}")).unwrap_or_default();
    format!("{kind} ({system})")
}

fn block(major: u64, minor: u64) -> Option<PathBuf> {
    std::fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()
}

/// A partition's answer stands with its disk.
fn rotates(block: &Path) -> Option<bool> {
    let read = |at: &Path| std::fs::read_to_string(at.join("queue/rotational")).ok();
    Some(read(block).or_else(|| read(block.parent()?))?.trim() == "1")
}

/// The kind of file system on a device.
fn system(device: &str) -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(device))?;
    line.split_once(" - ")?.1.split(' ').next().map(str::to_owned)
}

/// A number of a file in which each line begins with its name.
pub(super) fn field(file: impl AsRef<Path>, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Processor time a process has used, in milliseconds.
pub(super) fn cpu_ms(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = text.rsplit_once(')').map_or("", |(_, after)| after);
    // The 14th and 15th fields, counted from the start, in ticks of ten milliseconds.
    let ticks = |n: usize| after.split_whitespace().nth(n).and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) * 10.0
}

/// What a process holds in memory: all, and what no file backs; in MB of 2^20 bytes.
pub(super) fn resident(pid: u32) -> (f64, f64) {
    let status = format!("/proc/{pid}/status");
    let of = |name| field(&status, name).map_or(f64::NAN, |kb| kb as f64 / 1024.0);
    (of("VmRSS:"), of("RssAnon:"))
}
