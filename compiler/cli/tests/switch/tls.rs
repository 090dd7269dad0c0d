//! Mutual TLS between `closc push` and `closc switch`: who does not fit is refused, and told why.

use closc_runtime::testing::{Authority, Issued, Validity};

use crate::common::Place;
use crate::process::SwitchProcess;

/// The switch that is pushed to, and its device id.
const NAME: &str = "p0-t0-001";
const DEVICE: u64 = 1;

/// A compiled tree, a switch with a certificate, and a controller with another.
struct Site {
    place: Place,
    switch: SwitchProcess,
}

impl Site {
    /// Starts a switch that shows a certificate and takes clients of an authority.
    fn new(shown: &Issued, clients_of: &Authority) -> Self {
        let place = Place::new();
        place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", "out"]);
        place.write("switch.pem", &shown.certificate);
        place.write_secret("switch.key", &shown.key);
        place.write("clients.pem", clients_of.certificate());
        let [certificate, key, authority] =
            ["switch.pem", "switch.key", "clients.pem"].map(|name| place.text(name));
        let identity = ["--grpc-server-ssl", "--grpc-server-cert", &certificate, "--grpc-server-key", &key];
        let clients = ["--grpc-server-with-client-auth", "--grpc-server-cacert", &authority];
        let switch = SwitchProcess::start(DEVICE, &[&identity[..], &clients[..]].concat());
        Self { place, switch }
    }

    /// Pushes as a client that trusts an authority; returns whether that went well, and all that was said.
    fn push(&self, trusted: &Authority, identity: Option<&Issued>) -> (bool, String) {
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
