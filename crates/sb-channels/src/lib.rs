//! The built-in messengers: one folder each, and one list.
//!
//! Adding one is a folder of the same files and one word here; nothing else names it. No adapter knows
//! another one.

#[cfg(feature = "standins")]
pub mod serving;

/// Makes a module of each kind, and the list of them.
macro_rules! channels {
    ($($kind:ident),+ $(,)?) => {
        $(pub mod $kind;)+

        /// Every kind of messenger that is built in.
        pub fn kinds() -> Vec<sb_channel::Kind> {
            vec![$($kind::KIND),+]
        }
    };
}

channels![telegram];
