//! Changes of a plan, applied by SONiC's own Generic Config Updater.
//!
//! `CLOSC_SONIC_GCU` is a folder with a command `judge`, whose arguments are folders. Each folder has the
//! configuration of a switch (`live.json`) and patches (`patch-1.json`, ...) or a complete file
//! (`whole.json`). The command fills a CONFIG_DB in Redis, applies the patches with the updater, and writes
//! `result.json`. It prints a line for each folder:
//!
//! - `OK FOLDER ...`: the updater applied all patches;
//! - `FILE FOLDER`: SONiC's models accept the complete file;
//! - `REFUSED FOLDER why`: the updater or the models rejected the input.
//!
//! Results of two kinds of folder are only counted, because a push does not send such changes and the command may
//! reject them:
//!
//! - `.tried`: patches for a change that a push applies with a reload;
//! - `.replaced`: the new configuration (`wanted.json`) for `config replace`. The updater computes the patch
//!   itself, without closc's rules and order of changes.
//!
//! Another test does not need the command: an RFC 6902 library applies the same changes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use closc_sonic::{Change, ConfigDb, Method, Overlay, change, owned_part};
use closc_tests::shape::plan;

use crate::common::switches;

/// A fabric that trims, on a platform with few ports.
const TRIMMING: &str = r"
fabric: trimming
planes: 1
routing: srv6-static
hosts: { groups: 3, per_group: 3, nic: { speed: 400G, lanes: 4 } }
tiers:
  t0: { platform: th5-128x400g, os: sonic, up: 3 }
  t1: { platform: th5-128x400g, os: sonic }
addresses: { management: 10.64.0.0/14 }
cables:
  nic-t0: { length: 3m, medium: dac }
  t0-t1: { length: 30m, medium: dr4 }
qos: lossy-trim
services:
  ntp: [192.0.2.1, 192.0.2.2]
  syslog: [192.0.2.9]
  snmp: { contact: noc, location: hall 3 }
exceptions:
  absent: []
";

/// A fabric with PFC, on a platform with a headroom formula.
const PAUSING: &str = r"
fabric: pausing
planes: 1
routing: ecmp-static
hosts: { groups: 2, per_group: 3, nic: { speed: 800G, lanes: 8 } }
tiers:
  t0: { platform: spectrum4-sn5600, os: sonic, up: 2 }
  t1: { platform: spectrum4-sn5600, os: sonic }
addresses: { management: 10.64.0.0/14 }
cables:
  nic-t0: { length: 5m, medium: aoc }
  t0-t1: { length: 40m, medium: sr }
qos: { base: lossless }
exceptions:
  absent: []
  drained: []
";

/// A change of a fabric file: its name, the fabric, and the replaced texts.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Kinds of change of a plan.
const CASES: &[Case] = &[
    ("cable-absent", TRIMMING, &[("absent: []", "absent: [p0-t0-001--p0-t1-002]")]),
    ("cable-absent-paused", PAUSING, &[("absent: []", "absent: [p0-t0-001--p0-t1-002]")]),
    ("switch-absent", TRIMMING, &[("absent: []", "absent: [p0-t1-003]")]),
    ("switch-drained", PAUSING, &[("drained: []", "drained: [p0-t1-002]")]),
    ("cable-drained", PAUSING, &[("drained: []", "drained: [p0-t0-001--p0-t1-002]")]),
    ("isolation", TRIMMING, &[("absent: []", "absent: []\n  isolated: []")]),
    (
        "cable-isolated",
        TRIMMING,
        &[("absent: []", "absent: []\n  isolated: [p0-t0-001--p0-t1-002, su001-n001/nic0.p0]")],
    ),
    ("groups-grow", TRIMMING, &[("groups: 3", "groups: 5")]),
    ("groups-shrink", TRIMMING, &[("groups: 3", "groups: 2")]),
    ("nics-grow", TRIMMING, &[("per_group: 3", "per_group: 4")]),
    ("nics-grow-paused", PAUSING, &[("per_group: 3", "per_group: 4")]),
    ("uplinks-grow", TRIMMING, &[("up: 3", "up: 4")]),
    ("dscp", TRIMMING, &[("qos: lossy-trim", "qos: { base: lossy-trim, classes: { data: { dscp: [5] } } }")]),
    (
        "weight",
        TRIMMING,
        &[("qos: lossy-trim", "qos: { base: lossy-trim, classes: { data: { scheduler: { dwrr: 60 } } } }")],
    ),
    (
        "ecn",
        TRIMMING,
        &[(
            "qos: lossy-trim",
            "qos: { base: lossy-trim, classes: { data: { ecn: { thresholds: { min: 200KB, max: 400KB, probability: 10 } } } } }",
        )],
    ),
    ("ecn-last-hop", TRIMMING, &[("qos: lossy-trim", "qos: { base: lossy-trim, ecn_last_hop: true }")]),
    (
        "threshold",
        PAUSING,
        &[("base: lossless", "base: lossless, classes: { data: { ingress_threshold: 1 } }")],
    ),
    ("watchdog-off", PAUSING, &[("base: lossless", "base: lossless, watchdog: off")]),
    (
        "watchdog-slower",
        PAUSING,
        &[(
            "base: lossless",
            "base: lossless, watchdog: { action: drop, detection: 800ms, restoration: 900ms }",
        )],
    ),
    ("class-gone", TRIMMING, &[("qos: lossy-trim", "qos: { base: lossy-trim, without: [retransmit] }")]),
    ("mtu", TRIMMING, &[("qos: lossy-trim", "qos: lossy-trim\nmtu: { link: 4200 }")]),
    ("cable-longer", TRIMMING, &[("length: 30m", "length: 60m")]),
    ("cable-longer-paused", PAUSING, &[("length: 40m", "length: 60m")]),
    (
        "naming",
        TRIMMING,
        &[("tiers:", "naming: { t0: 'leaf{index:02}-{plane}', t1: 'spine{index:02}-{plane}' }\ntiers:")],
    ),
    ("time-servers", TRIMMING, &[("ntp: [192.0.2.1, 192.0.2.2]", "ntp: [192.0.2.1, 192.0.2.3]")]),
    ("log-servers", TRIMMING, &[("syslog: [192.0.2.9]", "syslog: [192.0.2.8, 192.0.2.9]")]),
    ("location", TRIMMING, &[("location: hall 3", "location: hall 4")]),
    ("management", TRIMMING, &[("10.64.0.0/14", "10.68.0.0/14")]),
    (
        "links",
        TRIMMING,
        &[("management: 10.64.0.0/14", "management: 10.64.0.0/14, links: 2001:db8:7100::/40")],
    ),
    ("routing", TRIMMING, &[("routing: srv6-static", "routing: ecmp-static")]),
    ("pausing", PAUSING, &[("base: lossless", "base: nvidia-roce")]),
    (
        "platform",
        TRIMMING,
        &[
            (
                "platform: th5-128x400g, os: sonic, up: 3",
                "platform: spectrum4-sn5600-256x200g, os: sonic, up: 3",
            ),
            ("speed: 400G, lanes: 4", "speed: 200G, lanes: 2"),
            ("t1: { platform: th5-128x400g", "t1: { platform: spectrum4-sn5600-256x200g"),
        ],
    ),
];

/// Settings of a site that stay on its switches.
const SITE: &str = r#"{
    "AAA": { "authentication": { "login": "tacacs+,local", "failthrough": "True" } },
    "TACPLUS": { "global": { "auth_type": "pap", "passkey": "not-a-secret", "timeout": "5" } },
    "TACPLUS_SERVER": { "192.0.2.20": { "priority": "1", "tcp_port": "49" } },
    "DNS_NAMESERVER": { "192.0.2.53": {} },
    "SNMP_COMMUNITY": { "closctest": { "TYPE": "RO" } },
    "FEATURE": { "lldp": { "state": "enabled", "auto_restart": "enabled" } }
}"#;

/// Returns the configuration of every switch of a fabric.
fn trees(yaml: &str) -> Vec<ConfigDb> {
    let rendered = switches(&plan(yaml));
    let configs = rendered.iter().filter(|artefact| artefact.path.file_name() == Some("config_db.json"));
    configs
        .map(|artefact| ConfigDb::parse(std::str::from_utf8(&artefact.bytes).expect("text")).expect("right"))
        .collect()
}

/// The configuration of a switch with the old tree and the additions of the site.
fn live(tree: &ConfigDb) -> ConfigDb {
    let site = ConfigDb::parse(SITE).expect("right");
    let mut made = tree.clone();
    for (name, table) in site.tables() {
        made.replace(name, table.clone());
    }
    let mut metadata = tree.entry("DEVICE_METADATA", "localhost").expect("every tree has it").clone();
    metadata.insert("timezone".to_owned(), "Etc/UTC".into());
    made.insert("DEVICE_METADATA", "localhost", metadata);
    for (port, entry) in tree.table("PORT") {
        let mut entry = entry.clone();
        entry.insert("tpid".to_owned(), "0x8100".into());
        made.insert("PORT", port, entry);
    }
    made
}

/// A switch that a case changes.
struct Switch {
    name: String,
    live: ConfigDb,
    tree: ConfigDb,
    change: Change,
}

/// Identifies a switch in two plans: T0s and T1s keep their MAC address when they are renamed.
fn identity(tree: &ConfigDb) -> String {
    tree.text("DEVICE_METADATA", "localhost", "mac").expect("every tree has one").to_owned()
}

/// Returns the first T0 and the first T1 that a case changes.
fn changed_switches((name, fabric, edits): &Case) -> Vec<Switch> {
    let new = edits.iter().fold((*fabric).to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{name}: `{from}` is in the fabric");
        text.replace(from, to)
    });
    let old: BTreeMap<String, ConfigDb> =
        trees(fabric).into_iter().map(|tree| (identity(&tree), tree)).collect();
    let mut found: BTreeMap<String, Switch> = BTreeMap::new();
    for tree in trees(&new) {
        let Some(before) = old.get(&identity(&tree)).filter(|before| **before != tree) else { continue };
        let kind = tree.text("DEVICE_METADATA", "localhost", "type").expect("every tree has one").to_owned();
        let live = live(before);
        let change = change("a", &live, &tree, &Overlay::default(), false).expect("no overlay clashes");
        let name = format!("{name}.{kind}");
        found.entry(kind).or_insert(Switch { name, live, tree, change });
    }
    assert!(!found.is_empty(), "{name} changes no switch");
    found.into_values().collect()
}

fn check(switch: &Switch, after: &ConfigDb) {
    let name = &switch.name;
    assert_eq!(owned_part(after, &switch.tree), switch.tree, "{name}: closc's tables equal the tree");
    assert_eq!(*after, switch.change.target, "{name}: the configuration is the wanted one");
    for (table, entries) in ConfigDb::parse(SITE).expect("right").tables() {
        assert_eq!(after.table(table), entries, "{name}: the site's `{table}`");
    }
    assert_eq!(after.text("DEVICE_METADATA", "localhost", "timezone"), Some("Etc/UTC"), "{name}");
    for port in switch.tree.table("PORT").keys().filter(|port| switch.live.entry("PORT", port).is_some()) {
        assert_eq!(after.text("PORT", port, "tpid"), Some("0x8100"), "{name}: {port}");
    }
}

#[test]
fn patches_of_every_kind_of_change_lead_to_the_new_tree() {
    for case in CASES {
        for switch in changed_switches(case) {
            let mut value: serde_json::Value = serde_json::from_str(&switch.live.to_json()).expect("JSON");
            for step in switch.change.steps(&switch.live) {
                let patch: json_patch::Patch = serde_json::from_str(&step.to_json()).expect("RFC 6902");
                json_patch::patch(&mut value, &patch).expect("every path of the patch exists");
            }
            check(&switch, &ConfigDb::parse(&value.to_string()).expect("right"));
        }
    }
}

fn write(folder: &Path, switch: &Switch, whole: bool) {
    fs::create_dir_all(folder).expect("a folder for tests");
    let put = |name: &str, text: String| fs::write(folder.join(name), text).expect("a folder for tests");
    put("live.json", switch.live.to_json());
    if whole {
        put("whole.json", switch.change.target.to_json());
        return;
    }
    for (place, step) in switch.change.steps(&switch.live).iter().enumerate() {
        put(&format!("patch-{}.json", place + 1), step.to_json());
    }
}

#[test]
fn the_updater_of_sonic_takes_every_patch() {
    let Ok(judge) = env::var("CLOSC_SONIC_GCU") else {
        closc_skip::skip("set CLOSC_SONIC_GCU to a folder with a command `judge` that runs SONiC's updater");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder for tests");
    let only = env::var("CLOSC_SONIC_CASE").unwrap_or_default();
    let cases = CASES.iter().filter(|(name, ..)| name.starts_with(&only));
    let switches: Vec<Switch> = cases.flat_map(changed_switches).collect();
    let mut command = Command::new(Path::new(&judge).join("judge"));
    for switch in &switches {
        let reload = matches!(switch.change.method, Method::Reload { .. });
        write(&folder.path().join(&switch.name), switch, reload);
        command.arg(folder.path().join(&switch.name));
        if reload {
            // Changes that need a reload are also tried as a patch, to see whether the updater accepts it.
            let tried = folder.path().join(format!("{}.tried", switch.name));
            write(&tried, switch, false);
            command.arg(&tried);
        }
        // The complete new configuration, from which the updater computes a patch by itself.
        let replaced = folder.path().join(format!("{}.replaced", switch.name));
        fs::create_dir_all(&replaced).expect("a folder for tests");
        for (name, config) in [("live.json", &switch.live), ("wanted.json", &switch.change.target)] {
            fs::write(replaced.join(name), config.to_json()).expect("a folder for tests");
        }
        command.arg(&replaced);
    }
    let output = command.output().expect("the judge can be run");
    let stdout = String::from_utf8_lossy(&output.stdout);
    println!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
    for what in [".tried", ".replaced"] {
        let of = |word: &str| {
            let lines = stdout.lines().filter(|line| line.starts_with(word));
            lines.filter(|line| line.split(' ').nth(1).is_some_and(|folder| folder.ends_with(what))).count()
        };
        println!("{what}: the updater accepts {} and rejects {}", of("OK "), of("REFUSED "));
    }
    for switch in &switches {
        let place = folder.path().join(&switch.name).display().to_string();
        let line = |word: &str| stdout.lines().any(|line| line.split(' ').take(2).eq([word, place.as_str()]));
        let (name, change) = (&switch.name, &switch.change);
        println!(
            "{name}: {:?}, {} bounces, {} s",
            change.method,
            change.bounces.len(),
            change.estimate.seconds
        );
        if let Method::Reload { reasons } = &change.method {
            assert!(line("FILE"), "{name}: SONiC's models reject the file ({reasons:?})");
            continue;
        }
        assert!(line("OK"), "{name}: the updater rejects the patch");
        let result =
            fs::read_to_string(folder.path().join(name).join("result.json")).expect("the judge writes it");
        check(switch, &ConfigDb::parse(&result).expect("right"));
    }
}
