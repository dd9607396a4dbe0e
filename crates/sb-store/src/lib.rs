//! Everything durable: conversations, logs, messages, profiles, tokens, secrets, files.
//!
//! SQL lives here and nowhere else. It is written in the subset that SQLite and PostgreSQL share;
//! what differs is in `dialect.rs`. What the writer answered is durable ([`Durability`] says against
//! what) and seen by every later read; what failed changed nothing. Time and chance are arguments.

mod backup;
mod blobs;
mod care;
mod commit;
mod desk;
mod dialect;
mod error;
mod home;
mod intake;
mod load;
mod logs;
mod migrate;
mod plan;
mod readers;
mod rows;
mod secrets;
mod sessions;
mod store;
mod tokens;
mod turns;
mod writer;

pub use blobs::BlobWriter;
pub use care::{Counts, Purged};
pub use commit::Version;
pub use dialect::Durability;
pub use error::{Result, StoreError, StoreErrorKind};
pub use intake::{MOST_WAITING, StoredMessage, Taken};
pub use sb_model as model;
pub use secrets::of_profile as secret_name;
pub use store::Store;
pub use tokens::TokenRecord;
