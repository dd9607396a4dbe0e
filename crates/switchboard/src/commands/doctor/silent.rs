//! Which profiles' own addresses do not answer. Whatever answers is fine, a refusal too: nothing is asked
//! of a model.

use std::collections::BTreeMap;
use std::time::Duration;

use sb_engine::model::Profile;
use sb_net::{Ask, Http, host_of};
use tokio::task::JoinSet;

/// So long an address may take to answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// A note for every profile whose address does not answer, in the order of the profiles.
pub async fn addresses(profiles: impl Iterator<Item = &Profile>) -> Vec<String> {
    let Ok(http) = Http::new() else { return Vec::new() };
    let mut asking = JoinSet::new();
    for profile in profiles {
        let Some(url) = profile.base_url.clone() else { continue };
        let (name, http) = (profile.name.0.clone(), http.clone());
        asking.spawn(async move { (!answers(&http, &url).await).then_some((name, url)) });
    }
    let silent: BTreeMap<String, String> = asking.join_all().await.into_iter().flatten().collect();
    silent
        .into_iter()
        .map(|(name, url)| {
            format!(
                "The address of profile {name} does not answer ({}). Start what serves there, or name another with `switchboard profile set {name} --base-url URL`.",
                host_of(&url)
            )
        })
        .collect()
}

async fn answers(http: &Http, url: &str) -> bool {
    let ask = Ask {
        url: url.to_owned(),
        headers: Vec::new(),
        secret_headers: Vec::new(),
        body: "{}".into(),
        idle: ANSWERS_WITHIN,
    };
    match tokio::time::timeout(ANSWERS_WITHIN, http.post(ask)).await {
        Ok(Ok(_)) => true,
        Ok(Err(why)) => why.status.is_some(),
        Err(_) => false,
    }
}
