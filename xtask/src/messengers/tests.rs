//! What the pages say of a kind that was made up.

use serde_json::json;

use super::*;

fn kind() -> Kind {
    let direct = json!({
        "text": {"fit": "4096 Utf16, Spans"}, "live": {"how": "stream", "every": 500, "renew": 20000, "empty": true},
        "typing": {"how": "renew", "every": 4000}, "marks": {"taken": "👀", "failed": "😢"},
        "files_in": 20_971_520, "files_out": {"largest": 52_428_800, "caption": "1024 Utf16, Spans", "at_once": 10},
        "edits": true, "threads": true, "mentions": true, "questions": {"buttons": 8}, "repeats": "seen",
        "first_word": {"within": 86_400_000}, "sends_over_feed": false,
    });
    let mut group = direct.clone();
    group["live"] = json!({"how": "edit", "every": 3000, "first": 40, "most": null});
    group["files_out"] = Value::Null;
    let trust = json!({"id": "agent:x", "assumes": "A.", "enforced": "B.", "otherwise": "C."});
    let field = json!({"key": "token", "label": "Token", "secret": true, "required": true, "hint": "From there", "choices": []});
    let kind = json!({
        "id": "carrier-pigeon", "label": "Carrier", "blurb": "A bot.", "fields": [field], "direct": direct, "group": group,
        "id_hint": "A number", "trust": [trust], "gaps": ["It is slow."], "proof": "stand_in",
    });
    serde_json::from_value(kind).expect("a kind")
}

#[test]
fn the_table_has_a_row_for_each_sort_of_chat_that_differs() {
    let mut kind = kind();
    let two = table(std::slice::from_ref(&kind)).expect("words for all");
    assert!(two.contains("| [Carrier](messengers/carrier-pigeon.md) | direct | 4096 characters (as UTF-16 counts) | words with styles beside them | grows as the platform's own draft | shown | 👀 taken, 😢 failed | 20 MB | 50 MB, 10 together | buttons, or by typing | is seen twice | stand-in |"), "{two}");
    assert!(two.contains("| group |") && two.contains("edited every 3 s"), "{two}");
    kind.group = kind.direct.clone();
    let one = table(&[kind]).expect("words for all");
    assert!(one.contains("| all |") && !one.contains("| group |"), "{one}");
}

#[test]
fn a_page_is_the_adapters_own_and_then_its_facts() {
    let page = super::page(&kind(), "# Carrier\n\nHow to.\n").expect("words for all");
    assert!(page.starts_with("# Carrier\n\nHow to.\n\n## Settings\n"), "{page}");
    assert!(page.contains("| `token` | required, secret | Token: From there. |"), "{page}");
    assert!(page.contains("`SWITCHBOARD_CARRIER_PIGEON_TOKEN` is `token`"), "{page}");
    assert!(page.contains("| files out | 50 MB, 10 together | none |"), "{page}");
    assert!(
        page.contains("| we write first | within 24 h of a person's last message | the same |"),
        "{page}"
    );
    assert!(page.contains("| `agent:x` | A. | B. | C. |"), "{page}");
    assert!(super::page(&kind(), "# Other\n").is_err(), "a page of something else");
}

#[test]
fn a_fact_without_words_is_an_error() {
    let mut kind = kind();
    kind.direct["repeats"] = json!("sometimes");
    let why = table(&[kind]).expect_err("no words").to_string();
    assert!(why.contains("carrier-pigeon") && why.contains("repeated"), "{why}");
}

#[test]
fn trust_tells_general_things_first() {
    let one = |id: &str, of: &[&str]| Trust {
        id: id.into(),
        assumes: "A.".into(),
        enforced: "B.".into(),
        otherwise: "C.".into(),
        of: of.iter().map(|kind| (*kind).to_owned()).collect(),
    };
    let page = trust(&[one("agent:b", &["carrier", "owl"]), one("agent:a", &[])]);
    assert!(page.find("`agent:a` |") < page.find("`agent:b` (carrier, owl) |"), "{page}");
}
