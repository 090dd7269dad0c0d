//! The address of a target, and the certificates for TLS.

use std::fmt;

use tonic::transport::{Certificate, ClientTlsConfig, Identity, Uri};

use super::error::ClientError;

/// The certificates of a client, as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientTls {
    /// The authority that signed the certificate of the target.
    pub authority: Vec<u8>,
    /// Certificate chain and private key, for targets that require client certificates.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name in the target's certificate, if it is not the host of the address.
    pub server_name: Option<String>,
}

/// Keeps private keys out of logs.
impl fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let identity = self.identity.as_ref().map(|_| "(certificate and key)");
        f.debug_struct("ClientTls")
            .field("server_name", &self.server_name)
            .field("identity", &identity)
            .finish_non_exhaustive()
    }
}

/// Prefix of the address of a Unix socket, in gRPC's notation.
const UNIX: &str = "unix:";

/// The address of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    address: String,
    tls: Option<ClientTls>,
}

impl Endpoint {
    /// Returns the endpoint at an address, without TLS. The address is `host:port`, with an IPv6 host in brackets, or
    /// `unix:` and the path of a socket.
    pub fn plain(address: &str) -> Result<Self, ClientError> {
        Endpoint::new(address, None)
    }

    /// Returns the endpoint at an address, with TLS.
    pub fn tls(address: &str, tls: ClientTls) -> Result<Self, ClientError> {
        Endpoint::new(address, Some(tls))
    }

    fn new(address: &str, tls: Option<ClientTls>) -> Result<Self, ClientError> {
        let bare = ["http://", "https://", "grpc://", "grpcs://"]
            .iter()
            .find_map(|scheme| address.strip_prefix(scheme))
            .unwrap_or(address);
        let wrong = |reason: &'static str| ClientError::Address { address: address.to_owned(), reason };
        if let Some(path) = bare.strip_prefix(UNIX) {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match (path, &tls) {
                (_, Some(_)) => Err(wrong("a socket of this machine takes no TLS")),
                ("", None) => Err(wrong("the path of the socket is missing")),
                (path, None) => Ok(Endpoint { address: format!("{UNIX}{path}"), tls }),
            };
        }
        let authority: tonic::codegen::http::uri::Authority =
            bare.parse().map_err(|_| wrong("it is not `host:port`"))?;
        if authority.port_u16().is_none() {
            return Err(wrong("the port is missing; P4Runtime's own is 9559"));
        }
        if authority.host().is_empty() || authority.as_str().contains('@') {
            return Err(wrong("it is not `host:port`"));
        }
        Ok(Endpoint { address: bare.to_owned(), tls })
    }

    /// Returns the address as it was given, without a scheme.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the certificates, if the endpoint uses TLS.
    pub(super) fn certificates(&self) -> Option<&ClientTls> {
        self.tls.as_ref()
    }

    /// Returns the host of the address, an IPv6 one without its brackets.
    pub(super) fn host(&self) -> String {
        let host = self.address.rsplit_once(':').map_or(self.address.as_str(), |(host, _)| host);
        host.trim_start_matches('[').trim_end_matches(']').to_owned()
    }

    /// Returns the transport for this endpoint, without any options.
    pub(super) fn transport(&self) -> tonic::transport::Endpoint {
        if self.address.starts_with(UNIX) {
            return self.address.parse().expect("a path is taken as it is");
        }
        tonic::transport::Endpoint::from(self.uri())
    }

    fn uri(&self) -> Uri {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address).parse().expect("the authority was parsed before")
    }

    pub(super) fn tls_config(&self) -> Option<ClientTlsConfig> {
        let tls = self.tls.as_ref()?;
        let mut config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&tls.authority));
        if let Some((certificate, key)) = &tls.identity {
            config = config.identity(Identity::from_pem(certificate, key));
        }
        if let Some(name) = &tls.server_name {
            config = config.domain_name(name);
        }
        Some(config)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_host_and_port() {
        for address in ["127.0.0.1:9559", "[::1]:9559", "p0-t0-001.example:9559", "grpc://10.0.0.1:1"] {
            assert!(Endpoint::plain(address).is_ok(), "{address}");
        }
        for address in ["", "127.0.0.1", "a b:1", ":9559", "user@host:1", "host:99999", "http://", "h:1/x"] {
            assert!(Endpoint::plain(address).is_err(), "{address}");
        }
        for address in ["unix:/run/switch.sock", "unix:///run/switch.sock"] {
            let endpoint = Endpoint::plain(address).expect("a path");
            assert_eq!(endpoint.address(), "unix:/run/switch.sock");
        }
        assert!(Endpoint::plain("unix:").is_err());
        let endpoint = Endpoint::plain("grpc://10.0.0.1:1").expect("right");
        assert_eq!(
            (endpoint.address(), endpoint.uri().to_string().as_str()),
            ("10.0.0.1:1", "http://10.0.0.1:1/")
        );
    }
}
