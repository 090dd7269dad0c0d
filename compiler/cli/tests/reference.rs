//! The published fabrics that are not source routed: what is said of them is read off what is compiled.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::Place;
use serde_json::Value;

/// Compiles a file of a place into its folder `out`, and returns that.
fn compile(place: &Place, file: &str, more: &[&str]) -> PathBuf {
    place.ends(0, &[&["compile", "--quiet", file, "--out", "out"], more].concat());
    place.path("out")
}

/// The ports of a SONiC switch that are up: the device at the other end, and the speed in Mb/s.
fn sonic_ports(folder: &Path) -> Vec<(String, u64)> {
    let text = fs::read(folder.join("config_db.json")).expect("a SONiC switch has one");
    let config: Value = serde_json::from_slice(&text).expect("it is JSON");
    let ports = config["PORT"].as_object().expect("it has ports");
    ports
        .values()
        .filter(|port| port["admin_status"] == "up")
        .map(|port| {
            let far = port["description"].as_str().unwrap_or_default().to_owned();
            (far, port["speed"].as_str().and_then(|speed| speed.parse().ok()).expect("a speed"))
        })
        .collect()
}

/// The ports of an FRR switch with a cable: the interface, and the device at the other end.
fn frr_ports(folder: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder.join("frr.conf")).expect("an FRR switch has one");
    let mut ports = BTreeMap::new();
    let mut interface = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("interface ") {
            interface = Some(name.to_owned());
        } else if let (Some(name), Some(far)) = (&interface, line.strip_prefix(" description ")) {
            ports.insert(name.clone(), far.to_owned());
        } else if line == "exit" {
            interface = None;
        }
    }
    ports
}

fn switches(tree: &Path, part: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(tree.join("switches"))
        .expect("the tree has switches")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(part)))
        .collect();
    found.sort();
    found
}

#[test]
fn meta_24k_is_oversubscribed_one_to_seven_above_leaves_with_twice_as_much_up() {
    let place = Place::new();
    let out = compile(&place, "topologies/reference/meta-24k.yaml", &["--select", "zone=0"]);
    let (leaves, spines) = (switches(&out, "-t0-"), switches(&out, "-t1-"));
    assert_eq!((leaves.len(), spines.len(), switches(&out, "-t2-").len()), (196, 32, 28));
    let sum = |ports: &[(String, u64)]| ports.iter().map(|(_, speed)| speed).sum::<u64>();
    let mut gpus = 0;
    let mut to_zone = 0;
    for leaf in &leaves {
        let (up, down): (Vec<_>, Vec<_>) =
            sonic_ports(leaf).into_iter().partition(|(far, _)| far.contains("-t1-"));
        assert!(up.iter().chain(&down).all(|(_, speed)| *speed == 400_000));
        to_zone += sum(&up);
        gpus += down.len();
        // The four racks without GPUs have their uplinks all the same.
        assert_eq!((up.len(), down.len() % 16), (32, 0), "{}", leaf.display());
        if !down.is_empty() {
            assert_eq!(sum(&up), 2 * sum(&down), "{}: leaf up : down is 2 : 1", leaf.display());
        }
    }
    assert_eq!(gpus, 3072);
    let (mut down, mut up) = (0_u64, 0_u64);
    for spine in &spines {
        let ports = frr_ports(spine);
        // A cage that is split has a suffix; none is, so every port has the 400G of the whole cage.
        assert!(ports.keys().all(|name| name.strip_prefix("swp").is_some_and(|n| n.parse::<u16>().is_ok())));
        let above = ports.values().filter(|far| far.contains("-t2-")).count() as u64;
        let below = ports.values().filter(|far| far.contains("-t0-")).count() as u64;
        assert_eq!(below, 7 * above, "{}: zone : aggregation is 7 : 1", spine.display());
        (down, up) = (down + below, up + above);
    }
    assert_eq!((down * 400_000, down), (to_zone, 7 * up));
}

#[test]
fn every_published_fabric_compiles_for_sonic_frr_and_hosts() {
    for name in ["roce-pfc-ecn.yaml", "region-two-sites.yaml", "meta-ai-zone.yaml"] {
        let place = Place::new();
        let out = compile(&place, &format!("topologies/reference/{name}"), &[]);
        assert!(switches(&out, "-t0-").iter().all(|t0| t0.join("config_db.json").is_file()), "{name}");
        assert!(switches(&out, "-t1-").iter().all(|t1| t1.join("frr.conf").is_file()), "{name}");
        let hosts = fs::read_dir(out.join("hosts")).unwrap();
        assert!(hosts.into_iter().all(|host| host.unwrap().path().join("nic-qos.sh").is_file()), "{name}");
    }
    // The same fabric with every switch on the other system.
    for (from, to, file) in [("os: sonic", "os: frr", "frr.conf"), ("os: frr", "os: sonic", "config_db.json")]
    {
        let place = Place::new();
        place.write("fabric.yaml", place.read("topologies/reference/roce-pfc-ecn.yaml").replace(from, to));
        let all = switches(&compile(&place, "fabric.yaml", &[]), "-t");
        assert!(all.len() == 24 && all.iter().all(|switch| switch.join(file).is_file()), "{to}");
    }
}
