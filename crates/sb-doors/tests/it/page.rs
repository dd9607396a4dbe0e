//! The door's page says what the door does.

use sb_doors::http;

fn page() -> String {
    read("http")
}

fn read(page: &str) -> String {
    std::fs::read_to_string(format!("{}/../../docs/{page}.md", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn the_page_has_the_table_of_codes_as_it_is() {
    let table = http::codes_as_markdown();
    assert!(page().contains(&table), "docs/http.md lacks this table:\n\n{table}");
}

#[test]
fn the_page_names_every_route_and_every_field() {
    let document = serde_json::to_value(http::document()).unwrap();
    // The wires that others have made have pages of their own.
    let page = ["http", "openai", "a2a"].map(read).concat();
    let routes = document["paths"].as_object().unwrap().keys();
    let schemas = &document["components"]["schemas"];
    let fields =
        ["MessageRequest", "FileRequest", "Answer", "FileOut", "SessionShown", "WaitingShown", "UsageShown"]
            .into_iter()
            .flat_map(|name| schemas[name]["properties"].as_object().unwrap().keys());
    for word in routes.chain(fields) {
        assert!(
            page.contains(&format!("`{word}`")) || page.contains(&format!(" {word}`")),
            "no page names {word}"
        );
    }
}
