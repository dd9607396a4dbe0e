//! The page and the tests must name each other, and linking must change nothing else.

use super::holds::Proof;
use super::{Page, Tally};

const TEXT: &str = "# Requirements\n\nIntro.\n\n## W. HTTP\n\n- **W-01** · W1 · First — not yet\n- **W-02** · W1 · With — a dash — [said](http.md)\n- **W-03** · W1 · No — out\n";

fn proof(path: &str, ids: &[&str]) -> Proof {
    Proof { path: path.into(), ids: ids.iter().map(|id| (*id).to_owned()).collect() }
}

#[test]
fn a_page_that_is_read_and_printed_stays_as_it_was() {
    let page = Page::read(TEXT).expect("a page");
    assert_eq!(page.print(), TEXT);
}

#[test]
fn linking_writes_the_tests_found_and_keeps_links_and_out() {
    let mut page = Page::read(TEXT).expect("a page");
    page.link(&[proof("a it::x", &["W-01", "W-02"]), proof("b it::y", &["W-01"])]);
    let printed = page.print();
    assert!(printed.contains("First — `a it::x`, `b it::y`\n"), "{printed}");
    assert!(printed.contains("With — a dash — `a it::x`, [said](http.md)\n"), "{printed}");
    assert!(printed.contains("No — out\n"), "{printed}");
    page.link(&[]);
    assert_eq!(page.print(), TEXT);
}

#[test]
fn what_holds_is_counted_without_what_is_out() {
    let page = Page::read(TEXT).expect("a page");
    assert_eq!(page.tally(), [Tally { section: "W. HTTP".into(), holds: 1, total: 2 }]);
}

#[test]
fn each_missing_end_of_a_link_is_a_fault() {
    let linked = TEXT.replace("First — not yet", "First — `a it::x`");
    let page = Page::read(&linked).expect("a page");
    assert_eq!(page.faults(&[proof("a it::x", &["W-01"])]), Vec::<String>::new());
    for (tests, fault) in [
        (vec![], "no such test says"),
        (vec![proof("a it::x", &["W-02"])], "does not name a it::x"),
        (vec![proof("a it::x", &["W-01", "W-99"])], "no line of"),
        (vec![proof("a it::x", &["W-01", "W-03"])], "which is out"),
    ] {
        let faults = page.faults(&tests).join("\n");
        assert!(faults.contains(fault), "{fault}: {faults}");
    }
}

#[test]
fn an_id_that_stands_twice_is_a_fault() {
    let page = Page::read(&TEXT.replace("W-02", "W-01")).expect("a page");
    assert!(page.faults(&[]).join("\n").contains("stands twice"));
}

#[test]
fn a_line_that_cannot_be_read_is_named() {
    for (line, fault) in [
        ("- **W-04** · W1 · No status", "ends in no status"),
        ("- **W4** · W1 · Odd id — not yet", "no id"),
        ("- **W-04** · W1 · Odd status — soon", "neither"),
    ] {
        let error = Page::read(line).expect_err(line).to_string();
        assert!(error.contains(fault), "{error}");
    }
}
