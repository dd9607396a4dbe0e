//! `outbox …` and `inbox …`: what is on its way out, and what came and is not answered.

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire::{InboxInfo, PostInfo};
use sb_engine::model::text::one_line;

use crate::args::messenger::{InboxCommand, OutboxCommand};
use crate::output;

/// Characters of a reason or of words that a table shows.
const SHOWN: usize = 80;

/// Runs a command about the outbox.
pub async fn outbox(command: OutboxCommand, desk: &Desk) -> Result<()> {
    match command {
        OutboxCommand::List { all, channel, json } => {
            let posts = desk.outbox(channel.as_deref(), all).await?;
            if json {
                return output::json(&posts);
            }
            if posts.is_empty() {
                return output::line("Nothing is unsent, and nothing was refused.");
            }
            let heading = ["number", "channel", "chat", "state", "tries", "written", "why", "words"];
            let mut rows = vec![heading.map(str::to_owned).to_vec()];
            rows.extend(posts.into_iter().map(row));
            output::table(&rows)
        }
        OutboxCommand::Retry { number } => {
            desk.retry_post(number).await?;
            output::line(&format!(
                "Post {number} is tried again: now if its channel runs, else once it does."
            ))
        }
        OutboxCommand::Drop { number } => {
            desk.drop_post(number).await?;
            output::line(&format!("Post {number} is given up."))
        }
    }
}

fn row(post: PostInfo) -> Vec<String> {
    let chat = match &post.thread {
        Some(thread) => format!("{}/{thread}", post.chat),
        None => post.chat.clone(),
    };
    let state = match (post.state.as_str(), post.sent) {
        ("open", sent) if sent > 0 => format!("open, {sent} sent"),
        (state, _) => state.to_owned(),
    };
    let words = if post.text.is_empty() { post.files.join(", ") } else { post.text };
    vec![
        post.number.to_string(),
        post.channel,
        chat,
        state,
        post.tries.to_string(),
        post.at,
        one_line(post.why.as_deref().unwrap_or_default(), SHOWN),
        one_line(&words, SHOWN / 2),
    ]
}

/// Runs a command about the inbox.
pub async fn inbox(command: InboxCommand, desk: &Desk) -> Result<()> {
    match command {
        InboxCommand::List { channel, json } => {
            let items = desk.inbox(channel.as_deref()).await?;
            if json {
                return output::json(&items);
            }
            if items.is_empty() {
                return output::line("Everything that came is answered, or is being answered.");
            }
            let mut rows = vec![["number", "channel", "came", "why", "detail"].map(str::to_owned).to_vec()];
            rows.extend(items.into_iter().map(|item| {
                let InboxInfo { number, channel, at, why, detail, .. } = item;
                vec![number.to_string(), channel, at, why.replace('_', " "), one_line(&detail, SHOWN)]
            }));
            output::table(&rows)
        }
        InboxCommand::Replay { number } => {
            let said = match desk.replay(number).await?.outcome.as_str() {
                "taken" => "It is taken in now.",
                "held" => "It is still held: its conversation has too much waiting.",
                "not_running" => {
                    "Its channel does not run here, so it stays; `switchboard channel status` shows how channels are."
                }
                _ => "It still means nothing to its channel, so it stays.",
            };
            output::line(said)
        }
    }
}
