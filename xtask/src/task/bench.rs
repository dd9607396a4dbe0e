//! `cargo xtask bench`: the release binary measured beside its floors, told as a page.
//!
//! It prints the page's tables; with `--write` they replace those of `docs/bench.md`. What people wrote
//! below its heading of findings stays. It never judges a figure: machines differ, and so do neighbours.

use anyhow::{Result, bail};

use crate::{project, shell};

const PAGE: &str = "docs/bench.md";
const FINDINGS: &str = "## Findings";
const HEAD: &str = "\
# How fast, how small

Written by `cargo xtask bench --write`, all but the findings at the end. Every figure stands beside a floor
of the same run, on the same machine, measured by the same client: only the ratios travel.
";

/// Builds the program and the bench, runs it, prints what it found and, if asked, writes the page.
pub fn run(only: &[String], quick: bool, write: bool) -> Result<()> {
    if write && (quick || !only.is_empty()) {
        bail!("the page is written from a whole measurement: leave out --quick and the sections");
    }
    let release = ["build", "--release", "--locked", "--package"];
    shell::run(shell::cargo(&release).arg("switchboard"))?;
    shell::run(shell::cargo(&release).args(["sb-testkit", "--example", "bench"]))?;
    let target = project::target_dir();
    let folder = target.join("bench");
    std::fs::create_dir_all(&folder)?;
    let mut bench = shell::command(&target.join("release/examples/bench").display().to_string(), &[]);
    bench.arg(target.join("release/switchboard")).arg("--folder").arg(folder);
    for section in only {
        bench.args(["--only", section]);
    }
    if quick {
        bench.arg("--quick");
    }
    let found = shell::output(&mut bench)?;
    print!("{found}");
    if write {
        let old = project::read(PAGE).unwrap_or_default();
        let date = shell::output(&mut shell::command("date", &["+%Y-%m-%d"]))?;
        std::fs::write(project::root().join(PAGE), page(date.trim(), &found, &old))?;
        println!("wrote {PAGE}");
    }
    Ok(())
}

fn page(date: &str, found: &str, old: &str) -> String {
    let findings = old.find(FINDINGS).map_or("", |at| &old[at..]);
    format!("{HEAD}\nDate: {date}. {}\n{findings}", found.trim_end().to_owned() + "\n")
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
}
