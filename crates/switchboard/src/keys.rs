//! [`KeyRing`]: the API keys of providers, from the environment or a profile's own.
//!
//! A profile's own key is used for the provider of its first model only, or of its agent, so that a fallback at another
//! provider is never shown a key that is not its own. Keys are held in memory and read anew when a
//! profile changes. [`Sealed`] does the same for MCP servers.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use async_trait::async_trait;
use sb_engine::mcp_secret;
use sb_engine::model::{HarnessRef, Profile, ProfileName, Secret};
use sb_engine::store::{Store, secret_name};
use sb_loop::Keys;
use sb_mcp::McpSecrets;

/// What a profile's own key is called among its secrets.
const API_KEY: &str = "api_key";
/// Whose keys agents are that speak Agent2Agent, as if it were a provider.
pub const A2A: &str = "a2a";
/// The machine's key for them.
pub const A2A_KEY: &str = "A2A_API_KEY";

/// All keys there are.
pub struct KeyRing {
    machine: HashMap<String, Secret>,
    base_urls: HashMap<String, String>,
    own: RwLock<HashMap<ProfileName, Own>>,
}

struct Own {
    provider: String,
    key: Secret,
}

impl KeyRing {
    /// A ring with the machine's keys and addresses, by provider.
    pub fn new(machine: HashMap<String, Secret>, base_urls: HashMap<String, String>) -> Self {
        Self { machine, base_urls, own: RwLock::default() }
    }

    /// Reads the own keys of all profiles.
    pub async fn load(&self, store: &Store) -> sb_engine::store::Result<()> {
        for profile in store.profiles().await? {
            self.reload(store, &profile.name, Some(&profile)).await;
        }
        Ok(())
    }

    /// Reads one profile's own key anew; none: the profile is gone.
    pub async fn reload(&self, store: &Store, name: &ProfileName, profile: Option<&Profile>) {
        let key = match store.secret(&secret_name(name, API_KEY)).await {
            Ok(key) => key,
            Err(why) => {
                tracing::warn!(profile = %name, error = %why, "a profile's own key cannot be opened; set it again");
                None
            }
        };
        let provider = profile.and_then(keyed_by);
        let own = provider.zip(key).map(|(provider, key)| Own { provider, key });
        let mut all = self.own.write().unwrap_or_else(PoisonError::into_inner);
        match own {
            Some(own) => all.insert(name.clone(), own),
            None => all.remove(name),
        };
    }
}

/// Whose key a profile's own key is: that of its first model's provider, or of its agent's.
pub fn keyed_by(profile: &Profile) -> Option<String> {
    match &profile.harness {
        HarnessRef::Loop | HarnessRef::OpenAi(_) | HarnessRef::Pi(_) => {
            profile.models.first().map(|model| model.provider.clone())
        }
        HarnessRef::A2a(_) => Some(A2A.to_owned()),
        HarnessRef::Acp(named) => {
            let preset = sb_agents::presets().iter().find(|p| p.name == named);
            preset.and_then(|p| p.provider).map(|(provider, ..)| provider.to_owned())
        }
    }
}

impl Keys for KeyRing {
    fn key(&self, profile: &ProfileName, provider: &str) -> Option<Secret> {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        let own = own.get(profile).filter(|own| own.provider == provider).map(|own| own.key.clone());
        own.or_else(|| self.machine.get(provider).cloned())
    }
    fn base_url(&self, provider: &str) -> Option<String> {
        self.base_urls.get(provider).cloned()
    }
}

/// The sealed values that MCP servers are given, read when a server begins.
pub struct Sealed(pub Store);

#[async_trait]
impl McpSecrets for Sealed {
    async fn value(&self, profile: &ProfileName, server: &str, name: &str) -> Result<Secret, String> {
        let value = self.0.secret(&secret_name(profile, &mcp_secret(server, name))).await;
        let lost = |why: &str| {
            format!(
                "The value of {name} for the MCP server {server} {why}. Give it again with `switchboard profile mcp add {profile} {server} --replace …`."
            )
        };
        match value {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(lost("is not there")),
            Err(_) => Err(lost("cannot be opened: it was sealed with another machine.key")),
        }
    }
}

#[cfg(test)]
mod tests {
    use sb_engine::model::Level;
    use sb_engine::store::Durability;

    use super::*;

    #[tokio::test]
    async fn a_profiles_own_key_goes_to_its_first_provider_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), Durability::Process).await.expect("a store");
        let name = ProfileName::from("p");
        let mut profile = Profile::gone(name.clone());
        profile.autonomy = Level::L2;
        profile.models = vec!["anthropic:a".parse().expect("a model"), "openai:b".parse().expect("a model")];
        store.put_profile(&profile).await.expect("kept");
        store.put_secret(&secret_name(&name, API_KEY), &Secret::new("own")).await.expect("sealed");
        let ring = KeyRing::new([("openai".to_owned(), Secret::new("machine"))].into(), HashMap::new());
        ring.load(&store).await.expect("read");
        let key = |provider| ring.key(&name, provider).map(|k| k.expose().to_owned());
        assert_eq!(key("anthropic").as_deref(), Some("own"));
        assert_eq!(key("openai").as_deref(), Some("machine"));
        ring.reload(&store, &name, None).await;
        assert_eq!(key("anthropic"), None);
    }
}
