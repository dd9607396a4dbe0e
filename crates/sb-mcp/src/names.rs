//! What the model calls a tool, and the way back to whose it is.
//!
//! A name is `server__tool`. Models take 64 characters of letters, digits, `_` and `-`, so a name that has
//! others, or more, is cut and ends in a digest of the whole: two that look alike then stay apart. The table is made of
//! the tools the operator has seen, so a name means the same in every turn.

use std::collections::BTreeMap;

use sb_harness::model::{Digest, McpServer};

/// The longest name a model takes.
const LONGEST: usize = 64;

/// The tools of one server by what the model calls them.
pub(crate) fn table<'a>(
    server: &McpServer,
    tools: impl Iterator<Item = &'a str>,
) -> BTreeMap<String, String> {
    let mut table = BTreeMap::new();
    for tool in tools {
        let plain = name(&server.name, tool);
        // A tool may be called what another one's name is cut to.
        let free = if table.contains_key(&plain) { marked(&server.name, tool, 24) } else { plain };
        table.insert(free, tool.to_owned());
    }
    table
}

/// The tools of one server that the operator has seen.
pub(crate) fn seen(server: &McpServer) -> BTreeMap<String, String> {
    table(server, server.seen.keys().map(String::as_str))
}

fn name(server: &str, tool: &str) -> String {
    let whole = format!("{server}__{tool}");
    if whole.len() <= LONGEST && whole.bytes().all(is_plain) { whole } else { marked(server, tool, 8) }
}

/// What fits of it, and so many digits of the whole name's digest.
fn marked(server: &str, tool: &str, digits: usize) -> String {
    let whole = format!("{server}__{tool}");
    let plain = whole.chars().map(|c| if c.is_ascii() && is_plain(c as u8) { c } else { '_' });
    let begins: String = plain.take(LONGEST - digits - 1).collect();
    let digest = Digest::of(whole.as_bytes()).to_string();
    format!("{begins}_{}", &digest[..digits])
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use sb_harness::model::McpAt;

    use super::*;

    fn server(tools: &[&str]) -> McpServer {
        McpServer {
            name: "files".into(),
            at: McpAt::Url("http://127.0.0.1/".into()),
            secrets: vec![],
            only: vec![],
            without: vec![],
            overrides: BTreeMap::new(),
            untrusted: false,
            limit_s: 60,
            seen: tools.iter().map(|t| ((*t).to_owned(), Digest::of(b""))).collect(),
        }
    }

    #[test]
    fn every_name_fits_a_model_and_leads_back_to_its_tool() {
        let long = "x".repeat(200);
        let tools = ["read_file", "get-sum", "a.b/c", "a b c", "größe", long.as_str(), &long[..199]];
        let table = seen(&server(&tools));
        assert_eq!(table.len(), tools.len(), "{table:?}");
        for (called, tool) in &table {
            assert!(called.len() <= LONGEST && called.bytes().all(is_plain), "{called}");
            assert!(called.starts_with("files__"), "{called}");
            assert!(tools.contains(&tool.as_str()));
        }
        assert_eq!(table["files__read_file"], "read_file");
        assert_eq!(table["files__get-sum"], "get-sum");
    }

    #[test]
    fn a_tool_called_as_another_is_cut_to_stays_apart() {
        let cut = name("files", "a b");
        let twin = cut.strip_prefix("files__").expect("begins so").to_owned();
        let table = seen(&server(&["a b", &twin]));
        assert_eq!(table.len(), 2, "{table:?}");
        let mut tools: Vec<_> = table.values().collect();
        tools.sort();
        assert_eq!(tools, ["a b", twin.as_str()]);
    }
}
