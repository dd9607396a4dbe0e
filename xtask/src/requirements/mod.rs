//! docs/requirements.md: one line for each promise, ending in what shows that it holds.
//!
//! The page is read into [`Page`] and printed back unchanged but for its statuses, which come from the
//! tests ([`holds`]). A docs link and `out` are written by hand and never touched.

pub mod holds;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Result, bail};

use holds::Proof;

/// Where the page lies.
pub const PAGE: &str = "docs/requirements.md";
const NOT_YET: &str = "not yet";
const OUT: &str = "out";

/// One promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `W-01`, `M-telegram-03`.
    pub id: String,
    /// Everything before the status.
    text: String,
    /// The tests that show it, as [`Proof::path`].
    pub tests: Vec<String>,
    /// A page that says it, as a Markdown link.
    pub page: Option<String>,
    /// Decided against.
    pub out: bool,
}

/// The page, line by line.
#[derive(Debug)]
pub struct Page {
    rows: Vec<Row>,
}

#[derive(Debug)]
enum Row {
    Heading(String),
    Promise(Line),
    Prose(String),
}

/// How far one section is.
#[derive(Debug, PartialEq, Eq)]
pub struct Tally {
    /// Its heading.
    pub section: String,
    /// Lines that a test shows or a page says.
    pub holds: usize,
    /// All lines but those decided against.
    pub total: usize,
}

impl Page {
    /// Reads the page; an error names the line that cannot be read.
    pub fn read(text: &str) -> Result<Page> {
        let mut rows = Vec::new();
        for line in text.lines() {
            rows.push(if let Some(heading) = line.strip_prefix("## ") {
                Row::Heading(heading.to_owned())
            } else if line.starts_with("- **") && line.contains("** · ") {
                Row::Promise(read_line(line)?)
            } else {
                Row::Prose(line.to_owned())
            });
        }
        Ok(Page { rows })
    }

    /// The promises, in order.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.rows.iter().filter_map(|row| if let Row::Promise(line) = row { Some(line) } else { None })
    }

    /// Writes the tests found into their lines, and takes those away that are gone.
    pub fn link(&mut self, proofs: &[Proof]) {
        let mut by_id: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for proof in proofs {
            for id in &proof.ids {
                by_id.entry(id).or_default().push(proof.path.clone());
            }
        }
        for row in &mut self.rows {
            if let Row::Promise(line) = row {
                line.tests = by_id.remove(line.id.as_str()).unwrap_or_default();
                line.tests.sort();
                line.tests.dedup();
            }
        }
    }

    /// The page as text.
    pub fn print(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let _ = match row {
                Row::Heading(heading) => writeln!(text, "## {heading}"),
                Row::Promise(line) => writeln!(text, "{} — {}", line.text, line.status()),
                Row::Prose(prose) => writeln!(text, "{prose}"),
            };
        }
        text
    }

    /// What holds, section by section.
    pub fn tally(&self) -> Vec<Tally> {
        let mut sections: Vec<Tally> = Vec::new();
        for row in &self.rows {
            match row {
                Row::Heading(heading) => {
                    sections.push(Tally { section: heading.clone(), holds: 0, total: 0 })
                }
                Row::Promise(line) if !line.out => {
                    if let Some(section) = sections.last_mut() {
                        section.total += 1;
                        section.holds += usize::from(line.holds());
                    }
                }
                _ => {}
            }
        }
        sections
    }

    /// Every way in which page and tests disagree, as sentences that say what to do.
    pub fn faults(&self, proofs: &[Proof]) -> Vec<String> {
        let mut faults = Vec::new();
        let mut lines: BTreeMap<&str, &Line> = BTreeMap::new();
        for line in self.lines() {
            if lines.insert(&line.id, line).is_some() {
                faults.push(format!("{} stands twice in {PAGE}; give one of them another number", line.id));
            }
        }
        for proof in proofs {
            for id in &proof.ids {
                match lines.get(id.as_str()) {
                    None => faults.push(format!("{} holds {id}, which is no line of {PAGE}", proof.path)),
                    Some(line) if line.out => faults.push(format!("{} holds {id}, which is out", proof.path)),
                    Some(line) if !line.tests.contains(&proof.path) => faults.push(format!(
                        "{id} does not name {}; run: cargo xtask requirements --link",
                        proof.path
                    )),
                    Some(_) => {}
                }
            }
        }
        for line in lines.values() {
            for test in &line.tests {
                if !proofs.iter().any(|proof| &proof.path == test && proof.ids.contains(&line.id)) {
                    faults.push(format!(
                        "{} names {test}, but no such test says `/// Holds: {}.` above it; name it there or run: cargo xtask requirements --link",
                        line.id, line.id
                    ));
                }
            }
        }
        faults
    }
}

impl Line {
    /// Whether a test shows it or a page says it.
    pub fn holds(&self) -> bool {
        !self.out && (!self.tests.is_empty() || self.page.is_some())
    }

    fn status(&self) -> String {
        if self.out {
            return OUT.to_owned();
        }
        let tests = self.tests.iter().map(|test| format!("`{test}`"));
        let parts: Vec<String> = tests.chain(self.page.clone()).collect();
        if parts.is_empty() { NOT_YET.to_owned() } else { parts.join(", ") }
    }
}

/// `- **W-01** · W1 · text — status`
fn read_line(line: &str) -> Result<Line> {
    let Some((text, status)) = line.rsplit_once(" — ") else {
        bail!("this line of {PAGE} ends in no status; add ` — not yet`: {line}");
    };
    let id = text.trim_start_matches("- **").split("**").next().unwrap_or_default();
    let mut read =
        Line { id: id.to_owned(), text: text.to_owned(), tests: vec![], page: None, out: status == OUT };
    if !holds::is_id(id) {
        bail!("this line of {PAGE} has no id such as **W-01**: {line}");
    }
    if status == OUT || status == NOT_YET {
        return Ok(read);
    }
    for part in status.split(", ") {
        if let Some(test) = part.strip_prefix('`').and_then(|p| p.strip_suffix('`')) {
            read.tests.push(test.to_owned());
        } else if part.starts_with('[') && part.ends_with(')') && part.contains("](") {
            read.page = Some(part.to_owned());
        } else {
            bail!("{id} ends in {part:?}, which is neither `a test`, [a page](page.md), `not yet` nor `out`");
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests;
