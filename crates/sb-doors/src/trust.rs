//! What the safety of a home rests on: assumptions that hold of every home, and those of its channels.
//!
//! A table, from which `switchboard trust` and pages are printed. A kind's own assumptions are its
//! manifest's; here is only what no kind can say. Ids are promises: pages and people refer to them.

use std::collections::BTreeMap;

use crate::engine::channel::{Manifest, Trust};
use crate::local::wire::TrustInfo;
use crate::model::ChannelConfig;

/// What holds of every home.
pub const GENERAL: &[Trust] = &[
    Trust {
        id: "agent:a2a-webhooks",
        assumes: "Whoever holds a token of a profile that is offered over A2A may have its tasks posted to any public https address.",
        enforced: "Before it is kept and for each try: every address of its name is looked at, the connection goes to those and no others, redirects are not followed, and nobody is told what the other side answers. A task has eight at most.",
        otherwise: "A holder of a token learns of its tasks elsewhere than where it asked. It learns nothing that it could not ask for.",
    },
    Trust {
        id: "agent:channel-token",
        assumes: "Whoever holds a token is meant to have it. The machine's token reaches every profile and session, approvals included; a profile's token only that profile, and it decides only if it was made to.",
        enforced: "On every request, before its body is read: tokens are kept as hashes and compared in constant time; wrong ones are counted, and soon not looked at.",
        otherwise: "The holder talks as that token, and decides if it may. Take it back: switchboard profile token remove PROFILE ID.",
    },
    Trust {
        id: "agent:home-folder",
        assumes: "Only you, and root, can open the home's folder, its socket and its machine.key.",
        enforced: "By the operating system: the socket and the key are their owner's alone (mode 0600), and agents' file tools do not reach the home.",
        otherwise: "Whoever opens the socket does all that commands do, approvals included; whoever reads machine.key and the database has every sealed secret.",
    },
    Trust {
        id: "agent:models",
        assumes: "A profile's model may read all that is said to the profile and all that its tools read.",
        enforced: "Not by us: words go to the provider that the profile names, over TLS, and to those named after it when it is overloaded.",
        otherwise: "What was said is known to that provider. Name another model, or one of your own: switchboard profile set PROFILE --base-url URL.",
    },
    Trust {
        id: "agent:outside-content",
        assumes: "A model may do what a page or another agent tells it to, so no mark and no wording is relied on to stop it. People look at what they are asked.",
        enforced: "By the one gate: once a session has read content from outside, programs, calls to the outside and payments ask at every level and no rule counts, until a person decides; afterwards a call that carries text from there still asks, says so, and is never allowed for good.",
        otherwise: "Not claimed: that text from outside is found when it is put in other words, translated, enciphered, spelled backwards, or cut into runs of fewer than 31 letters and digits over several calls; that reading and writing in the workspace, and what the agent says, are kept from its sway; that what a program fetches by itself, or what a file holds that came from outside, counts as content from outside.",
    },
    Trust {
        id: "agent:web-addresses",
        assumes: "Addresses that the internet's registries call public are nobody's inner network, and the hosts you name with --web-host may be asked for any of their pages.",
        enforced: "Before each request and each redirect: every address of the name is looked at, however it is written; the connection goes to those addresses and no others; private ones pass only for hosts you named, and those where clouds keep credentials never.",
        otherwise: "An agent could read, through the server's place in the network, what only insiders may. A service of yours that has a public address and trusts who is near it is not protected by this.",
    },
];

/// Those in force for these channels: of the switched-on ones, and the general ones.
pub fn in_force(kinds: &[Manifest], channels: &[ChannelConfig]) -> Vec<TrustInfo> {
    let enabled = channels.iter().filter(|channel| channel.enabled);
    let of = enabled.filter_map(|channel| {
        let kind = kinds.iter().find(|kind| kind.id == channel.kind)?;
        Some((channel.slug.0.as_str(), kind))
    });
    joined(of)
}

/// Those of every kind there is, and the general ones.
pub fn of_all(kinds: &[Manifest]) -> Vec<TrustInfo> {
    joined(kinds.iter().map(|kind| (kind.id, kind)))
}

/// The same assumption of several channels is one entry that names them all.
fn joined<'a>(of: impl Iterator<Item = (&'a str, &'a Manifest)>) -> Vec<TrustInfo> {
    let mut found: Vec<TrustInfo> = GENERAL.iter().map(told).collect();
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (name, kind) in of {
        for trust in &kind.trust {
            let at = *places.entry((trust.id, trust.assumes)).or_insert_with(|| {
                found.push(told(trust));
                found.len() - 1
            });
            if let Some(entry) = found.get_mut(at) {
                entry.of.push(name.to_owned());
            }
        }
    }
    found
}

fn told(trust: &Trust) -> TrustInfo {
    TrustInfo {
        id: trust.id.to_owned(),
        assumes: trust.assumes.to_owned(),
        enforced: trust.enforced.to_owned(),
        otherwise: trust.otherwise.to_owned(),
        of: Vec::new(),
    }
}
