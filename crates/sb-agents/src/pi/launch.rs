//! What pi is started with, and for whom it may be.

use sb_harness::TurnSpec;
use sb_harness::model::{Choices, HarnessRef, Level, Profile, Secret, ToolSet};
use sb_harness::net::Spoken;

use crate::Launching;
use crate::acp::presets::{command, model};

/// The variables in which it takes a provider's key.
const KEYS: [(&str, &str); 9] = [
    ("anthropic", "ANTHROPIC_API_KEY"),
    ("openai", "OPENAI_API_KEY"),
    ("google", "GEMINI_API_KEY"),
    ("openrouter", "OPENROUTER_API_KEY"),
    ("deepseek", "DEEPSEEK_API_KEY"),
    ("mistral", "MISTRAL_API_KEY"),
    ("groq", "GROQ_API_KEY"),
    ("cerebras", "CEREBRAS_API_KEY"),
    ("xai", "XAI_API_KEY"),
];

/// The variable in which pi takes a provider's key, if it takes one of ours.
pub fn key_variable(provider: &str) -> Option<&'static str> {
    KEYS.iter().find(|(name, _)| *name == provider).map(|(_, variable)| *variable)
}

/// What one process is started with, but for its session.
#[derive(Debug, Clone)]
pub(super) struct Started {
    pub spoken: Spoken,
}

impl Started {
    pub fn of(profile: &Profile, choices: &Choices, launching: &dyn Launching) -> Result<Self, String> {
        let HarnessRef::Pi(named) = &profile.harness else {
            return Err("This profile's agent is not pi".to_owned());
        };
        let mut words = if named.is_empty() { vec!["pi".to_owned()] } else { command(named)? };
        let program = words.remove(0);
        words.extend(["--mode", "rpc"].map(str::to_owned));
        // Nothing is fetched at its start, and nothing reported.
        let mut variables: Vec<(String, Secret)> = [("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")]
            .map(|(name, value)| (name.to_owned(), Secret::new(value.to_owned())))
            .into();
        if let Some(model) = model(profile, choices) {
            words.push("--provider".to_owned());
            words.push(model.provider.clone());
            if !model.id.is_empty() {
                words.extend(["--model".to_owned(), model.id.clone()]);
            }
            let key = key_variable(&model.provider).zip(launching.key(profile, &model.provider));
            variables.extend(key.map(|(name, key)| (name.to_owned(), key)));
        }
        let dir = profile.workspace.clone().ok_or_else(|| NO_WORKSPACE.to_owned())?.into();
        Ok(Self { spoken: Spoken { program, args: words, dir, variables } })
    }

    /// Whether another process would be the same.
    pub fn is_same(&self, other: &Self) -> bool {
        let plain = |of: &Self| {
            let of = &of.spoken;
            let variables: Vec<_> =
                of.variables.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
            (of.program.clone(), of.args.clone(), of.dir.clone(), variables)
        };
        plain(self) == plain(other)
    }

    /// The same, taking up a session it keeps.
    pub fn taking_up(&self, session: &str) -> Spoken {
        let mut spoken = self.spoken.clone();
        spoken.args.extend(["--session".to_owned(), session.to_owned()]);
        spoken
    }
}

const NO_WORKSPACE: &str = "pi works in a folder: give the profile one with --workspace DIR.";

/// Why no turn of such a profile could run, if so.
pub(super) fn check(profile: &Profile) -> Result<(), String> {
    if profile.autonomy < Level::L5 {
        return Err(format!(
            "pi never asks before it acts and cannot be made to, so it runs only where programs and the outside need no asking: --autonomy L5 or more. At {} take an agent that asks, such as acp:opencode.",
            profile.autonomy
        ));
    }
    if profile.workspace.is_none() {
        return Err(NO_WORKSPACE.to_owned());
    }
    if profile.tools != ToolSet::All {
        return Err("pi brings its own tools and asks for none of them, so none can be taken from it here: --tools all. Take an agent that asks, such as acp:opencode.".to_owned());
    }
    if profile.base_url.is_some() {
        return Err(
            "Where pi's models are, its own ~/.pi/agent/models.json says: --base-url \"\".".to_owned()
        );
    }
    if let HarnessRef::Pi(named) = &profile.harness
        && !named.is_empty()
    {
        command(named)?;
    }
    Ok(())
}

/// Why none of this session could, if so.
pub(super) fn check_session(spec: &TurnSpec) -> Result<(), String> {
    if spec.tainted {
        return Err("This session has read content from outside, after which whatever reaches out is asked about, and pi cannot ask. Begin another with /new".to_owned());
    }
    if spec.choices.tools.is_some() {
        return Err("This chat gives its agent some tools only, and pi's cannot be taken from it: /tools all gives it all of them".to_owned());
    }
    Ok(())
}
