//! Addresses as ids: one form for each mailbox, by which people are let in.

use lettre::Address;

/// An address as an id: the domain in ASCII, all of it in lower case. None if it is no single address.
///
/// Dots and what stands after a plus are not folded: only the mailbox's own provider knows what they mean.
pub(super) fn id(text: &str) -> Option<String> {
    let (local, domain) = text.rsplit_once('@')?;
    let domain = domain.trim_end_matches('.');
    if local.is_empty() || local.starts_with('"') || text.len() > 254 || domain.parse::<std::net::IpAddr>().is_ok()
    {
        return None;
    }
    let address = Address::new(local, ascii(domain)?).ok()?;
    let whole: &str = address.as_ref();
    Some(whole.to_lowercase())
}

/// A domain as it stands in the name system.
fn ascii(domain: &str) -> Option<String> {
    idna::domain_to_ascii(domain).ok().filter(|ascii| !ascii.is_empty() && !ascii.starts_with('['))
}

/// Whether a text is an id, as people are let in by it.
pub(super) fn is_id(text: &str) -> bool {
    id(text).is_some_and(|id| id == text)
}

/// The domain of an id.
pub(super) fn domain(id: &str) -> &str {
    id.rsplit_once('@').map_or("", |(_, domain)| domain)
}

/// Whether mail to it needs SMTPUTF8.
pub(super) fn is_international(id: &str) -> bool {
    !id.is_ascii()
}
