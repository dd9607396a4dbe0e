//! `cargo xtask docs`: the generated pages of the docs, made of what the program prints about itself.
//!
//! The program is built once and asked: `reference` answers in Markdown, the facts about messengers and what
//! safety rests on come as JSON. A messenger's own page is its adapter's README.md. With `--check` nothing is
//! written, and a page that is stale, missing or of nothing that there is, is an error.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;

use super::new_channel::FOLDER;
use crate::{messengers, project, shell};

/// Every command, flag, setting and error code.
pub const REFERENCE: &str = "docs/reference.md";
/// What messengers can, beside each other; below it, a page for each.
pub const MESSENGERS: &str = "docs/messengers";
/// What safety rests on.
pub const TRUST: &str = "docs/trust.md";

/// Writes the pages, or checks them.
pub fn run(check: bool) -> Result<()> {
    let pages = pages()?;
    let mut stale = Vec::new();
    for path in left_over(&pages) {
        if check {
            stale.push(path);
        } else {
            fs::remove_file(project::root().join(&path))?;
            println!("removed {path}");
        }
    }
    for (path, printed) in &pages {
        let file = project::root().join(path);
        let fresh = fs::read_to_string(&file).is_ok_and(|there| there == *printed);
        match (fresh, check) {
            (true, _) => {}
            (false, true) => stale.push(path.clone()),
            (false, false) => {
                if let Some(folder) = file.parent() {
                    fs::create_dir_all(folder)?;
                }
                fs::write(&file, printed).with_context(|| format!("cannot write {path}"))?;
                println!("wrote {path}");
            }
        }
    }
    if !stale.is_empty() {
        bail!("not what the program prints now: {}; run: cargo xtask docs", stale.join(", "));
    }
    println!("{} pages are fresh", pages.len());
    Ok(())
}

/// All generated pages by path.
fn pages() -> Result<BTreeMap<String, String>> {
    let kinds: Vec<messengers::Kind> = read(&["channel", "kinds", "--json"])?;
    let mut pages = BTreeMap::from([
        (REFERENCE.to_owned(), printed(&["reference"])?),
        (format!("{MESSENGERS}.md"), messengers::table(&kinds)?),
        (TRUST.to_owned(), messengers::trust(&read::<Vec<_>>(&["trust", "--all", "--json"])?)),
    ]);
    for kind in &kinds {
        let own = project::read(&format!("{FOLDER}/{}/README.md", kind.id.replace('-', "_")))?;
        pages.insert(format!("{MESSENGERS}/{}.md", kind.id), messengers::page(kind, &own)?);
    }
    Ok(pages)
}

/// Pages of messengers that are no more.
fn left_over(pages: &BTreeMap<String, String>) -> Vec<String> {
    let there = project::sources(MESSENGERS, "md").into_iter().map(|page| page.path);
    there.filter(|path| !pages.contains_key(path)).collect()
}

/// What the program prints.
fn printed(words: &[&str]) -> Result<String> {
    let mut args = vec!["run", "--quiet", "--locked", "--package", "switchboard"];
    args.extend(super::test::profile());
    args.push("--");
    args.extend(words);
    let printed = shell::output(&mut shell::cargo(&args))?;
    if printed.trim().is_empty() {
        bail!("`switchboard {}` printed nothing", words.join(" "));
    }
    Ok(printed)
}

fn read<T: DeserializeOwned>(words: &[&str]) -> Result<T> {
    let line = words.join(" ");
    serde_json::from_str(&printed(words)?)
        .with_context(|| format!("`switchboard {line}` printed other facts than expected"))
}
