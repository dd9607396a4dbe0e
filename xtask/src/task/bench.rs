//! `cargo xtask bench`: the release binary measured beside its floors, told as a page.
//!
//! It prints the page's tables; with `--write` they replace those of `docs/bench.md`, all of them or the
//! sections asked for. What people wrote below its heading of findings stays. It never judges a figure:
//! machines differ, and so do neighbours.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::{project, shell};

const PAGE: &str = "docs/bench.md";
const FINDINGS: &str = "## Findings";
/// The section that a program of its own measures, since it needs a messenger.
const BRIDGE: &str = "bridge";
const HEAD: &str = "\
# How fast, how small

Written by `cargo xtask bench --write`, all but the findings at the end. Every figure stands beside a floor
of the same run, on the same machine, measured by the same client: only the ratios travel.
";

/// Builds the program and the bench, runs it, prints what it found and, if asked, writes the page.
pub fn run(only: &[String], quick: bool, write: bool) -> Result<()> {
    if write && quick {
        bail!("the page is written from a whole measurement: leave out --quick");
    }
    let release = ["build", "--release", "--locked", "--package"];
    shell::run(shell::cargo(&release).arg("switchboard"))?;
    let folder = project::target_dir().join("bench");
    std::fs::create_dir_all(&folder)?;
    let mut found = String::new();
    let others: Vec<&String> = only.iter().filter(|section| *section != BRIDGE).collect();
    if only.is_empty() || !others.is_empty() {
        shell::run(shell::cargo(&release).args(["sb-testkit", "--example", "bench"]))?;
        // An agent of its own, which the bench starts.
        shell::run(shell::cargo(&release).args(["sb-agents", "--example", "acp_agent"]))?;
        let mut bench = measuring("bench", &folder, quick);
        for section in others.iter().copied() {
            bench.args(["--only", section]);
        }
        found += &shell::output(&mut bench)?;
    }
    if only.is_empty() || others.len() < only.len() {
        let example = ["sb-channels", "--features", "standins", "--example", "bench_bridge"];
        shell::run(shell::cargo(&release).args(example))?;
        found += &shell::output(&mut measuring("bench_bridge", &folder, quick))?;
    }
    print!("{found}");
    if write {
        let old = project::read(PAGE).unwrap_or_default();
        let date = shell::output(&mut shell::command("date", &["+%Y-%m-%d"]))?;
        let new = if only.is_empty() { page(date.trim(), &found, &old) } else { replaced(&found, &old) };
        std::fs::write(project::root().join(PAGE), new)?;
        println!("wrote {PAGE}");
    }
    Ok(())
}

/// A built bench, told of the program and where its homes go.
fn measuring(bench: &str, folder: &Path, quick: bool) -> Command {
    let release = project::target_dir().join("release");
    let mut bench = shell::command(&release.join("examples").join(bench).display().to_string(), &[]);
    bench.arg(release.join("switchboard")).arg("--folder").arg(folder);
    if quick {
        bench.arg("--quick");
    }
    bench
}

fn page(date: &str, found: &str, old: &str) -> String {
    let findings = old.find(FINDINGS).map_or("", |at| &old[at..]);
    format!("{HEAD}\nDate: {date}. {}\n{findings}", found.trim_end().to_owned() + "\n")
}

/// The old page with the sections that were found anew; one that is new stands before the findings.
fn replaced(found: &str, old: &str) -> String {
    let mut parts = sections(old);
    for new in sections(found).into_iter().filter(|part| part.starts_with("## ")) {
        let heading = new.lines().next();
        let findings = parts.iter().position(|part| part.starts_with(FINDINGS)).unwrap_or(parts.len());
        match parts.iter().position(|part| part.lines().next() == heading) {
            Some(at) => parts[at] = new,
            None => parts.insert(findings, new),
        }
    }
    parts.iter().map(|part| part.trim_end()).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// A page, cut before each heading of the second order.
fn sections(page: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in page.lines() {
        if line.starts_with("## ") {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            *part += line;
            part.push('\n');
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_found_stays_when_the_figures_are_written_anew() {
        let first = page("2026-01-01", "Machine: x.\n\n## Turns\n\nold\n", "");
        let with = format!("{first}\n{FINDINGS}\n\nIt is fast.\n");
        let second = page("2026-02-02", "Machine: y.\n\n## Turns\n\nnew\n", &with);
        assert!(second.contains("Date: 2026-02-02. Machine: y.") && second.contains("new"));
        assert!(!second.contains("old") && second.ends_with("## Findings\n\nIt is fast.\n"));
    }

    #[test]
    fn a_section_measured_alone_replaces_its_own_and_no_other() {
        let old = "# Page\n\n## Turns\n\nold\n\n## Findings\n\nIt is fast.\n";
        let once = replaced("Machine: z.\n\n## A messenger\n\nfirst\n\n", old);
        assert_eq!(
            once,
            "# Page\n\n## Turns\n\nold\n\n## A messenger\n\nfirst\n\n## Findings\n\nIt is fast.\n"
        );
        let twice = replaced("## A messenger\n\nsecond\n", &once);
        assert_eq!(twice, once.replace("first", "second"));
    }
}
