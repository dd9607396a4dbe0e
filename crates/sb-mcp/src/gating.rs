//! What a server's hints about a tool mean here: its class of deed, and whether its results taint.
//!
//! | hints | class | taints |
//! |---|---|---|
//! | read-only, closed world | read | if the server is untrusted |
//! | read-only, open world | outside | yes |
//! | not destructive, closed world | write | if the server is untrusted |
//! | not destructive, open world | outside | yes |
//! | destructive | destructive | if open world, or the server is untrusted |
//! | none | destructive | yes |
//!
//! A hint left out means the strict side: not read-only, destructive, open world. A call to an open world
//! takes its arguments out of this machine, so it is an outside call even where it only reads or adds. What
//! the operator says of a tool goes before all of it.

use rmcp::model::{Tool, ToolAnnotations};
use sb_harness::model::{Digest, McpServer, ToolClass};
use serde_json::Value;

/// What the gate is told of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    pub class: ToolClass,
    pub taints: bool,
}

/// The facts about a tool of a server.
pub(crate) fn facts(server: &McpServer, tool: &Tool) -> Facts {
    let hinted = hinted(tool.annotations.as_ref());
    let said = server.overrides.get(tool.name.as_ref()).copied().unwrap_or_default();
    Facts {
        class: said.class.unwrap_or(hinted.class),
        taints: said.taints.unwrap_or(hinted.taints || server.untrusted),
    }
}

fn hinted(hints: Option<&ToolAnnotations>) -> Facts {
    let reads = hints.and_then(|h| h.read_only_hint).unwrap_or(false);
    let destroys = hints.and_then(|h| h.destructive_hint).unwrap_or(true);
    let open = hints.and_then(|h| h.open_world_hint).unwrap_or(true);
    let class = match (reads, destroys, open) {
        (true, _, false) => ToolClass::Read,
        (true, _, true) | (false, false, true) => ToolClass::Outside,
        (false, false, false) => ToolClass::Write,
        (false, true, _) => ToolClass::Destructive,
    };
    Facts { class, taints: open }
}

/// The digest of all that a tool's definition says to a model or to the gate; not of its pictures.
pub(crate) fn digest(tool: &Tool) -> Digest {
    let mut whole = serde_json::to_value(tool).unwrap_or(Value::Null);
    if let Some(fields) = whole.as_object_mut() {
        fields.remove("icons");
        fields.remove("_meta");
    }
    // Objects of `serde_json` are sorted by key here, so equal definitions print equally.
    Digest::of(whole.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sb_harness::model::{McpAt, McpOverride};
    use serde_json::json;

    use super::*;

    fn tool(annotations: Value) -> Tool {
        let mut whole = json!({"name": "t", "description": "d", "inputSchema": {"type": "object"}});
        if !annotations.is_null() {
            whole["annotations"] = annotations;
        }
        serde_json::from_value(whole).expect("a tool")
    }
    fn server(untrusted: bool) -> McpServer {
        McpServer {
            name: "s".into(),
            at: McpAt::Url("http://127.0.0.1/".into()),
            secrets: vec![],
            only: vec![],
            without: vec![],
            overrides: BTreeMap::new(),
            untrusted,
            limit_s: 60,
            seen: BTreeMap::new(),
        }
    }

    #[test]
    fn hints_gate_and_taint_as_the_table_says_and_what_is_left_out_is_strict() {
        use ToolClass::*;
        let rows = [
            (json!({"readOnlyHint": true, "openWorldHint": false}), Read, false),
            (json!({"readOnlyHint": true, "openWorldHint": true}), Outside, true),
            (json!({"readOnlyHint": true}), Outside, true),
            (json!({"destructiveHint": false, "openWorldHint": false}), Write, false),
            (json!({"readOnlyHint": false, "destructiveHint": false}), Outside, true),
            (json!({"destructiveHint": true, "openWorldHint": false}), Destructive, false),
            (json!({"openWorldHint": false}), Destructive, false),
            (json!({"destructiveHint": true}), Destructive, true),
            (json!({}), Destructive, true),
            (Value::Null, Destructive, true),
        ];
        for (hints, class, taints) in rows {
            assert_eq!(facts(&server(false), &tool(hints.clone())), Facts { class, taints }, "{hints}");
            assert_eq!(facts(&server(true), &tool(hints.clone())), Facts { class, taints: true }, "{hints}");
        }
    }

    #[test]
    fn what_the_operator_says_of_a_tool_goes_before_the_servers_hints() {
        let mut server = server(true);
        let said = McpOverride { class: Some(ToolClass::Shell), taints: Some(false) };
        server.overrides.insert("t".into(), said);
        let facts = facts(&server, &tool(json!({"readOnlyHint": true, "openWorldHint": false})));
        assert_eq!(facts, Facts { class: ToolClass::Shell, taints: false });
    }

    #[test]
    fn a_digest_is_of_words_schema_and_hints_and_not_of_pictures() {
        let plain = tool(json!({"readOnlyHint": true}));
        let mut adorned = plain.clone();
        adorned.meta = serde_json::from_value(json!({"at": 7})).ok();
        assert_eq!(digest(&plain), digest(&adorned));
        for change in [json!({"description": "D"}), json!({"inputSchema": {"type": "object", "x": 1}})] {
            let mut whole = serde_json::to_value(&plain).expect("JSON");
            let fields = whole.as_object_mut().expect("an object");
            fields.extend(change.as_object().expect("an object").clone());
            let changed: Tool = serde_json::from_value(whole).expect("a tool");
            assert_ne!(digest(&plain), digest(&changed), "{change}");
        }
        assert_ne!(digest(&plain), digest(&tool(json!({"readOnlyHint": true, "openWorldHint": false}))));
    }
}
