//! `reference`: every command, flag, setting and code as Markdown, made from what they are.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};
use sb_engine::core::commands::{Need, TABLE};

use crate::args::Cli;
use crate::args::server::ServerFlags;

/// Variables of the environment that are no provider's.
const VARIABLES: [(&str, &str); 6] = [
    ("SWITCHBOARD_HOME", "The folder that holds everything."),
    (
        "SWITCHBOARD_TOKEN",
        "The machine's token for HTTP: reaches every profile, and may decide. 16 characters or more.",
    ),
    ("SWITCHBOARD_MODEL", "The model of the first profile, as provider:id."),
    (
        "SWITCHBOARD_<KIND>_<KEY>",
        "One of a messenger's own settings, such as `SWITCHBOARD_TELEGRAM_TOKEN`: `bridge` and `channel add` read it, and `channel set` with `--set KEY`.",
    ),
    (
        "A2A_API_KEY",
        "The key shown to agents that speak Agent2Agent, where their profile has none of its own.",
    ),
    ("RUST_LOG", "What is logged, such as `info` or `sb_engine=debug`."),
];

/// The whole page.
pub fn page() -> String {
    let mut page = String::from(
        "# Reference\n\nPrinted by the program itself (`cargo xtask docs`); do not edit it by hand.\n\n## Commands\n",
    );
    let mut cli = Cli::command();
    cli.build();
    command(&mut page, &cli, "switchboard");
    settings(&mut page);
    environment(&mut page);
    conversation(&mut page);
    let _ = write!(
        page,
        "\n## Error codes\n\nWhat `code` can be in an error of the HTTP channel.\n\n{}",
        sb_doors::http::codes_as_markdown()
    );
    page
}

fn command(page: &mut String, of: &Command, path: &str) {
    let about = of.get_long_about().or(of.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = of.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let _ = write!(page, "\n### `{path}`\n\n{}\n\n```text\n{usage}\n```\n", sentence(&about));
    let shown: Vec<&Arg> = of.get_arguments().filter(|a| shows(a, path)).collect();
    if !shown.is_empty() {
        page.push_str("\n| | |\n|---|---|\n");
        shown.into_iter().for_each(|arg| row(page, &spelled(arg), arg));
    }
    if let Some(help) = of.get_after_help() {
        let _ = write!(page, "\n```text\n{}\n```\n", help.to_string().trim());
    }
    for sub in of.get_subcommands().filter(|s| !s.is_hide_set() && s.get_name() != "help") {
        command(page, sub, &format!("{path} {}", sub.get_name()));
    }
}

/// Flags that every command has are not repeated.
fn shows(arg: &Arg, path: &str) -> bool {
    let everywhere = arg.is_global_set() && path.contains(' ');
    !arg.is_hide_set() && !everywhere && !matches!(arg.get_id().as_str(), "help" | "version")
}

fn row(page: &mut String, name: &str, arg: &Arg) {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> =
        arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    let flag = matches!(values.join(" ").as_str(), "`true` `false`");
    let choice = if values.is_empty() || flag { String::new() } else { format!(" ({})", values.join(", ")) };
    let _ = writeln!(
        page,
        "| `{name}` | {}{choice} |",
        sentence(&help).replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
    );
}

fn spelled(arg: &Arg) -> String {
    let value =
        arg.get_value_names().map(|names| names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(" "));
    let value = value
        .filter(|_| arg.get_action().takes_values() && arg.get_num_args().is_none_or(|n| n.max_values() > 0));
    match (arg.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long} {value}"),
        (Some(long), None) => format!("--{long}"),
        (None, value) => value.unwrap_or_else(|| arg.get_id().to_string()),
    }
}

fn settings(page: &mut String) {
    page.push_str("\n## Settings\n\nThe keys of `<home>/switchboard.toml`, which `up` and `serve` read. The environment and flags go before it; an unknown key is an error.\n\n| key | |\n|---|---|\n");
    let flags = <ServerFlags as clap::Args>::augment_args(Command::new("settings"));
    for arg in flags.get_arguments() {
        row(page, arg.get_id().as_str(), arg);
    }
}

fn environment(page: &mut String) {
    page.push_str("\n## Environment\n\n| variable | |\n|---|---|\n");
    for (name, what) in VARIABLES {
        let _ = writeln!(page, "| `{name}` | {what} |");
    }
    for provider in sb_loop::providers() {
        if let Some(name) = &provider.key_env {
            let _ = writeln!(page, "| `{name}` | The key for the provider `{}`. |", provider.name);
        }
        if let Some(name) = &provider.base_url_env {
            let own = provider.base_url.as_deref().unwrap_or_default();
            let _ = writeln!(
                page,
                "| `{name}` | Another base address for `{}`; its own is `{own}`. |",
                provider.name
            );
        }
    }
}

fn conversation(page: &mut String) {
    page.push_str("\n## Commands in a conversation\n\n| command | what it does | who |\n|---|---|---|\n");
    for entry in TABLE {
        let who = match entry.need {
            Need::Nothing => "anyone who may talk",
            Need::Decide => "who may decide",
            Need::Instruct => "who may instruct",
        };
        let _ = writeln!(page, "| `{}` | {} | {who} |", entry.usage.replace('|', "\\|"), entry.help);
    }
}

/// `text` with a full stop, where it has none.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', ']', ')', ':', '?']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}
