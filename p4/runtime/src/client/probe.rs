//! Finds out why a target rejected the client. In: an endpoint with TLS whose connection broke. Out: the reason.
//!
//! With TLS 1.3 the handshake is complete for the client before the target has checked its certificate. The
//! client already sends HTTP/2 when it is rejected. The alert is then discarded with the connection, and the
//! client sees only a broken pipe. This module therefore makes a second handshake and sends nothing after it,
//! so the alert arrives.

use std::io::Read as _;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};

use super::endpoint::{ClientTls, Endpoint};
use super::fault::{ConnectFault, TlsFault, diagnose};

/// Returns why a target rejects the certificates of an endpoint, or `None` if it does not or cannot be reached.
pub(super) async fn refusal(endpoint: &Endpoint, limit: Duration) -> Option<TlsFault> {
    let tls = endpoint.certificates()?;
    let host = endpoint.host();
    let name = ServerName::try_from(tls.server_name.clone().unwrap_or(host)).ok()?;
    let connection = ClientConnection::new(Arc::new(config(tls)?), name).ok()?;
    let address = endpoint.address().to_owned();
    let asked = tokio::task::spawn_blocking(move || ask(&address, connection, limit));
    tokio::time::timeout(limit, asked).await.ok()?.ok()?
}

fn ask(address: &str, mut connection: ClientConnection, limit: Duration) -> Option<TlsFault> {
    let connect = |address| TcpStream::connect_timeout(&address, limit).ok();
    let mut socket = address.to_socket_addrs().ok()?.find_map(connect)?;
    socket.set_read_timeout(Some(limit)).ok()?;
    socket.set_write_timeout(Some(limit)).ok()?;
    let answer = Stream::new(&mut connection, &mut socket).read(&mut [0]);
    match diagnose(&answer.err()?) {
        ConnectFault::Tls(fault) => Some(fault),
        ConnectFault::Refused
        | ConnectFault::Unreachable { .. }
        | ConnectFault::Timeout
        | ConnectFault::NotGrpc { .. }
        | ConnectFault::Broken { .. } => None,
    }
}

fn config(tls: &ClientTls) -> Option<ClientConfig> {
    let mut authorities = RootCertStore::empty();
    authorities.add_parsable_certificates(CertificateDer::pem_slice_iter(&tls.authority).flatten());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
    let builder = builder.with_root_certificates(authorities);
    let mut config = match &tls.identity {
        Some((certificate, key)) => {
            let chain = CertificateDer::pem_slice_iter(certificate).flatten().collect();
            builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key).ok()?).ok()?
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Some(config)
}
