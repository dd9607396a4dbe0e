//! The pages people read: links that lead somewhere, and the commands they are told to type.
//!
//! Outside addresses are not asked for: tests reach no network.

use xtask::project;

use crate::none;

const UP: &str = "cargo run --release -- up";
const TEST: &str = "cargo xtask test";

#[test]
fn the_readme_shows_the_two_commands_before_all_else() {
    let readme = project::read("README.md").expect("README.md");
    let first: Vec<&str> = readme.split("```").nth(1).unwrap_or_default().lines().map(str::trim).collect();
    let missing =
        [UP, TEST].into_iter().filter(|command| !first.iter().any(|line| line.starts_with(command)));
    none(
        missing
            .map(|command| format!("README.md does not show `{command}` in its first block of code"))
            .collect(),
    );
}

#[test]
fn what_runs_on_a_fresh_machine_is_what_the_readme_says() {
    let script = project::read(".ci/run").expect(".ci/run");
    assert!(
        script.lines().any(|line| line.trim() == TEST),
        ".ci/run must call `{TEST}` on a line of its own"
    );
}

#[test]
fn every_link_inside_the_project_leads_somewhere() {
    let mut faults = Vec::new();
    for page in project::sources("", "md") {
        let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for target in links(&page.text) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if path.is_empty() {
                project::root().join(&page.path)
            } else {
                project::root().join(folder).join(path)
            };
            if !file.exists() {
                faults.push(format!("{} links to {path}, which does not exist", page.path));
            } else if !anchor.is_empty() && file.is_file() {
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                if !anchors(&text).iter().any(|known| known == anchor) {
                    faults
                        .push(format!("{} links to {target}, but no heading there is called so", page.path));
                }
            }
        }
    }
    none(faults);
}

/// The targets of Markdown links that stay inside the project; code is no link.
fn links(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for prose in line.split('`').step_by(2) {
            for rest in prose.split("](").skip(1) {
                let target = rest.split(')').next().unwrap_or_default();
                if !target.contains("://") && !target.starts_with("mailto:") && !target.is_empty() {
                    found.push(target);
                }
            }
        }
    }
    found
}

/// The names by which a page's headings can be linked to.
fn anchors(text: &str) -> Vec<String> {
    let heading = |line: &str| {
        let title = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?.to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        Some(kept.map(|c| if c == ' ' { '-' } else { c }).collect())
    };
    text.lines().filter_map(heading).collect()
}

#[test]
fn a_link_in_code_is_no_link() {
    assert_eq!(links("[a](b.md) `[c](d.md)` [e](https://x)\n```\n[f](g.md)\n```\n[h](#i)"), ["b.md", "#i"]);
    assert_eq!(anchors("# The Life, of a message!\ntext\n## B_2"), ["the-life-of-a-message", "b_2"]);
}
