//! Whether a call's input fits its tool's JSON schema, and what does not, in words for the model.
//!
//! Pure. What models get wrong is checked: sorts of values, what is missing, what is unknown, choices, sizes,
//! and the joining keywords; a schema of somebody else's may say more (patterns, formats), which its own
//! server then judges. A validator for all of the standard would bring 78 crates. Depth and the number of
//! findings are bounded, so that neither a schema nor an input can keep it busy.

use serde_json::{Map, Value};

/// As deep as values and references are followed; deeper ones pass.
const DEEPEST: usize = 32;
/// As many findings are told.
const MOST_TOLD: usize = 8;
/// As many steps are taken; then the rest passes.
const MOST_STEPS: usize = 100_000;

/// What of `input` does not fit `schema`; empty if it fits.
pub(crate) fn misfits(schema: &Value, input: &Value) -> Vec<String> {
    let mut check = Check { root: schema, found: Vec::new(), steps: 0 };
    check.value(schema, input, "the input", 0);
    check.found
}

struct Check<'a> {
    root: &'a Value,
    found: Vec<String>,
    steps: usize,
}

impl<'a> Check<'a> {
    fn says(&mut self, what: String) {
        if self.found.len() < MOST_TOLD {
            self.found.push(what);
        }
    }

    fn value(&mut self, schema: &'a Value, value: &Value, at: &str, depth: usize) {
        self.steps += 1;
        if depth > DEEPEST || self.steps > MOST_STEPS || self.found.len() >= MOST_TOLD {
            return;
        }
        let rules = match schema {
            Value::Object(rules) => rules,
            Value::Bool(false) => return self.says(format!("{at} may not be given")),
            _ => return,
        };
        let to = rules.get("$ref").and_then(Value::as_str);
        if let Some(target) = to.and_then(|to| self.root.pointer(to.strip_prefix('#')?)) {
            self.value(target, value, at, depth + 1);
        }
        if let Some(sorts) = rules.get("type")
            && !is_of(sorts, value)
        {
            return self.says(format!("{at} should be {}", told(sorts)));
        }
        self.choices(rules, value, at);
        self.joined(rules, value, at, depth);
        match value {
            Value::Object(object) => self.object(rules, object, at, depth),
            Value::Array(items) => self.array(rules, items, at, depth),
            Value::String(text) => {
                let length = text.chars().count() as f64;
                self.between(rules, ["minLength", "maxLength"], length, &format!("the length of {at}"));
            }
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or_default();
                self.between(rules, ["minimum", "maximum"], number, at);
            }
            _ => {}
        }
    }

    fn choices(&mut self, rules: &'a Map<String, Value>, value: &Value, at: &str) {
        let same = |a: &Value| a == value || a.as_f64().is_some_and(|n| value.as_f64() == Some(n));
        if let Some(Value::Array(choices)) = rules.get("enum")
            && !choices.iter().any(same)
        {
            let choices: Vec<String> = choices.iter().take(20).map(Value::to_string).collect();
            self.says(format!("{at} should be one of {}", choices.join(", ")));
        }
        if let Some(only) = rules.get("const")
            && !same(only)
        {
            self.says(format!("{at} should be {only}"));
        }
    }

    fn joined(&mut self, rules: &'a Map<String, Value>, value: &Value, at: &str, depth: usize) {
        for part in list(rules, "allOf") {
            self.value(part, value, at, depth + 1);
        }
        for (key, wanted) in [("anyOf", "at least one"), ("oneOf", "exactly one")] {
            let parts = list(rules, key);
            if parts.is_empty() {
                continue;
            }
            let fit = parts.iter().filter(|part| self.fits(part, value, depth)).count();
            if fit == 0 || (key == "oneOf" && fit > 1) {
                self.says(format!("{at} should fit {wanted} of the forms the schema lists"));
            }
        }
        if let Some(not) = rules.get("not")
            && self.fits(not, value, depth)
        {
            self.says(format!("{at} is what the schema rules out"));
        }
    }

    /// Whether a value fits a part of the schema; what does not is not told.
    fn fits(&mut self, schema: &'a Value, value: &Value, depth: usize) -> bool {
        let mut aside = Check { root: self.root, found: Vec::new(), steps: self.steps };
        aside.value(schema, value, "it", depth + 1);
        self.steps = aside.steps;
        aside.found.is_empty()
    }

    fn object(&mut self, rules: &'a Map<String, Value>, object: &Map<String, Value>, at: &str, depth: usize) {
        for name in list(rules, "required").iter().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                self.says(format!("{} is missing", within(at, name)));
            }
        }
        let known = rules.get("properties").and_then(Value::as_object);
        let patterns = rules.get("patternProperties").is_some();
        for (name, value) in object {
            match (known.and_then(|known| known.get(name)), rules.get("additionalProperties")) {
                (Some(schema), _) => self.value(schema, value, &within(at, name), depth + 1),
                (None, Some(Value::Bool(false))) if !patterns => {
                    self.says(format!("{} is not known", within(at, name)));
                }
                (None, Some(schema)) if !patterns => {
                    self.value(schema, value, &within(at, name), depth + 1);
                }
                _ => {}
            }
        }
    }

    fn array(&mut self, rules: &'a Map<String, Value>, items: &[Value], at: &str, depth: usize) {
        self.between(
            rules,
            ["minItems", "maxItems"],
            items.len() as f64,
            &format!("the number of items in {at}"),
        );
        let first = list(rules, "prefixItems");
        for (nth, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(nth).or_else(|| rules.get("items")) {
                self.value(schema, item, &format!("{at}[{nth}]"), depth + 1);
            }
        }
    }

    fn between(&mut self, rules: &Map<String, Value>, [least, most]: [&str; 2], number: f64, at: &str) {
        let limit = |name: &str| rules.get(name).and_then(Value::as_f64);
        if let Some(least) = limit(least).filter(|least| number < *least) {
            self.says(format!("{at} should be at least {least}"));
        }
        if let Some(most) = limit(most).filter(|most| number > *most) {
            self.says(format!("{at} should be at most {most}"));
        }
    }
}

fn list<'a>(rules: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    rules.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn within(at: &str, name: &str) -> String {
    let name = sb_harness::model::text::one_line(name, 60);
    if at == "the input" { name } else { format!("{at}.{name}") }
}

/// Whether a value is of a sort, or of one of several.
fn is_of(sorts: &Value, value: &Value) -> bool {
    match sorts {
        Value::String(sort) => match sort.as_str() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            _ => true,
        },
        Value::Array(sorts) => sorts.iter().any(|sort| is_of(sort, value)),
        _ => true,
    }
}

fn told(sorts: &Value) -> String {
    match sorts {
        Value::String(sort) if matches!(sort.as_str(), "object" | "array" | "integer") => {
            format!("an {sort}")
        }
        Value::String(sort) if sort == "string" => "a text".to_owned(),
        Value::String(sort) => format!("a {sort}"),
        Value::Array(sorts) => sorts.iter().map(told).collect::<Vec<_>>().join(" or "),
        _ => "something else".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_fit_is_named_with_its_place() {
        let schema = json!({
            "type": "object",
            "required": ["path", "size"],
            "additionalProperties": false,
            "properties": {
                "path": {"type": "string", "minLength": 1},
                "size": {"type": "integer", "minimum": 1, "maximum": 9},
                "how": {"enum": ["fast", "well"]},
                "to": {"type": "array", "maxItems": 2, "items": {"$ref": "#/$defs/person"}},
                "where": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            },
            "$defs": {"person": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
        });
        let good =
            json!({"path": "a", "size": 3.0, "how": "well", "to": [{"name": "x", "more": 1}], "where": null});
        assert_eq!(misfits(&schema, &good), Vec::<String>::new());
        for (input, expected) in [
            (json!([]), "the input should be an object"),
            (json!({"path": "a"}), "size is missing"),
            (json!({"path": 7, "size": 1}), "path should be a text"),
            (json!({"path": "", "size": 1}), "the length of path should be at least 1"),
            (json!({"path": "a", "size": "1"}), "size should be an integer"),
            (json!({"path": "a", "size": 1.5}), "size should be an integer"),
            (json!({"path": "a", "size": 10}), "size should be at most 9"),
            (json!({"path": "a", "size": 1, "how": "badly"}), "how should be one of \"fast\", \"well\""),
            (json!({"path": "a", "size": 1, "to": [{"name": 1}]}), "to[0].name should be a text"),
            (json!({"path": "a", "size": 1, "to": [{}]}), "to[0].name is missing"),
            (
                json!({"path": "a", "size": 1, "to": [{"name": "a"}, {"name": "a"}, {"name": "a"}]}),
                "should be at most 2",
            ),
            (json!({"path": "a", "size": 1, "where": 1}), "where should fit at least one"),
            (json!({"path": "a", "size": 1, "sudo": true}), "sudo is not known"),
        ] {
            let found = misfits(&schema, &input);
            assert!(found.iter().any(|f| f.contains(expected)), "{input}: {found:?}");
        }
    }

    #[test]
    fn a_schema_that_names_itself_ends() {
        let schema = json!({"$ref": "#", "allOf": [{"$ref": "#"}, {"$ref": "#"}], "anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
        misfits(&schema, &json!({}));
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!({ "a": deep });
        }
        misfits(&json!({"properties": {"a": {"$ref": "#"}}, "additionalProperties": false}), &deep);
    }
}
