//! Published fabrics without source routing: their published properties hold in the compiled tree.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::Place;

/// Compiles a file into the folder `out`, and returns this folder.
fn compile(place: &Place, file: &str, more: &[&str]) -> PathBuf {
    place.ends(0, &[&["compile", "--quiet", file, "--out", "out"], more].concat());
    place.path("out")
}

/// The enabled ports of a SONiC switch: the device at the other end, and the speed in Mb/s.
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
        // The four racks without GPUs also have uplinks.
        assert_eq!((up.len(), down.len() % 16), (32, 0), "{}", leaf.display());
        if !down.is_empty() {
            assert_eq!(sum(&up), 2 * sum(&down), "{}: leaf up : down is 2 : 1", leaf.display());
        }
    }
    assert_eq!(gpus, 3072);
    let (mut down, mut up) = (0_u64, 0_u64);
    for spine in &spines {
        let ports = sonic_ports(spine);
        assert!(ports.iter().all(|(_, speed)| *speed == 400_000));
        let above = ports.iter().filter(|(far, _)| far.contains("-t2-")).count() as u64;
        let below = ports.iter().filter(|(far, _)| far.contains("-t0-")).count() as u64;
        assert_eq!(below, 7 * above, "{}: zone : aggregation is 7 : 1", spine.display());
        (down, up) = (down + below, up + above);
    }
    assert_eq!((down * 400_000, down), (to_zone, 7 * up));
}

/// The QoS profile is in the configuration of every switch.
#[test]
fn every_switch_of_the_published_fabrics_has_the_profile() {
    for (name, table, row) in [
        ("roce-pfc-ecn.yaml", "PORT_QOS_MAP", "pfc_enable"),
        ("region-two-sites.yaml", "PORT_QOS_MAP", "pfc_enable"),
        ("meta-ai-zone.yaml", "PORT_QOS_MAP", "pfc_enable"),
    ] {
        let place = Place::new();
        let out = compile(&place, &format!("topologies/reference/{name}"), &[]);
        for switch in switches(&out, "-t") {
            let text = fs::read(switch.join("config_db.json")).expect("every switch has one");
            let config: Value = serde_json::from_slice(&text).expect("it is JSON");
            let rows = config[table].as_object().unwrap_or_else(|| panic!("{}: {table}", switch.display()));
            let has =
                rows.iter().filter(|(key, _)| *key != "global").all(|(_, fields)| !fields[row].is_null());
            assert!(has && !rows.is_empty(), "{}: {table}", switch.display());
        }
        let hosts = fs::read_dir(out.join("hosts")).unwrap();
        assert!(hosts.into_iter().all(|host| host.unwrap().path().join("nic-qos.sh").is_file()), "{name}");
    }
    let place = Place::new();
    let out = compile(&place, "topologies/reference/three-tier-64x800g.yaml", &["--select", "zone=0"]);
    for switch in switches(&out, "-t") {
        let text = fs::read_to_string(switch.join("nvue.yaml")).expect("every switch has one");
        assert!(text.contains("packet-trim"), "{}", switch.display());
    }
}

#[test]
fn a_fabric_whose_qos_would_be_dropped_is_refused_unless_none_is_meant() {
    let place = Place::new();
    let text = place.read("topologies/reference/roce-pfc-ecn.yaml").replace("os: sonic", "os: frr");
    place.write("fabric.yaml", &text);
    let refused = place.ends(1, &["compile", "--quiet", "fabric.yaml", "--out", "out"]);
    assert!(refused.contains("E0716"), "{refused}");
    place.write("fabric.yaml", text.replace("qos: lossless", "qos: none"));
    let all = switches(&compile(&place, "fabric.yaml", &[]), "-t");
    assert!(all.len() == 24 && all.iter().all(|switch| switch.join("frr.conf").is_file()));
}

/// Arista publishes BGP fabrics of EOS with several links between two switches. Shares are equal while all links are
/// up.
#[test]
fn bundles_under_eos_have_a_warning_that_a_site_can_accept() {
    let two_tiers = "fabric: eos\nplanes: 1\nrouting: bgp-unnumbered\n\
        hosts: { groups: 4, per_group: 4, nic: { speed: 400G, lanes: 4 } }\ntiers:\n  \
        t0: { platform: th5-128x400g, os: eos, up: 8, parallel: 4 }\n  t1: { platform: th5-128x400g, os: eos }\n\
        qos: none\nwarnings: { W0901: allow, W0302: allow }\n";
    let three_tiers = two_tiers.replace("planes: 1\n", "planes: 1\nzones: 2\n").replace(
        "os: eos }\n",
        "os: eos, up: 4 }\n  t2: { platform: th5-128x400g, os: eos, ports_per_zone: 64 }\n",
    );
    for text in [two_tiers, &three_tiers] {
        let place = Place::new();
        place.write("fabric.yaml", text);
        let warned = place.closc(&["check", "fabric.yaml"]);
        let messages = String::from_utf8_lossy(&warned.stderr).into_owned();
        assert!(warned.status.success() && messages.contains("warning[W0906]"), "{messages}");
        place.write("fabric.yaml", text.replace("W0901: allow", "W0901: allow, W0906: allow"));
        let accepted = place.closc(&["check", "fabric.yaml"]);
        assert!(!String::from_utf8_lossy(&accepted.stderr).contains("W0906"));
        let out = compile(&place, "fabric.yaml", &[]);
        assert!(switches(&out, "-t0-").iter().all(|switch| switch.join("eos.conf").is_file()));
        place.ends(0, &["verify", "--quiet", "out"]);
    }
}
