//! The contract of a messenger, and its toolbox.
//!
//! An adapter translates between one platform and the values here, and does nothing else: it never
//! waits, retries, splits, remembers or decides. What two adapters would need is the engine's. Facts
//! about a platform are values ([`Manifest`], [`Features`]), which the engine acts on and docs, flags
//! and forms are printed from.

mod channel;
mod context;
mod event;
mod features;
mod json_api;
mod manifest;
mod poll;
mod settings;
#[cfg(feature = "standins")]
pub mod standin;
mod webhook;

pub use channel::{
    Account, Attempt, Channel, Command, Feed, Gesture, Inlet, LiveReply, Mark, Opens, OutFile, Piece, Updates,
};
pub use context::{ChannelContext, State};
pub use event::{Batch, Event, Incoming, Pressed, Quoted, Report};
pub use features::{Features, FilesOut, FirstWord, Live, Marks, Questions, Repeats, TextRules, Typing};
pub use json_api::JsonApi;
pub use manifest::{AnyKind, Field, Kind, Manifest, Proof, Trust};
pub use poll::Poll;
pub use sb_net as net;
pub use sb_net::model;
pub use sb_net::model::text;
pub use settings::Settings;
#[cfg(feature = "standins")]
pub use webhook::signed_hex;
pub use webhook::{Verdict, Webhook, WebhookReply, WebhookRequest, is_same_secret, is_signed_hex};

/// What an adapter returns: its error's kind is how the engine treats it.
pub type Result<T> = std::result::Result<T, model::Fault>;
