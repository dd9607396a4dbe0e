//! A change to a file as people read it: a small unified diff, since agents tell the words before and after.

use std::time::Duration;

use similar::TextDiff;

/// Unchanged lines that are shown around a change.
const CONTEXT: usize = 3;
/// How long the smallest change is looked for; then a larger one that says the same is told.
const PATIENCE: Duration = Duration::from_millis(200);

/// The diff of a file from `old` (none: it is new) to `new`, with its name.
pub(super) fn unified(path: &str, old: Option<&str>, new: &str) -> String {
    let before = if old.is_some() { path } else { "/dev/null" };
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old.unwrap_or_default(), new);
    let hunks = diff.unified_diff().context_radius(CONTEXT).missing_newline_hint(false).to_string();
    format!("--- {before}\n+++ {path}\n{hunks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_its_lines_with_what_stands_around_them() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
        let new = old.replace("b\n", "B\n").replace("k\n", "");
        let shown =
            "--- x\n+++ x\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -8,5 +8,4 @@\n h\n i\n j\n-k\n l\n";
        assert_eq!(unified("x", Some(old), &new), shown);
        assert_eq!(unified("x", None, "1\n2"), "--- /dev/null\n+++ x\n@@ -0,0 +1,2 @@\n+1\n+2\n");
        assert_eq!(unified("x", Some("1\n"), ""), "--- x\n+++ x\n@@ -1 +0,0 @@\n-1\n");
        assert_eq!(unified("x", Some("1\n"), "1\n"), "--- x\n+++ x\n");
    }

    #[test]
    fn what_is_very_long_is_told_all_the_same() {
        let old: String = (0..3000).map(|n| format!("old {n}\n")).collect();
        let new: String = (0..3000).map(|n| format!("new {n}\n")).collect();
        let shown = unified("x", Some(&format!("same\n{old}end")), &format!("same\n{new}end"));
        assert!(
            shown.contains("\n same\n-old 0\n") && shown.contains("\n-old 2999\n+new 0\n"),
            "told in order"
        );
        assert!(shown.ends_with("+new 2999\n end\n"));
    }
}
