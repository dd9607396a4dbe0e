//! Which harness runs a profile's turns.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// As people write it: `loop`, `acp:opencode`, `acp:my-agent --acp`, `openai:http://127.0.0.1:8000/v1`,
/// `a2a:https://agent.example`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum HarnessRef {
    /// The built-in model loop.
    #[default]
    Loop,
    /// An agent that speaks the Agent Client Protocol: a preset's name, or the command that starts it.
    Acp(String),
    /// An agent behind an OpenAI-compatible address, which brings its own tools: spoken to by the loop, without any.
    OpenAi(String),
    /// An agent that speaks Agent2Agent: its card's address, or the address below which the card is.
    A2a(String),
    /// pi, which cannot ask, in its own mode for other programs: the command that starts it, empty for `pi`.
    Pi(String),
}

impl fmt::Display for HarnessRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HarnessRef::Loop => f.write_str("loop"),
            HarnessRef::Acp(agent) => write!(f, "acp:{agent}"),
            HarnessRef::OpenAi(url) => write!(f, "openai:{url}"),
            HarnessRef::A2a(url) => write!(f, "a2a:{url}"),
            HarnessRef::Pi(command) if command.is_empty() => f.write_str("pi"),
            HarnessRef::Pi(command) => write!(f, "pi:{command}"),
        }
    }
}

impl FromStr for HarnessRef {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.split_once(':').map(|(sort, rest)| (sort, rest.trim())) {
            None if text == "loop" => Ok(HarnessRef::Loop),
            None if text == "pi" => Ok(HarnessRef::Pi(String::new())),
            Some(("pi", command)) if !command.is_empty() => Ok(HarnessRef::Pi(command.to_owned())),
            Some(("acp", agent)) if !agent.is_empty() => Ok(HarnessRef::Acp(agent.to_owned())),
            Some(("openai", url)) if url.starts_with("http://") || url.starts_with("https://") => {
                Ok(HarnessRef::OpenAi(url.to_owned()))
            }
            Some(("a2a", url)) if url.starts_with("http://") || url.starts_with("https://") => {
                Ok(HarnessRef::A2a(url.to_owned()))
            }
            _ => Err(format!(
                "{text:?} is no harness; write loop, acp:<preset> such as acp:opencode, acp:\"<command>\", pi, openai:<base address>, or a2a:<address of its card>"
            )),
        }
    }
}

impl Serialize for HarnessRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HarnessRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in [
            "loop",
            "acp:opencode",
            "acp:my-agent --flag a:b",
            "pi",
            "pi:/opt/pi x",
            "openai:http://x/v1",
            "a2a:http://x",
        ] {
            assert_eq!(text.parse::<HarnessRef>().map(|h| h.to_string()).as_deref(), Ok(text));
        }
        for odd in ["", "acp", "acp:", "mcp:x", "loop:x", "openai:", "openai:gpt-6", "a2a:", "a2a:x", "pi:"] {
            assert!(odd.parse::<HarnessRef>().is_err(), "{odd}");
        }
    }
}
