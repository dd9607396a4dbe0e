//! What the built-in messengers do, against their stand-ins.

mod bridge;
mod conformance;
mod discord;
mod email;
mod handles;
mod irc;
mod jobs;
mod options;
mod recorded;
mod simulation;
mod telegram;
mod whatsapp;
