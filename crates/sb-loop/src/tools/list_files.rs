//! `list_files {path}`: the names in a folder, sorted, with sizes.

use cap_std::fs::DirEntry;
use sb_harness::model::text::counted;
use sb_harness::model::text::one_line;
use serde_json::Value;

use super::workspace::{beneath, blocking, open, told};
use super::{Bench, Done, Outcome, text};

/// The most names that are told.
const MOST: usize = 1000;
/// The most that are looked at, to tell how many there are.
const MOST_COUNTED: usize = 100_000;

pub(super) async fn run(bench: &Bench, input: &Value) -> Outcome {
    let path = text(input, "path").to_owned();
    let workspace = bench.workspace().to_owned();
    blocking(move || {
        let folder = open(&workspace)?.open_dir(beneath(&path)?).map_err(|why| told(&path, &why))?;
        let entries = folder.entries().map_err(|why| told(&path, &why))?;
        let mut entries: Vec<DirEntry> = entries.take(MOST_COUNTED).filter_map(Result::ok).collect();
        entries.sort_by_key(DirEntry::file_name);
        let count = entries.len();
        let mut lines: Vec<String> = entries.iter().take(MOST).map(line).collect();
        match count {
            0 => lines.push("(empty)".to_owned()),
            _ if count > MOST => lines.push(format!("[cut: the first {MOST} of {count} names]")),
            _ => {}
        }
        Ok(Done { text: lines.join("\n"), ..Done::default() })
    })
    .await
}

/// One name: folders end in a slash, links in an @, files are followed by their size.
fn line(entry: &DirEntry) -> String {
    let name = one_line(&entry.file_name().to_string_lossy(), 300);
    match entry.metadata() {
        Ok(m) if m.is_dir() => format!("{name}/"),
        Ok(m) if m.is_symlink() => format!("{name}@"),
        Ok(m) => format!("{name} ({})", counted(m.len(), "byte")),
        Err(_) => name,
    }
}
