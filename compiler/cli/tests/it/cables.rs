//! `closc cables check` with the output of a real `lldpd`, and `closc export cables`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

const FABRIC: &str = "fabric: cabled
planes: 1
routing: srv6-static
hosts: { groups: 2, per_group: 1, nic: { speed: 100G, lanes: 1 }, os: linux }
tiers:
  t0: { platform: linux, os: linux, up: 2 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
qos: none
";

/// Device and port at both ends of each cable, from the list that closc writes.
fn cables(folder: &Path) -> Vec<[String; 4]> {
    let fabric = folder.join("fabric.yaml");
    fs::write(&fabric, FABRIC).expect("the folder is ours");
    let output = closc(&["export", "cables", &text(&fabric), "--out", &text(folder)]);
    assert_eq!(output.0, 0, "{}", output.1);
    let list = fs::read_to_string(folder.join("cables/point-to-point-0.csv")).expect("it was written");
    let rows = list.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        [cells[2], cells[3], cells[8], cells[9]].map(str::to_owned)
    });
    rows.collect()
}

fn text(path: &Path) -> String {
    path.to_str().expect("names of tests are UTF-8").to_owned()
}

/// Runs closc; returns its exit code and all output.
fn closc(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_closc")).args(arguments).output().expect("closc runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned())
}

/// Network namespaces with one `lldpd` each; removed on drop.
struct LldpNetwork {
    folder: PathBuf,
    /// Namespace and daemon of each device.
    devices: BTreeMap<String, (String, Option<Child>)>,
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let quiet = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

fn ip(arguments: &[&str]) {
    assert!(run("ip", arguments), "ip {arguments:?}");
}

impl LldpNetwork {
    fn new(folder: &Path, cables: &[[String; 4]]) -> Self {
        let mut network = LldpNetwork { folder: folder.to_owned(), devices: BTreeMap::new() };
        for [a, _, b, _] in cables {
            for device in [a, b] {
                let namespace = format!("closc-lldp-{}-{}", std::process::id(), network.devices.len());
                if !network.devices.contains_key(device) {
                    ip(&["netns", "add", &namespace]);
                    network.devices.insert(device.clone(), (namespace, None));
                }
            }
        }
        network
    }

    fn namespace(&self, device: &str) -> &str {
        &self.devices[device].0
    }

    fn plug(&self, [a, a_port, b, b_port]: &[String; 4]) {
        let (a, b) = (self.namespace(a), self.namespace(b));
        ip(&["link", "add", a_port, "netns", a, "type", "veth", "peer", "name", b_port, "netns", b]);
        ip(&["-n", a, "link", "set", a_port, "up"]);
        ip(&["-n", b, "link", "set", b_port, "up"]);
    }

    fn socket(&self, device: &str) -> String {
        text(&self.folder.join(format!("{device}.socket")))
    }

    /// Starts `lldpd` in all namespaces.
    fn listen(&mut self) {
        let names: Vec<String> = self.devices.keys().cloned().collect();
        for device in names {
            let (socket, namespace) = (self.socket(&device), self.namespace(&device).to_owned());
            // `lldpd` does not send before it has read this file, so neighbours do not store an earlier name.
            let settings = self.folder.join(format!("{device}.conf"));
            let lines = format!(
                "configure system hostname {device}\nconfigure lldp portidsubtype ifname\n\
                 configure lldp tx-interval 1\nconfigure lldp tx-hold 120\n"
            );
            fs::write(&settings, lines).expect("the folder is ours");
            let daemon = Command::new("ip")
                .args(["netns", "exec", &namespace, "lldpd", "-d", "-u", &socket, "-O", &text(&settings)])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("lldpd can be run");
            self.devices.get_mut(&device).expect("it was made").1 = Some(daemon);
        }
    }

    /// Waits until a device reports `neighbours` neighbours; returns the report.
    fn wait_for_report(&self, device: &str, form: &str, neighbours: usize) -> String {
        let mut said = String::new();
        wait(|| {
            let socket = self.socket(device);
            let output =
                Command::new("lldpcli").args(["-u", &socket, "-f", form, "show", "neighbors"]).output();
            said = String::from_utf8_lossy(&output.expect("lldpcli can be run").stdout).into_owned();
            said.matches("ifname").count() >= neighbours
        });
        said
    }
}

/// Waits until a condition holds. The time limit of minutes is reached only if it never holds.
fn wait(mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("it never happens");
}

impl Drop for LldpNetwork {
    fn drop(&mut self) {
        for (namespace, daemon) in self.devices.values_mut() {
            if let Some(daemon) = daemon {
                // On SIGTERM, `lldpd` also ends its children.
                run("kill", &[&daemon.id().to_string()]);
                let _ = daemon.wait();
            }
            run("ip", &["netns", "del", namespace]);
        }
    }
}

/// Returns why `lldpd` cannot run on this machine.
fn missing() -> Option<String> {
    if !run("lldpd", &["-v"]) || !run("lldpcli", &["-v"]) {
        return Some("`lldpd` cannot be run; install lldpd".to_owned());
    }
    closc_tests::namespaces::missing_requirement()
}

#[test]
fn cables_that_lldpd_sees_swapped_and_missing_are_named() {
    if let Some(missing) = missing() {
        closc_skip::skip(&missing);
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut cables = cables(folder.path());
    let planned = cables.clone();
    let at = |cables: &[[String; 4]], name: &str| {
        cables.iter().position(|cable| cable[0] == name).expect("it is there")
    };
    // The first uplinks of both T0s are swapped at their upper ends; the second uplink of the second T0 is pulled.
    let (one, other) = (at(&cables, "p0-t0-001"), at(&cables, "p0-t0-002"));
    let upper = [cables[one][2].clone(), cables[one][3].clone()];
    [cables[one][2], cables[one][3]] = [cables[other][2].clone(), cables[other][3].clone()];
    [cables[other][2], cables[other][3]] = upper;
    let pulled = cables.remove(other + 1);
    assert_eq!(pulled[0], "p0-t0-002");
    let mut network = LldpNetwork::new(folder.path(), &planned);
    for cable in &cables {
        network.plug(cable);
    }
    network.listen();
    for form in ["json", "json0", "plain"] {
        let reports = folder.path().join(form);
        fs::create_dir(&reports).expect("the folder is ours");
        for device in network.devices.keys() {
            let neighbours = cables.iter().filter(|cable| cable[0] == *device || cable[2] == *device).count();
            let reported = network.wait_for_report(device, form, neighbours);
            fs::write(reports.join(device).with_extension("lldp"), reported).expect("the folder is ours");
        }
        let fabric = text(&folder.path().join("fabric.yaml"));
        let (code, said) = closc(&["--format", "json", "cables", "check", &fabric, &text(&reports)]);
        assert_eq!(code, 2, "{form}: {said}");
        let report: Value = serde_json::from_str(&said).expect("a document");
        assert_eq!(
            (&report["schema"], &report["devices"], &report["cables"]),
            (&"closc-cables/1".into(), &6.into(), &3.into()),
            "{said}"
        );
        let found: Vec<String> = report["findings"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|finding| {
                let cables = finding["cables"].as_array().into_iter().flatten().chain(finding.get("cable"));
                let names: Vec<&str> = cables.filter_map(|cable| cable["name"].as_str()).collect();
                format!("{} {}", finding["kind"].as_str().unwrap_or_default(), names.join(" "))
            })
            .collect();
        let name = |cable: &[String; 4]| format!("{}--{}", cable[0], cable[2]);
        let swapped = format!("exchanged {} {}", name(&planned[one]), name(&planned[other]));
        assert_eq!(found, [swapped, format!("missing {}", name(&pulled))], "{form}");
    }
}

/// Regression: a neighbour that sent a malformed frame hid the reports of all other devices.
#[test]
fn a_malformed_report_hides_no_other_one() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    cables(folder.path());
    let (fabric, cut) = (folder.path().join("fabric.yaml"), folder.path().join("p0-t0-001.jsonl"));
    // An LLDP frame that is cut off in its first TLV.
    let frame =
        r#"{"packet":{"payload":"AYDCAAAOAgAAAAABiMwCBw==","metadata":[{"metadata_id":1,"value":"AQ=="}]}}"#;
    fs::write(&cut, format!("{frame}\n")).expect("the folder is ours");
    let other = folder.path().join("p0-t0-002.json");
    fs::write(&other, r#"{"lldp": {"interface": []}}"#).expect("the folder is ours");
    let (code, said) = closc(&["cables", "check", &text(&fabric), &text(&cut), &text(&other)]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("p0-t0-001.jsonl` cannot be read") && said.contains("p0-t0-002"), "{said}");
    assert!(said.contains("incomplete, because 1 report cannot be read: "), "{said}");
    // Without a readable report, the output must not look like success.
    let (code, said) = closc(&["cables", "check", &text(&fabric), &text(&cut)]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("error: `") && !said.contains("0 findings"), "{said}");
    assert!(said.contains("nothing was compared: 1 report cannot be read"), "{said}");
    let (_, said) = closc(&["--format", "json", "cables", "check", &text(&fabric), &text(&cut)]);
    assert!(said.contains(r#""device": "p0-t0-001""#), "{said}");
}
