//! Who may talk and who decides on a channel, said so that its operator notices.
//!
//! The gate decides; this only tells what it will decide.

use crate::engine::core::gate::ANYBODY;
use crate::model::ChannelConfig;

/// What the operator of a channel should know: a sentence each, with what to do. `people`: how many were
/// let in by their code.
pub fn warnings(channel: &ChannelConfig, people: usize) -> Vec<String> {
    let (slug, options) = (&channel.slug, &channel.options);
    let open = options.allow.iter().any(|id| id == ANYBODY);
    let nobody_decides = options.approvers.is_empty();
    let name = format!("name them with `switchboard channel set {slug} --approvers ID`");
    let mut said = Vec::new();
    if open {
        said.push(format!(
            "On {slug} ANYBODY may talk (--allow '*'): whoever finds it there spends what the agent spends."
        ));
    }
    match (open, nobody_decides) {
        (true, true) => said.push(format!(
            "On {slug} nobody decides what waits for a person, since anybody may talk and no approver is named: {name}."
        )),
        (false, true) => said.push(format!(
            "On {slug} whoever may talk also DECIDES what waits for a person, since no approver is named: {name}."
        )),
        (_, false) => {}
    }
    if options.allow.is_empty() && nobody_decides && people == 0 {
        said.push(format!(
            "On {slug} nobody is let in yet: whoever writes to it in a direct chat is shown a code, and `switchboard pairing approve CODE` lets them in."
        ));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ChannelOptions;

    fn of(allow: &[&str], approvers: &[&str], people: usize) -> String {
        let list = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let options = ChannelOptions { allow: list(allow), approvers: list(approvers), ..Default::default() };
        let channel = ChannelConfig {
            slug: "tg".into(),
            kind: "telegram".to_owned(),
            profile: "p".into(),
            enabled: true,
            settings: Default::default(),
            options,
        };
        warnings(&channel, people).join("\n")
    }

    #[test]
    fn nobody_named_is_said_loudly_and_named_people_are_no_warning() {
        assert_eq!(of(&["42"], &["42"], 0), "");
        assert_eq!(of(&[], &["42"], 0), "");
        let nobody = of(&[], &[], 0);
        assert!(nobody.contains("DECIDES") && nobody.contains("--approvers"), "{nobody}");
        assert!(nobody.contains("pairing approve CODE"), "{nobody}");
        assert!(!of(&[], &[], 1).contains("pairing approve"));
        let open = of(&["*"], &[], 0);
        assert!(open.contains("ANYBODY") && open.contains("nobody decides"), "{open}");
        assert!(!of(&["*"], &["42"], 0).contains("decides"));
    }
}
