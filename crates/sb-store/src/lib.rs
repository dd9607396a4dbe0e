//! Everything durable: conversations, logs, messages, profiles, tokens, secrets, files; and of
//! messengers: channels, what came, what goes out, who is let in.
//!
//! SQL lives here and nowhere else. It is written in the subset that SQLite and PostgreSQL share;
//! what differs is in `dialect.rs`. What the writer answered is durable ([`Durability`] says against
//! what) and seen by every later read; what failed changed nothing. Time and chance are arguments.

mod asked;
mod backup;
mod batch;
mod blobs;
mod care;
mod channels;
mod chats;
mod commit;
mod desk;
mod dialect;
mod error;
mod home;
mod house;
mod inbox;
mod intake;
mod jobs;
mod ledger;
mod load;
mod logs;
mod memory;
mod migrate;
mod outbox;
mod pairing;
mod parts;
mod people;
mod plan;
mod points;
mod posting;
mod readers;
mod rows;
mod secrets;
mod sessions;
mod spent;
mod store;
mod task_hooks;
mod tokens;
mod turns;
mod writer;

pub use asked::{Placed, RETRY_WITHIN_MS};
pub use batch::{Intake, MOST_WAITING_BRIDGED};
pub use blobs::BlobWriter;
pub use care::{Counts, Purged};
pub use commit::Version;
pub use dialect::Durability;
pub use error::{Result, StoreError, StoreErrorKind};
pub use inbox::{InboxItem, Kept, KeptWhy, MOST_KEPT};
pub use intake::{MOST_WAITING, StoredMessage, Taken};
pub use jobs::{ConversationPlace, JobRunStood};
pub use ledger::{NewAccount, OPERATOR};
pub use outbox::{PostState, Sending, StoredPost};
pub use pairing::{PairingAnswer, PairingOffer};
pub use parts::{PartState, StoredPart};
pub use points::AnswerPlace;
pub use posting::MOST_UNSENT;
pub use sb_ledger as ledgers;
pub use sb_model as model;
pub use secrets::of_profile as secret_name;
pub use store::Store;
pub use task_hooks::TaskHook;
pub use tokens::TokenRecord;
