//! The first profile of a home: `assistant`, with a real model where there is a key for one.

use anyhow::{Result, anyhow};
use sb_engine::Engine;
use sb_engine::model::{Level, ModelRef, Profile, ProfileName, Rights, Secret, ToolSet};
use sb_loop::{Dialect, Provider, providers};

use crate::environment::Environment;
use crate::home::Home;
use crate::settings::Settings;

/// What it is called.
pub const NAME: &str = "assistant";

/// What was made.
pub struct Made {
    /// Why this model.
    pub why: String,
    /// A deciding token, where the machine has none of its own.
    pub token: Option<Secret>,
}

/// Makes it, if the home has no profile at all. `token`: with a deciding token, for HTTP.
pub async fn make(
    home: &Home,
    environment: &Environment,
    settings: &Settings,
    engine: &Engine,
    token: bool,
) -> Result<Option<Made>> {
    if !engine.profiles().await?.is_empty() {
        return Ok(None);
    }
    let (model, why) = choose(settings.model.as_deref(), environment, providers())?;
    let name = ProfileName::from(NAME);
    let mut profile = Profile::gone(name.clone());
    profile.models = vec![model];
    profile.autonomy = Level::L3;
    profile.tools = ToolSet::All;
    profile.workspace = Some(home.workspace(NAME));
    engine.put_profile(profile, None).await?;
    let token = match environment.token {
        None if token => Some(engine.add_token(&name, Rights::ALL).await?.1),
        _ => None,
    };
    Ok(Some(Made { why, token }))
}

/// The model of the first profile, and why: the one that is named if it can be asked, else the default
/// of the first provider there is a key for, else the scripted one.
fn choose(
    named: Option<&str>,
    environment: &Environment,
    providers: &[Provider],
) -> Result<(ModelRef, String)> {
    let keyed = providers.iter().find(|p| environment.keys.contains_key(&p.name));
    let variable = |p: &Provider| p.key_env.clone().unwrap_or_default();
    if let Some(named) = named {
        let known: Option<ModelRef> =
            named.parse().ok().filter(|m: &ModelRef| providers.iter().any(|p| p.name == m.provider));
        let model = match (known, keyed) {
            (Some(model), _) => model,
            // The name of a model alone, at the provider there is a key for.
            (None, Some(provider)) => ModelRef { provider: provider.name.clone(), id: named.to_owned() },
            (None, None) => {
                return Err(anyhow!(
                    "SWITCHBOARD_MODEL names {named:?}, and no provider of it is known; write provider:id, such as anthropic:<id>, openai:<id> or scripted."
                ));
            }
        };
        let can_ask = providers.iter().any(|p| {
            p.name == model.provider
                && (p.dialect == Dialect::Scripted
                    || environment.keys.contains_key(&p.name)
                    || environment.base_urls.contains_key(&p.name))
        });
        if can_ask {
            return Ok((model, "as it was named".to_owned()));
        }
    }
    if let Some(provider) = keyed {
        let id = provider.default_model.clone().unwrap_or_default();
        return Ok((
            ModelRef { provider: provider.name.clone(), id },
            format!("{} is set", variable(provider)),
        ));
    }
    let scripted = providers.iter().find(|p| p.dialect == Dialect::Scripted);
    let scripted = scripted.ok_or_else(|| anyhow!("This program has no scripted model."))?;
    let keys: Vec<String> = providers.iter().filter_map(|p| p.key_env.clone()).collect();
    let model = ModelRef { provider: scripted.name.clone(), id: String::new() };
    Ok((
        model,
        format!(
            "neither {} is set, so it needs no account and does what a message's script says",
            keys.join(" nor ")
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(named: Option<&str>, keys: &[&str], urls: &[&str]) -> String {
        let environment = Environment {
            keys: keys.iter().map(|k| ((*k).to_owned(), Secret::new("k"))).collect(),
            base_urls: urls.iter().map(|u| ((*u).to_owned(), "http://x/v1".to_owned())).collect(),
            ..Environment::default()
        };
        choose(named, &environment, providers()).map_or_else(|e| e.to_string(), |(m, _)| m.to_string())
    }

    #[test]
    fn a_key_brings_its_providers_model_and_no_key_the_scripted_one() {
        let default = |name: &str| {
            let provider = providers().iter().find(|p| p.name == name).expect("a provider");
            format!("{name}:{}", provider.default_model.as_deref().expect("a default"))
        };
        assert_eq!(chosen(None, &[], &[]), "scripted");
        assert_eq!(chosen(None, &["openai"], &[]), default("openai"));
        assert_eq!(chosen(None, &["openai", "anthropic"], &[]), default("anthropic"));
    }

    #[test]
    fn a_named_model_is_taken_if_it_can_be_asked() {
        assert_eq!(chosen(Some("openai:m"), &["openai", "anthropic"], &[]), "openai:m");
        assert_eq!(chosen(Some("m"), &["openai"], &[]), "openai:m");
        assert_eq!(chosen(Some("meta/m:free"), &["openai"], &[]), "openai:meta/m:free");
        assert_eq!(chosen(Some("openai:m"), &[], &["openai"]), "openai:m");
        assert_eq!(chosen(Some("openai:m"), &[], &[]), "scripted");
        assert_eq!(chosen(Some("scripted:two"), &["openai"], &[]), "scripted:two");
        assert!(chosen(Some("m"), &[], &[]).contains("provider:id"));
    }
}
