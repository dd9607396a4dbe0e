//! Any message has a script or none, and a line that cannot be read always says why.
//!
//! Whoever writes to a scripted profile writes this, so nothing in it may bring the program down.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sb_harness::{Script, Step};

fuzz_target!(|message: &str| {
    let bangs = message.lines().filter(|line| line.trim().starts_with('!')).count();
    let steps = Script::read(message).map_or(0, |script| {
        for step in &script.steps {
            if let Step::Wrong { why, .. } = step {
                assert!(!why.is_empty());
            }
        }
        script.steps.len()
    });
    assert_eq!(steps, bangs, "a step for each line that begins with a bang");
});
