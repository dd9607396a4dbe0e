//! The gate: who may talk to the agent on a messenger, and what else they may do there.
//!
//! One pure function judges every sort of event: messages, presses, edits, stops. It compares nothing but
//! ids, and what it does not know it keeps out. Letting somebody in is always the operator's deed.

use sb_model::{ChannelOptions, Chat, ChatSort, Person, Rights};

/// Lets anybody in.
pub const ANYBODY: &str = "*";

/// What is asked of the gate.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    pub chat: &'a Chat,
    pub person: &'a Person,
    /// Our own id on that platform.
    pub us: &'a str,
    /// It was meant for us, as far as the platform shows.
    pub addressed: bool,
    /// It is one of several that may be judged only together.
    pub of_album: bool,
    /// Its words begin as a command does.
    pub is_command: bool,
    /// The id under which the chat was first known, where the platform moved it.
    pub known_as: Option<&'a str>,
    /// The person was let in by pairing.
    pub guest: bool,
}

/// What the gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    Admit(Rights),
    /// A stranger in a direct chat: they may ask to be let in.
    Pair,
    Ignore(Ignored),
}

/// Why something is not for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// We wrote it.
    Ours,
    /// A program wrote it, and it was not let in by its id.
    Bot,
    /// In a group, and not meant for us.
    NotAddressed,
    /// Nobody let them in.
    NotLetIn,
}

/// Judges one event.
pub fn judge(options: &ChannelOptions, asking: Asking<'_>) -> Admission {
    let id = asking.person.id.as_deref();
    if id == Some(asking.us) {
        return Admission::Ignore(Ignored::Ours);
    }
    let named = |list: &[String]| id.is_some_and(|id| list.iter().any(|entry| entry == id));
    let approver = named(&options.approvers);
    if asking.person.bot && !named(&options.allow) && !approver {
        return Admission::Ignore(Ignored::Bot);
    }
    let direct = asking.chat.sort == ChatSort::Direct;
    let let_in = is_open(options)
        || named(&options.allow)
        || approver
        || options.allow.contains(&asking.chat.id)
        || asking.known_as.is_some_and(|id| options.allow.iter().any(|entry| entry == id))
        // Being let in alone opens no group.
        || (asking.guest && direct && id.is_some());
    if !let_in {
        let may_ask = direct && id.is_some() && !asking.person.bot;
        return if may_ask { Admission::Pair } else { Admission::Ignore(Ignored::NotLetIn) };
    }
    let for_others = asking.is_command || options.require_mention;
    if !direct && !asking.addressed && for_others && !asking.of_album {
        return Admission::Ignore(Ignored::NotAddressed);
    }
    Admission::Admit(if may_decide(options, id) { Rights::ALL } else { Rights::TALK })
}

/// Whether anybody may talk.
pub fn is_open(options: &ChannelOptions) -> bool {
    options.allow.iter().any(|entry| entry == ANYBODY)
}

/// Those who are named decide; if nobody is, whoever was let in, unless anybody may talk. Somebody without an
/// id never decides.
fn may_decide(options: &ChannelOptions, id: Option<&str>) -> bool {
    match (id, options.approvers.is_empty()) {
        (None, _) => false,
        (Some(_), true) => !is_open(options),
        (Some(id), false) => options.approvers.iter().any(|entry| entry == id),
    }
}
