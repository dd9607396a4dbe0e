//! `channel kinds`: the messengers there are, from their manifests. No home is needed.

use anyhow::Result;
use sb_doors::local::wire::KindInfo;
use sb_engine::channel::Manifest;

use crate::output;

/// All manifests of this program.
pub fn manifests() -> Vec<Manifest> {
    sb_channels::kinds().iter().map(|kind| (kind.manifest)()).collect()
}

/// Lists them with their settings.
pub fn list(json: bool) -> Result<()> {
    let kinds: Vec<KindInfo> = manifests().iter().map(KindInfo::of).collect();
    if json {
        return output::json(&kinds);
    }
    for kind in kinds {
        output::line(&format!("{:16} {}: {}", kind.id, kind.label, kind.blurb))?;
        for field in kind.fields {
            let marks = [(field.required, "required"), (field.secret, "secret")];
            let marks: Vec<&str> = marks.iter().filter(|(on, _)| *on).map(|(_, word)| *word).collect();
            let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
            output::line(&format!("  --set {}=…{marks}: {}. {}", field.key, field.label, field.hint))?;
        }
    }
    Ok(())
}
