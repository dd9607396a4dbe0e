//! Discord's ids: numbers that begin with the time they were made at.

use sb_channel::model::Timestamp;

/// The beginning of Discord's time, in milliseconds.
const EPOCH_MS: i64 = 1_420_070_400_000;
const TIME_AT: u32 = 22;

/// When something with this id was made.
pub(super) fn time(id: &str) -> Option<Timestamp> {
    let id: u64 = id.parse().ok()?;
    Some(Timestamp(i64::try_from(id >> TIME_AT).ok()? + EPOCH_MS))
}

/// The smallest id of that moment.
pub(super) fn at(time: Timestamp) -> u64 {
    u64::try_from(time.0 - EPOCH_MS).unwrap_or_default() << TIME_AT
}

/// Whether a text is such an id.
pub(super) fn is_one(text: &str) -> bool {
    let digits = (15..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    digits && text.parse::<u64>().is_ok_and(|id| id > 0)
}
