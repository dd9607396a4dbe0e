//! `cargo xtask requirements`: how much of what is promised is shown by a test.
//!
//! With `--link` the page is first written anew from the tests; nothing else of it changes.

use anyhow::{Result, bail};

use crate::project;
use crate::requirements::holds::{self, Proof};
use crate::requirements::{PAGE, Page};

/// All tests that name requirements, and the faults in how they do.
pub fn proofs() -> (Vec<Proof>, Vec<String>) {
    let (mut proofs, mut faults) = (Vec::new(), Vec::new());
    for source in project::sources("crates", "rs").iter().chain(&project::sources("xtask/tests", "rs")) {
        let (found, wrong) = holds::find(source);
        proofs.extend(found);
        faults.extend(wrong);
    }
    (proofs, faults)
}

/// Prints the count; with `link`, writes the page first.
pub fn run(link: bool) -> Result<()> {
    let mut page = Page::read(&project::read(PAGE)?)?;
    let (proofs, mut faults) = proofs();
    if link {
        page.link(&proofs);
        std::fs::write(project::root().join(PAGE), page.print())?;
    }
    let (mut holds, mut total) = (0, 0);
    for section in page.tally() {
        println!("{:>4} of {:>3}  {}", section.holds, section.total, section.section);
        holds += section.holds;
        total += section.total;
    }
    println!("{holds:>4} of {total:>3}  in all");
    faults.extend(page.faults(&proofs));
    if !faults.is_empty() {
        bail!("page and tests disagree:\n  {}", faults.join("\n  "));
    }
    Ok(())
}
