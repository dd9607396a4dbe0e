//! `cargo xtask new-channel <id>`: a new messenger's folder, working from the start.
//!
//! What is made speaks to a platform that does not exist, and its stand-in imitates it, so that the laws
//! hold before the first line is changed. Whoever adds a messenger then replaces that platform's requests
//! by the real one's, and the laws say when that is done. The templates are `xtask/templates/channel`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::project;

/// Below this each kind has its folder.
pub const FOLDER: &str = "crates/sb-channels/src";
/// Where the list of kinds is, and what it begins and ends with.
pub const LIST: &str = "crates/sb-channels/src/lib.rs";
const LIST_BEGINS: &str = "\nchannels![";
const LIST_ENDS: &str = "];";
/// Where each kind is held to the laws.
pub const LAWS: &str = "crates/sb-channels/tests/it/conformance.rs";

const FILES: [(&str, &str); 5] = [
    ("mod.rs", include_str!("../../templates/channel/mod.rs.txt")),
    ("parse.rs", include_str!("../../templates/channel/parse.rs.txt")),
    ("standin.rs", include_str!("../../templates/channel/standin.rs.txt")),
    ("fixtures/hello.json", include_str!("../../templates/channel/hello.json.txt")),
    ("README.md", include_str!("../../templates/channel/README.md.txt")),
];
const LAWS_OF_ONE: &str = include_str!("../../templates/channel/conformance.rs.txt");

/// Names that cannot be a module's here: Rust's own words, and what the crate has already.
const TAKEN: [&str; 33] = [
    "as", "async", "await", "box", "break", "const", "continue", "crate", "do", "dyn", "else", "enum",
    "extern", "fn", "for", "if", "impl", "in", "kinds", "let", "loop", "match", "mod", "move", "pub", "ref",
    "return", "standins", "static", "struct", "super", "trait", "type",
];
const LONGEST_ID: usize = 32;
const LONGEST_LINE: usize = 110;

/// Makes the folder and says how to go on.
pub fn run(id: &str) -> Result<()> {
    for path in generate(project::root(), id)? {
        println!("wrote {path}");
    }
    let module = module(id);
    println!("\nIt works already, with a platform that is made up:");
    println!("  cargo nextest run -p sb-channels conformance::{module}");
    println!("docs/adding-a-messenger.md says how to go on.");
    Ok(())
}

/// Makes the files of a new kind in a project at `root`: their paths.
///
/// # Errors
/// An id that cannot be one, a kind that is there already, a list that is not where it should be. Then nothing is
/// written.
pub fn generate(root: &Path, id: &str) -> Result<Vec<String>> {
    check(id)?;
    let module = module(id);
    let folder = root.join(FOLDER).join(&module);
    if folder.exists() {
        bail!("{FOLDER}/{module} is there already; take another id, or change that one");
    }
    let read =
        |path: &str| fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"));
    let list = listed(&read(LIST)?, &module)?;
    let laws = read(LAWS)? + &filled(LAWS_OF_ONE, id);
    let mut written = Vec::new();
    for (name, template) in FILES {
        let path = format!("{FOLDER}/{module}/{name}");
        let file = root.join(&path);
        if let Some(above) = file.parent() {
            fs::create_dir_all(above).with_context(|| format!("cannot make the folder of {path}"))?;
        }
        fs::write(&file, filled(template, id)).with_context(|| format!("cannot write {path}"))?;
        written.push(path);
    }
    for (path, text) in [(LIST, list), (LAWS, laws)] {
        fs::write(root.join(path), text).with_context(|| format!("cannot write {path}"))?;
        written.push(path.to_owned());
    }
    Ok(written)
}

/// Lower-case letters, digits and `-`, such that it is a module's name too.
fn check(id: &str) -> Result<()> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let begins = id.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
    if !begins || !id.bytes().all(allowed) || id.ends_with('-') || id.contains("--") || id.len() > LONGEST_ID
    {
        bail!("{id:?} is no id of a messenger: a letter, then letters, digits and single `-`, in lower case");
    }
    if TAKEN.contains(&module(id).as_str()) {
        bail!("{id:?} means something else already; take another id");
    }
    Ok(())
}

fn module(id: &str) -> String {
    id.replace('-', "_")
}

/// The id's words, each with a capital letter.
fn words(id: &str) -> Vec<String> {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    id.split('-').map(capital).collect()
}

fn filled(template: &str, id: &str) -> String {
    template
        .replace("__ID__", id)
        .replace("__MODULE__", &module(id))
        .replace("__TYPE__", &words(id).concat())
        .replace("__LABEL__", &words(id).join(" "))
        .replace("__VARIABLE__", &module(id).to_uppercase())
}

/// The text with the module in its list, which is kept in order.
fn listed(text: &str, module: &str) -> Result<String> {
    let found = text.split_once(LIST_BEGINS).and_then(|(before, rest)| {
        let (list, after) = rest.split_once(LIST_ENDS)?;
        Some((before, list, after))
    });
    let Some((before, list, after)) = found else {
        bail!("{LIST} has no `channels![…];` at the beginning of a line, where the kinds are listed");
    };
    let mut kinds: Vec<&str> = list.split(',').map(str::trim).filter(|kind| !kind.is_empty()).collect();
    kinds.push(module);
    kinds.sort_unstable();
    let line = kinds.join(", ");
    let list = match LIST_BEGINS.len() + line.len() + LIST_ENDS.len() > LONGEST_LINE {
        true => format!("\n    {},\n", kinds.join(",\n    ")),
        false => line,
    };
    Ok(format!("{before}{LIST_BEGINS}{list}{LIST_ENDS}{after}"))
}
