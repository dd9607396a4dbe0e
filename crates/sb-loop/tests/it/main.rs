//! The loop from outside: an engine played by the test, the scripted model, and stand-ins of the real
//! ones over loopback.

mod making;
mod redteam;
mod scripted;
mod toolbox;
mod wire;
mod world;
