//! What the built-in messengers do, against their stand-ins.

mod conformance;
mod simulation;
mod telegram;
