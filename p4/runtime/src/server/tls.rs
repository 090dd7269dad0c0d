//! TLS for a server: its certificate, and the authority that signs the certificates of clients.

use std::io;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

/// The certificates of a server, as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerTls {
    /// The certificate chain of the server.
    pub certificate: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
    /// The authority that signs the certificates of clients; without it any client is accepted.
    pub client_authority: Option<Vec<u8>>,
    /// Lists of revoked client certificates.
    pub revocation_lists: Option<Vec<u8>>,
}

/// Keeps private keys out of logs.
impl std::fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerTls").finish_non_exhaustive()
    }
}

/// Protocol over a TLS connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1, for metrics and pages.
    Http1,
    /// HTTP/2, for gRPC.
    Http2,
}

/// Certificates that a server cannot use.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file does not contain the expected PEM sections.
    #[error("the {0} is not in PEM")]
    Pem(&'static str),
    /// Certificate and key do not match, or have an unsupported type.
    #[error(transparent)]
    Rustls(#[from] rustls::Error),
    /// The client authority or the list of revoked certificates is invalid.
    #[error("clients cannot be verified: {0}")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
}

impl ServerTls {
    /// Returns the configuration for tonic's server.
    pub fn config(&self) -> ServerTlsConfig {
        let identity = Identity::from_pem(&self.certificate, &self.key);
        let config = ServerTlsConfig::new().identity(identity);
        match &self.client_authority {
            Some(authority) => config.client_ca_root(Certificate::from_pem(authority)),
            None => config,
        }
    }

    /// Returns the configuration for connections.
    pub(super) fn server_config(&self, protocol: Protocol) -> Result<Arc<ServerConfig>, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions()?;
        let builder = match &self.client_authority {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(authority, "authority of clients")? {
                    roots.add(certificate)?;
                }
                let mut verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                if let Some(revoked) = &self.revocation_lists {
                    verifier = verifier.with_crls(lists(revoked)?).allow_unknown_revocation_status();
                }
                builder.with_client_cert_verifier(verifier.build()?)
            }
        };
        let chain = certificates(&self.certificate, "certificate")?;
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|_| TlsError::Pem("key"))?;
        let mut config = builder.with_single_cert(chain, key)?;
        config.alpn_protocols = match protocol {
            Protocol::Http1 => vec![b"http/1.1".to_vec()],
            Protocol::Http2 => vec![b"h2".to_vec()],
        };
        Ok(Arc::new(config))
    }
}

fn certificates(pem: &[u8], what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    found.ok().filter(|found| !found.is_empty()).ok_or(TlsError::Pem(what))
}

fn lists(pem: &[u8]) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(pem).collect();
    found.ok().filter(|found| !found.is_empty()).ok_or(TlsError::Pem("list of revoked certificates"))
}

/// The source of the configuration for the next connection.
type Source = Arc<dyn Fn() -> Arc<ServerConfig> + Send + Sync>;

/// Performs the TLS handshake of connections, each with the current certificates.
#[derive(Clone)]
pub struct Acceptor(Source);

impl std::fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Acceptor").finish_non_exhaustive()
    }
}

impl Acceptor {
    /// Returns an acceptor with fixed certificates.
    pub fn new(tls: &ServerTls) -> Result<Self, TlsError> {
        let config = tls.server_config(Protocol::Http2)?;
        Ok(Acceptor(Arc::new(move || Arc::clone(&config))))
    }

    /// Returns an acceptor that calls `source` for the configuration of each connection.
    pub fn with(source: impl Fn() -> Arc<ServerConfig> + Send + Sync + 'static) -> Self {
        Acceptor(Arc::new(source))
    }

    /// Returns the configuration for the next connection.
    pub fn config(&self) -> Arc<ServerConfig> {
        (self.0)()
    }

    /// Performs the TLS handshake. Returns an error if it fails, for instance because of the client's certificate.
    pub async fn accept<T: AsyncRead + AsyncWrite + Unpin>(&self, stream: T) -> io::Result<TlsStream<T>> {
        TlsAcceptor::from(self.config()).accept(stream).await
    }
}
