//! Mutual TLS between `closc push` and `closc switch`: a peer without a valid certificate is rejected with the reason.

use closc_runtime::testing::{Authority, IssuedCertificate, Validity};

use crate::common::Place;
use crate::switch::process::SwitchProcess;

/// The switch that is pushed to, and its device id.
const NAME: &str = "p0-t0-001";
const DEVICE: u64 = 1;

/// A compiled tree, and a switch with a certificate.
struct Site {
    place: Place,
    switch: SwitchProcess,
}

impl Site {
    /// Starts a switch with a certificate that accepts clients of a certificate authority.
    fn new(shown: &IssuedCertificate, clients_of: &Authority) -> Self {
        Self::with_revoked(shown, clients_of, None)
    }

    /// Like [`Site::new`], with a list of revoked client certificates.
    fn with_revoked(shown: &IssuedCertificate, clients_of: &Authority, revoked: Option<&[u8]>) -> Self {
        let place = Place::new();
        place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", "out"]);
        place.write("switch.pem", &shown.certificate);
        place.write_secret("switch.key", &shown.key);
        place.write("clients.pem", clients_of.certificate());
        let [certificate, key, authority] =
            ["switch.pem", "switch.key", "clients.pem"].map(|name| place.text(name));
        let identity = ["--grpc-server-ssl", "--grpc-server-cert", &certificate, "--grpc-server-key", &key];
        let clients = ["--grpc-server-with-client-auth", "--grpc-server-cacert", &authority];
        let mut options = [&identity[..], &clients[..]].concat();
        let list = place.text("revoked.pem");
        if let Some(revoked) = revoked {
            place.write("revoked.pem", revoked);
            options.extend(["--grpc-server-crl", &list]);
        }
        let switch = SwitchProcess::start(DEVICE, &options);
        Self { place, switch }
    }

    /// Pushes as a client that trusts a certificate authority; returns whether it succeeds, and the output.
    fn push(&self, trusted: &Authority, identity: Option<&IssuedCertificate>) -> (bool, String) {
        self.place.write("ca.pem", trusted.certificate());
        let mut tls = "ca: ca.pem".to_owned();
        if let Some(issued) = identity {
            self.place.write("closc.pem", &issued.certificate);
            self.place.write_secret("closc.key", &issued.key);
            tls.push_str(", cert: closc.pem, key: closc.key");
        }
        let device = format!("{{ endpoint: \"{}\", device_id: {DEVICE}, plane: 0 }}", self.switch.address);
        let inventory = format!("defaults:\n  tls: {{ {tls} }}\ndevices:\n  {NAME}: {device}\n");
        self.place.write("inventory.yaml", inventory);
        let args = ["push", "out", "--inventory", "inventory.yaml", "--device", NAME];
        let output = self.place.closc(&args);
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    }
}

#[test]
fn a_push_where_both_sides_know_each_other_works() {
    let ours = Authority::new("ours");
    let site = Site::new(&ours.issue("127.0.0.1", Validity::Now), &ours);
    let (good, said) = site.push(&ours, Some(&ours.issue("closc", Validity::Now)));
    assert!(good, "{said}");
}

#[test]
fn a_switch_that_does_not_fit_is_refused() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let client = ours.issue("closc", Validity::Now);
    for (shown, word) in [
        (theirs.issue("127.0.0.1", Validity::Now), "is not signed by the configured authority"),
        (ours.issue("127.0.0.1", Validity::Past), "the certificate of the target has expired"),
        (ours.issue("p9-t0-009.example", Validity::Now), "the certificate of the target is for another name"),
    ] {
        let (good, said) = Site::new(&shown, &ours).push(&ours, Some(&client));
        assert!(!good && said.contains(word) && said.contains(NAME), "{said}");
    }
}

#[test]
fn a_controller_that_does_not_fit_is_refused() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let site = Site::new(&ours.issue("127.0.0.1", Validity::Now), &ours);
    for (client, word) in [
        (None, "certificate"),
        (Some(theirs.issue("closc", Validity::Now)), "is not signed by the target's authority"),
        (Some(ours.issue("closc", Validity::Past)), "it has expired"),
    ] {
        let (good, said) = site.push(&ours, client.as_ref());
        assert!(!good && said.contains(word) && said.contains(NAME), "{said}");
    }
    let (good, said) = site.push(&ours, Some(&ours.issue("closc", Validity::Now)));
    assert!(good, "{said}");
}

/// The switch reloads changed certificates. If they are unusable, it keeps the previous ones.
#[test]
fn certificates_of_a_running_switch_are_replaced() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let site = Site::new(&ours.issue("127.0.0.1", Validity::Now), &ours);
    let client = ours.issue("closc", Validity::Now);
    let works = |trusted: &Authority| site.push(trusted, Some(&client));
    assert!(works(&ours).0);
    for (certificate, key, mode) in
        [(&b"damaged"[..], None, 0o600), (b"", None, 0o600), (b"", Some(b""), 0o644)]
    {
        site.place.write("switch.pem", certificate);
        if let Some(key) = key {
            site.place.write("switch.key", key);
            let rights = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(site.place.path("switch.key"), rights).expect("it is ours");
        }
        let (good, said) = works(&ours);
        assert!(good, "those before stay in force: {said}");
    }
    let other = theirs.issue("127.0.0.1", Validity::Now);
    site.place.write("switch.pem", &other.certificate);
    site.place.write_secret("switch.key", &other.key);
    let (good, said) = works(&ours);
    assert!(!good && said.contains("is not signed by the configured authority"), "{said}");
    let (good, said) = works(&theirs);
    assert!(good, "{said}");
}

/// A controller with a revoked certificate is rejected, even if it was revoked while the switch runs.
#[test]
fn revoked_controllers_are_refused() {
    let ours = Authority::new("ours");
    let [one, other] = [(); 2].map(|()| ours.issue("closc", Validity::Now));
    let shown = ours.issue("127.0.0.1", Validity::Now);
    let site = Site::with_revoked(&shown, &ours, Some(&ours.revoke(&[&one])));
    let (good, said) = site.push(&ours, Some(&one));
    assert!(!good && said.contains("revoked"), "{said}");
    let (good, said) = site.push(&ours, Some(&other));
    assert!(good, "{said}");
    site.place.write("revoked.pem", ours.revoke(&[&one, &other]));
    let (good, said) = site.push(&ours, Some(&other));
    assert!(!good && said.contains("revoked"), "{said}");
}

/// Before the first connection, a warning names the switches that are reached over the network without TLS.
#[test]
fn plaintext_beyond_this_machine_is_named() {
    let place = Place::new();
    place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", "out"]);
    let inventory = |endpoint: &str, tls: &str| {
        place.write(
            "inventory.yaml",
            format!("devices: {{ {NAME}: {{ endpoint: '{endpoint}', device_id: 1{tls} }} }}\n"),
        );
        // No switch is in this plane, so no connection is made.
        let output = place.closc(&["drift", "out", "--inventory", "inventory.yaml", "--plane", "9"]);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let said = inventory("switch.example:9559", "");
    assert!(
        said.contains("1 of 1 switches are reached over the network without TLS") && said.contains(NAME),
        "{said}"
    );
    for local in ["127.0.0.1:1", "[::1]:1", "unix:absent.sock"] {
        assert!(!inventory(local, "").contains("without TLS"), "{local}");
    }
    assert!(!inventory("switch.example:9559", ", tls: { ca: ca.pem }").contains("without TLS"));
}
