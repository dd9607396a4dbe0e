//! Any text is a command, words for the agent, or told how to write it; nothing is lost or panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sb_core::commands::read_text;

fuzz_target!(|input: (bool, &str)| {
    let (stop_words, text) = input;
    match read_text(text, stop_words) {
        Ok(None) => {}
        Ok(Some((entry, _))) => assert!(stop_words || text.starts_with('/'), "{}", entry.name),
        Err(bad) => {
            assert!(text.starts_with('/'));
            assert!(!bad.to_string().is_empty());
        }
    }
});
