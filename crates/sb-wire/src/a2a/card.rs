//! Cards: what an agent is, where it is asked, and in which versions.
//!
//! One card may speak to both versions at once; a strict reader of 1.0 wants one without the fields of 0.3.

use serde_json::{Map, Value, json};

use super::{Unreadable, Version, field, needed, put, text, texts};

/// The one binding that is spoken here.
const BINDING: &str = "JSONRPC";

/// A way to ask an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    pub url: String,
    /// As the card writes it: `JSONRPC`, `GRPC`, `HTTP+JSON`.
    pub binding: String,
    /// As the card writes it.
    pub version: String,
    pub tenant: Option<String>,
}

/// Something an agent is good at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub id: String,
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    pub examples: Vec<String>,
}

/// An agent's card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    pub name: String,
    pub description: String,
    /// The agent's own, not the wire's.
    pub version: String,
    /// In the order in which they are liked.
    pub interfaces: Vec<Interface>,
    pub streaming: bool,
    pub push: bool,
    pub extended: bool,
    /// It wants to know who asks, by a bearer's token.
    pub bearer: bool,
    /// Extensions without which it does not work, by their addresses.
    pub extensions: Vec<String>,
    /// Media types it takes and gives; empty: it does not say.
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub skills: Vec<Skill>,
}

/// For whom a card is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Whoever has not said which version they read.
    Merged,
    Only(Version),
}

impl Card {
    /// Reads a card of either version.
    ///
    /// # Errors
    /// If it has no name.
    pub fn read(card: &Value) -> Result<Self, Unreadable> {
        let nothing = Value::Null;
        let can = field(card, "capabilities").unwrap_or(&nothing);
        let is = |of: &Value, name: &str| field(of, name).and_then(Value::as_bool).unwrap_or_default();
        let all = |of, name| field(of, name).and_then(Value::as_array).into_iter().flatten();
        let required = all(can, "extensions").filter(|extension| is(extension, "required"));
        let schemes = field(card, "securitySchemes").and_then(Value::as_object);
        let is_bearer = |scheme: &Value| {
            let http = field(scheme, "httpAuthSecurityScheme").unwrap_or(scheme);
            text(http, "scheme").is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"))
        };
        Ok(Self {
            name: needed(card, "name")?,
            description: text(card, "description").unwrap_or_default().to_owned(),
            version: text(card, "version").unwrap_or_default().to_owned(),
            interfaces: interfaces(card),
            streaming: is(can, "streaming"),
            push: is(can, "pushNotifications"),
            extended: is(can, "extendedAgentCard") || is(card, "supportsAuthenticatedExtendedCard"),
            bearer: schemes.is_some_and(|all| all.values().any(is_bearer)),
            extensions: required.filter_map(|e| text(e, "uri")).map(str::to_owned).collect(),
            inputs: texts(card, "defaultInputModes"),
            outputs: texts(card, "defaultOutputModes"),
            skills: all(card, "skills").filter_map(skill).collect(),
        })
    }

    /// The interface to ask, and in which version: the newest that is spoken here.
    pub fn choose(&self) -> Option<(&Interface, Version)> {
        let spoken = |interface: &&Interface| interface.binding.eq_ignore_ascii_case(BINDING);
        let known = self.interfaces.iter().filter(spoken);
        let known = known.filter_map(|interface| Some((interface, Version::read(&interface.version)?)));
        // Of two in the same version the first, which is liked better.
        known.rev().max_by_key(|(_, version)| *version)
    }

    /// What the agent offers, in words for whoever wonders why none of it is spoken here.
    pub fn offers(&self) -> String {
        let offer = |interface: &Interface| format!("{} {}", interface.binding, interface.version);
        self.interfaces.iter().map(offer).collect::<Vec<_>>().join(", ")
    }

    /// Whether a file of this media type may be sent to it.
    pub fn takes(&self, media_type: &str) -> bool {
        let sort = media_type.split('/').next().unwrap_or_default();
        let fits = |mode: &String| {
            let mode = mode.trim();
            mode == "*"
                || mode == "*/*"
                || mode.eq_ignore_ascii_case(media_type)
                || { mode.strip_suffix("/*").is_some_and(|all| all.eq_ignore_ascii_case(sort)) }
                || (!mode.contains('/') && (mode == "file" || mode.eq_ignore_ascii_case(sort)))
        };
        self.inputs.is_empty() || self.inputs.iter().any(fits)
    }

    pub fn write(&self, shape: Shape) -> Value {
        let (old, new) = (shape != Shape::Only(Version::V1_0), shape != Shape::Only(Version::V0_3));
        let mut card = Map::new();
        for (name, value) in
            [("name", &self.name), ("description", &self.description), ("version", &self.version)]
        {
            card.insert(name.to_owned(), value.as_str().into());
        }
        let mut can = json!({"streaming": self.streaming, "pushNotifications": self.push});
        if new {
            can["extendedAgentCard"] = self.extended.into();
            let all = self.interfaces.iter().map(|interface| {
                let mut row = Map::new();
                row.insert("url".to_owned(), interface.url.as_str().into());
                row.insert("protocolBinding".to_owned(), interface.binding.as_str().into());
                row.insert("protocolVersion".to_owned(), interface.version.as_str().into());
                put(&mut row, "tenant", interface.tenant.as_deref());
                Value::from(row)
            });
            card.insert("supportedInterfaces".to_owned(), all.collect());
        }
        let of_old = |interface: &&Interface| Version::read(&interface.version) == Some(Version::V0_3);
        if let Some(first) = self.interfaces.iter().find(of_old).filter(|_| old) {
            card.insert("url".to_owned(), first.url.as_str().into());
            card.insert("preferredTransport".to_owned(), first.binding.as_str().into());
            card.insert("protocolVersion".to_owned(), "0.3.0".into());
            card.insert("supportsAuthenticatedExtendedCard".to_owned(), self.extended.into());
        }
        card.insert("capabilities".to_owned(), can);
        if self.bearer {
            let mut scheme = json!({});
            if old {
                scheme = json!({"type": "http", "scheme": "bearer"});
                card.insert("security".to_owned(), json!([{"bearer": []}]));
            }
            if new {
                scheme["httpAuthSecurityScheme"] = json!({"scheme": "Bearer"});
                card.insert(
                    "securityRequirements".to_owned(),
                    json!([{"schemes": {"bearer": {"list": []}}}]),
                );
            }
            card.insert("securitySchemes".to_owned(), json!({"bearer": scheme}));
        }
        card.insert("defaultInputModes".to_owned(), self.inputs.clone().into());
        card.insert("defaultOutputModes".to_owned(), self.outputs.clone().into());
        card.insert("skills".to_owned(), self.skills.iter().map(Skill::write).collect());
        card.into()
    }
}

impl Skill {
    fn write(&self) -> Value {
        let mut skill =
            json!({"id": self.id, "name": self.name, "description": self.description, "tags": self.tags});
        if !self.examples.is_empty() {
            skill["examples"] = self.examples.clone().into();
        }
        skill
    }
}

fn skill(skill: &Value) -> Option<Skill> {
    Some(Skill {
        id: text(skill, "id")?.to_owned(),
        name: text(skill, "name").unwrap_or_default().to_owned(),
        description: text(skill, "description").unwrap_or_default().to_owned(),
        tags: texts(skill, "tags"),
        examples: texts(skill, "examples"),
    })
}

/// Those of 1.0, then those of 0.3, each once.
fn interfaces(card: &Value) -> Vec<Interface> {
    let mut found: Vec<Interface> = Vec::new();
    let mut add = |interface: Interface| {
        if !found.contains(&interface) {
            found.push(interface);
        }
    };
    for row in field(card, "supportedInterfaces").and_then(Value::as_array).into_iter().flatten() {
        let Some(url) = text(row, "url") else { continue };
        add(Interface {
            url: url.to_owned(),
            binding: text(row, "protocolBinding").unwrap_or(BINDING).to_owned(),
            version: text(row, "protocolVersion").unwrap_or("1.0").to_owned(),
            tenant: text(row, "tenant").map(str::to_owned),
        });
    }
    let version = text(card, "protocolVersion").unwrap_or("0.3");
    let old = |url: &str, binding: Option<&str>| {
        let binding = binding.unwrap_or(BINDING).to_owned();
        // A patch number says nothing, so that the same interface told twice is one.
        let known = Version::read(version).map(Version::name);
        Interface { url: url.to_owned(), binding, version: known.unwrap_or(version).to_owned(), tenant: None }
    };
    if let Some(url) = text(card, "url") {
        add(old(url, text(card, "preferredTransport")));
    }
    for row in field(card, "additionalInterfaces").and_then(Value::as_array).into_iter().flatten() {
        if let Some(url) = text(row, "url") {
            add(old(url, text(row, "transport")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Card {
        let interface = |version: &str| Interface {
            url: "https://sb.example/a2a".into(),
            binding: BINDING.into(),
            version: version.into(),
            tenant: None,
        };
        Card {
            name: "assistant".into(),
            description: "Answers.".into(),
            version: "1.4.0".into(),
            interfaces: vec![interface("1.0"), interface("0.3")],
            streaming: true,
            push: true,
            extended: true,
            bearer: true,
            extensions: vec![],
            inputs: vec!["text/plain".into(), "image/*".into()],
            outputs: vec!["text/plain".into()],
            skills: vec![Skill {
                id: "chat".into(),
                name: "Chat".into(),
                description: "Talk.".into(),
                tags: vec!["chat".into()],
                examples: vec![],
            }],
        }
    }

    #[test]
    fn a_merged_card_says_everything_and_a_strict_one_only_its_own() {
        assert_eq!(Card::read(&card().write(Shape::Merged)), Ok(card()));
        let new = card().write(Shape::Only(Version::V1_0));
        assert_eq!(Card::read(&new), Ok(card()));
        for field in
            ["url", "preferredTransport", "protocolVersion", "security", "supportsAuthenticatedExtendedCard"]
        {
            assert_eq!(new.get(field), None, "{field}");
        }
        assert_eq!(new["securitySchemes"]["bearer"].as_object().map(Map::len), Some(1));
        let old = card().write(Shape::Only(Version::V0_3));
        for field in ["supportedInterfaces", "securityRequirements"] {
            assert_eq!(old.get(field), None, "{field}");
        }
        assert_eq!(old["capabilities"].get("extendedAgentCard"), None);
        let read = Card::read(&old).expect("a card");
        assert_eq!((read.interfaces.len(), read.extended, read.bearer), (1, true, true));
    }

    #[test]
    fn the_newest_version_that_is_spoken_is_chosen() {
        let chosen = |card: Value| {
            let card = Card::read(&card).expect("a card");
            card.choose().map(|(interface, version)| (interface.url.clone(), version))
        };
        let at = |url: &str, binding: &str, version: &str| json!({"url": url, "protocolBinding": binding, "protocolVersion": version});
        let many = json!([
            at("g", "GRPC", "1.0"),
            at("o", "JSONRPC", "0.3"),
            at("n", "JSONRPC", "1.0"),
            at("m", "JSONRPC", "1.0")
        ]);
        assert_eq!(
            chosen(json!({"name": "a", "supportedInterfaces": many})),
            Some(("n".into(), Version::V1_0))
        );
        let old = json!({"name": "a", "url": "u", "protocolVersion": "0.3.0", "preferredTransport": "GRPC",
            "additionalInterfaces": [{"url": "j", "transport": "JSONRPC"}]});
        assert_eq!(chosen(old), Some(("j".into(), Version::V0_3)));
        let odd = json!({"name": "a", "supportedInterfaces": [at("x", "JSONRPC", "9.9")]});
        assert_eq!(Card::read(&odd).expect("a card").offers(), "JSONRPC 9.9");
        assert_eq!(chosen(odd), None);
        assert_eq!(chosen(json!({"name": "a"})), None);
        assert!(Card::read(&json!({})).is_err());
    }

    #[test]
    fn what_it_takes_is_read_in_every_form_in_which_people_write_it() {
        let takes = |modes: &[&str], kind: &str| {
            let card = Card { inputs: modes.iter().map(|m| (*m).to_owned()).collect(), ..card() };
            card.takes(kind)
        };
        assert!(takes(&[], "image/png") && takes(&["*/*"], "image/png") && takes(&["image/*"], "image/png"));
        assert!(takes(&["image/png"], "image/PNG") && takes(&["text", "image"], "image/png"));
        assert!(!takes(&["text/plain"], "image/png") && !takes(&["text", "image/gif"], "image/png"));
    }
}
