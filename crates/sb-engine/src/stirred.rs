//! Which messages of other agents may stand otherwise than before: for whoever tells those who want to know.
//!
//! It only says where to look: what stands is read from the store, and a start looks at everything, so nothing
//! depends on it after a crash. Where nobody waits it holds so many names and no more.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use sb_core::model::MessageId;
use tokio::sync::Notify;

/// Names that are kept apart; beyond them everything is to be looked at.
const MOST: usize = 1_000;

/// What is to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    These(BTreeSet<MessageId>),
    All,
}

/// What was touched since somebody last looked.
#[derive(Debug, Default)]
pub(crate) struct Stirred {
    /// None: more than are kept apart.
    touched: Mutex<Option<BTreeSet<MessageId>>>,
    notify: Notify,
}

impl Stirred {
    pub fn new() -> Self {
        Self { touched: Mutex::new(Some(BTreeSet::new())), notify: Notify::new() }
    }

    /// These may have changed.
    pub fn touch(&self, messages: impl IntoIterator<Item = MessageId>) {
        {
            let mut touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(these) = touched.as_mut() {
                these.extend(messages);
                if these.len() > MOST {
                    *touched = None;
                }
            }
        }
        self.notify.notify_one();
    }

    /// Waits for one to be touched, and takes what was. For one waiter.
    pub async fn wait(&self) -> Touched {
        loop {
            let touched = {
                let mut touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
                touched.replace(BTreeSet::new())
            };
            match touched {
                None => return Touched::All,
                Some(these) if !these.is_empty() => return Touched::These(these),
                Some(_) => self.notify.notified().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_touched_is_told_once_and_too_much_of_it_is_everything() {
        let stirred = Stirred::new();
        stirred.touch([MessageId(2), MessageId(1)]);
        stirred.touch([MessageId(2)]);
        assert_eq!(stirred.wait().await, Touched::These([MessageId(1), MessageId(2)].into()));
        for at in 0..=1_000 {
            stirred.touch([MessageId(at)]);
        }
        assert_eq!(stirred.wait().await, Touched::All);
        stirred.touch([MessageId(7)]);
        assert_eq!(stirred.wait().await, Touched::These([MessageId(7)].into()));
    }
}
