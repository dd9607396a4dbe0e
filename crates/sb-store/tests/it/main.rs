//! The store's tests: the shared laws over SQLite, and what is SQLite's or the operating system's own.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asked;
mod bridges;
mod chain;
mod home;
mod laws;
mod memory;
mod older;
mod rest;
mod stored;

use std::path::Path;

use sb_store::{Durability, Store};
use sb_testkit::suites::store::Ground;

/// A home in a folder that goes when the test does.
struct Home {
    folder: tempfile::TempDir,
    durability: Durability,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder"), durability: Durability::Process }
    }
    /// One that waits for the disk.
    fn durable() -> Self {
        Self { durability: Durability::Power, ..Self::new() }
    }
    /// Opens it once whoever had it lets go.
    async fn open_soon(&self) {
        let open = async || Store::open(self.path(), self.durability).await.ok();
        sb_testkit::until("an open home", open).await;
    }
    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Ground for Home {
    async fn open(&self) -> Store {
        Store::open(self.path(), self.durability).await.expect("the home opens")
    }
}
