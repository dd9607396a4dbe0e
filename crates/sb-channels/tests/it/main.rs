//! What the built-in messengers do, against their stand-ins.

mod telegram;
