//! Certificates: accepted and rejected connections, and the errors that are reported.

use closc_runtime::client::{
    Client, ClientError, ClientTls, ConnectFault, Controller, Endpoint, Session, TlsFault,
};
use closc_runtime::server::ServerTls;
use closc_runtime::testing::{Authority, FakeOptions, FakeTarget, IssuedCertificate, Validity};
use closc_runtime::{DeviceId, ElectionId};

use crate::common::{self, inserts, options};

/// A target with a certificate, which accepts clients of an authority.
async fn target(server: IssuedCertificate, clients_of: Option<&Authority>) -> FakeTarget {
    let tls = ServerTls {
        certificate: server.certificate,
        key: server.key,
        client_authority: clients_of.map(Authority::certificate),
        revocation_lists: None,
    };
    FakeTarget::with(FakeOptions { tls: Some(tls), ..Default::default() }).await.expect("loopback has a port")
}

fn trust(authority: &Authority, identity: Option<IssuedCertificate>) -> ClientTls {
    ClientTls {
        authority: authority.certificate(),
        identity: identity.map(|issued| (issued.certificate, issued.key)),
        server_name: None,
    }
}

async fn open(target: &FakeTarget, tls: ClientTls) -> Result<Session, ClientError> {
    let endpoint = Endpoint::tls(&target.address(), tls)?;
    let client = Client::connect(&endpoint, DeviceId(0), options()).await?;
    Session::open(client, Controller::new(ElectionId(1))).await
}

async fn fault(target: &FakeTarget, tls: ClientTls) -> TlsFault {
    match open(target, tls).await.expect_err("refused") {
        ClientError::Connect { fault: ConnectFault::Tls(fault), endpoint } => {
            assert_eq!(endpoint, target.address());
            fault
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn both_sides_know_each_other() {
    let authority = Authority::new("lab");
    let target = target(authority.issue("127.0.0.1", Validity::Now), Some(&authority)).await;
    let session = open(&target, trust(&authority, Some(authority.issue("controller", Validity::Now)))).await;
    let session = session.expect("both certificates are right");
    session.require_primary().expect("the only controller");
    session.commit_pipeline(&common::pipeline(), closc_runtime::client::Commit::Clear).await.expect("right");
    session.write(&inserts(&common::info(), 10)).await.expect("right");
}

#[tokio::test]
async fn the_wrong_authority_is_refused() {
    let (authority, other) = (Authority::new("lab"), Authority::new("other"));
    let target = target(authority.issue("127.0.0.1", Validity::Now), None).await;
    let fault = fault(&target, trust(&other, None)).await;
    assert_eq!(fault, TlsFault::UnknownAuthority);
    assert_eq!(fault.to_string(), "the certificate of the target is not signed by the configured authority");
}

#[tokio::test]
async fn an_authority_of_the_same_name_is_no_better() {
    let (authority, impostor) = (Authority::new("lab"), Authority::new("lab"));
    let target = target(authority.issue("127.0.0.1", Validity::Now), None).await;
    assert_eq!(fault(&target, trust(&impostor, None)).await, TlsFault::UnknownAuthority);
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let authority = Authority::new("lab");
    let expired = target(authority.issue("127.0.0.1", Validity::Past), None).await;
    let fault_of_old = fault(&expired, trust(&authority, None)).await;
    assert_eq!(fault_of_old, TlsFault::Expired);
    assert_eq!(fault_of_old.to_string(), "the certificate of the target has expired");
    let early = target(authority.issue("127.0.0.1", Validity::Future), None).await;
    assert_eq!(fault(&early, trust(&authority, None)).await, TlsFault::NotYetValid);
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let authority = Authority::new("lab");
    let target = target(authority.issue("p0-t0-001.example", Validity::Now), None).await;
    let fault = fault(&target, trust(&authority, None)).await;
    let TlsFault::WrongName { expected, presented_names } = &fault else { panic!("{fault}") };
    assert_eq!(expected, "127.0.0.1");
    assert!(presented_names.iter().any(|name| name.contains("p0-t0-001.example")), "{presented_names:?}");
    let message = fault.to_string();
    assert!(message.starts_with("the certificate of the target is for another name: it names"), "{message}");
    // The client accepts the certificate if it expects the name in it.
    let named = ClientTls { server_name: Some("p0-t0-001.example".to_owned()), ..trust(&authority, None) };
    open(&target, named).await.expect("the name is the one in the certificate");
}

#[tokio::test]
async fn a_target_that_asks_refuses_clients_without_the_right_certificate() {
    let (authority, other) = (Authority::new("lab"), Authority::new("other"));
    let target = target(authority.issue("127.0.0.1", Validity::Now), Some(&authority)).await;
    assert_eq!(fault(&target, trust(&authority, None)).await, TlsFault::ClientCertificateMissing);
    let foreign = fault(&target, trust(&authority, Some(other.issue("controller", Validity::Now)))).await;
    let expected = "the target refused the client certificate: it is not signed by the target's authority";
    assert_eq!(foreign.to_string(), expected);
    let expired =
        fault(&target, trust(&authority, Some(authority.issue("controller", Validity::Past)))).await;
    assert_eq!(expired.to_string(), "the target refused the client certificate: it has expired");
}

#[tokio::test]
async fn plain_and_encrypted_do_not_mix() {
    let authority = Authority::new("lab");
    let plain = FakeTarget::start().await.expect("loopback has a port");
    assert_eq!(fault(&plain, trust(&authority, None)).await, TlsFault::NotTls);
    let encrypted = target(authority.issue("127.0.0.1", Validity::Now), None).await;
    let endpoint = encrypted.endpoint().expect("an address");
    let opened = match Client::connect(&endpoint, DeviceId(0), options()).await {
        Ok(client) => Session::open(client, Controller::new(ElectionId(1))).await.map(drop),
        Err(error) => Err(error),
    };
    let error = opened.expect_err("the target wants TLS");
    assert!(matches!(error, ClientError::Connect { .. }), "{error}");
}

#[tokio::test]
async fn certificates_that_are_none_are_refused_before_anything_is_sent() {
    let authority = Authority::new("lab");
    let target = target(authority.issue("127.0.0.1", Validity::Now), None).await;
    let tls = ClientTls { identity: Some((b"no".to_vec(), b"PEM".to_vec())), ..trust(&authority, None) };
    let error = open(&target, tls).await.expect_err("no PEM");
    assert!(matches!(error, ClientError::Credentials { .. }), "{error}");
}
