//! What a platform lends for answering: reply tokens, open requests. Each has a deadline and a number of
//! uses; neither is ever exceeded, and one that is used up is never tried again.

use std::collections::HashMap;

use sb_core::model::{Handle, Timestamp};

/// Handles of one chat that are remembered.
const MOST: usize = 64;

/// The handles of one chat, with how often each was used.
#[derive(Debug, Default)]
pub(super) struct Handles {
    used: HashMap<String, u32>,
    newest: Option<Handle>,
}

impl Handles {
    /// A message brought this one.
    pub fn lend(&mut self, handle: &Handle) {
        if self.used.len() >= MOST {
            self.used.clear();
        }
        self.newest = Some(handle.clone());
    }

    /// The handle to answer by: the message's own while it is good, else the newest of the chat. `before`: uses of
    /// the own one that are on record.
    pub fn pick(&self, own: Option<&Handle>, before: u32, now: Timestamp) -> Option<Handle> {
        let good = |handle: &&Handle, before: u32| {
            let used = self.used.get(&handle.token).copied().unwrap_or_default().max(before);
            handle.until > now && used < handle.uses
        };
        own.filter(|h| good(h, before)).or(self.newest.as_ref().filter(|h| good(h, 0))).cloned()
    }

    /// It is counted when it is used, whatever comes of it.
    pub fn count(&mut self, handle: &Handle, before: u32) {
        let used = self.used.entry(handle.token.clone()).or_insert(before);
        *used = (*used).max(before) + 1;
    }

    /// The platform takes it no more.
    pub fn is_over(&mut self, handle: &Handle) {
        self.used.insert(handle.token.clone(), u32::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(token: &str, until: i64, uses: u32) -> Handle {
        Handle { token: token.to_owned(), until: Timestamp(until), uses }
    }

    /// Holds: F-43.
    #[test]
    fn a_handle_is_used_so_often_and_so_long_and_then_the_newest_takes_its_place() {
        let (own, newer) = (handle("a", 100, 2), handle("b", 1_000, 1));
        let mut handles = Handles::default();
        let token = |picked: Option<Handle>| picked.map(|h| h.token);
        assert_eq!(token(handles.pick(Some(&own), 0, Timestamp(0))).as_deref(), Some("a"));
        handles.count(&own, 0);
        handles.count(&own, 0);
        assert_eq!(handles.pick(Some(&own), 0, Timestamp(0)), None, "used up");
        handles.lend(&newer);
        assert_eq!(token(handles.pick(Some(&own), 0, Timestamp(0))).as_deref(), Some("b"));
        assert_eq!(handles.pick(None, 0, Timestamp(1_000)), None, "too old");
        assert_eq!(handles.pick(Some(&own), 2, Timestamp(0)).map(|h| h.token).as_deref(), Some("b"));
        handles.is_over(&newer);
        assert_eq!(handles.pick(Some(&own), 0, Timestamp(0)), None);
    }
}
