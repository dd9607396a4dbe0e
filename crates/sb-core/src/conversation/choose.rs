//! What a chat chooses for itself: model, instructions, tools. It holds from the next turn on, for
//! this and later sessions.

use sb_model::{Change, Choices, Message};

use super::Conversation;

impl Conversation {
    pub(super) fn model(&mut self, message: &Message, number: Option<usize>) {
        let models: Vec<String> = self.context.profile.models.iter().map(ToString::to_string).collect();
        let Some(number) = number else { return self.answer(message.id, self.model_list(&models)) };
        let Some(picked) = number.checked_sub(1).and_then(|at| models.get(at)) else {
            let said = format!("There is no model {number}.\n{}", self.model_list(&models));
            return self.refuse(message.id, sb_model::Refusal::Unknown, said);
        };
        let said = format!("{picked} answers here from the next message on.");
        let choices = Choices { model: Some(picked.clone()), ..self.state.choices.clone() };
        self.choose(message, choices, format!("chose the model {picked}"));
        self.answer(message.id, said);
    }

    fn model_list(&self, models: &[String]) -> String {
        let used = self.state.choices.model.as_ref().filter(|m| models.contains(m)).or(models.first());
        let line = |(at, name): (usize, &String)| {
            let mark = if Some(name) == used { " (in use)" } else { "" };
            format!("{}. {name}{mark}", at + 1)
        };
        models.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn system(&mut self, message: &Message, text: Option<String>) {
        let said = match &text {
            None => match &self.state.choices.system {
                Some(system) => format!("This chat asks of the agent: {system}"),
                None => "This chat asks nothing of the agent beyond its instructions.".to_owned(),
            },
            Some(text) => {
                let system = (text != "off").then(|| text.clone());
                let (said, note) = match &system {
                    Some(_) => (
                        "Set. It comes after the agent's instructions, from the next message on.",
                        "set the chat's instructions",
                    ),
                    None => ("Taken back.", "took the chat's instructions back"),
                };
                self.choose(message, Choices { system, ..self.state.choices.clone() }, note.to_owned());
                said.to_owned()
            }
        };
        self.answer(message.id, said);
    }

    pub(super) fn tools(&mut self, message: &Message, names: Vec<String>) {
        let given = self.context.tools.clone();
        if names.is_empty() {
            return self.answer(message.id, self.tool_list());
        }
        let tools = if names == ["all"] {
            None
        } else {
            if let Some(unknown) = names.iter().find(|n| !given.contains(n)) {
                let said = format!("{unknown} is not a tool of this profile. It has: {}.", listed(&given));
                return self.refuse(message.id, sb_model::Refusal::Unknown, said);
            }
            Some(names)
        };
        let note = match &tools {
            Some(names) => format!("narrowed the tools to {}", listed(names)),
            None => "gave all tools of the profile again".to_owned(),
        };
        self.choose(message, Choices { tools, ..self.state.choices.clone() }, note);
        self.answer(message.id, self.tool_list());
    }

    fn tool_list(&self) -> String {
        let given = &self.context.tools;
        match &self.state.choices.tools {
            None if given.is_empty() => "The agent has no tools here.".to_owned(),
            None => format!("The agent may use all its tools here: {}.", listed(given)),
            Some(chosen) => {
                format!("The agent may use only these here: {}. It has: {}.", listed(chosen), listed(given))
            }
        }
    }

    fn choose(&mut self, message: &Message, choices: Choices, note: String) {
        self.record(Change::Chose(choices));
        self.note(message, note);
    }

    pub(super) fn whoami(&mut self, message: &Message) {
        let may = |yes: bool, what: [&str; 2]| match yes {
            true => format!("may {} and {}", what[0], what[1]),
            false => format!("may neither {} nor {}", what[0], what[1]),
        };
        let said = format!(
            "You are {}. You may talk to {} here; you {} what it asks, and {} here.",
            message.from.0,
            self.state.profile,
            may(message.rights.decide, ["approve", "decline"]),
            may(message.rights.instruct, ["choose its model and tools", "give it instructions"])
        );
        self.answer(message.id, said);
    }
}

fn listed(names: &[String]) -> String {
    names.join(", ")
}
