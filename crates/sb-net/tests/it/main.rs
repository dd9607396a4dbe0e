//! The HTTP client and what guards it, against servers of this machine.

mod asking;
mod away;
