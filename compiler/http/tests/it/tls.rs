//! Metrics and pages over TLS are served only to clients with a valid certificate from the authority.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use closc_http::{Answer, Certificates};
use closc_runtime::server::{Protocol, TlsFiles};
use closc_runtime::testing::{Authority, IssuedCertificate, Validity};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// Serves one line to clients of an authority, with a server certificate for 127.0.0.1.
async fn serve(folder: &Path, ours: &Authority, revoked: Option<Vec<u8>>) -> SocketAddr {
    let shown = ours.issue("127.0.0.1", Validity::Now);
    let at = |name: &str| folder.join(name);
    std::fs::write(at("cert.pem"), &shown.certificate).expect("it can be written");
    std::fs::write(at("key.pem"), &shown.key).expect("it can be written");
    std::fs::set_permissions(at("key.pem"), std::fs::Permissions::from_mode(0o600)).expect("it is ours");
    std::fs::write(at("ca.pem"), ours.certificate()).expect("it can be written");
    let revoked = revoked.map(|list| {
        std::fs::write(at("crl.pem"), list).expect("it can be written");
        at("crl.pem")
    });
    let (certificate, key) = (at("cert.pem"), at("key.pem"));
    let files = TlsFiles { certificate, key, client_authority: Some(at("ca.pem")), revocation_list: revoked };
    let acceptor = files.acceptor(Protocol::Http1, |_| ()).expect("the files are good");
    let certificates = Certificates::new(move || acceptor.config());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback has a port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(closc_http::serve(listener, Some(certificates), |request| {
        Answer::text(200, format!("for {:?}: a secret\n", request.client.names))
    }));
    address
}

/// Returns the answer to a client with or without a certificate; empty if the client is rejected.
fn read(address: SocketAddr, trusted: &Authority, identity: Option<&IssuedCertificate>) -> String {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(&trusted.certificate()).expect("it is PEM");
    roots.add(authority).expect("it is a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks them")
        .with_root_certificates(roots);
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(issued) => {
            let chain = CertificateDer::pem_slice_iter(&issued.certificate).collect::<Result<Vec<_>, _>>();
            let key = PrivateKeyDer::from_pem_slice(&issued.key).expect("it is PEM");
            builder.with_client_auth_cert(chain.expect("it is PEM"), key).expect("they go together")
        }
    };
    let name = ServerName::try_from("127.0.0.1").expect("it is an address");
    let session = ClientConnection::new(Arc::new(config), name).expect("the configuration is complete");
    let socket = TcpStream::connect(address).expect("it listens");
    socket.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout can be set");
    let mut stream = StreamOwned::new(session, socket);
    let mut text = String::new();
    // A rejection is a TLS alert, at the first write or the first read.
    let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    let _ = stream.read_to_string(&mut text);
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn only_clients_of_the_authority_read_what_is_served() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let gone = ours.issue("prometheus", Validity::Now);
    let address = serve(folder.path(), &ours, Some(ours.revoke(&[&gone]))).await;
    let served = tokio::task::spawn_blocking(move || {
        let known = ours.issue("prometheus", Validity::Now);
        // The server receives the names of the client: its common name, and the same name as a DNS name.
        let secret = "for [\"prometheus\", \"prometheus\"]: a secret\n";
        let read_by_known = read(address, &ours, Some(&known));
        assert!(read_by_known.ends_with(secret), "{read_by_known}");
        let strangers = [theirs.issue("prometheus", Validity::Now), ours.issue("prometheus", Validity::Past)];
        for identity in [None, Some(&strangers[0]), Some(&strangers[1]), Some(&gone)] {
            assert_eq!(read(address, &ours, identity), "");
        }
        // Neither a client that trusts another authority nor a client without TLS gets an answer.
        assert_eq!(read(address, &theirs, Some(&known)), "");
        let mut plain = TcpStream::connect(address).expect("it listens");
        plain.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it is connected");
        let mut text = Vec::new();
        let _ = plain.read_to_end(&mut text);
        assert!(!String::from_utf8_lossy(&text).contains("secret"));
    });
    served.await.expect("it does not panic");
}
