//! Telegram as the program imitates it (`standin telegram`), in a process of its own: people write there,
//! and what they see is the judge of a bridge that is killed.
//!
//! It is steered as its page is: by the addresses below `/standin`.
#![allow(
    clippy::disallowed_methods,
    reason = "it starts the real program and types there as a stranger would"
)]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// The lines it prints before it can be reached.
const LINES: usize = 3;
/// Nobody waits longer for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The imitated platform; it ends when this is dropped.
pub struct Telegram {
    _child: Child,
    http: reqwest::Client,
    pub url: String,
    token: String,
}

/// A message as a person sees it.
#[derive(Debug, Clone)]
pub struct Shown {
    pub id: i64,
    /// The bot wrote it.
    pub ours: bool,
    pub text: String,
    /// The bot's mark on it.
    pub mark: Option<String>,
}

impl Telegram {
    /// Starts it on a free port.
    ///
    /// # Errors
    /// If the program does not say where it listens.
    pub async fn start(binary: &Path) -> Result<Self> {
        let mut program = Command::new(binary);
        program.args(["standin", "telegram", "--listen", "127.0.0.1:0"]).kill_on_drop(true);
        let mut child = program.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("an output")?).lines();
        let mut said = Vec::new();
        while said.len() < LINES {
            said.push(lines.next_line().await?.with_context(|| format!("it ended after {said:?}"))?);
        }
        let url =
            said[0].split_whitespace().find(|word| word.starts_with("http://")).context("an address")?;
        let token = said[2].split_whitespace().find_map(|word| word.strip_prefix("token="));
        drop(rustls::crypto::ring::default_provider().install_default());
        Ok(Self {
            http: reqwest::Client::builder().no_proxy().timeout(PATIENCE).build()?,
            url: url.trim_end_matches('/').to_owned(),
            token: token.context("a token")?.to_owned(),
            _child: child,
        })
    }

    /// The flags by which a channel reaches it, or what stands before it at `url`.
    pub fn flags_at(&self, url: &str) -> Vec<String> {
        let field = |key: &str, value: &str| ["--set".to_owned(), format!("{key}={value}")];
        [field("token", &self.token), field("api_url", url)].concat()
    }

    /// The flags by which a channel reaches it.
    pub fn flags(&self) -> Vec<String> {
        self.flags_at(&self.url)
    }

    /// Does something there.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn act(&self, deed: Value) -> Result<Value> {
        let path = format!("{}/standin/act", self.url);
        let answer = self.http.post(path).header("x-standin", "1").json(&deed).send().await?;
        if !answer.status().is_success() {
            bail!("{deed}: {}", answer.status());
        }
        Ok(answer.json().await?)
    }

    /// A new person: their id, which is that of their chat with the bot too.
    ///
    /// # Errors
    /// If the stand-in is not there.
    pub async fn person(&self, name: &str) -> Result<String> {
        let made = self.act(json!({"do": "person", "name": name})).await?;
        Ok(made["id"].as_str().context("an id")?.to_owned())
    }

    /// A person writes in their chat.
    ///
    /// # Errors
    /// If the stand-in is not there.
    pub async fn say(&self, person: &str, text: &str) -> Result<()> {
        self.act(json!({"do": "say", "chat": person, "person": person, "text": text})).await.map(drop)
    }

    /// The next so many calls that put something into a chat go wrong.
    ///
    /// # Errors
    /// If there is no such fault.
    pub async fn break_posts(&self, what: &str, times: u32) -> Result<()> {
        self.act(json!({"do": "break", "what": what, "of": "posts", "times": times})).await.map(drop)
    }

    /// Nothing goes wrong any more.
    ///
    /// # Errors
    /// If the stand-in is not there.
    pub async fn mend(&self) -> Result<()> {
        self.act(json!({"do": "mend"})).await.map(drop)
    }

    /// What its page shows of a person's chat.
    ///
    /// # Errors
    /// If the stand-in is not there.
    pub async fn state(&self, person: &str) -> Result<Value> {
        let path = format!("{}/standin/state?chat={person}", self.url);
        Ok(self.http.get(path).send().await?.json().await?)
    }

    /// The newest messages of a person's chat, the oldest of them first.
    ///
    /// # Errors
    /// If the stand-in is not there.
    pub async fn shown(&self, person: &str) -> Result<Vec<Shown>> {
        let state = self.state(person).await?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let messages = state["messages"].as_array().context("messages")?.iter().map(|message| Shown {
            id: message["id"].as_i64().unwrap_or_default(),
            ours: message["ours"] == true,
            text: text(&message["text"]).unwrap_or_default(),
            mark: text(&message["mark"]),
        });
        Ok(messages.collect())
    }

    /// What the bot said in a person's chat, in order.
    ///
    /// # Errors
    /// If the stand-in is not there.
    pub async fn answers(&self, person: &str) -> Result<Vec<String>> {
        let shown = self.shown(person).await?;
        Ok(shown.into_iter().filter(|message| message.ours).map(|message| message.text).collect())
    }

    /// Waits until the bot has said these words, a word of their own, in a person's chat.
    ///
    /// # Errors
    /// If nobody waits any longer.
    pub async fn until_said(&self, person: &str, word: &str) -> Result<Vec<String>> {
        let begun = Instant::now();
        loop {
            let answers = self.answers(person).await?;
            if count(&answers, word) > 0 {
                return Ok(answers);
            }
            if begun.elapsed() > PATIENCE {
                bail!("{word} was never said in {person}; what was: {answers:#?}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// How many of these texts hold the word.
pub fn count(texts: &[String], word: &str) -> usize {
    texts.iter().filter(|text| text.split_whitespace().any(|w| w == word)).count()
}
