//! Agents elsewhere, under the whole engine.

mod acp;
