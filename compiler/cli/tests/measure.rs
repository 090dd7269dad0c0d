//! `closc platforms --measure`: the script runs on a fake switch, with `ssh` replaced by a shell on this machine.
//!
//! In: ports of the catalogue as `port_config.ini`, and hashes as the databases of SONiC print them. Out: a platform file.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use closc_platform::{Breakout, Catalogue, Slot};

use common::Place;

/// Hashes in the form that `sonic-db-dump` prints.
const CRM: &str = r#"{ "CRM:STATS": { "expireat": 1.5, "ttl": -0.001, "type": "hash", "value": {
    "crm_stats_ipv6_route_used": "40", "crm_stats_ipv6_route_available": "65496",
    "crm_stats_ipv6_neighbor_used": "2", "crm_stats_ipv6_neighbor_available": "16382",
    "crm_stats_srv6_my_sid_entry_used": "1", "crm_stats_srv6_my_sid_entry_available": "1023" } } }"#;
const CAPABILITY: &str = r#"{ "SWITCH_CAPABILITY|switch": { "type": "hash", "value": {
    "MAX_NEXTHOP_GROUP_COUNT": "512", "SWITCH_TRIMMING_CAPABLE": "true" } } }"#;

/// A switch in a folder.
struct Fake {
    place: Place,
}

impl Fake {
    fn new(platform: &str, hwsku: &str, ports: &str) -> Self {
        let place = Place::new();
        let folder = format!("box/device/{platform}/{hwsku}");
        fs::create_dir_all(place.path(&folder)).expect("a folder of the test");
        fs::create_dir_all(place.path("box/bin")).expect("a folder of the test");
        fs::create_dir_all(place.path("bin")).expect("a folder of the test");
        place.write(&format!("{folder}/port_config.ini"), ports);
        place.write(&format!("{folder}/sai.profile"), "SAI_NUM_ECMP_MEMBERS=256\n");
        place.write(&format!("box/device/{platform}/default_sku"), format!("{hwsku} t1\n"));
        place.write("box/sonic_version.yml", "build_version: 'SONiC.202511.7'\n");
        place.write("box/CRM", CRM);
        place.write("box/SWITCH", CAPABILITY);
        let fake = Fake { place };
        let here = fake.place.text("box");
        fake.program("box/bin/hostname", "echo leaf1");
        let facts = format!("case \"$*\" in *platform) echo {platform};; *) echo {hwsku};; esac");
        fake.program("box/bin/sonic-cfggen", &facts);
        fake.program(
            "box/bin/sonic-db-dump",
            &format!("case $4 in CRM*) cat {here}/CRM;; SWITCH*) cat {here}/SWITCH;; *) echo '{{}}';; esac"),
        );
        let edits = format!("-e s#/usr/share/sonic/device#{here}/device#g -e s#/etc/sonic/#{here}/#g");
        fake.program("bin/ssh", &format!("sed {edits} | PATH={here}/bin:$PATH exec sh -s"));
        fake
    }

    fn program(&self, name: &str, body: &str) {
        self.place.write(name, format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(self.place.path(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    fn measure(&self, args: &[&str]) -> Output {
        let path = format!("{}:{}", self.place.text("bin"), std::env::var("PATH").unwrap_or_default());
        let mut command = self.place.command(&["platforms", "--measure", "admin@leaf1"]);
        command.args(args).env("PATH", path).output().expect("closc runs")
    }

    /// Measures, and puts the file where the catalogue of the site is.
    #[track_caller]
    fn file(&self) -> (String, String) {
        let output = self.measure(&[]);
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
        assert!(output.status.success(), "{err}");
        fs::create_dir_all(self.place.path("site")).expect("a folder of the test");
        self.place.write("site/own.yaml", &out);
        (out, err)
    }
}

/// Writes the ports of a catalogue entry as SONiC lists them.
fn listed(id: &str) -> String {
    let catalogue = Catalogue::builtin();
    let platform = catalogue.get(id).expect("it is in the catalogue");
    let breakout = platform.panel.default_breakout;
    let mut text = String::from("# name lanes alias index speed\n");
    for (cage, part) in
        (0..platform.panel.cages).flat_map(|cage| (0..breakout.ports).map(move |part| (cage, part)))
    {
        let port = platform.port(Slot { cage, part, breakout });
        let lanes: Vec<String> = port.lanes.iter().map(u16::to_string).collect();
        let (lanes, mbps) = (lanes.join(","), port.speed.mbps());
        let _ = writeln!(text, "{} {lanes} {} {} {mbps}", port.name, port.alias, port.panel);
    }
    text
}

/// The entry of a known box keeps its name and all that the switch does not report.
#[test]
fn a_known_box_gets_the_limits_that_it_reports() {
    let (id, platform) = ("th5-512x100g", "x86_64-arista_7060x6_64pe_b");
    let fake = Fake::new(platform, "Arista-7060X6-64PE-B-C512S2", &listed(id));
    let (text, notes) = fake.file();
    assert!(!notes.contains("does not have the port"), "{notes}");
    let source = "leaf1, SONiC.202511.7, 20";
    for line in [
        "id: th5-512x100g",
        "  my_sids: 1024",
        "  ipv6_routes: 65536",
        "  ecmp_width: 256",
        "  ecmp_groups: 512",
        "  neighbours: 16384",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}\n{text}");
    }
    assert!(text.starts_with("# Measured by") && text.contains(source), "{text}");
    let shown = fake.place.ends(0, &["platforms", id, "--platforms", "site"]);
    assert!(shown.contains("65,536 IPv6 routes (measured: leaf1, SONiC.202511.7, "), "{shown}");
    assert!(shown.contains("C512S2: trimming measured: leaf1"), "{shown}");
    assert!(shown.contains("C448O16: trimming published"), "{shown}");
    // Everything else is as in the catalogue.
    let own = fake.place.json(0, &["platforms", id, "--platforms", "site"]);
    let builtin = fake.place.json(0, &["platforms", id]);
    for key in ["panel", "buffer", "features", "sonic", "sources", "title"] {
        assert!(!own[key].is_null() && own[key] == builtin[key], "{key}");
    }
}

/// A box that the catalogue lacks gets an entry from its own files.
#[test]
fn an_unknown_box_gets_an_entry_of_its_own() {
    let mut ports = String::from("# name lanes alias index speed\n");
    for cage in 0..32 {
        let lanes: Vec<String> = (1..=8).map(|lane| (cage * 8 + lane).to_string()).collect();
        let _ =
            writeln!(ports, "Ethernet{} {} etp{} {} 400000", cage * 8, lanes.join(","), cage + 1, cage + 1);
    }
    let fake = Fake::new("x86_64-acme_x32-r0", "Acme-X32", &ports);
    let (text, notes) = fake.file();
    assert!(text.contains("\nid: acme-x32\n") && text.contains("un: ") | text.contains("\"un\""), "{text}");
    assert!(notes.contains("the catalogue has no entry for x86_64-acme_x32-r0"), "{notes}");
    let shown = fake.place.ends(0, &["platforms", "acme-x32", "--platforms", "site"]);
    assert!(shown.contains("32 ports of 400G") && shown.contains("features   uN, ECN"), "{shown}");
    let breakout: Breakout = "1x400G".parse().expect("a breakout");
    assert!(shown.contains(&breakout.to_string()), "{shown}");
}

/// Ports that differ from the catalogue, an answer that ends early, and an option in place of a host.
#[test]
fn differences_and_faults_are_named() {
    let ports = listed("th5-512x100g").replace("etp2a", "etp2x");
    let fake = Fake::new("x86_64-arista_7060x6_64pe_b", "Arista-7060X6-64PE-B-C512S2", &ports);
    let (_, notes) = fake.file();
    assert!(notes.contains("does not have the port Ethernet8 of the switch, alias etp2x"), "{notes}");
    fake.program("box/bin/base64", "kill -9 $PPID");
    let output = fake.measure(&[]);
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && why.contains("cannot read `admin@leaf1`"), "{why}");
    fake.program("bin/ssh", "echo name leaf1; echo platform x; echo hwsku y");
    let why = String::from_utf8_lossy(&fake.measure(&[]).stderr).into_owned();
    assert!(why.contains("the answer ends before its last line"), "{why}");
    fake.program("bin/ssh", "echo nothing");
    let why = String::from_utf8_lossy(&fake.measure(&[]).stderr).into_owned();
    assert!(why.contains("line 1 of the answer is not one that the script prints"), "{why}");
    let why = fake.place.ends(1, &["platforms", "--measure=-oProxyCommand=id"]);
    assert!(why.contains("is not `[USER@]HOST`"), "{why}");
}
