//! What an agent lets a client set for a session: its mode and its model, in both forms the wire knows.
//!
//! Newer agents offer options with a category, older ones a list of modes and one of models. Both are read into
//! the same, so that nobody else need know.

use serde_json::{Value, json};

/// Names of a list that are told at most.
const MOST_TOLD: usize = 20;

/// One thing that can be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// The option it is, where it is one.
    option: Option<String>,
    /// What it can be set to.
    pub values: Vec<String>,
    /// What it is now, if that was told.
    pub current: Option<String>,
    older: Older,
}

/// How it is set where it is no option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Older {
    Mode,
    Model,
}

impl Setting {
    /// The modes that an answer to opening a session, or to setting something, tells of.
    pub fn mode(offered: &Value) -> Option<Self> {
        option(offered, "mode", Older::Mode).or_else(|| {
            let values = ids(&offered["modes"]["availableModes"], "id");
            let current = offered["modes"]["currentModeId"].as_str().map(str::to_owned);
            (!values.is_empty()).then_some(Self { option: None, values, current, older: Older::Mode })
        })
    }

    /// The models likewise.
    pub fn model(offered: &Value) -> Option<Self> {
        option(offered, "model", Older::Model).or_else(|| {
            let values = ids(&offered["models"]["availableModels"], "modelId");
            let current = offered["models"]["currentModelId"].as_str().map(str::to_owned);
            (!values.is_empty()).then_some(Self { option: None, values, current, older: Older::Model })
        })
    }

    /// The request that sets it.
    pub fn request(&self, session: &str, value: &str) -> (&'static str, Value) {
        match (&self.option, self.older) {
            (Some(option), _) => (
                "session/set_config_option",
                json!({"sessionId": session, "configId": option, "value": value}),
            ),
            (None, Older::Mode) => ("session/set_mode", json!({"sessionId": session, "modeId": value})),
            (None, Older::Model) => ("session/set_model", json!({"sessionId": session, "modelId": value})),
        }
    }

    /// The values, as a sentence tells them.
    pub fn told(&self) -> String {
        let more = if self.values.len() > MOST_TOLD { ", …" } else { "" };
        let told = self.values.iter().take(MOST_TOLD).map(|v| sb_harness::model::text::one_line(v, 60));
        format!("{}{more}", told.collect::<Vec<_>>().join(", "))
    }
}

/// The mode an update tells of, whichever form it has.
pub(super) fn told_mode(update: &Value) -> Option<String> {
    match update["sessionUpdate"].as_str()? {
        "current_mode_update" => update["currentModeId"].as_str().map(str::to_owned),
        "config_option_update" => Setting::mode(update)?.current,
        _ => None,
    }
}

fn option(offered: &Value, category: &str, older: Older) -> Option<Setting> {
    let all = || offered["configOptions"].as_array().into_iter().flatten();
    let found = all()
        .find(|o| o["category"] == category)
        .or_else(|| all().find(|o| o["category"].is_null() && o["id"] == category))?;
    let values = found["options"].as_array().into_iter().flatten();
    let flat = values.flat_map(|v| match v["options"].as_array() {
        Some(group) => group.iter().collect(),
        None => vec![v],
    });
    let values = flat.filter_map(|v| v["value"].as_str().or(v["id"].as_str())).map(str::to_owned).collect();
    let current = found["currentValue"].as_str().map(str::to_owned);
    Some(Setting { option: Some(found["id"].as_str()?.to_owned()), values, current, older })
}

fn ids(list: &Value, name: &str) -> Vec<String> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|m| m[name].as_str()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_models_are_read_in_both_their_forms() {
        let old = json!({"modes": {"currentModeId": "a", "availableModes": [{"id": "a"}, {"id": "b"}]},
            "models": {"currentModelId": "m1", "availableModels": [{"modelId": "m1"}, {"modelId": "m2"}]}});
        let mode = Setting::mode(&old).expect("modes");
        assert_eq!(
            (mode.values.clone(), mode.current.as_deref()),
            (vec!["a".to_owned(), "b".to_owned()], Some("a"))
        );
        assert_eq!(mode.request("s", "b"), ("session/set_mode", json!({"sessionId": "s", "modeId": "b"})));
        let model = Setting::model(&old).expect("models");
        assert_eq!(
            model.request("s", "m2"),
            ("session/set_model", json!({"sessionId": "s", "modelId": "m2"}))
        );
        let group = json!([{"group": "g", "options": [{"value": "x"}]}, {"value": "y"}]);
        let new = json!({"configOptions": [
            {"id": "m", "category": "model", "currentValue": "big", "options": [{"value": "big"}]},
            {"id": "o", "category": "mode", "currentValue": "x", "options": group}]});
        let mode = Setting::mode(&new).expect("modes");
        assert_eq!((mode.told().as_str(), mode.current.as_deref()), ("x, y", Some("x")));
        let set = json!({"sessionId": "s", "configId": "o", "value": "y"});
        assert_eq!(mode.request("s", "y"), ("session/set_config_option", set));
        assert_eq!(Setting::model(&new).expect("models").values, ["big"]);
        assert_eq!((Setting::mode(&json!({})), Setting::model(&json!({}))), (None, None));
    }

    #[test]
    fn an_update_tells_of_a_mode_in_both_forms() {
        let old = json!({"sessionUpdate": "current_mode_update", "currentModeId": "auto"});
        let new = json!({"sessionUpdate": "config_option_update",
            "configOptions": [{"id": "mode", "currentValue": "auto", "options": []}]});
        assert_eq!((told_mode(&old).as_deref(), told_mode(&new).as_deref()), (Some("auto"), Some("auto")));
        assert_eq!(told_mode(&json!({"sessionUpdate": "usage_update"})), None);
    }
}
