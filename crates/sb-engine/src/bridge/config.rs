//! Whether a channel's configuration can be, before anything is started with it.

use std::collections::BTreeMap;

use sb_channel::{Manifest, Settings};
use sb_core::gate::ANYBODY;
use sb_core::model::{ChannelConfig, Secret};

/// What is wrong with a configuration, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadConfig(pub String);

/// Checks slug, fields and ids against the kind's manifest. `secrets`: the fields that have one.
pub fn check_config(
    manifest: &Manifest,
    config: &ChannelConfig,
    secrets: &[String],
) -> Result<(), BadConfig> {
    let bad = |said: String| Err(BadConfig(said));
    if !config.slug.is_valid() {
        return bad(format!(
            "{:?} is no name for a channel: 1 to 40 lower-case letters, digits and hyphens.",
            config.slug.0
        ));
    }
    let known = |key: &str| manifest.fields.iter().find(|f| f.key == key);
    for key in config.settings.keys().chain(secrets) {
        if known(key).is_none() {
            let fields: Vec<&str> = manifest.fields.iter().map(|f| f.key).collect();
            return bad(format!("{} has no field {key:?}; it has {}.", manifest.label, fields.join(", ")));
        }
    }
    for field in &manifest.fields {
        let value = config.settings.get(field.key).map(String::as_str).unwrap_or_default();
        let set = !value.is_empty() || secrets.iter().any(|s| s == field.key);
        if field.required && !set {
            return bad(format!(
                "{} needs its {} ({}): --set {}=… or SWITCHBOARD_{}_{}.",
                manifest.label,
                field.label,
                field.hint,
                field.key,
                manifest.id.to_uppercase().replace('-', "_"),
                field.key.to_uppercase()
            ));
        }
        if !field.choices.is_empty() && !value.is_empty() && !field.choices.contains(&value) {
            return bad(format!("{} takes {}, not {value:?}.", field.key, field.choices.join(", ")));
        }
    }
    if let Some(url) = config.settings.get("api_url").filter(|url| !url.is_empty())
        && !(url.starts_with("http://") || url.starts_with("https://"))
    {
        return bad(format!("api_url takes an address that begins with https:// or http://, not {url:?}."));
    }
    let options = &config.options;
    for (flag, value, least) in
        [("--catch-up", options.catch_up_s, 60), ("--ask-expiry", options.ask_expiry_s, 10)]
    {
        if value.is_some_and(|s| s < least) {
            return bad(format!(
                "{flag} takes at least {least} seconds; with less nothing would be answered."
            ));
        }
    }
    if options.limit.is_some_and(|limit| limit.messages == 0 || limit.per_s == 0) {
        return bad(
            "--limit takes at least one message in a second; to let nobody talk, disable the channel."
                .to_owned(),
        );
    }
    if options.debounce_ms > 60_000 {
        return bad("--debounce takes at most a minute; an answer waits that long.".to_owned());
    }
    for (flag, ids) in [("--allow", &config.options.allow), ("--approvers", &config.options.approvers)] {
        for id in ids {
            let anybody = flag == "--allow" && id == ANYBODY;
            if !anybody && !(manifest.is_id)(id) {
                return bad(format!(
                    "{flag} takes ids that never change, and {id:?} is none of {}'s: {}",
                    manifest.label, manifest.id_hint
                ));
            }
        }
    }
    Ok(())
}

/// What an adapter is opened with: the plain settings and the secret ones.
pub(super) fn settings(plain: &BTreeMap<String, String>, secrets: Vec<(String, Secret)>) -> Settings {
    let plain = plain.iter().map(|(key, value)| (key.clone(), Secret::new(value.clone())));
    Settings::new(plain.chain(secrets))
}
