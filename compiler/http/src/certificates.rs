//! TLS configurations with the certificates of a server, fetched for each connection.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;

/// Provides the TLS configuration for each new connection.
#[derive(Clone)]
pub struct Certificates(Arc<dyn Fn() -> Arc<ServerConfig> + Send + Sync>);

/// Keeps private keys out of logs.
impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Certificates").finish_non_exhaustive()
    }
}

impl Certificates {
    /// Wraps a function that returns the TLS configuration for each new connection, so that renewed
    /// certificates apply at once.
    pub fn new(source: impl Fn() -> Arc<ServerConfig> + Send + Sync + 'static) -> Self {
        Certificates(Arc::new(source))
    }

    /// Performs the TLS handshake. Returns an error if it fails, for example because the client is rejected.
    pub(crate) async fn accept<T: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: T,
    ) -> io::Result<TlsStream<T>> {
        TlsAcceptor::from((self.0)()).accept(stream).await
    }
}
