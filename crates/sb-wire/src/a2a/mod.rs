//! Agent2Agent, wire versions 0.3 and 1.0: what both sides mean, and how either version writes it.
//!
//! Reading takes either version's spelling, snake case too, and passes over what it does not know; writing
//! gives one version strictly. Bytes of files stay base64 here, addresses are never asked, times are text.
//! Source: the A2A specification and its schemas, v0.3.0 and v1.0.1.

mod ask;
mod card;
mod event;
mod failure;
mod method;
mod part;
mod push;
mod task;

pub use ask::{ListTasks, Query, Send};
pub use card::{Card, Interface, Shape, Skill};
pub use event::Event;
pub use failure::{Code, failure, names_field};
pub use method::{Operation, Version};
pub use part::{Content, Message, Part, Role};
pub use push::Push;
use serde_json::{Map, Value};
pub use task::{Artifact, State, Status, Task};

/// A value that is not what it should be: where, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct Unreadable {
    pub field: String,
    pub why: String,
}

impl Unreadable {
    pub(crate) fn new(field: &str, why: &str) -> Self {
        Self { field: field.to_owned(), why: why.to_owned() }
    }

    /// The same, within another field.
    pub(crate) fn within(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field), why: self.why }
    }
}

/// A field by its name in camel case, or as the schema's source writes it; null is nothing.
pub(crate) fn field<'a>(of: &'a Value, name: &str) -> Option<&'a Value> {
    let object = of.as_object()?;
    let found = object.get(name).or_else(|| {
        let mut snake = String::with_capacity(name.len() + 4);
        for c in name.chars() {
            if c.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(c.to_ascii_lowercase());
        }
        object.get(&snake)
    });
    found.filter(|value| !value.is_null())
}

/// A text field that says something.
pub(crate) fn text<'a>(of: &'a Value, name: &str) -> Option<&'a str> {
    field(of, name)?.as_str().filter(|text| !text.is_empty())
}

/// The texts of a list.
pub(crate) fn texts(of: &Value, name: &str) -> Vec<String> {
    let all = field(of, name).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A text field that must be there.
pub(crate) fn needed(of: &Value, name: &str) -> Result<String, Unreadable> {
    text(of, name).map(str::to_owned).ok_or_else(|| Unreadable::new(name, "it is needed, and a text"))
}

/// A whole number in a range; none: it was not given.
pub(crate) fn number(of: &Value, name: &str, from: u64, to: u64) -> Result<Option<u64>, Unreadable> {
    let Some(value) = field(of, name) else { return Ok(None) };
    // The schema's own JSON form lets whole numbers be written as texts or with a point.
    let read = value.as_u64().or_else(|| value.as_str()?.parse().ok()).or_else(|| {
        let float = value.as_f64().filter(|f| f.fract() == 0.0 && (0.0..=9e15).contains(f))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "looked at before")]
        Some(float as u64)
    });
    match read.filter(|number| (from..=to).contains(number)) {
        Some(number) => Ok(Some(number)),
        None => Err(Unreadable::new(name, &format!("it is a whole number from {from} to {to}"))),
    }
}

/// Puts a field in that has a value.
pub(crate) fn put(into: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        into.insert(name.to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_of_a_field_are_read_and_null_is_nothing() {
        let of = json!({"taskId": null, "task_id": "no", "history_length": 3, "contextId": "c"});
        assert_eq!(text(&of, "contextId"), Some("c"));
        assert_eq!(number(&of, "historyLength", 0, 10), Ok(Some(3)));
        assert_eq!(text(&of, "taskId"), None, "what is there in camel case counts");
        assert_eq!(text(&json!({"task_id": "t"}), "taskId"), Some("t"));
    }

    #[test]
    fn a_number_is_whole_and_in_its_range() {
        for (value, read) in [(json!(0), Some(0)), (json!("7"), Some(7)), (json!(3.0), Some(3))] {
            assert_eq!(number(&json!({"n": value}), "n", 0, 10), Ok(read));
        }
        for odd in [json!(-1), json!(11), json!(1.5), json!("x"), json!([])] {
            assert!(number(&json!({"n": odd}), "n", 0, 10).is_err());
        }
    }
}
