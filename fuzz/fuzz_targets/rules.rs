//! A shell rule never covers a text that a shell would take for more than one plain command.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sb_core::model::{Call, ToolClass};
use sb_core::rules::{covers, parse, plain_command};

fuzz_target!(|input: (&str, &str)| {
    let (typed, command) = input;
    if let Some(plain) = plain_command(command) {
        let quoted = command.contains(['\'', '"']);
        let means_more = command.trim().contains([';', '|', '&', '<', '>', '$', '`', '\n', '\\']);
        assert!(quoted || !means_more, "{command:?}");
        assert!(!plain.words.is_empty());
    }
    if let Ok(rule) = parse(typed) {
        let call = Call {
            id: "c".into(),
            tool: "shell".into(),
            input: serde_json::json!({ "command": command }),
            class: ToolClass::Shell,
        };
        if covers(&rule, &call) {
            assert!(plain_command(command).is_some(), "{typed:?} covers {command:?}");
        }
    }
});
