//! [`permit`]: the one gate. Every call of every harness passes it, and nothing else judges calls.

use sb_model::{Call, Level, Profile, Rule, ToolClass, Verdict};

use crate::rules;

/// What a call is held against besides its profile.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// The only tools the chat lets the agent use, if it chose any.
    pub tools: Option<&'a [String]>,
    /// What people allowed for the rest of the session.
    pub allowed: &'a [Rule],
    /// The session has read content from outside since a person last decided.
    pub tainted: bool,
    /// What its arguments carry from outside, as [`crate::Prints::carried`] tells it.
    pub carries: Option<&'a str>,
}

/// May this call act, must a person decide, or never?
pub fn permit(profile: &Profile, standing: Standing<'_>, call: &Call) -> Verdict {
    let given = profile.tools.has(&call.tool);
    let chosen = standing.tools.is_none_or(|names| names.contains(&call.tool));
    if !given || !chosen {
        return Verdict::No(format!("the tool {} is not given to you here", call.tool));
    }
    let level = profile.autonomy;
    let base = by_level(level, call.class);
    match base {
        Verdict::Go if standing.tainted && reaches_out(call.class) => {
            let why = format!("{}, after reading content from outside", deed(call.class));
            Verdict::Ask(with_carried(why, standing))
        }
        // What came from outside goes out again by nobody's leave but a person's.
        Verdict::Go if standing.carries.is_some() && reaches_out(call.class) => {
            Verdict::Ask(with_carried(deed(call.class).to_owned(), standing))
        }
        Verdict::Ask(_) if may_be_covered(standing, call) && covered(profile, standing, call) => Verdict::Go,
        Verdict::Ask(why) => Verdict::Ask(with_carried(why, standing)),
        other => other,
    }
}

/// A rule never covers spending, nor what carries text from outside, and none is looked at while tainted.
fn may_be_covered(standing: Standing<'_>, call: &Call) -> bool {
    !standing.tainted && standing.carries.is_none() && call.class != ToolClass::Spend
}

/// Why it is asked, with what a person should know of its arguments.
fn with_carried(why: String, standing: Standing<'_>) -> String {
    match standing.carries {
        Some(carried) => format!("{why}; it {carried}"),
        None => why,
    }
}

/// The autonomy levels as a table: what each class of deed needs at each level.
fn by_level(level: Level, class: ToolClass) -> Verdict {
    let (asks_from, free_from) = match class {
        ToolClass::Read => (Level::L2, Some(Level::L2)),
        ToolClass::Write => (Level::L3, Some(Level::L4)),
        // At L4 a program runs unasked only where a rule covers it.
        ToolClass::Shell => (Level::L3, Some(Level::L5)),
        ToolClass::Outside => (Level::L4, Some(Level::L5)),
        ToolClass::Destructive => (Level::L3, None),
        ToolClass::Spend => (Level::L5, Some(Level::L6)),
    };
    if free_from.is_some_and(|free_from| level >= free_from) {
        Verdict::Go
    } else if level >= asks_from {
        Verdict::Ask(format!("{} at autonomy {level}", deed(class)))
    } else {
        Verdict::No(format!("{} is not allowed at autonomy {level}", deed(class)))
    }
}

fn covered(profile: &Profile, standing: Standing<'_>, call: &Call) -> bool {
    let operators = if profile.autonomy >= Level::L4 { profile.allowed.as_slice() } else { &[] };
    standing.allowed.iter().chain(operators).any(|rule| rules::covers(rule, call))
}

/// A program may reach the network, so it counts as reaching out.
fn reaches_out(class: ToolClass) -> bool {
    matches!(class, ToolClass::Shell | ToolClass::Outside | ToolClass::Destructive | ToolClass::Spend)
}

fn deed(class: ToolClass) -> &'static str {
    match class {
        ToolClass::Read => "reading",
        ToolClass::Write => "a write",
        ToolClass::Shell => "running a program",
        ToolClass::Outside => "a call to the outside",
        ToolClass::Destructive => "a call that may destroy something",
        ToolClass::Spend => "spending",
    }
}
