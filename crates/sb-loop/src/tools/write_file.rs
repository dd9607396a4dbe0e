//! `write_file {path, content}`: replaces a file whole, or not at all.
//!
//! The text goes into a new file beside it, which then takes its place, so nobody reads half a file.
//! A link of that name is replaced, never followed, and none on the way to it is followed either.

use std::io::Write;
use std::path::{Component, Path};

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, OpenOptions, Permissions};
use nix::errno::Errno;
use sb_harness::model::text::counted;
use serde_json::Value;

use super::workspace::{beneath, blocking, open, told};
use super::{Bench, Done, Outcome, text};

pub(super) async fn run(bench: &Bench, input: &Value) -> Outcome {
    let (path, content) = (text(input, "path").to_owned(), text(input, "content").to_owned());
    let workspace = bench.workspace().to_owned();
    let beside = format!(".{:016x}.part", bench.dice.roll());
    blocking(move || write(&open(&workspace)?, &path, content.as_bytes(), &beside)).await
}

/// Puts `content` at a path; `beside` is the name it has until it is whole.
pub(super) fn write(workspace: &Dir, path: &str, content: &[u8], beside: &str) -> Outcome {
    let relative = beneath(path)?;
    let name = relative.file_name().ok_or_else(|| format!("{path:?} names no file."))?;
    if path.ends_with('/') {
        return Err(format!("{path} names a folder, not a file."));
    }
    let parent = relative.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = open_folder(workspace, parent).map_err(|why| match why.raw_os_error() {
        // What the system says of a link where none may be.
        Some(code) if code == Errno::ELOOP as i32 || code == Errno::ENOTDIR as i32 => {
            format!("{path}: a part of its path is a link or a file. Write to the folder itself.")
        }
        _ => told(path, &why),
    })?;
    let before = folder.symlink_metadata(name).ok();
    if before.as_ref().is_some_and(|m| m.is_dir()) {
        return Err(format!("{path} is a folder, not a file."));
    }
    let mode = before.as_ref().filter(|m| m.is_file()).map(|m| m.permissions());
    let written = fill(&folder, beside, content, mode).and_then(|()| folder.rename(beside, &folder, name));
    if let Err(why) = written {
        // It may never have been made.
        let _ = folder.remove_file(beside);
        return Err(told(path, &why));
    }
    let what = if before.is_some() { "Replaced" } else { "Made" };
    let size = counted(content.len() as u64, "byte");
    Ok(Done { text: format!("{what} {path} ({size})."), ..Done::default() })
}

/// Opens the folder, making what is missing of it. A link on the way is refused: what a person allowed
/// is the path they were shown, not where it leads.
fn open_folder(workspace: &Dir, parent: &Path) -> std::io::Result<Dir> {
    let mut folder = workspace.try_clone()?;
    for part in parent.components() {
        folder = match part {
            Component::CurDir => continue,
            Component::Normal(name) => match folder.open_dir_nofollow(name) {
                Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                    folder.create_dir(name)?;
                    folder.open_dir_nofollow(name)?
                }
                opened => opened?,
            },
            _ => return Err(std::io::ErrorKind::PermissionDenied.into()),
        };
    }
    Ok(folder)
}

fn fill(folder: &Dir, name: &str, content: &[u8], mode: Option<Permissions>) -> std::io::Result<()> {
    let mut file = folder.open_with(name, OpenOptions::new().write(true).create_new(true))?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.write_all(content)?;
    file.sync_all()
}
