//! Providers as data: one file each under `providers/`, read once.
//!
//! Everything that differs between two providers of one dialect is a field here; code never compares a
//! provider's name.

use std::sync::LazyLock;

use sb_harness::model::{ModelRef, Usage};
use serde::Deserialize;

/// Which language a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions API.
    Openai,
    /// None: obeys the message's script.
    Scripted,
}

/// Where PDFs can be shown as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Documents {
    #[default]
    Nowhere,
    /// At the provider's own address; compatible servers mostly refuse them.
    AtHome,
    Everywhere,
}

/// One provider of models.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    pub name: String,
    pub dialect: Dialect,
    /// Its own address. A key is needed there; elsewhere one is sent only if there is one.
    pub base_url: Option<String>,
    /// The version of its API that is asked for, where one must be named.
    pub version: Option<String>,
    /// The environment variable that holds its key.
    pub key_env: Option<String>,
    /// The environment variable that holds another base address.
    pub base_url_env: Option<String>,
    /// The model meant where none is named.
    pub default_model: Option<String>,
    /// Where it takes PDFs.
    #[serde(default)]
    pub documents: Documents,
    /// What is known of its models.
    pub models: Vec<Family>,
}

/// Facts about all models whose id begins alike; the longest beginning counts.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    pub begins: String,
    /// Tokens that fit.
    pub context: u64,
    /// The most tokens to ask for in one answer.
    pub output: Option<u64>,
    /// None if not known for certain; then a call costs nothing here.
    pub price: Option<Price>,
}

/// Millionths of a US dollar for a thousand tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}

static PROVIDERS: LazyLock<Vec<Provider>> = LazyLock::new(|| {
    let files = [
        include_str!("../providers/anthropic.toml"),
        include_str!("../providers/openai.toml"),
        include_str!("../providers/scripted.toml"),
    ];
    files
        .into_iter()
        .map(|file| toml::from_str(file).expect("the built-in provider files are well formed"))
        .collect()
});

/// All providers there are.
pub fn providers() -> &'static [Provider] {
    &PROVIDERS
}

/// Whether a model can be asked for, as far as can be told without asking.
///
/// # Errors
/// A sentence that names the fault and the providers there are.
pub fn check_model(model: &ModelRef) -> Result<(), String> {
    let Some(provider) = provider(&model.provider) else {
        let known: Vec<_> = providers().iter().map(|p| p.name.as_str()).collect();
        return Err(format!("There is no provider {:?}; there are {}.", model.provider, known.join(", ")));
    };
    let named =
        !model.id.is_empty() || provider.default_model.is_some() || provider.dialect == Dialect::Scripted;
    let plain = model.id.chars().all(|c| !c.is_control() && !c.is_whitespace()) && model.id.len() <= 200;
    match (named, plain) {
        (true, true) => Ok(()),
        (false, _) => Err(format!("Name a model of {}: {}:<id>.", model.provider, model.provider)),
        (_, false) => {
            Err(format!("A model's id has no spaces and at most 200 characters, unlike {:?}.", model.id))
        }
    }
}

/// The provider called `name`.
pub(crate) fn provider(name: &str) -> Option<&'static Provider> {
    providers().iter().find(|p| p.name == name)
}

impl Provider {
    /// What is known of the model with this id.
    pub fn family(&self, id: &str) -> Family {
        let fitting = self.models.iter().filter(|f| id.starts_with(&f.begins));
        fitting.max_by_key(|f| f.begins.len()).cloned().unwrap_or_default()
    }
    /// The model's id as the provider knows it.
    pub(crate) fn id_of<'a>(&'a self, model: &'a ModelRef) -> &'a str {
        if model.id.is_empty() { self.default_model.as_deref().unwrap_or_default() } else { &model.id }
    }
}

impl Family {
    /// What `usage` cost, in millionths of a US dollar.
    pub fn cost_micros(&self, usage: &Usage) -> u64 {
        self.price.map_or(0, |price| {
            let fresh = usage.input.saturating_sub(usage.cached);
            let thousandfold =
                [(fresh, price.input), (usage.cached, price.cached), (usage.output, price.output)];
            thousandfold.into_iter().fold(0u64, |sum, (n, each)| sum.saturating_add(n.saturating_mul(each)))
                / 1000
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_file_is_well_formed_and_complete() {
        assert_eq!(providers().len(), 3);
        for provider in providers() {
            assert!(
                provider.models.iter().any(|f| f.begins.is_empty()),
                "{} knows every model",
                provider.name
            );
            assert_eq!(provider.base_url.is_some(), provider.dialect != Dialect::Scripted);
            assert_eq!(provider.key_env.is_some(), provider.base_url_env.is_some());
        }
    }

    #[test]
    fn an_unknown_provider_is_told_with_those_there_are() {
        let said = check_model(&"nobody:x".parse().expect("a model")).expect_err("unknown");
        assert!(said.contains("nobody") && said.contains("anthropic, openai, scripted"), "{said}");
        for known in ["anthropic", "openai:gpt-6", "scripted", "scripted:second"] {
            assert_eq!(check_model(&known.parse().expect("a model")), Ok(()));
        }
    }

    #[test]
    fn the_longest_fitting_family_counts_and_cost_follows_its_price() {
        let price = Some(Price { input: 3000, cached: 300, output: 15000 });
        let mut provider = providers()[0].clone();
        provider.models.push(Family { begins: "big-".into(), context: 7, output: None, price });
        assert_eq!(provider.family("big-one").context, 7);
        assert_eq!(provider.family("small").context, 200_000);
        let usage = Usage { input: 2000, cached: 1000, output: 100, ..Usage::default() };
        assert_eq!(provider.family("big-one").cost_micros(&usage), 3000 + 300 + 1500);
        assert_eq!(provider.family("small").cost_micros(&usage), 0);
    }
}
