//! Streams of bytes to a server: plain or TLS, for protocols that are no HTTP.
//!
//! A stream leaves by the same way as requests do, so where requests are answered in process streams are
//! too. Who the server is, is proven before a byte is sent: by the machine's trusted certificates, or by
//! the fingerprint of the one certificate that is meant.

use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt;
use sb_model::{Fault, FaultKind, Secret};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// For each of: finding and reaching the server, agreeing on TLS.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes both ways. Dropping it closes the connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A server to talk to.
#[derive(Debug, Clone)]
pub struct Remote {
    pub host: String,
    pub port: u16,
    /// None: anybody on the way can read and change what is said.
    pub tls: Option<Tls>,
}

/// How the server proves who it is, and how we do.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// The SHA-256 of the server's certificate, which alone is then trusted; else the machine's trusted ones are.
    pub pin: Option<[u8; 32]>,
    /// Our own certificate and its key, as PEM.
    pub identity: Option<Secret>,
    /// Certificates, as PEM, that are trusted beside the machine's.
    pub roots: Option<String>,
}

/// Opens a stream by the network.
///
/// # Errors
/// A server that cannot be reached, or is another than meant; a certificate of ours that is none.
pub(crate) async fn connect(to: &Remote) -> Result<Box<dyn Stream>, Fault> {
    let stream = in_time(to, "reaching it", reach(to)).await?;
    let _ = stream.set_nodelay(true);
    secure(to, Box::new(stream)).await
}

/// Agrees on TLS over an open stream, if it is to be spoken with that server.
///
/// # Errors
/// As [`connect`].
pub(crate) async fn secure(to: &Remote, stream: Box<dyn Stream>) -> Result<Box<dyn Stream>, Fault> {
    let Some(tls) = &to.tls else { return Ok(stream) };
    let config = client(to, tls)?;
    let name = ServerName::try_from(to.host.clone());
    let name = name.map_err(|_| fault(to, FaultKind::Refused, "this is no name of a server"))?;
    let agreed = in_time(to, "agreeing on TLS", TlsConnector::from(Arc::new(config)).connect(name, stream));
    Ok(Box::new(agreed.await?))
}

#[expect(clippy::disallowed_methods, reason = "this is where streams are opened")]
async fn reach(to: &Remote) -> std::io::Result<TcpStream> {
    TcpStream::connect((to.host.as_str(), to.port)).await
}

async fn in_time<T>(
    to: &Remote,
    what: &str,
    doing: impl Future<Output = std::io::Result<T>>,
) -> Result<T, Fault> {
    let passing = FaultKind::Passing { wait_ms: None };
    match tokio::time::timeout(PATIENCE, doing).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(why)) => Err(fault(to, passing, &format!("{what} failed ({why})"))),
        Err(_) => Err(fault(to, passing, &format!("{what} took longer than {} seconds", PATIENCE.as_secs()))),
    }
}

fn fault(to: &Remote, kind: FaultKind, detail: &str) -> Fault {
    Fault::new(kind, format!("connecting to {}:{}", to.host, to.port), detail)
}

fn client(to: &Remote, tls: &Tls) -> Result<ClientConfig, Fault> {
    let refused = |detail: String| fault(to, FaultKind::Refused, &detail);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(|why| refused(why.to_string()))?;
    let builder = match (tls.pin, &tls.roots) {
        (Some(pin), _) => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Pinned { pin, provider }))
        }
        (None, None) => builder.with_platform_verifier().map_err(|why| refused(why.to_string()))?,
        (None, Some(roots)) => {
            let unread = || refused("the certificates to trust cannot be read; they must be PEM".to_owned());
            let roots: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(roots.as_bytes()).collect();
            let roots = roots.ok().filter(|roots| !roots.is_empty()).ok_or_else(unread)?;
            let verifier = rustls_platform_verifier::Verifier::new_with_extra_roots(roots, provider);
            let verifier = verifier.map_err(|why| refused(why.to_string()))?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
    };
    let Some(identity) = &tls.identity else { return Ok(builder.with_no_client_auth()) };
    let pem = identity.expose().as_bytes();
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    // What is wrong with a key is not told: it might hold some of it.
    let (Ok(chain), Ok(key)) = (chain, PrivateKeyDer::from_pem_slice(pem)) else {
        return Err(refused(
            "our certificate and its key cannot be read; both are needed, as PEM".to_owned(),
        ));
    };
    let taken = builder.with_client_auth_cert(chain, key);
    taken.map_err(|_| refused("our certificate and its key do not belong together".to_owned()))
}

/// Trusts one certificate, whoever signed it and whatever name it bears.
#[derive(Debug)]
struct Pinned {
    pin: [u8; 32],
    provider: Arc<rustls::crypto::CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if Sha256::digest(certificate)[..] == self.pin {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::General("the certificate is not the one with this fingerprint".to_owned()))
    }
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
