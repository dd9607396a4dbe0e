//! The agents known by name, as data: how each is started, keyed, pointed at a model, and made to ask.

use sb_harness::model::{Choices, HarnessRef, Level, ModelRef, Profile, Secret};
use sb_harness::net::Spoken;
use sb_harness::net::talk::is_installed;

use super::Launching;

/// How an agent is made to ask before it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// By one of these modes; it must offer one.
    Mode(&'static [&'static str]),
    /// By what it is started with.
    SetUp,
}

/// An agent known by name.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    pub name: &'static str,
    pub label: &'static str,
    pub program: &'static str,
    pub args: &'static [&'static str],
    /// Whose key it takes, and in which variables it takes key and base address.
    pub provider: Option<(&'static str, &'static str, &'static str)>,
    /// Arguments that name the model, `{}` being its id.
    pub model_args: &'static [&'static str],
    /// The variable that names the model, if it is named so.
    pub model_env: Option<&'static str>,
    pub env: &'static [(&'static str, &'static str)],
    /// What it is told of servers is seen by whoever lists processes, so that a key for one goes in this variable, which
    /// it puts in by itself.
    pub server_key: Option<&'static str>,
    pub asks: Asks,
    /// How it is installed.
    pub install: &'static str,
    /// It was run with this program; the others are as their makers describe them.
    pub ran: bool,
}

const PLAIN: Preset = Preset {
    name: "",
    label: "",
    program: "",
    args: &[],
    provider: None,
    model_args: &[],
    model_env: None,
    env: &[],
    server_key: None,
    asks: Asks::Mode(ASKING),
    install: "",
    ran: false,
};

/// Modes that ask, by the names agents give them.
const ASKING: &[&str] = &["default", "ask", "manual", "read-only"];

static PRESETS: [Preset; 9] = [
    Preset {
        name: "claude-code",
        label: "Claude Code",
        program: "claude-agent-acp",
        provider: Some(("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")),
        model_env: Some("ANTHROPIC_MODEL"),
        server_key: Some("SWITCHBOARD_TOOLS_KEY"),
        asks: Asks::Mode(&["default"]),
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        ran: true,
        ..PLAIN
    },
    Preset {
        name: "codex",
        label: "Codex",
        program: "codex-acp",
        provider: Some(("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL")),
        // Its usual mode decides by itself.
        asks: Asks::Mode(&["read-only"]),
        install: "npm install -g @agentclientprotocol/codex-acp",
        ran: true,
        ..PLAIN
    },
    Preset {
        name: "gemini",
        label: "Gemini CLI",
        program: "gemini",
        args: &["--acp"],
        provider: Some(("google", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL")),
        model_args: &["-m", "{}"],
        asks: Asks::Mode(&["default"]),
        install: "npm install -g @google/gemini-cli",
        ran: true,
        ..PLAIN
    },
    Preset {
        name: "opencode",
        label: "OpenCode",
        program: "opencode",
        args: &["acp"],
        env: &[(
            "OPENCODE_CONFIG_CONTENT",
            r#"{"permission":{"edit":"ask","bash":"ask","webfetch":"ask"},"autoupdate":false}"#,
        )],
        asks: Asks::SetUp,
        install: "npm install -g opencode-ai",
        ran: true,
        ..PLAIN
    },
    Preset {
        name: "goose",
        label: "Goose",
        program: "goose",
        args: &["acp"],
        env: &[("GOOSE_MODE", "approve")],
        asks: Asks::SetUp,
        install: "as its makers say",
        ..PLAIN
    },
    Preset {
        name: "qwen",
        label: "Qwen Code",
        program: "qwen",
        args: &["--acp"],
        install: "npm install -g @qwen-code/qwen-code",
        ..PLAIN
    },
    Preset {
        name: "kimi",
        label: "Kimi",
        program: "kimi",
        args: &["acp"],
        install: "as its makers say",
        ..PLAIN
    },
    Preset {
        name: "vibe",
        label: "Mistral Vibe",
        program: "vibe-acp",
        install: "as its makers say",
        ..PLAIN
    },
    Preset {
        name: "auggie",
        label: "Auggie",
        program: "auggie",
        args: &["--acp"],
        install: "as its makers say",
        ..PLAIN
    },
];

/// All agents known by name.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// What one agent process is started with.
#[derive(Debug, Clone)]
pub struct Launch {
    /// What people call it.
    pub label: String,
    pub spoken: Spoken,
    /// How it is made to ask; none: at this level it need not.
    pub asks: Option<Asking>,
    /// The model to work with; none: its own choice.
    pub model: Option<ModelRef>,
    /// The model is told by what it is started with.
    pub model_told: bool,
    /// How it is installed, where that is known.
    pub install: Option<&'static str>,
    /// The variable in which it takes the key for a server that it is given.
    pub server_key: Option<&'static str>,
}

/// A mode to set, of which one must be offered; or it is made to ask by what it is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asking {
    Mode(Vec<String>),
    SetUp,
}

impl Launch {
    /// What a profile's agent is started with.
    ///
    /// # Errors
    /// A sentence that says why it cannot be started.
    pub fn of(
        named: &str,
        profile: &Profile,
        choices: &Choices,
        launching: &dyn Launching,
    ) -> Result<Self, String> {
        let preset = presets().iter().find(|p| p.name == named);
        let mut words = match preset {
            Some(preset) => {
                [&[preset.program][..], preset.args].concat().into_iter().map(str::to_owned).collect()
            }
            None => command(named)?,
        };
        let (mut env, model) = (Vec::new(), model(profile, choices));
        if let Some(preset) = preset {
            let id = model.as_ref().map(|m| m.id.as_str()).filter(|id| !id.is_empty());
            if let Some(id) = id {
                words.extend(preset.model_args.iter().map(|arg| arg.replace("{}", id)));
                env.extend(preset.model_env.map(|name| (name.to_owned(), Secret::new(id.to_owned()))));
            }
            let fixed =
                preset.env.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())));
            env.extend(fixed);
            if let Some((provider, key, base)) = preset.provider {
                env.extend(launching.key(profile, provider).map(|value| (key.to_owned(), value)));
                let address = launching.base_url(profile, provider);
                env.extend(address.map(|url| (base.to_owned(), Secret::new(url))));
            }
        }
        let dir = profile.workspace.clone().ok_or_else(|| NO_WORKSPACE.to_owned())?.into();
        let program = words.remove(0);
        Ok(Self {
            label: preset.map_or_else(|| called(&program, &words), |p| p.label.to_owned()),
            spoken: Spoken { program, args: words, dir, variables: env },
            asks: asking(preset, profile),
            model,
            model_told: preset.is_some_and(|p| p.model_env.is_some() || !p.model_args.is_empty()),
            install: preset.map(|p| p.install),
            server_key: preset.and_then(|p| p.server_key),
        })
    }

    /// Whether another process would be the same; the model is set in a process that runs.
    pub(super) fn is_same(&self, other: &Launch) -> bool {
        let plain = |of: &Launch| {
            let env: Vec<_> =
                of.spoken.variables.iter().map(|(n, v)| (n.clone(), v.expose().to_owned())).collect();
            (of.spoken.program.clone(), of.spoken.args.clone(), of.spoken.dir.clone(), env, of.asks.clone())
        };
        plain(self) == plain(other)
    }
}

const NO_WORKSPACE: &str =
    "An agent of its own works in a folder: give the profile one with --workspace DIR.";

/// From L5 on calls to the outside and programs are free, so that nothing but a payment would be asked.
fn asking(preset: Option<&Preset>, profile: &Profile) -> Option<Asking> {
    let named = profile.harness_mode.as_deref().map(str::trim).filter(|mode| !mode.is_empty());
    match (named, preset.map(|p| p.asks)) {
        (Some("asks"), _) => Some(Asking::SetUp),
        (Some(mode), _) => Some(Asking::Mode(vec![mode.to_owned()])),
        (None, Some(Asks::SetUp)) => Some(Asking::SetUp),
        (None, Some(Asks::Mode(modes))) => {
            Some(Asking::Mode(modes.iter().map(|m| (*m).to_owned()).collect()))
        }
        (None, None) if profile.autonomy >= Level::L5 => None,
        (None, None) => Some(Asking::Mode(ASKING.iter().map(|m| (*m).to_owned()).collect())),
    }
}

/// The model the chat chose, else the profile's first.
pub(crate) fn model(profile: &Profile, choices: &Choices) -> Option<ModelRef> {
    let chosen =
        choices.model.as_ref().and_then(|name| profile.models.iter().find(|m| m.to_string() == *name));
    chosen.or(profile.models.first()).cloned()
}

/// A command as words: blanks part them, quotes keep them together. It is started as it is, by no shell.
pub(crate) fn command(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) =
        (Vec::new(), None, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => (quote, word) = (Some(c), word.or_else(|| Some(String::new()))),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(format!("The command {text:?} has a quote without its other half."));
    }
    words.extend(word);
    match words.first() {
        Some(first) if !first.is_empty() => Ok(words),
        _ => Err("A command begins with the program's name.".to_owned()),
    }
}

/// What people call a program: its bare name, also where `env` starts it.
pub(crate) fn called(program: &str, words: &[String]) -> String {
    let mut all = std::iter::once(program).chain(words.iter().map(String::as_str));
    let real = all.find(|word| *word != "env" && !word.contains('=')).unwrap_or(program);
    real.rsplit('/').next().unwrap_or(real).to_owned()
}

/// Why no turn of such a profile could run, if so.
pub(super) fn check(profile: &Profile) -> Result<(), String> {
    let HarnessRef::Acp(named) = &profile.harness else { return Ok(()) };
    if !presets().iter().any(|p| p.name == named) {
        let known: Vec<&str> = presets().iter().map(|p| p.name).collect();
        let words = command(named)?;
        // One word that is no program here is a preset's name written wrongly.
        if words.len() == 1 && !words[0].contains('/') && !is_installed(&words[0]) {
            return Err(format!(
                "There is no agent {named:?}: known by name are {}; else write the command that starts it, acp:\"<program> <arguments>\".",
                known.join(", ")
            ));
        }
    }
    if profile.workspace.is_none() {
        return Err(NO_WORKSPACE.to_owned());
    }
    match profile.autonomy {
        Level::L1 => Err(
            "An agent of its own reads its folder without asking, which L1 does not give: --autonomy L2 or more."
                .to_owned(),
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_words_and_no_shell() {
        let words = |text| command(text).expect("words");
        assert_eq!(words("agent --acp"), ["agent", "--acp"]);
        assert_eq!(words(r#" "/opt/my agent" 'a b'c "" "#), ["/opt/my agent", "a bc", ""]);
        assert_eq!(words("a;rm $HOME"), ["a;rm", "$HOME"]);
        for odd in ["", "  ", "a 'b", "\"\" x"] {
            assert!(command(odd).is_err(), "{odd:?}");
        }
    }

    #[test]
    fn names_are_unique_and_each_is_made_to_ask() {
        for (at, preset) in presets().iter().enumerate() {
            assert!(presets()[..at].iter().all(|p| p.name != preset.name), "{}", preset.name);
            assert!(!matches!(preset.asks, Asks::Mode([])), "{}", preset.name);
            assert!(!preset.program.is_empty() && !preset.install.is_empty(), "{}", preset.name);
        }
    }
}
