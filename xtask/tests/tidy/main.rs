//! The rules of the house, as ordinary tests: arrows, files, words, dependencies, pages, requirements.
//!
//! Each test gathers every fault and fails once, with a sentence for each that says what to do. They
//! read the work tree and run `cargo metadata` without the network; they build nothing.
#![allow(clippy::disallowed_methods, reason = "asking Cargo is running a command")]

mod arrows;
mod files;
mod licence;
mod pages;
mod requirements;
mod stack;
mod words;

/// Fails with all of them, if there are any.
#[track_caller]
fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} to put right:\n  {}\n", faults.len(), faults.join("\n  "));
}
