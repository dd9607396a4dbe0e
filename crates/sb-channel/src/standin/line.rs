//! [`Line`]: a port of a stand-in at which something other than HTTP is spoken.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use sb_net::Stream;
use tokio::net::TcpListener;

/// Talks over one connection until it ends.
pub type Talks = Arc<dyn Fn(Box<dyn Stream>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// One port.
#[derive(Clone)]
pub struct Line {
    /// The setting that says where it is.
    pub setting: &'static str,
    /// What stands before the address there, such as `imap://`.
    pub scheme: &'static str,
    pub talks: Talks,
}

impl Line {
    pub fn new(
        setting: &'static str,
        scheme: &'static str,
        talks: impl Fn(Box<dyn Stream>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync + 'static,
    ) -> Self {
        Self { setting, scheme, talks: Arc::new(talks) }
    }
}

/// Talks at a port until the task is dropped.
///
/// # Errors
/// If the listener fails for good.
pub async fn listen(listener: TcpListener, talks: Talks) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(talks(Box::new(stream)));
    }
}
