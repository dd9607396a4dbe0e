//! The laws of a store, whichever database is below it.
//!
//! Each law is a function over a [`Ground`], a place where a store can be opened, closed and opened
//! again. The random one is in [`law`]; the others are examples with a name that says what holds.

pub mod asked;
pub mod batches;
pub mod channels;
pub mod commits;
pub mod files;
pub mod intake;
pub mod keys;
pub mod law;
pub mod ledger;
pub mod logs;
pub mod outbox;
pub mod people;
pub mod posts;
pub mod samples;

use std::future::Future;

use sb_store::Store;

/// Where a store lives between openings.
pub trait Ground: Sync {
    /// Opens the store, empty the first time, afterwards with all that was in it.
    fn open(&self) -> impl Future<Output = Store> + Send;

    /// Closes the store and opens it again, as a restart does.
    fn reopen(&self, store: Store) -> impl Future<Output = Store> + Send {
        async {
            store.close().await.expect("a store closes");
            self.open().await
        }
    }
}
