//! Management ports from a list: in the configuration of switches, in that of their neighbours, and for a switch that
//! is not listed.

use closc_skip::program;
use serde_json::{Value, json};

use crate::common::Place;

/// T0s run SONiC; the T1 of each plane runs EOS.
const FABRIC: &str = "fabric: pod\nrouting: ecmp-static\nplanes: 2\n\
    hosts: { groups: 2, per_group: 1, nic: { speed: 200G, lanes: 2 } }\n\
    tiers:\n  t0: { platform: th5-512x100g, os: sonic, up: 1 }\n  t1: { platform: th5-512x100g, os: eos }\n\
    qos: none\naddresses: { management_list: site/management.csv }\n";

const LIST: &str = "switch,address,gateway\n\
    p0-t0-001,192.0.2.70/26,192.0.2.65\n\
    p0-t0-002,192.0.2.71/26,192.0.2.65\n\
    p0-t1-001,198.51.100.2/31,198.51.100.3\n\
    p1-t0-001,192.0.2.72/26,192.0.2.65\n\
    p1-t0-002,203.0.113.9/24,203.0.113.1\n\
    p1-t1-001,198.51.100.4/31,198.51.100.5\n";

fn place(list: &str) -> Place {
    let place = Place::new();
    place.write("fabric.yaml", FABRIC);
    std::fs::create_dir_all(place.path("site")).expect("a folder");
    place.write("site/management.csv", list);
    place
}

fn read(place: &Place, path: &str) -> Value {
    serde_json::from_str(&place.read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn switches_have_the_ports_of_the_list() {
    let place = place(LIST);
    place.ends(0, &["compile", "fabric.yaml", "--quiet", "--out", "tree"]);
    place.ends(0, &["verify", "tree"]);
    let config = read(&place, "tree/switches/p1-t0-002/config_db.json");
    assert_eq!(config["MGMT_INTERFACE"], json!({ "eth0|203.0.113.9/24": { "gwaddr": "203.0.113.1" } }));
    let eos = place.read("tree/switches/p0-t1-001/eos.conf");
    assert!(eos.contains("ip address 198.51.100.2/31") && eos.contains("0.0.0.0/0 198.51.100.3"), "{eos}");
    // Monitoring programs read the address of a neighbour here.
    let neighbours = &read(&place, "tree/switches/p0-t0-001/config_db.json")["DEVICE_NEIGHBOR_METADATA"];
    assert_eq!(neighbours["p0-t1-001"]["mgmt_addr"], "198.51.100.2", "{neighbours}");
}

#[test]
fn a_switch_that_moves_is_configured_again() {
    let place = place(LIST);
    place.ends(0, &["compile", "fabric.yaml", "--quiet", "--out", "tree"]);
    place.write("new.yaml", FABRIC.replace("management.csv", "new.csv"));
    place.write("site/new.csv", LIST.replace("203.0.113.9/24", "203.0.113.77/24"));
    let said = place.ends(2, &["diff", "fabric.yaml", "new.yaml"]);
    let moved = "moves the management port of p1-t0-002 from 203.0.113.9/24 over 203.0.113.1 to 203.0.113.77/24 over 203.0.113.1";
    assert!(
        said.contains("addresses.management_list") && said.replace("\n      ", " ").contains(moved),
        "{said}"
    );
    place.ends(0, &["compile", "new.yaml", "--quiet", "--out", "tree"]);
    let config = place.read("tree/switches/p1-t0-002/config_db.json");
    assert!(config.contains("eth0|203.0.113.77/24"), "{config}");
    place.ends(0, &["verify", "tree"]);
}

#[test]
fn a_switch_that_is_not_listed_needs_a_pool() {
    let short = LIST.replace("p1-t0-002,203.0.113.9/24,203.0.113.1\n", "");
    let place = place(&short);
    let said = place.ends(1, &["check", "fabric.yaml"]);
    assert!(said.contains("E0516") && said.contains("`p1-t0-002` has no management port"), "{said}");
    place.write(
        "fabric.yaml",
        FABRIC.replace("{ management_list", "{ management: 10.64.0.0/14, management_list"),
    );
    place.ends(0, &["compile", "fabric.yaml", "--quiet", "--out", "tree"]);
    let config = place.read("tree/switches/p1-t0-002/config_db.json");
    assert!(config.contains("eth0|10.64.16.2/14"), "{config}");
    // An absent switch needs no management port.
    place.write("fabric.yaml", FABRIC.to_owned() + "exceptions: { absent: [p1-t0-002] }\n");
    place.ends(0, &["compile", "fabric.yaml", "--quiet", "--out", "tree"]);
}

#[test]
fn dhcp_has_a_subnet_for_each_of_the_list() {
    let place = place(LIST);
    let list = "name,mac\np0-t0-001,0c:42:a1:00:00:01\np1-t0-002,0c:42:a1:00:00:04\n";
    place.write("list.csv", list);
    let url = "http://192.0.2.80/ztp";
    place.ends(0, &["export", "ztp", "fabric.yaml", "--url", url, "--serials", "list.csv", "--out", "x"]);
    let kea = read(&place, "x/ztp/kea-dhcp4.json");
    let subnets = kea["Dhcp4"]["subnet4"].as_array().expect("a list");
    let said = |own: &Value| {
        let routers = own["option-data"][0]["data"].as_str().expect("a gateway").to_owned();
        let hosts = own["reservations"].as_array().expect("a list").iter();
        let hosts: Vec<String> =
            hosts.map(|host| host["ip-address"].as_str().expect("an address").to_owned()).collect();
        (own["subnet"].as_str().expect("a subnet").to_owned(), routers, hosts)
    };
    let wanted = [
        ("192.0.2.64/26".to_owned(), "192.0.2.65".to_owned(), vec!["192.0.2.70".to_owned()]),
        ("203.0.113.0/24".to_owned(), "203.0.113.1".to_owned(), vec!["203.0.113.9".to_owned()]),
    ];
    assert_eq!(subnets.iter().map(said).collect::<Vec<_>>(), wanted);
    let ping = &read(&place, "x/ztp/switches/p1-t0-002/ztp.json")["ztp"]["03-connectivity-check"];
    assert_eq!(*ping, json!({ "ping-hosts": ["203.0.113.1"] }));
    for (name, args) in [
        ("kea-dhcp4", ["-t", "x/ztp/kea-dhcp4.json"].as_slice()),
        ("dhcpd", &["-4", "-t", "-cf", "x/ztp/dhcpd.conf"]),
    ] {
        let Some(server) = program(name) else { continue };
        let output = place.program(&server.display().to_string()).args(args).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {said}");
    }
}

#[test]
fn lists_of_spreadsheets_are_read() {
    let plain = place(LIST);
    plain.ends(0, &["compile", "fabric.yaml", "--quiet", "--out", "tree"]);
    let excel = place(&format!("\u{feff}{}", LIST.replace(',', ";").replace('\n', "\r\n")));
    excel.ends(0, &["compile", "fabric.yaml", "--quiet", "--out", "tree"]);
    let file = "tree/switches/p1-t0-002/config_db.json";
    assert_eq!(plain.read(file), excel.read(file));
}
