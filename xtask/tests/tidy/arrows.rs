//! Which crate may use which: the table of rooms in ARCHITECTURE.md against every Cargo.toml.
//!
//! The table is the only place where the arrows are written. A crate names only what its row names;
//! what those re-export it reaches through them. Dev-dependencies are free.

use std::collections::BTreeMap;

use xtask::project;

use crate::none;

/// What a row's last cell allows.
enum May {
    These(Vec<String>),
    AllBut(String),
}

/// The rooms by package name. A room that does not exist yet has its row in another table.
fn rooms() -> BTreeMap<String, May> {
    let page = project::read("ARCHITECTURE.md").expect("ARCHITECTURE.md");
    let section = page.split("\n## ").find(|part| part.starts_with("Rooms")).expect("a section Rooms");
    let mut rooms = BTreeMap::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, .., may] = cells.as_slice() else { continue };
        let full = |short: &str| format!("sb-{short}");
        let may = match may.strip_prefix("all but ") {
            Some(but) => May::AllBut(full(but)),
            None => May::These(may.split(',').map(str::trim).filter(|m| *m != "–").map(full).collect()),
        };
        rooms.insert(name.trim_matches('`').to_owned(), may);
    }
    rooms
}

/// The workspace's own crates among a manifest's dependencies; dev-dependencies are left out.
fn arrows(manifest: &toml::Table) -> Vec<String> {
    let of = |table: &toml::Table| {
        ["dependencies", "build-dependencies"]
            .iter()
            .filter_map(|kind| table.get(*kind)?.as_table())
            .flat_map(|found| found.iter().map(|(name, value)| package(name, value)))
            .collect::<Vec<_>>()
    };
    let mut all = of(manifest);
    for target in manifest.get("target").and_then(|t| t.as_table()).into_iter().flatten() {
        all.extend(target.1.as_table().map(of).unwrap_or_default());
    }
    all.retain(|name| name.starts_with("sb-") || name == "switchboard" || name == "xtask");
    all
}

/// A dependency's package, also where it is renamed.
fn package(name: &str, value: &toml::Value) -> String {
    value.get("package").and_then(toml::Value::as_str).unwrap_or(name).to_owned()
}

#[test]
fn a_crate_uses_only_the_rooms_its_row_names() {
    let rooms = rooms();
    let mut faults = Vec::new();
    for (folder, manifest) in project::manifests() {
        let Some(name) = folder.strip_prefix("crates/") else { continue };
        let Some(may) = rooms.get(name) else {
            faults.push(format!(
                "{name} has no row in ARCHITECTURE.md, Rooms; add it: job and what it may use"
            ));
            continue;
        };
        for used in arrows(&manifest) {
            let allowed = match may {
                May::These(these) => these.contains(&used),
                May::AllBut(but) => &used != but && used != "xtask",
            };
            if !allowed {
                faults.push(format!(
                    "{name} uses {used}, which its row in ARCHITECTURE.md does not allow; reach it through what it may use, or change the house first"
                ));
            }
        }
    }
    none(faults);
}

#[test]
fn every_room_in_the_table_exists() {
    let missing = rooms().into_keys().filter(|name| {
        name != "xtask" && !project::root().join("crates").join(name).join("Cargo.toml").exists()
    });
    none(
        missing
            .map(|name| format!("ARCHITECTURE.md lists {name} under Rooms, but there is no crates/{name}"))
            .collect(),
    );
}

#[test]
fn every_crate_is_named_by_its_folder_and_says_what_it_is_for() {
    let mut faults = Vec::new();
    for (folder, manifest) in project::manifests() {
        let package = manifest.get("package").and_then(|p| p.as_table()).cloned().unwrap_or_default();
        let text = |key: &str| package.get(key).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
        let last = folder.rsplit('/').next().unwrap_or_default();
        if text("name") != last && last != "fuzz" {
            faults.push(format!(
                "{folder}: the package is called {:?}; folder and package share a name",
                text("name")
            ));
        }
        if text("description").trim().is_empty() {
            faults.push(format!("{folder}/Cargo.toml has no description; say its one job"));
        }
        if last != "fuzz" && manifest.get("lints").and_then(|l| l.get("workspace")).is_none() {
            faults.push(format!("{folder}/Cargo.toml lacks `[lints] workspace = true`"));
        }
    }
    none(faults);
}
