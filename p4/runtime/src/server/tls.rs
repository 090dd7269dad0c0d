//! TLS for a server: its certificate, and the authority whose clients it takes.

use tonic::transport::{Certificate, Identity, ServerTlsConfig};

/// The certificates of a server, as PEM.
#[derive(Debug, Clone)]
pub struct ServerTls {
    /// The certificate chain of the server.
    pub certificate: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
    /// The authority that clients must be signed by; without it any client is taken.
    pub client_authority: Option<Vec<u8>>,
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
}
