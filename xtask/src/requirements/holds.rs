//! Finds the tests that name requirements: `/// Holds: W-01, W-09.` in the doc comment above a test.
//!
//! A plain scan of lines, so a test is named by its crate, its file and its function:
//! `sb-doors it::http::a_follow_up_goes_on`. Modules inside a file are left out of the name.

use crate::project::Source;

/// One test, and the lines it shows to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// `crate file::function`.
    pub path: String,
    /// As written above it.
    pub ids: Vec<String>,
}

/// Where the shared suites live: their laws are functions without a test's attribute.
const SUITES: &str = "sb-testkit";

/// The tests of one file that name requirements, and what is wrong with how they do.
pub fn find(source: &Source) -> (Vec<Proof>, Vec<String>) {
    let (mut proofs, mut faults) = (Vec::new(), Vec::new());
    let Some(name) = source.crate_name() else { return (proofs, faults) };
    let module = module(source, name);
    let mut open: Option<Open> = None;
    for (number, line) in source.text.lines().enumerate() {
        let line = line.trim();
        let place = format!("{}:{}", source.path, number + 1);
        if let Some(rest) = line.strip_prefix("/// Holds:") {
            let open = open.get_or_insert_with(Open::default);
            open.goes_on = rest.trim_end().ends_with(',');
            read_ids(rest, &place, &mut open.ids, &mut faults);
        } else if let Some(open) = open.as_mut().filter(|open| open.goes_on && line.starts_with("///")) {
            open.goes_on = line.ends_with(',');
            read_ids(line.trim_start_matches('/'), &place, &mut open.ids, &mut faults);
        } else if line.starts_with("#[") {
            if let Some(open) = open.as_mut() {
                open.is_test |= line.contains("test");
            }
        } else if let Some(function) = function_name(line) {
            if let Some(Open { ids, is_test, .. }) = open.take() {
                if !is_test && name != SUITES {
                    faults.push(format!("{place}: `Holds:` stands above {function}, which is no test"));
                }
                let path = [name, " ", &module, if module.is_empty() { "" } else { "::" }, function].concat();
                if proofs.iter().any(|proof: &Proof| proof.path == path) {
                    faults.push(format!("{place}: a second test is called {path}; rename one"));
                }
                proofs.push(Proof { path, ids });
            }
        } else if !(line.is_empty()
            || line.starts_with("//")
            || line.starts_with(')')
            || line.starts_with('#'))
            && open.as_ref().is_some_and(|open| !open.is_test)
        {
            faults.push(format!("{place}: `Holds:` belongs directly above a test"));
            open = None;
        }
    }
    (proofs, faults)
}

/// `W-01`, `M-nextcloud-talk-03`.
pub fn is_id(word: &str) -> bool {
    let Some((section, number)) = word.rsplit_once('-') else { return false };
    let mut parts = section.split('-');
    let letter = parts.next().unwrap_or_default();
    letter.len() == 1
        && letter.chars().all(|c| c.is_ascii_uppercase())
        && parts.all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
        && number.len() == 2
        && number.chars().all(|c| c.is_ascii_digit())
}

#[derive(Default)]
struct Open {
    ids: Vec<String>,
    goes_on: bool,
    is_test: bool,
}

fn read_ids(text: &str, place: &str, ids: &mut Vec<String>, faults: &mut Vec<String>) {
    for word in text.trim().trim_end_matches('.').split(',').map(str::trim).filter(|word| !word.is_empty()) {
        if is_id(word) {
            ids.push(word.to_owned());
        } else {
            faults.push(format!("{place}: {word:?} is no id; write `/// Holds: W-01, W-09.`"));
        }
    }
}

/// The file's place below `src` or `tests`, without what every file has.
fn module(source: &Source, name: &str) -> String {
    let path = source.path.split_once(&format!("{name}/")).map_or("", |(_, rest)| rest);
    path.trim_end_matches(".rs")
        .split('/')
        .filter(|part| !["src", "tests", "lib", "main", "mod"].contains(part))
        .collect::<Vec<_>>()
        .join("::")
}

fn function_name(line: &str) -> Option<&str> {
    let before = ["pub ", "pub(crate) ", "async ", "const "];
    let mut rest = line;
    while let Some(shorter) = before.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = shorter;
    }
    rest.strip_prefix("fn ")?.split(['(', '<', ' ']).next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(path: &str, text: &str) -> (Vec<Proof>, Vec<String>) {
        find(&Source { path: path.into(), text: text.into() })
    }

    #[test]
    fn a_test_is_named_by_crate_file_and_function() {
        let text = "/// It goes on.\n/// Holds: W-01,\n/// M-nextcloud-talk-03.\n#[tokio::test]\nasync fn it_goes_on() {}\n";
        for (path, name) in [
            ("crates/sb-doors/tests/it/http.rs", "sb-doors it::http::it_goes_on"),
            ("crates/sb-doors/tests/it/main.rs", "sb-doors it::it_goes_on"),
            ("crates/sb-core/src/rules/mod.rs", "sb-core rules::it_goes_on"),
            ("crates/sb-core/src/lib.rs", "sb-core it_goes_on"),
            ("xtask/tests/tidy/main.rs", "xtask tidy::it_goes_on"),
        ] {
            let (proofs, faults) = scan(path, text);
            assert_eq!(faults, Vec::<String>::new());
            assert_eq!(proofs[0].path, name);
            assert_eq!(proofs[0].ids, ["W-01", "M-nextcloud-talk-03"]);
        }
    }

    #[test]
    fn a_property_is_a_test_and_a_law_of_a_suite_needs_no_attribute() {
        let property = "proptest! {\n    /// Holds: C-03.\n    #[test]\n    fn keys_stay_apart(a in any::<u8>()) {}\n}\n";
        assert_eq!(scan("crates/sb-core/src/keys.rs", property).0.len(), 1);
        let law = "/// Holds: C-60.\npub async fn nothing_is_lost(store: Store) {}\n";
        assert_eq!(scan("crates/sb-testkit/src/suite/store.rs", law).1, Vec::<String>::new());
        assert!(scan("crates/sb-core/src/keys.rs", law).1[0].contains("which is no test"));
    }

    #[test]
    fn what_is_no_id_and_what_stands_above_no_test_are_faults() {
        let (_, faults) = scan("crates/sb-core/src/a.rs", "/// Holds: W1 and W-2\n#[test]\nfn a_b_c() {}\n");
        assert!(faults[0].contains("is no id"), "{faults:?}");
        let (_, faults) = scan("crates/sb-core/src/a.rs", "/// Holds: W-01.\nstruct Thing;\n");
        assert!(faults[0].contains("directly above a test"), "{faults:?}");
    }

    #[test]
    fn two_tests_of_one_file_may_not_share_a_name() {
        let text = "/// Holds: W-01.\n#[test]\nfn same() {}\n/// Holds: W-02.\n#[test]\nfn same() {}\n";
        assert!(scan("crates/sb-core/src/a.rs", text).1[0].contains("rename one"));
    }
}
