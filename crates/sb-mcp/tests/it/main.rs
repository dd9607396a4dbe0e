//! The toolbox against servers: children that do wrong on purpose, and addresses in this process.

mod address;
mod life;
mod tools;
mod trouble;
mod world;
