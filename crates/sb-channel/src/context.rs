//! All an adapter may touch of the world.

use std::sync::Arc;

use async_trait::async_trait;
use sb_net::Http;
use sb_net::model::{Clock, Dice};

/// What an adapter is opened with.
#[derive(Clone)]
pub struct ChannelContext {
    pub http: Http,
    pub clock: Arc<dyn Clock>,
    pub dice: Arc<dyn Dice>,
    pub state: Arc<dyn State>,
    /// Updates are to come by webhook: the operator named a public address.
    pub by_webhook: bool,
}

/// A few words an adapter keeps across starts: 64 KB at most. Forgotten when the channel is removed.
#[async_trait]
pub trait State: Send + Sync {
    async fn get(&self) -> crate::Result<Option<String>>;
    async fn set(&self, words: String) -> crate::Result<()>;
}
