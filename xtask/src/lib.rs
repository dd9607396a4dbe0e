//! What the tasks and the tidy tests share: the project's files, its requirements and how a command is run.
//!
//! Nothing here knows a crate of the workspace: what the program prints, it is asked for. No task
//! changes a file outside the project and its target folder.
#![allow(
    clippy::disallowed_methods,
    reason = "a task runs commands and reads the environment: that is its job"
)]

pub mod messengers;
pub mod needs;
pub mod project;
pub mod requirements;
pub mod shell;
pub mod task;
