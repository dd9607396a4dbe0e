//! What the program is built from: forbidden crates, doubled versions, licences, Rust's version.
//!
//! `Cargo.lock` speaks for every platform; `cargo metadata`, without the network, for this one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use xtask::{project, shell};

use crate::{licence, none};

/// Never linked, with the reason. A name that ends in `*` stands for all that begin so.
const FORBIDDEN: &[(&str, &str)] = &[
    ("aws-lc-sys", "all TLS is on ring; switch the dependency's default features off"),
    ("aws-lc-rs", "all TLS is on ring; switch the dependency's default features off"),
    ("openssl-sys", "all TLS is on rustls; switch the dependency's default features off"),
    ("native-tls", "all TLS is on rustls; switch the dependency's default features off"),
    ("sqlx", "slower here, and it holds SQLite back"),
    ("sea-orm", "its size"),
    ("diesel", "its size"),
    ("matrix-sdk", "brings an old SQLite and a connection per agent; use the crypto crate"),
    ("teloxide", "a few dozen requests through sb-net do it"),
    ("serenity", "a few dozen requests through sb-net do it"),
    ("twilight*", "a few dozen requests through sb-net do it"),
    ("slack-morphism", "a few dozen requests through sb-net do it"),
    ("frankenstein", "a few dozen requests through sb-net do it"),
    ("irc", "brings aws-lc; irc-proto parses"),
    ("nostr-sdk", "not stable; nostr suffices"),
    ("genai", "the model loop is ours"),
    ("rig-core", "the model loop is ours"),
    ("async-openai", "the model loop is ours"),
    ("testcontainers", "tests need no Docker"),
    ("leptos", "the portal needs no wasm"),
];

/// Linked once, whatever else happens: each is large, or holds state of the whole process.
const ONCE: &[&str] = &[
    "axum",
    "clap",
    "http",
    "http-body",
    "hyper",
    "hyper-util",
    "libsqlite3-sys",
    "proptest",
    "reqwest",
    "ring",
    "rusqlite",
    "rustls",
    "rustls-webpki",
    "serde",
    "serde_json",
    "sha2",
    "tokio",
    "tokio-rustls",
    "tokio-tungstenite",
    "tokio-util",
    "toml",
    "tower",
    "tower-http",
    "tracing",
    "tracing-core",
    "tracing-subscriber",
    "tungstenite",
];

/// Doubled on this platform, and why that is borne.
const TWICE: &[(&str, &str)] = &[
    ("async-channel", "async-imap and its stop token are a major version apart; small"),
    ("base64", "the Prometheus exporter and reqwest are a version apart; small"),
    ("block-buffer", "follows digest"),
    ("cpufeatures", "follows digest"),
    ("crypto-common", "follows digest"),
    ("digest", "WebSockets still shake hands by the former sha1; traits"),
    ("event-listener", "follows async-channel"),
    ("getrandom", "ring is two steps behind; a thin shell over one system call"),
    ("hashbrown", "metrics-util is a version behind; inlined tables"),
    ("io-lifetimes", "one part of cap-std is a version behind; types only"),
    ("nix", "rustyline is a version ahead; thin wrappers"),
    ("rand", "metrics-util is a version behind; the newer one serves tests only"),
    ("rand_core", "follows rand"),
    ("thiserror", "async-imap is a major version behind; a macro"),
    ("thiserror-impl", "follows thiserror"),
    ("syn", "macros are moving to version 3; it is not linked into the program"),
];

fn lock() -> toml::Table {
    project::read("Cargo.lock").expect("Cargo.lock is committed").parse().expect("Cargo.lock is TOML")
}

/// Every package of `Cargo.lock`: its name and the versions there are.
fn locked() -> BTreeMap<String, BTreeSet<String>> {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in lock().get("package").and_then(|p| p.as_array()).into_iter().flatten() {
        let text = |key: &str| package.get(key).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
        versions.entry(text("name")).or_default().insert(text("version"));
    }
    versions
}

/// The packages that this platform builds, as `cargo metadata` describes them.
fn built() -> Vec<Value> {
    let rustc = shell::output(&mut shell::command("rustc", &["-vV"])).expect("rustc");
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let args = ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    let printed = shell::output(&mut shell::cargo(&args)).expect("cargo metadata; is Cargo.lock up to date?");
    let metadata: Value = serde_json::from_str(&printed).expect("JSON");
    metadata["packages"].as_array().cloned().expect("packages")
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

#[test]
fn nothing_forbidden_is_linked() {
    let matches = |rule: &str, name: &str| match rule.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == rule,
    };
    let mut faults = Vec::new();
    for name in locked().keys() {
        if let Some((_, why)) = FORBIDDEN.iter().find(|(rule, _)| matches(rule, name)) {
            faults
                .push(format!("{name} is in Cargo.lock: {why}; `cargo tree -i {name}` tells who brings it"));
        }
    }
    none(faults);
}

#[test]
fn what_must_be_linked_once_is_there_once() {
    let doubled =
        locked().into_iter().filter(|(name, versions)| ONCE.contains(&name.as_str()) && versions.len() > 1);
    none(
        doubled
            .map(|(name, v)| format!("{name} is there as {v:?}; bring its users to one version"))
            .collect(),
    );
}

#[test]
fn any_other_doubled_crate_has_its_reason() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in built() {
        versions
            .entry(text(&package, "name").to_owned())
            .or_default()
            .insert(text(&package, "version").to_owned());
    }
    let mut faults = Vec::new();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        if !TWICE.iter().any(|(known, _)| known == name) {
            faults.push(format!("{name} is doubled, {versions:?}; avoid it, or give TWICE in xtask/tests/tidy/stack.rs its reason"));
        }
    }
    for (name, _) in TWICE {
        if versions.get(*name).is_none_or(|versions| versions.len() < 2) {
            faults.push(format!(
                "{name} is not doubled any more; take it off TWICE in xtask/tests/tidy/stack.rs"
            ));
        }
    }
    none(faults);
}

#[test]
fn every_dependency_builds_with_our_rust() {
    let manifest: toml::Table = project::read("Cargo.toml").expect("Cargo.toml").parse().expect("TOML");
    let ours = manifest["workspace"]["package"]["rust-version"].as_str().expect("a rust-version").to_owned();
    let number = |version: &str| version.split('.').map(|n| n.parse().unwrap_or(0)).collect::<Vec<u32>>();
    let newer = built()
        .into_iter()
        .filter(|package| number(text(package, "rust_version")) > number(&format!("{ours}.99")));
    none(
        newer
            .map(|p| {
                format!(
                    "{} {} needs Rust {}; ours is {ours}: pin an older one",
                    text(&p, "name"),
                    text(&p, "version"),
                    text(&p, "rust_version")
                )
            })
            .collect(),
    );
}

#[test]
fn every_dependency_has_a_licence_that_suits_ours() {
    let unsuited = built().into_iter().filter(|package| !licence::suits(text(package, "license")));
    none(
        unsuited
            .map(|p| {
                format!(
                    "{} is under {:?}, which is not on the list in xtask/tests/tidy/licence.rs",
                    text(&p, "name"),
                    text(&p, "license")
                )
            })
            .collect(),
    );
}
