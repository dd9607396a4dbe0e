//! A change to a file as people read it: a small unified diff.
//!
//! Worked out here, since agents tell the words before and after. In time that grows with their product, it is
//! only done for parts that differ and are short; a longer part is told as taken out and put in.

/// Unchanged lines that are shown around a change.
const CONTEXT: usize = 3;
/// The most cells of the table that finds common lines.
const MOST_CELLS: usize = 1_000_000;

/// One line of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Kept(&'a str),
    Out(&'a str),
    In(&'a str),
}

/// The diff of a file from `old` (none: it is new) to `new`, with its name.
pub(super) fn unified(path: &str, old: Option<&str>, new: &str) -> String {
    let before = if old.is_some() { path } else { "/dev/null" };
    let mut shown = format!("--- {before}\n+++ {path}\n");
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.unwrap_or_default().lines().collect(), new.lines().collect());
    let lines = compared(&old, &new);
    let is_near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        let to = (at + CONTEXT + 1).min(lines.len());
        lines[from..to].iter().any(|line| !matches!(line, Line::Kept(_)))
    };
    let (mut old_at, mut new_at, mut at) = (1, 1, 0);
    while at < lines.len() {
        if !is_near(at) {
            (old_at, new_at, at) = (old_at + 1, new_at + 1, at + 1);
            continue;
        }
        let end = (at..lines.len()).find(|n| !is_near(*n)).unwrap_or(lines.len());
        let hunk = &lines[at..end];
        let olds = hunk.iter().filter(|line| !matches!(line, Line::In(_))).count();
        let news = hunk.iter().filter(|line| !matches!(line, Line::Out(_))).count();
        // Of a side without lines the line before is named.
        let start = |at: usize, count: usize| if count == 0 { at - 1 } else { at };
        shown.push_str(&format!("@@ -{},{olds} +{},{news} @@\n", start(old_at, olds), start(new_at, news)));
        for line in hunk {
            let (mark, text) = match line {
                Line::Kept(text) => (' ', text),
                Line::Out(text) => ('-', text),
                Line::In(text) => ('+', text),
            };
            shown.push(mark);
            shown.push_str(text);
            shown.push('\n');
        }
        (old_at, new_at, at) = (old_at + olds, new_at + news, end);
    }
    shown
}

/// Both as one list of lines.
fn compared<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let (old_mid, new_mid) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    let kept = |lines: &[&'a str]| lines.iter().map(|line| Line::Kept(line)).collect::<Vec<_>>();
    [kept(&old[..head]), middle(old_mid, new_mid), kept(&old[old.len() - tail..])].concat()
}

/// The part that differs, by its longest common lines.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let width = new.len() + 1;
    let mut lines = Vec::with_capacity(old.len() + new.len());
    if (old.len() + 1).saturating_mul(width) > MOST_CELLS {
        lines.extend(old.iter().map(|line| Line::Out(line)));
        lines.extend(new.iter().map(|line| Line::In(line)));
        return lines;
    }
    // How many lines both have in common from here on.
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for (o, old_line) in old.iter().enumerate().rev() {
        for (n, new_line) in new.iter().enumerate().rev() {
            common[o * width + n] = match old_line == new_line {
                true => common[(o + 1) * width + n + 1] + 1,
                false => common[(o + 1) * width + n].max(common[o * width + n + 1]),
            };
        }
    }
    let (mut o, mut n) = (0, 0);
    while o < old.len() || n < new.len() {
        let takes_out =
            o < old.len() && (n == new.len() || common[(o + 1) * width + n] >= common[o * width + n + 1]);
        if o < old.len() && n < new.len() && old[o] == new[n] {
            lines.push(Line::Kept(old[o]));
            (o, n) = (o + 1, n + 1);
        } else if takes_out {
            lines.push(Line::Out(old[o]));
            o += 1;
        } else {
            lines.push(Line::In(new[n]));
            n += 1;
        }
    }
    lines
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
        assert_eq!(unified("x", Some("1\n"), ""), "--- x\n+++ x\n@@ -1,1 +0,0 @@\n-1\n");
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
