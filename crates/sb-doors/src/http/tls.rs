//! TLS of the public door: a certificate and its key from two PEM files, and the handshake.
//!
//! A handshake belongs to its own connection and has a time limit, so whoever stalls in one holds up
//! nobody else. Both files are read once, when the server starts.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error, InconsistentKeys, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::Peer;

/// How long a handshake may take.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// What a listener needs to speak TLS.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
    within: Duration,
}

impl Tls {
    /// Reads a certificate with its chain, and its key.
    ///
    /// # Errors
    /// A sentence that names the file, what is wrong with it, and what to do.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, String> {
        let chain = chain(certificate)?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|why| format!("TLS cannot be set up: {why}."))?
            .with_no_client_auth()
            .with_single_cert(chain, private_key(key)?);
        let mut config = config.map_err(|why| match why {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => format!(
                "The key in {} is not that of the certificate in {}. Give the two files that were made together.",
                key.display(),
                certificate.display()
            ),
            Error::InvalidCertificate(_) => format!(
                "The certificate in {} cannot be used: {why}. Its own certificate comes first, then those that vouch for it.",
                certificate.display()
            ),
            _ => format!("The key in {} cannot be used: {why}.", key.display()),
        })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), within: HANDSHAKE_WITHIN })
    }

    /// Makes a connection one that requests are read from; none where the other side does not.
    pub(crate) async fn greet<I>(self, io: I, from: SocketAddr) -> Option<(TlsStream<I>, Peer)>
    where
        I: AsyncRead + AsyncWrite + Unpin,
    {
        match tokio::time::timeout(self.within, self.acceptor.accept(io)).await {
            Ok(Ok(io)) => Some((io, Peer(Some(from.ip())))),
            Ok(Err(why)) => {
                tracing::debug!(error = %why, "a connection speaks no TLS");
                None
            }
            Err(_) => {
                tracing::debug!("a handshake took too long");
                None
            }
        }
    }
}

fn contents(file: &Path, flag: &str) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|why| format!("{} ({flag}) cannot be read: {why}.", file.display()))
}

fn chain(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = contents(file, "--tls-cert")?;
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|why| format!("{} (--tls-cert) is no PEM file that can be read: {why}.", file.display()))?;
    match chain.is_empty() {
        true => Err(format!(
            "{} (--tls-cert) has no certificate: it needs a part that begins with -----BEGIN CERTIFICATE-----.",
            file.display()
        )),
        false => Ok(chain),
    }
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, String> {
    const SEALED: &[u8] = b"-----BEGIN ENCRYPTED PRIVATE KEY-----";
    let text = contents(file, "--tls-key")?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|why| match why {
        pem::Error::NoItemsFound if text.windows(SEALED.len()).any(|part| part == SEALED) => format!(
            "The key in {} (--tls-key) is locked with a password. Give one without: openssl pkey -in LOCKED -out KEY.",
            file.display()
        ),
        pem::Error::NoItemsFound => format!(
            "{} (--tls-key) has no key: it needs a part that begins with -----BEGIN PRIVATE KEY-----.",
            file.display()
        ),
        why => format!("{} (--tls-key) is no PEM file that can be read: {why}.", file.display()),
    })
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use tokio::io::AsyncReadExt;
    use tokio::net::{TcpListener, TcpStream};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::http::serve_tls;

    #[tokio::test]
    #[allow(clippy::disallowed_methods, reason = "a raw connection shows what no client would do")]
    async fn a_handshake_that_does_not_end_is_not_waited_for() {
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls");
        let mut tls = Tls::read(&files.join("cert.pem"), &files.join("key.pem")).expect("both are good");
        tls.within = Duration::from_millis(100);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let closing = CancellationToken::new();
        tokio::spawn(serve_tls(listener, 100, tls, Router::new(), closing.clone()));
        let mut silent = TcpStream::connect(address).await.expect("a connection");
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(10), silent.read_to_end(&mut answer)).await;
        assert!(ended.is_ok() && answer.is_empty());
    }
}
