//! The pages about messengers, made of what the program prints about each kind: its facts as data.
//!
//! Pure: from `switchboard channel kinds --json` and each adapter's own page to Markdown. A fact that has no
//! words here is an error, so that no page says less than the program does.

use std::fmt::Write;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

/// The first lines of each page that is made.
pub const MADE: &str = "Printed by the program itself (`cargo xtask docs`); do not edit it by hand.";

/// A kind of messenger, as the program prints it.
#[derive(Debug, Deserialize)]
pub struct Kind {
    pub id: String,
    label: String,
    fields: Vec<Field>,
    direct: Value,
    group: Value,
    id_hint: String,
    trust: Vec<Trust>,
    gaps: Vec<String>,
    proof: Value,
}

#[derive(Debug, Deserialize)]
struct Field {
    key: String,
    label: String,
    secret: bool,
    required: bool,
    hint: String,
    choices: Vec<String>,
}

/// One thing that safety rests on.
#[derive(Debug, Deserialize)]
pub struct Trust {
    id: String,
    assumes: String,
    enforced: String,
    otherwise: String,
    /// The kinds it is of; none: it holds of every home.
    #[serde(default)]
    of: Vec<String>,
}

/// What is told of each kind: the heading, and its words from the features of one sort of chat.
type Fact = (&'static str, fn(&Value) -> Option<String>);
const FACTS: [Fact; 14] = [
    ("a message holds", |f| fit(f.get("text")?.get("fit")?)),
    ("a reply while it is written", |f| live(f.get("live")?)),
    ("at work", |f| typing(f.get("typing")?)),
    ("marks", |f| marks(f.get("marks")?)),
    ("files in", |f| files_in(f.get("files_in")?)),
    ("files out", |f| files_out(f.get("files_out")?)),
    ("questions", |f| questions(f.get("questions")?)),
    ("our messages", |f| either(f.get("edits")?, "can be edited", "stay as they were sent")),
    ("threads", |f| either(f.get("threads")?, "kept apart", "none")),
    ("mentions", |f| either(f.get("mentions")?, "told", "none")),
    ("a send that is repeated", |f| repeats(f.get("repeats")?)),
    ("we write first", |f| first_word(f.get("first_word")?)),
    ("sending", |f| either(f.get("sends_over_feed")?, "over the connection that receives", "by itself")),
    ("form", |f| form(f.get("text")?.get("fit")?)),
];
/// Those that the table of all messengers shows.
const IN_TABLE: [&str; 8] = [
    "a message holds",
    "form",
    "a reply while it is written",
    "at work",
    "marks",
    "files in",
    "files out",
    "questions",
];

/// All kinds beside each other.
pub fn table(kinds: &[Kind]) -> Result<String> {
    let mut page = format!(
        "# Messengers\n\n{MADE}\n\nEach is set up on its own page. `switchboard channel kinds` lists them with their settings, \
`switchboard channel add KIND` adds one.\n\n| messenger | chats | {} | a send that is repeated | shown by |\n|{}\n",
        IN_TABLE.join(" | "),
        "---|".repeat(IN_TABLE.len() + 4),
    );
    for kind in kinds {
        let (direct, group) = (row(kind, &kind.direct)?, row(kind, &kind.group)?);
        let link = format!("[{}](messengers/{}.md)", kind.label, kind.id);
        let proof = proof(&kind.proof).context("a proof without words")?;
        let rows = match direct == group {
            true => vec![("all", direct)],
            false => vec![("direct", direct), ("group", group)],
        };
        for (chats, row) in rows {
            let _ = writeln!(page, "| {link} | {chats} | {row} | {proof} |");
        }
    }
    page.push_str("\n## What they cannot\n");
    for kind in kinds {
        let _ = write!(page, "\n**{}.** {}\n", kind.label, kind.gaps.join(" "));
    }
    page.push_str(
        "\n## How to read this\n\n\
\"Stand-in\" means: proven against an imitation of the platform, which clients that were not written here \
have judged; a day means that it ran against the platform itself then. What the safety of each rests on is in \
[trust](trust.md).\n",
    );
    Ok(page)
}

fn row(kind: &Kind, features: &Value) -> Result<String> {
    let shown = IN_TABLE.iter().chain(&["a send that is repeated"]);
    let cells: Result<Vec<String>> = shown.map(|name| told(kind, name, features)).collect();
    Ok(cells?.join(" | "))
}

fn told(kind: &Kind, name: &str, features: &Value) -> Result<String> {
    let fact = FACTS.iter().find(|(known, _)| *known == name).context("an unknown fact")?;
    let words = (fact.1)(features);
    words.with_context(|| format!("{}: there are no words for {name:?} in {features}", kind.id))
}

/// One kind's page: its adapter's own, then what its manifest says.
pub fn page(kind: &Kind, own: &str) -> Result<String> {
    if !own.starts_with(&format!("# {}\n", kind.label)) {
        bail!("the README.md of {} must begin with `# {}`", kind.id, kind.label);
    }
    let mut page = format!("{}\n\n## Settings\n\n{MADE}\n\n", own.trim_end());
    page.push_str("| `--set` | | |\n|---|---|---|\n");
    for field in &kind.fields {
        let marks = [(field.required, "required"), (field.secret, "secret")];
        let marks: Vec<&str> = marks.iter().filter(|(on, _)| *on).map(|(_, word)| *word).collect();
        let choices = if field.choices.is_empty() {
            String::new()
        } else {
            format!(" One of {}.", field.choices.join(", "))
        };
        let hint = sentence(&field.hint);
        let _ =
            writeln!(page, "| `{}` | {} | {}: {hint}{choices} |", field.key, marks.join(", "), field.label);
    }
    let variable = |key: &str| format!("SWITCHBOARD_{}_{}", kind.id.replace('-', "_"), key).to_uppercase();
    if let Some(field) = kind.fields.first() {
        let _ = write!(
            page,
            "\nA value can come from the environment instead: `{}` is `{}`. `--allow` and `--approvers` take ids. {}\n",
            variable(&field.key),
            field.key,
            sentence(&kind.id_hint)
        );
    }
    page.push_str("\n## What it can\n\n| | direct | group |\n|---|---|---|\n");
    for (name, _) in FACTS {
        let (direct, group) = (told(kind, name, &kind.direct)?, told(kind, name, &kind.group)?);
        let group = if group == direct { "the same".to_owned() } else { group };
        let _ = writeln!(page, "| {name} | {direct} | {group} |");
    }
    page.push_str("\n## What it cannot\n\n");
    kind.gaps.iter().for_each(|gap| page.push_str(&format!("- {gap}\n")));
    let _ = write!(page, "\n## What its safety rests on\n\n{}", assumptions(kind.trust.iter()));
    page.push_str(
        "\nWhat holds of every home is in [trust](../trust.md).\n\n## What shows that it works\n\n",
    );
    page.push_str(match proof(&kind.proof).context("a proof without words")?.as_str() {
        "stand-in" => "The laws of messengers, against a stand-in that clients which were not written here have judged. It has not run against the platform itself yet.\n",
        _ => "The laws of messengers, against a stand-in; and the platform itself: see [the table](../messengers.md).\n",
    });
    Ok(page)
}

/// Every assumption by its id.
pub fn trust(all: &[Trust]) -> String {
    let (general, of_kinds): (Vec<&Trust>, Vec<&Trust>) = all.iter().partition(|trust| trust.of.is_empty());
    format!(
        "# Trust\n\n{MADE}\n\nWhat the safety of a home rests on. `switchboard trust` prints what is in force for what is \
switched on in yours.\n\n## In every home\n\n{}\n## With messengers\n\n{}",
        assumptions(general.into_iter()),
        assumptions(of_kinds.into_iter()),
    )
}

fn assumptions<'a>(all: impl Iterator<Item = &'a Trust>) -> String {
    let mut table = "| id | assumed | enforced | else |\n|---|---|---|---|\n".to_owned();
    for trust in all {
        let of = if trust.of.is_empty() { String::new() } else { format!(" ({})", trust.of.join(", ")) };
        let _ = writeln!(
            table,
            "| `{}`{of} | {} | {} | {} |",
            trust.id, trust.assumes, trust.enforced, trust.otherwise
        );
    }
    table
}

fn fit(value: &Value) -> Option<String> {
    let (limit, rest) = value.as_str()?.split_once(' ')?;
    let unit = match rest.split(',').next()? {
        "Chars" => "characters",
        "Utf16" => "characters (as UTF-16 counts)",
        "Bytes" => "bytes",
        _ => return None,
    };
    Some(format!("{limit} {unit}"))
}

fn form(value: &Value) -> Option<String> {
    let dialect = match value.as_str()?.split(", ").nth(1)? {
        "Plain" => "plain words",
        "Spans" => "words with styles beside them",
        "CommonMark" => "Markdown",
        "Slack" => "Slack's own",
        "Marks" => "marks such as `*bold*`",
        "Html" => "HTML",
        _ => return None,
    };
    Some(dialect.to_owned())
}

fn live(value: &Value) -> Option<String> {
    Some(match value.get("how")?.as_str()? {
        "off" => "not shown".to_owned(),
        "edit" => format!("one message, edited every {}", seconds(value.get("every")?)?),
        "stream" => "grows as the platform's own draft".to_owned(),
        _ => return None,
    })
}

fn typing(value: &Value) -> Option<String> {
    match value.get("how")?.as_str()? {
        "off" => Some("not shown".to_owned()),
        "renew" | "on_off" => Some("shown".to_owned()),
        _ => None,
    }
}

fn marks(value: &Value) -> Option<String> {
    let one = |key: &str| value.get(key).map(|mark| mark.as_str().unwrap_or_default());
    Some(match (one("taken")?, one("failed")?) {
        ("", "") => "none".to_owned(),
        (taken, "") => taken.to_owned(),
        (taken, failed) => format!("{taken} taken, {failed} failed").trim_start().to_owned(),
    })
}

fn files_in(value: &Value) -> Option<String> {
    if value.is_null() { Some("none".to_owned()) } else { megabytes(value) }
}

fn files_out(value: &Value) -> Option<String> {
    if value.is_null() {
        return Some("none".to_owned());
    }
    let at_once = value.get("at_once")?.as_u64()?;
    let together = if at_once > 1 { format!(", {at_once} together") } else { String::new() };
    Some(megabytes(value.get("largest")?)? + &together)
}

fn questions(value: &Value) -> Option<String> {
    if value == "text" {
        return Some("by typing".to_owned());
    }
    value.get("buttons")?.as_u64().map(|_| "buttons, or by typing".to_owned())
}

fn repeats(value: &Value) -> Option<String> {
    let words = match value.as_str()? {
        "dropped" => "is dropped there",
        "found" => "is found before",
        "seen" => "is seen twice",
        _ => return None,
    };
    Some(words.to_owned())
}

fn first_word(value: &Value) -> Option<String> {
    match value.as_str() {
        Some("any") => Some("at any time".to_owned()),
        Some("reply_only") => Some("never: only answers".to_owned()),
        Some(_) => None,
        None => Some(format!("within {} of a person's last message", seconds(value.get("within")?)?)),
    }
}

fn proof(value: &Value) -> Option<String> {
    match value.as_str() {
        Some("stand_in") => Some("stand-in".to_owned()),
        Some(_) => None,
        None => Some(format!("the platform itself, {}", value.get("real")?.as_str()?)),
    }
}

fn either(value: &Value, yes: &str, no: &str) -> Option<String> {
    value.as_bool().map(|on| if on { yes } else { no }.to_owned())
}

fn seconds(value: &Value) -> Option<String> {
    let ms = value.as_u64()?;
    Some(if ms % 3_600_000 == 0 {
        format!("{} h", ms / 3_600_000)
    } else {
        format!("{} s", ms as f64 / 1000.0)
    })
}

fn megabytes(value: &Value) -> Option<String> {
    value.as_u64().map(|bytes| format!("{} MB", bytes / (1024 * 1024)))
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests;
