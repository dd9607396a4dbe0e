//! One attempt at one model, as a stream of pieces, whatever it speaks.
//!
//! Dropping a source closes its connection at once. Nothing here retries.

use std::time::Duration;

use futures_util::StreamExt;
use sb_harness::model::{Fault, FaultKind, ModelRef, ProfileName, Secret, Usage};
use sb_harness::net::{Ask, Body, host_of, redact};

use crate::answer::{Answer, Piece};
use crate::dialect::openai::Manner;
use crate::dialect::reading::Reading;
use crate::dialect::scripted::{Failure, Scripted};
use crate::dialect::{Question, anthropic, openai};
use crate::harness::{Keys, LoopContext, Quirks};
use crate::providers::{Dialect, Provider};

/// The longest silence before and within an answer.
const IDLE: Duration = Duration::from_secs(120);

/// The most bytes of one answer on the wire; far more than any model writes at once.
const MOST_READ: usize = 8_000_000;

/// An answer on its way.
pub(crate) enum Source {
    Scripted(Scripted),
    Wire(Box<Wire>),
}

/// An answer on its way over the network.
pub(crate) struct Wire {
    body: Body,
    reading: Reading,
    /// Bytes of the answer so far.
    read: usize,
    /// Struck out of what the other side says, should it repeat it.
    key: Option<Secret>,
}

/// Where one model is asked, and as whom.
#[derive(Debug)]
pub(crate) struct Place {
    pub base: String,
    pub key: Option<Secret>,
    pub own_host: bool,
    version: Option<String>,
}

impl Place {
    /// # Errors
    /// If there is no address, or a key is missing where one is needed.
    pub fn of(
        keys: &dyn Keys,
        profile: &ProfileName,
        base_url: Option<&str>,
        provider: &Provider,
        model: &ModelRef,
    ) -> Result<Self, Fault> {
        let own = provider.base_url.as_deref().unwrap_or_default();
        let base = base_url.map(str::to_owned).or_else(|| keys.base_url(&provider.name));
        let base = base.unwrap_or_else(|| own.to_owned()).trim_end_matches('/').to_owned();
        let own_host = host_of(&base) == host_of(own);
        let key = keys.key(profile, &provider.name).filter(|k| !k.expose().is_empty());
        if key.is_none() && own_host {
            let named =
                provider.key_env.as_deref().map(|env| format!(": set {env}, or give the profile one"));
            return Err(Fault {
                kind: FaultKind::Auth,
                doing: format!("asking {model}"),
                detail: format!("there is no key for {}{}", provider.name, named.unwrap_or_default()),
                maybe_done: false,
                status: None,
            });
        }
        Ok(Self { base, key, own_host, version: provider.version.clone() })
    }
}

impl Source {
    /// Asks a model over the network; gives the source once the answer begins.
    ///
    /// # Errors
    /// As [`Http::post`](sb_harness::net::Http::post).
    pub async fn open(
        context: &LoopContext,
        quirks: &Quirks,
        dialect: Dialect,
        place: &Place,
        question: &Question<'_>,
    ) -> Result<Self, Fault> {
        let ask = if dialect == Dialect::Anthropic {
            ask_anthropic(place, question)
        } else {
            let manner =
                Manner { own_host: place.own_host, stream_options: quirks.sends_stream_options(&place.base) };
            ask_openai(place, question, manner)
        };
        let answer = context.http.post(ask).await?;
        let reading = Reading::new(dialect, answer.media_type != "application/json");
        Ok(Source::Wire(Box::new(Wire { body: answer.body, reading, read: 0, key: place.key.clone() })))
    }

    /// The next piece; none once the answer is whole.
    pub async fn next(&mut self) -> Option<Result<Piece, Failure>> {
        match self {
            Source::Scripted(scripted) => scripted.next().await,
            Source::Wire(wire) => wire.next().await.map(|piece| piece.map_err(Failure::Fault)),
        }
    }

    /// The whole answer.
    ///
    /// # Errors
    /// If it broke off.
    pub fn finish(self) -> Result<Answer, Failure> {
        match self {
            Source::Scripted(scripted) => Ok(scripted.finish()),
            Source::Wire(mut wire) => {
                let answer = wire.reading.finish().map_err(Failure::Fault);
                wire.release();
                answer
            }
        }
    }

    /// What was used so far.
    pub fn usage(&self) -> Usage {
        match self {
            Source::Scripted(scripted) => scripted.usage(),
            Source::Wire(wire) => wire.reading.usage(),
        }
    }
}

/// A model that never ends its answer is cut off.
fn too_long() -> Fault {
    Fault {
        kind: FaultKind::Garbled,
        doing: "reading the model's answer".to_owned(),
        detail: format!("its answer is longer than {} MB", MOST_READ / 1_000_000),
        maybe_done: true,
        status: None,
    }
}

impl Wire {
    async fn next(&mut self) -> Option<Result<Piece, Fault>> {
        loop {
            if let Some(read) = self.reading.pull() {
                return Some(read.map_err(|mut fault| {
                    fault.detail = redact(&fault.detail, &self.key.iter().collect::<Vec<_>>());
                    fault
                }));
            }
            if self.reading.is_over() {
                return None;
            }
            match self.body.next().await {
                Some(Ok(bytes)) => {
                    self.read += bytes.len();
                    match self.read > MOST_READ {
                        true => self.reading.fail(too_long()),
                        false => self.reading.take(&bytes),
                    }
                }
                Some(Err(fault)) => self.reading.fail(fault),
                None => self.reading.end(),
            }
        }
    }

    /// Lets a finished answer's connection be used again, by reading the little that is left of it.
    fn release(self) {
        let mut body = self.body;
        if !self.reading.is_ended() {
            let rest = async move { while let Some(Ok(_)) = body.next().await {} };
            tokio::spawn(tokio::time::timeout(Duration::from_secs(1), rest));
        }
    }
}

fn ask_anthropic(place: &Place, question: &Question) -> Ask {
    // The address may be given with or without its version.
    let base = place.base.trim_end_matches("/v1");
    Ask {
        url: format!("{base}/v1/messages"),
        headers: place.version.iter().map(|version| ("anthropic-version", version.clone())).collect(),
        secret_headers: place.key.iter().map(|key| ("x-api-key", "", key.clone())).collect(),
        body: anthropic::request(question).to_string().into(),
        idle: IDLE,
    }
}

fn ask_openai(place: &Place, question: &Question, manner: Manner) -> Ask {
    Ask {
        url: format!("{}/chat/completions", place.base),
        headers: Vec::new(),
        secret_headers: place.key.iter().map(|key| ("authorization", "Bearer ", key.clone())).collect(),
        body: openai::request(question, manner).to_string().into(),
        idle: IDLE,
    }
}
