//! The certificates of encrypted connections, as they are when a client connects.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;

/// Where the configuration of the next connection comes from.
#[derive(Clone)]
pub struct Certificates(Arc<dyn Fn() -> Arc<ServerConfig> + Send + Sync>);

/// Keeps private keys out of logs.
impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Certificates").finish_non_exhaustive()
    }
}

impl Certificates {
    /// Returns certificates that are asked for with each connection, so that new ones are in force at once.
    pub fn new(source: impl Fn() -> Arc<ServerConfig> + Send + Sync + 'static) -> Self {
        Certificates(Arc::new(source))
    }

    /// Makes an encrypted connection of a plain one; an error, if the client does not fit.
    pub(crate) async fn accept<T: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: T,
    ) -> io::Result<TlsStream<T>> {
        TlsAcceptor::from((self.0)()).accept(stream).await
    }
}
