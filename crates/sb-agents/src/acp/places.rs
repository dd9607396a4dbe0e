//! Where a path of an agent's leads: into its folder, or out of it.

use std::path::{Component, Path, PathBuf};

/// A path as the workspace knows it, if it leads into it: links are followed as far as they are there.
///
/// What an agent does itself it does by itself; this is only how far a question of its is believed.
pub(super) fn within(workspace: &Path, path: &str) -> Option<String> {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let whole = plain(&workspace.join(path))?;
    let root = workspace.canonicalize().ok()?;
    // The part that is there, with every link followed, and what would be made beneath it.
    let there = whole.ancestors().find(|part| part.symlink_metadata().is_ok())?;
    let rest = whole.strip_prefix(there).ok()?;
    let real = there.canonicalize().ok()?;
    // Put together from parts: joined to nothing, a path would end in a slash.
    let inside: PathBuf = real.strip_prefix(&root).ok()?.components().chain(rest.components()).collect();
    let text = inside.to_str()?.to_owned();
    Some(if text.is_empty() { ".".to_owned() } else { text })
}

/// Without `.` and `..`, as text; none: it leads above the root.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_inside_or_not_whatever_it_looks_like() {
        let outer = tempfile::tempdir().expect("a folder");
        let root = outer.path().join("work");
        std::fs::create_dir_all(root.join("a")).expect("made");
        std::os::unix::fs::symlink(outer.path(), root.join("out")).expect("made");
        std::os::unix::fs::symlink("/nowhere", root.join("dangling")).expect("made");
        let at = |path: &str| within(&root, path);
        assert_eq!(at("a/b.txt").as_deref(), Some("a/b.txt"));
        std::fs::write(root.join("a/there.txt"), "").expect("made");
        assert_eq!((at("a/there.txt").as_deref(), at("a").as_deref()), (Some("a/there.txt"), Some("a")));
        assert_eq!(at(root.join("a/new/c").to_str().unwrap()).as_deref(), Some("a/new/c"));
        assert_eq!((at("a/../b").as_deref(), at(".").as_deref()), (Some("b"), Some(".")));
        for odd in ["../x", "/etc/passwd", "out/x", "a/../../x", "file:///etc/passwd", "dangling"] {
            assert_eq!(at(odd), None, "{odd}");
        }
    }
}
