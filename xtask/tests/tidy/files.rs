//! Sizes, headers and names of source files.
//!
//! Small files with a name that says their job: that is how a reader finds things. Numbers are the
//! house's: half of the files at most 150 lines, nine in ten 400, none over 600 (tests 1,000).

use xtask::project::{self, Source};

use crate::none;

const MOST: usize = 600;
const MOST_TEST: usize = 1_000;
const HALF: usize = 150;
const NINE_IN_TEN: usize = 400;
const NAMELESS: [&str; 7] = ["util", "utils", "helpers", "common", "manager", "misc", "base"];

fn rust() -> Vec<Source> {
    ["crates", "xtask", "fuzz"].iter().flat_map(|folder| project::sources(folder, "rs")).collect()
}

#[test]
fn no_file_is_too_long() {
    let faults = rust().into_iter().filter_map(|file| {
        let (lines, most) = (file.text.lines().count(), if file.is_test() { MOST_TEST } else { MOST });
        (lines > most)
            .then(|| format!("{} has {lines} lines, {most} at most; split it by subject", file.path))
    });
    none(faults.collect());
}

#[test]
fn most_files_are_short() {
    let mut sizes: Vec<(usize, String)> =
        rust().into_iter().map(|file| (file.text.lines().count(), file.path)).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let share =
        |most: usize| sizes.iter().filter(|(lines, _)| *lines <= most).count() * 100 / sizes.len().max(1);
    let longest: Vec<String> = sizes.iter().take(10).map(|(lines, path)| format!("{lines} {path}")).collect();
    let mut faults = Vec::new();
    for (most, percent) in [(HALF, 50), (NINE_IN_TEN, 90)] {
        if share(most) < percent {
            faults.push(format!(
                "only {} % of the files have at most {most} lines, {percent} % must; the longest: {}",
                share(most),
                longest.join(", ")
            ));
        }
    }
    none(faults);
}

#[test]
fn every_file_says_first_what_it_is_for() {
    let without = rust().into_iter().filter(|file| {
        let first = file.text.lines().find(|line| !line.is_empty() && !line.starts_with("#!["));
        !first.is_some_and(|line| line.starts_with("//!"))
    });
    none(
        without
            .map(|f| format!("{} has no header; begin it with `//!`: its job, its invariant", f.path))
            .collect(),
    );
}

#[test]
fn no_file_or_folder_has_a_name_that_names_nothing() {
    let mut faults = Vec::new();
    for file in rust() {
        for part in file.path.trim_end_matches(".rs").split('/') {
            if NAMELESS.contains(&part) {
                faults.push(format!("{} is called {part:?}; name the job it does", file.path));
            }
        }
    }
    none(faults);
}

#[test]
fn tests_are_sentences() {
    let mut faults = Vec::new();
    for file in rust() {
        let mut lines = file.text.lines().map(str::trim).peekable();
        while let Some(line) = lines.next() {
            let is_test = line == "#[test]" || line.starts_with("#[tokio::test");
            let Some(next) = lines.peek().filter(|_| is_test) else { continue };
            let Some(name) = next.trim_start_matches("async ").strip_prefix("fn ") else { continue };
            let name = name.split(['(', '<']).next().unwrap_or_default();
            // What a macro is given is a name of somewhere else.
            if name.split('_').count() < 3 && !name.starts_with('$') {
                faults.push(format!("{}: the test {name} is no sentence; say what holds", file.path));
            }
        }
    }
    none(faults);
}

#[test]
fn no_test_is_left_out() {
    let ignored =
        rust().into_iter().filter(|file| file.text.lines().any(|line| line.trim().starts_with("#[ignore")));
    none(
        ignored
            .map(|f| format!("{} ignores a test; make it fast and sure, or a task of xtask", f.path))
            .collect(),
    );
}

#[test]
fn every_fuzz_target_is_built_by_that_name() {
    let manifest = project::read("fuzz/Cargo.toml").expect("fuzz/Cargo.toml");
    let missing = xtask::task::fuzz::targets()
        .into_iter()
        .filter(|name| !manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")));
    none(
        missing
            .map(|name| format!("fuzz_targets/{name}.rs has no [[bin]] of its name in fuzz/Cargo.toml"))
            .collect(),
    );
}
