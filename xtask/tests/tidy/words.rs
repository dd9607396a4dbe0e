//! Words that must not stand in the project, and words that may stand only in one room.
//!
//! This file is the one place where they are written, so it is the one file not looked at.

use xtask::project::{self, Source};

use crate::none;

/// What may stand nowhere, and what to do instead.
const NOWHERE: [(&str, &str); 9] = [
    ("TODO", "do it, or say in docs/requirements.md that it is not there yet"),
    ("FIXME", "put it right"),
    ("XXX", "say what is odd, in words"),
    ("HACK", "say why it is so, in words"),
    ("/work/", "a path of somebody's machine; use a temporary folder or the home"),
    ("/home/user", "a path of somebody's machine; use a temporary folder or the home"),
    ("work session", "the project does not tell how it was made"),
    ("artifactory", "a package registry's host; name none"),
    ("issue #", "say the reason itself: numbers of a tracker mean nothing to a reader"),
];

/// SQL, which only the store speaks.
const SQL: [&str; 6] =
    ["insert into ", "delete from ", "create table ", "\"select ", "alter table ", "on conflict"];
const DATABASES: [&str; 4] = ["rusqlite", "libsqlite3-sys", "postgres", "tokio-postgres"];
const STORE: &str = "sb-store";

fn everything() -> Vec<Source> {
    ["rs", "md", "toml", "sh", "py", "yml", "yaml"]
        .iter()
        .flat_map(|ending| project::sources("", ending))
        .filter(|file| file.path != "xtask/tests/tidy/words.rs")
        .collect()
}

#[test]
fn words_that_belong_nowhere_stand_nowhere() {
    let mut faults = Vec::new();
    for file in everything() {
        for (number, line) in file.text.lines().enumerate() {
            for (word, instead) in NOWHERE.iter().filter(|(word, _)| contains(line, word)) {
                faults.push(format!("{}:{}: {word:?}: {instead}", file.path, number + 1));
            }
        }
    }
    none(faults);
}

/// Whether the word stands there by itself, if it is one of letters only.
fn contains(line: &str, word: &str) -> bool {
    let letters = word.chars().all(|c| c.is_ascii_uppercase());
    line.match_indices(word).any(|(at, _)| {
        let near = [line[..at].chars().next_back(), line[at + word.len()..].chars().next()];
        !(letters && near.into_iter().flatten().any(|c| c.is_alphanumeric() || c == '_' || c == '-'))
    })
}

#[test]
fn only_the_store_speaks_sql() {
    let mut faults = Vec::new();
    for file in project::sources("crates", "rs") {
        if file.crate_name() == Some(STORE) {
            continue;
        }
        for (number, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim().starts_with("//"))
        {
            if let Some(word) = SQL.iter().find(|word| line.to_lowercase().contains(*word)) {
                faults.push(format!("{}:{}: {word:?} is SQL; give {STORE} a method", file.path, number + 1));
            }
        }
    }
    for (folder, manifest) in project::manifests() {
        let name = folder.rsplit('/').next().unwrap_or_default();
        for kind in ["dependencies", "dev-dependencies"] {
            let named = manifest.get(kind).and_then(|d| d.as_table()).cloned().unwrap_or_default();
            for database in DATABASES.iter().filter(|db| name != STORE && named.contains_key(**db)) {
                faults.push(format!("{folder} depends on {database}; only {STORE} may"));
            }
        }
    }
    none(faults);
}
