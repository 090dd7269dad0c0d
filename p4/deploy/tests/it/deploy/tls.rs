//! Mutual TLS with the paths of an inventory: mismatches are rejected with a reason.

use std::sync::{Arc, Mutex};

use closc_deploy::{Device, Fleet, Inventory, Tls, Tree, open_gate, push, silent};
use closc_runtime::DeviceId;
use closc_runtime::server::ServerTls;
use closc_runtime::testing::{Authority, FakeOptions, FakeTarget, Validity};

use crate::support::{Files, T0, fault, reader, single_attempt, small_tree};

struct Site {
    target: FakeTarget,
    files: Files,
}

/// Starts a target that accepts only clients of its own authority.
async fn site(server: &Authority, clients: &Authority, validity: Validity, name: &str) -> Site {
    let issued = server.issue(name, validity);
    let tls = ServerTls {
        certificate: issued.certificate,
        key: issued.key,
        client_authority: Some(clients.certificate()),
        revocation_lists: None,
    };
    let options = FakeOptions { device: DeviceId(1), tls: Some(tls), ..Default::default() };
    Site { target: FakeTarget::with(options).await.expect("loopback has a port"), files: small_tree(1, 1, 1) }
}

/// Pushes with this authority and identity, and returns the fault.
async fn push_fault(site: &Site, ca: &Authority, client: Option<&Authority>, tls: Tls) -> Option<String> {
    let mut beside = Files::from([("pki/ca.pem".to_owned(), ca.certificate())]);
    let mut tls = Tls { ca: Some("pki/ca.pem".to_owned()), ..tls };
    if let Some(client) = client {
        let issued = client.issue("closc", Validity::Now);
        beside.insert("pki/closc.pem".to_owned(), issued.certificate);
        beside.insert("pki/closc.key".to_owned(), issued.key);
        tls.cert = Some("pki/closc.pem".to_owned());
        tls.key = Some("pki/closc.key".to_owned());
    }
    let mut inventory = Inventory::default();
    inventory.defaults.tls = Some(tls);
    inventory.devices.insert(T0.to_owned(), Device::at(site.target.address(), 1));
    let tree = Arc::new(Tree::open(reader(site.files.clone())).expect("right"));
    let fleet = Fleet::new(&inventory, &*reader(beside), &tree, |name| name == T0).expect("right");
    let report = push(&fleet, &single_attempt(), silent(), open_gate()).await;
    (!report.is_good()).then(|| fault(&report, T0))
}

#[tokio::test]
async fn both_sides_show_who_they_are() {
    let ours = Authority::new("ours");
    let site = site(&ours, &ours, Validity::Now, "127.0.0.1").await;
    assert_eq!(push_fault(&site, &ours, Some(&ours), Tls::default()).await, None);
}

#[tokio::test]
async fn a_server_name_stands_for_the_address() {
    let ours = Authority::new("ours");
    let site = site(&ours, &ours, Validity::Now, "p0-t0-001.example").await;
    let named = Tls { server_name: Some("p0-t0-001.example".to_owned()), ..Tls::default() };
    assert_eq!(push_fault(&site, &ours, Some(&ours), named).await, None);
    let message = push_fault(&site, &ours, Some(&ours), Tls::default()).await.expect("another name");
    assert!(message.starts_with("`p0-t0-001`: while connecting: "), "{message}");
    assert!(message.contains("name"), "{message}");
}

#[tokio::test]
async fn strangers_and_the_dead_are_refused() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let right = site(&ours, &ours, Validity::Now, "127.0.0.1").await;
    let message = push_fault(&right, &theirs, Some(&ours), Tls::default()).await.expect("another authority");
    assert!(message.ends_with("not signed by the configured authority"), "{message}");
    let old = site(&ours, &ours, Validity::Past, "127.0.0.1").await;
    let message = push_fault(&old, &ours, Some(&ours), Tls::default()).await.expect("expired");
    assert!(message.ends_with("the certificate of the target has expired"), "{message}");
    for client in [None, Some(&theirs)] {
        let message = push_fault(&right, &ours, client, Tls::default()).await.expect("not one of theirs");
        assert!(message.starts_with("`p0-t0-001`: while "), "{message}");
    }
    assert!(right.target.pipeline().is_none(), "no controller wrote anything");
}

#[test]
fn half_an_identity_is_none() {
    let mut inventory = Inventory::default();
    let mut device = Device::at("127.0.0.1:9", 1);
    device.tls = Some(Tls { ca: Some("ca".to_owned()), cert: Some("cert".to_owned()), ..Tls::default() });
    inventory.devices.insert(T0.to_owned(), device);
    let tree = Arc::new(Tree::open(reader(small_tree(1, 1, 1))).expect("right"));
    let refused = |inventory: &Inventory| {
        Fleet::new(inventory, &*reader(Files::new()), &tree, |name| name == T0)
            .err()
            .expect("refused")
            .to_string()
    };
    assert_eq!(refused(&inventory), "inventory: `p0-t0-001`: `cert` and `key` must be set together");
    inventory.devices.get_mut(T0).expect("there").tls = Some(Tls::default());
    assert_eq!(
        refused(&inventory),
        "inventory: `p0-t0-001`: TLS needs `ca`, the authority that signs targets"
    );
    let ca = Tls { ca: Some("ca.pem".to_owned()), ..Tls::default() };
    inventory.devices.get_mut(T0).expect("there").tls = Some(ca);
    assert_eq!(refused(&inventory), "inventory: `p0-t0-001`: authority `ca.pem`: no such file");
}

/// New certificates are used by the next connection; damaged ones leave the earlier ones in use.
#[tokio::test]
async fn certificates_are_read_again_without_a_restart() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let site = site(&ours, &ours, Validity::Now, "127.0.0.1").await;
    let identity = |of: &Authority| {
        let issued = of.issue("closc", Validity::Now);
        [("closc.pem".to_owned(), issued.certificate), ("closc.key".to_owned(), issued.key)]
    };
    let beside = Arc::new(Mutex::new(Files::from(identity(&theirs))));
    beside.lock().expect("no panic").insert("ca.pem".to_owned(), ours.certificate());
    let files: Arc<dyn closc_artefacts::Files> = {
        let beside = beside.clone();
        Arc::new(move |path: &str| {
            let beside = beside.lock().expect("no panic");
            beside.get(path).cloned().ok_or_else(|| std::io::Error::other("no such file"))
        })
    };
    let mut inventory = Inventory::default();
    let name = |name: &str| Some(name.to_owned());
    inventory.defaults.tls =
        Some(Tls { ca: name("ca.pem"), cert: name("closc.pem"), key: name("closc.key"), server_name: None });
    inventory.devices.insert(T0.to_owned(), Device::at(site.target.address(), 1));
    let tree = Arc::new(Tree::open(reader(site.files.clone())).expect("right"));
    let fleet = Fleet::new(&inventory, &*files, &tree, |name| name == T0).expect("right");
    let fleet = fleet.with_certificate_renewal(&inventory, &files);
    assert!(!push(&fleet, &single_attempt(), silent(), open_gate()).await.is_good(), "another authority");
    beside.lock().expect("no panic").extend(identity(&ours));
    let report = push(&fleet, &single_attempt(), silent(), open_gate()).await;
    assert!(report.is_good(), "{}", fault(&report, T0));
    // Only the certificates that the fleet started with are left.
    beside.lock().expect("no panic").remove("closc.key");
    assert!(!push(&fleet, &single_attempt(), silent(), open_gate()).await.is_good(), "of theirs again");
}
