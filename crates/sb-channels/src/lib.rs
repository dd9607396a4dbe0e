//! The built-in messengers: one folder each, and one list.
//!
//! Adding one is a folder of the same files and one word here; nothing else names it. No adapter knows
//! another one.

/// Makes a module of each kind, the list of them, and the list of their stand-ins.
macro_rules! channels {
    ($($kind:ident),+ $(,)?) => {
        $(pub mod $kind;)+

        /// Every kind of messenger that is built in.
        pub fn kinds() -> Vec<sb_channel::Kind> {
            vec![$($kind::KIND),+]
        }

        /// How the platform of each kind is imitated.
        #[cfg(feature = "standins")]
        pub fn standins() -> Vec<(sb_channel::Kind, sb_channel::standin::Opens)> {
            vec![$(($kind::KIND, $kind::standin::open)),+]
        }
    };
}

channels![discord, email, irc, telegram, whatsapp];
