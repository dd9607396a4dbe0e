//! The profiles as they are now, kept in memory so that rights hold from the next call.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use sb_core::Context;
use sb_core::model::{Profile, ProfileName};

use crate::Agents;

/// All profiles with what their agents can do.
pub(crate) struct Profiles {
    agents: Arc<dyn Agents>,
    known: RwLock<HashMap<ProfileName, Context>>,
}

impl Profiles {
    pub fn new(agents: Arc<dyn Agents>, stored: Vec<Profile>) -> Self {
        let profiles = Self { agents, known: RwLock::default() };
        stored.into_iter().for_each(|p| profiles.put(p));
        profiles
    }

    pub fn put(&self, profile: Profile) {
        let features = self.agents.harness(&profile).features();
        let context = Context {
            tools: self.agents.tools(&profile).into(),
            steers: features.steers,
            parks: features.parks,
            suspended: None,
            spent: Default::default(),
            profile: Arc::new(profile),
        };
        let mut known = self.known.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.insert(context.profile.name.clone(), context);
    }

    pub fn remove(&self, name: &ProfileName) {
        self.known.write().unwrap_or_else(std::sync::PoisonError::into_inner).remove(name);
    }

    pub fn get(&self, name: &ProfileName) -> Option<Context> {
        self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(name).cloned()
    }
}
