//! `trust`: what the safety of a home rests on.

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire::TrustInfo;

use super::kinds::manifests;
use crate::args::messenger::Trust;
use crate::output;

/// Prints what is in force for what is switched on here.
pub async fn run(args: &Trust, desk: &Desk) -> Result<()> {
    print(&desk.trust(args.all).await?, args.json)
}

/// Prints what there is for all kinds of messengers. No home is needed.
pub fn of_all(json: bool) -> Result<()> {
    print(&sb_doors::trust::of_all(&manifests()), json)
}

fn print(found: &[TrustInfo], json: bool) -> Result<()> {
    if json {
        return output::json(&found);
    }
    let one = |trust: &TrustInfo| {
        let of = if trust.of.is_empty() { String::new() } else { format!(" ({})", trust.of.join(", ")) };
        format!(
            "{}{of}\n  Assumed: {}\n  Enforced: {}\n  Otherwise: {}",
            trust.id, trust.assumes, trust.enforced, trust.otherwise
        )
    };
    output::foreign(&found.iter().map(one).collect::<Vec<_>>().join("\n\n"))
}
