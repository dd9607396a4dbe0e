//! The core's tests: the conversation under a simulated world, and its tables.

mod commands;
mod conversation;
mod fake;
mod gate;
mod memory;
mod messenger;
mod outgoing;
mod outside;
mod stories;
mod world;
