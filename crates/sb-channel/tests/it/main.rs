//! What adapters and stand-ins are made with.

mod asking;
mod calling;
mod platform;
mod polling;
mod socket;
