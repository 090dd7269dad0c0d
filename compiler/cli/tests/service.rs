//! The shipped unit of `closc watch`, run by systemd: as its dynamic user, with keys that systemd hands over as credentials, it brings a
//! switch over mutual TLS to the tree.
//!
//! systemd is process 1 of namespaces of its own. The machine is as before when they end.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use closc_runtime::DeviceId;
use closc_runtime::server::ServerTls;
use closc_runtime::testing::{Authority, FakeOptions, FakeTarget, Validity};

use common::{Place, small_fabric};

const UNIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4/deploy/closc-watch.service");

/// Starts systemd with a unit: `$1` is the folder of the test, `$2` the unit.
const BOOT: &str = r#"
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs tmpfs /var/log
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/systemd/system /run/over
for folder in etc usr/bin; do
  name=$(echo $folder | tr / -)
  mkdir /run/over/$name.up /run/over/$name.work
  mount -t overlay overlay -o lowerdir=/$folder,upperdir=/run/over/$name.up,workdir=/run/over/$name.work /$folder
done
mkdir -p /etc/closc && cp -r "$1"/etc/. /etc/closc/
: >/usr/bin/closc && chmod 755 /usr/bin/closc && mount --bind "$CLOSC" /usr/bin/closc
cp "$1"/units/*.service /run/systemd/system/
mkdir /run/systemd/system/"$2".d
printf '[Service]\nStandardOutput=append:%s/out\nStandardError=append:%s/out\n' "$1" "$1" >/run/systemd/system/"$2".d/out.conf
mount --make-rshared /
export container=closc
exec /lib/systemd/systemd --system --unit="$2" --log-target=console --log-level=warning --show-status=no
"#;

/// Tells by a file that a unit with a dynamic user and a credential runs here, then ends.
const PROBE: &str = "[Unit]\nDefaultDependencies=no\nSuccessAction=exit-force\nFailureAction=exit-force\n[Service]\nType=oneshot\nDynamicUser=yes\n\
    LoadCredential=probe:/etc/closc/probe\nExecStart=/bin/sh -c 'cat $CREDENTIALS_DIRECTORY/probe'\n";

/// systemd, which ends with its namespaces.
struct Booted(Child);

impl Drop for Booted {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn boot(place: &Place, unit: &str) -> Option<Booted> {
    let child = Command::new("unshare")
        .args([
            "--mount",
            "--pid",
            "--cgroup",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "--propagation",
            "private",
        ])
        .args(["sh", "-c", BOOT, "sh", &place.text("."), unit])
        .env("CLOSC", env!("CARGO_BIN_EXE_closc"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(place.path("boot")).expect("a folder of this test"))
        .spawn();
    child.ok().map(Booted)
}

/// Waits for what holds; there is no deadline but that of tests.
fn waits(mut holds: impl FnMut() -> bool) -> bool {
    for _ in 0..1500 {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(40));
    }
    false
}

/// A place whose systemd runs units, or why there is none.
fn place() -> Option<Place> {
    let uid = fs::metadata("/proc/self").map(|meta| std::os::unix::fs::MetadataExt::uid(&meta));
    if !uid.is_ok_and(|uid| uid == 0) || !Path::new("/lib/systemd/systemd").exists() {
        closc_skip::skip("running the shipped unit needs root and systemd");
        return None;
    }
    let place = Place::new();
    for folder in ["etc", "units"] {
        fs::create_dir(place.path(folder)).expect("a folder of this test");
    }
    place.write("etc/probe", "credentials are handed over\n");
    place.write("units/probe.service", PROBE);
    let mut probe = boot(&place, "probe.service")?;
    let has_ended = waits(|| !matches!(probe.0.try_wait(), Ok(None)));
    let out = fs::read_to_string(place.path("out")).unwrap_or_default();
    if !has_ended || !out.contains("credentials are handed over") {
        let why = fs::read_to_string(place.path("boot")).unwrap_or_default();
        closc_skip::skip(format_args!(
            "systemd does not run units in a namespace here: {out} {}",
            why.trim()
        ));
        return None;
    }
    fs::remove_file(place.path("out")).expect("it is there");
    Some(place)
}

/// The unit read keys in /etc that its dynamic user cannot read, so it could not use TLS at all.
#[tokio::test(flavor = "multi_thread")]
async fn the_shipped_unit_keeps_a_switch_over_mutual_tls() {
    let Some(place) = place() else { return };
    let ours = Authority::new("ours");
    let server = ours.issue("127.0.0.1", Validity::Now);
    let (certificate, key) = (server.certificate, server.key);
    let tls = ServerTls { certificate, key, client_authority: Some(ours.certificate()), revoked: None };
    let options = FakeOptions { device: DeviceId(1), tls: Some(tls), ..FakeOptions::default() };
    let target = FakeTarget::with(options).await.expect("loopback has a port");
    place.write("fabric.yaml", small_fabric("unit", 1, "bmv2", "p4"));
    place.ends(0, &["compile", "fabric.yaml", "--out", "etc/tree", "--quiet"]);
    let client = ours.issue("closc", Validity::Now);
    place.write("etc/ca.pem", ours.certificate());
    place.write("etc/client.pem", client.certificate);
    place.write_secret("etc/client.key", client.key);
    place.write(
        "etc/inventory.yaml",
        format!(
            "defaults: {{ tls: {{ ca: ca.pem, cert: client.pem, key: client.key }} }}\n\
             devices: {{ p0-t0-001: {{ endpoint: '{}', device_id: 1 }} }}\n",
            target.address()
        ),
    );
    fs::copy(UNIT, place.path("units/closc-watch.service")).expect("it is in the repository");
    let _booted = boot(&place, "closc-watch.service").expect("it booted before");
    let said = || {
        let read = |name| fs::read_to_string(place.path(name)).unwrap_or_default();
        format!("{}\n{}", read("out"), read("boot"))
    };
    assert!(waits(|| target.pipeline().is_some()), "the switch got no program: {}", said());
    assert!(waits(|| said().contains("p0-t0-001")), "{}", said());
    assert!(!said().contains("that others can read"), "{}", said());
}
