//! What holds of every text, and what a reader sees of some.

mod growth;
mod pathological;
mod pieces;
mod rendering;
mod roundtrip;
mod spans;
mod splitting;
