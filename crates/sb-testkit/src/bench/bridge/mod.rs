//! The bench of a bridge: the program between an imitated messenger and a stand-in model without delay, both
//! in this process and on one clock; beside it a plain bot that keeps nothing, in a process of its own.
//!
//! The messenger is handed in, so no platform is known here but by the names of its calls.

mod burst;
mod delay;
mod running;
mod still;
mod watch;

use std::sync::Arc;

use anyhow::Result;
use axum::Router;

use super::Plan;
use super::model::Model;
use watch::Watched;

/// The messenger that is imitated.
pub trait Platform: Send + Sync {
    /// Its address below which calls arrive; a call's name is the last part of its path.
    fn router(&self) -> Router;
    /// What a channel of it is set to, for the platform at `url`.
    fn settings(&self, url: &str) -> Vec<(String, String)>;
    /// A new person: their id.
    fn person(&self) -> String;
    /// A person writes to the bot.
    fn say(&self, person: &str, text: &str);
    /// What the bot said to a person.
    fn answers(&self, person: &str) -> Vec<String>;
}

/// A kind of messenger, as the bench needs to know it.
#[derive(Clone)]
pub struct Messenger {
    /// As `--via` takes it.
    pub kind: &'static str,
    /// The calls that fetch updates and that say something, in lower case.
    pub poll: &'static str,
    pub send: &'static str,
    pub make: fn() -> Arc<dyn Platform>,
    /// The words that start the plain bot as a process: followed by where its platform and its model are.
    pub plain: &'static str,
}

/// Runs it; the section of the page.
///
/// # Errors
/// If something does not start, or an answer never comes.
pub async fn measure(plan: &Plan, messenger: &Messenger) -> Result<String> {
    let model = Model::serve().await?;
    let mut page = format!("## A messenger\n\n{ABOUT}\n\n");
    page += &delay::measure(plan, messenger, &model).await?;
    page += &burst::measure(plan, messenger, &model).await?;
    page += &still::measure(plan, messenger, &model).await?;
    Ok(page)
}

/// An HTTP client for the plain bot.
///
/// # Errors
/// If there is none to be had.
pub fn http() -> reqwest::Result<reqwest::Client> {
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().no_proxy().build()
}

async fn platform(messenger: &Messenger) -> Result<Watched> {
    Watched::serve((messenger.make)(), messenger).await
}

const ABOUT: &str = "`bridge` (release) between an imitated Telegram and the stand-in model server without delay (it repeats what was said), both in one other process and on one clock. The floor is a plain bot in a process of its own: it polls, asks the model and sends, and keeps nothing.";
