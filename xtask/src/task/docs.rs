//! `cargo xtask docs`: the generated page of the docs, printed by the program itself.
//!
//! The program is asked with `switchboard reference`, which answers in Markdown: every command, flag,
//! setting and error code. With `--check` nothing is written, and a stale page is an error.

use anyhow::{Result, bail};

use crate::{project, shell};

/// The page that is generated.
pub const PAGE: &str = "docs/reference.md";

/// Writes the page, or checks it.
pub fn run(check: bool) -> Result<()> {
    let printed = reference()?;
    let path = project::root().join(PAGE);
    if !check {
        std::fs::write(&path, &printed)?;
        println!("wrote {PAGE}");
        return Ok(());
    }
    if std::fs::read_to_string(&path).unwrap_or_default() != printed {
        bail!("{PAGE} is not what the program prints now; run: cargo xtask docs");
    }
    println!("{PAGE} is fresh");
    Ok(())
}

/// What the program says about itself.
fn reference() -> Result<String> {
    let mut args = vec!["run", "--quiet", "--locked", "--package", "switchboard"];
    args.extend(super::test::profile());
    args.extend(["--", "reference"]);
    let printed = shell::output(&mut shell::cargo(&args))?;
    if printed.trim().is_empty() {
        bail!("`switchboard reference` printed nothing; it must print the reference as Markdown");
    }
    Ok(printed)
}
