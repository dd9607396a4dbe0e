//! The project's files as the tidy tests and tasks see them: crates, sources, pages.
//!
//! Read from the work tree, not from git, so a file counts from the moment it is written. Target
//! folders, hidden folders and the fuzzers' corpora are never entered.

use std::path::{Path, PathBuf};

/// The root folder of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Where Cargo builds to.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// One file, with its path from the root and its text.
#[derive(Debug, Clone)]
pub struct Source {
    /// From the project's root, with `/`.
    pub path: String,
    /// The whole text; bytes that are no UTF-8 are replaced.
    pub text: String,
}

impl Source {
    /// The crate it belongs to, if it lies in one: `sb-core`, `xtask`.
    pub fn crate_name(&self) -> Option<&str> {
        match self.path.split('/').collect::<Vec<_>>().as_slice() {
            ["crates", name, _, ..] => Some(name),
            [name @ ("xtask" | "fuzz"), _, ..] => Some(name),
            _ => None,
        }
    }

    /// Whether it is a test of its own: a file below a crate's `tests`.
    pub fn is_test(&self) -> bool {
        self.path.contains("/tests/")
    }
}

/// All files below `folder` (from the root; empty for all) whose name ends in `.ending`, in order of path.
pub fn sources(folder: &str, ending: &str) -> Vec<Source> {
    let mut paths = Vec::new();
    walk(&root().join(folder), ending, &mut paths);
    paths.sort();
    paths
        .into_iter()
        .filter_map(|path| {
            let text = String::from_utf8_lossy(&std::fs::read(&path).ok()?).into_owned();
            let path = path.strip_prefix(root()).ok()?.to_string_lossy().replace('\\', "/");
            Some(Source { path, text })
        })
        .collect()
}

/// The text of one file of the project.
pub fn read(path: &str) -> anyhow::Result<String> {
    use anyhow::Context;
    std::fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {path}"))
}

/// The manifests of all crates: the folder's path from the root, and what its Cargo.toml says.
pub fn manifests() -> Vec<(String, toml::Table)> {
    sources("", "toml")
        .into_iter()
        .filter_map(|file| {
            let folder = file.path.strip_suffix("/Cargo.toml")?.to_owned();
            let table: toml::Table = file.text.parse().ok()?;
            table.contains_key("package").then_some((folder, table))
        })
        .collect()
}

fn walk(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    const SKIPPED: [&str; 3] = ["target", "corpus", "artifacts"];
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !SKIPPED.contains(&name.as_ref()) {
                walk(&path, ending, found);
            }
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
}
