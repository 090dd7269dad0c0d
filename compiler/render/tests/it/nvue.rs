//! `nvue.yaml` read back with PyYAML and compared with NVUE's own schema, release by release.
//!
//! `CLOSC_NVUESCHEMA` is the path of a Python with the packages `nvueschema` and `PyYAML`; the default is `python3`.

use std::collections::BTreeMap;
use std::env;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use closc_plan::Plan;
use closc_tests::shape::plan;
use serde_json::{Value, json};

use crate::common::switches;

/// Two tiers of split cages, with services and ports without a cable. With BGP, there are two cables between a T0 and a
/// T1, one of them drained.
fn fabric(release: &str, routing: &str, qos: &str, hosts: &str, ecmp: &str) -> Plan {
    let (uplinks, exceptions) = if routing == "bgp-unnumbered" {
        ("parallel: 2, up: { count: 4", "exceptions: { drained: [ \"p0-t0-002--p0-t1-001#1\" ] }\n")
    } else {
        ("up: { count: 2", "")
    };
    plan(&format!(
        "fabric: nvue\nplanes: 2\nrouting: {routing}\nhosts: {{ groups: 3, per_group: 2, nic: {{ speed: 400G, lanes: 4 }} }}\n\
         tiers:\n  t0: {{ platform: spectrum4-sn5600, os: nvue, down: {{ count: 2, spare: 1, breakout: 4x200G }}, \
         {uplinks}, breakout: 2x400G }} }}\n  \
         t1: {{ platform: spectrum4-sn5600, os: nvue, down: {{ breakout: 2x400G }} }}\n\
         addresses: {{ {hosts}management: 10.64.0.0/14 }}\ncables:\n  \
         nic-t0: {{ length: 3m, medium: dac }}\n  t0-t1: {{ length: 30m, medium: dr4 }}\nqos: {qos}\n\
         releases: {{ nvue: \"{release}\" }}\nservices:\n  \
         ntp: [ 192.0.2.1, \"2001:db8::7b\" ]\n  syslog: [ 192.0.2.9, \"1:2:3:4:5:6:7:8\" ]\n  \
         snmp: {{ contact: 'noc \"24/7\": # 17', location: hall 3 }}\n{exceptions}{ecmp}"
    ))
}

const ADAPTIVE: &str = "ecmp: { balance: adaptive }\n";

/// Configurations of all switches, by release, fabric and name.
fn texts() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for release in ["5.13", "5.14", "5.15", "5.16", "5.17", "5.18"] {
        for (routing, qos, hosts, ecmp) in [
            ("srv6-static", "lossy-trim", "", ""),
            ("ecmp-static", "lossless", "", ""),
            ("ecmp-static", "none", "hosts: 10.128.0.0/9, ", ""),
            ("bgp-unnumbered", "lossless", "", ""),
            ("bgp-unnumbered", "none", "hosts: 10.128.0.0/9, ", ""),
            ("ecmp-static", "nvidia-roce", "", ADAPTIVE),
            ("bgp-unnumbered", "nvidia-roce", "", ADAPTIVE),
        ] {
            let is_before_bgp = ["5.13", "5.14"].contains(&release) && routing == "bgp-unnumbered";
            if release == "5.13" && qos == "lossy-trim" || is_before_bgp {
                continue;
            }
            for artefact in switches(&fabric(release, routing, qos, hosts, ecmp)) {
                let name = artefact.path.iter().nth(1).expect("below `switches/`");
                let text = String::from_utf8(artefact.bytes).expect("text");
                texts.insert(format!("{release}/{routing}-{qos}/{name}"), text);
            }
        }
    }
    texts
}

/// The Python interpreter with the schema; prints a line if there is none.
fn python() -> Option<String> {
    let python = env::var("CLOSC_NVUESCHEMA").unwrap_or_else(|_| "python3".to_owned());
    let mut import = Command::new(&python);
    import.args(["-c", "import nvueschema, yaml"]).stdout(Stdio::null()).stderr(Stdio::null());
    if import.status().is_ok_and(|status| status.success()) {
        return Some(python);
    }
    closc_skip::skip(format_args!(
        "{python} cannot import nvueschema and yaml (pip install nvueschema PyYAML; CLOSC_NVUESCHEMA names another Python)"
    ));
    None
}

fn judge(python: &str, texts: &BTreeMap<String, String>) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nvue_schema.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python runs");
    let input = serde_json::to_vec(&json!(texts)).expect("JSON");
    child.stdin.take().expect("piped").write_all(&input).expect("it reads all before it writes");
    child.wait_with_output().expect("it ends")
}

#[test]
fn the_schema_of_every_release_takes_it() {
    let Some(python) = python() else { return };
    let texts = texts();
    let output = judge(&python, &texts);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counts: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(texts.len() >= 100 && counts["files"] == texts.len(), "{counts}");
    println!("{} keys of {} files are in the schema", counts["keys"], counts["files"]);
    // The schema check detects damaged files.
    let (name, text) = texts.first_key_value().expect("switches are rendered");
    for (from, to) in [
        ("        ip:\n", "        ipv6:\n"),
        ("mtu: 9216", "mtu: '9216'"),
        ("fec: 'rs'", "fec: on"),
        ("speed: 400G", "speed: 300G"),
        ("'p0-t0-001'", "17"),
    ] {
        assert!(text.contains(from), "{name} has no {from}");
        let damaged = BTreeMap::from([(name.clone(), text.replacen(from, to, 1))]);
        assert!(!judge(&python, &damaged).status.success(), "the schema accepts {to} instead of {from}");
    }
    // Each release has its own keywords for adaptive routing.
    for (release, from, to) in [
        ("5.14", "adaptive-routing:\n        enable: 'on'", "adaptive-routing:\n        state: enabled"),
        ("5.15", "adaptive-routing:\n        state: enabled", "adaptive-routing:\n        enable: 'on'"),
        (
            "5.18",
            "adaptive-routing:\n            state: enabled",
            "adaptive-routing:\n            state: full",
        ),
    ] {
        let adaptive = |(name, text): &(&String, &String)| name.starts_with(release) && text.contains(from);
        let (name, text) = texts.iter().find(adaptive).unwrap_or_else(|| panic!("{release} has no {from}"));
        let damaged = BTreeMap::from([(name.clone(), text.replacen(from, to, 1))]);
        assert!(
            !judge(&python, &damaged).status.success(),
            "the schema of {release} accepts {to} instead of {from}"
        );
    }
}

/// If a switch can choose between next hops, adaptive routing is on for its ports to switches, including drained
/// ones. It is off on all other ports.
#[test]
fn adaptive_routing_is_on_towards_switches() {
    for (routing, release, word) in
        [("bgp-unnumbered", "5.16", "state: enabled"), ("ecmp-static", "5.13", "enable: 'on'")]
    {
        let of = |ecmp: &str| {
            let all = switches(&fabric(release, routing, "nvidia-roce", "", ecmp));
            let texts = all.into_iter().map(|own| (own.path, String::from_utf8(own.bytes).expect("text")));
            texts.collect::<BTreeMap<_, _>>()
        };
        let (plain, adaptive) = (of(""), of(ADAPTIVE));
        for (path, text) in &adaptive {
            let is_t0 = path.as_str().contains("-t0-");
            // Without parallel cables, a T1 has one cable to each T0 and therefore no choice.
            let cables = match (is_t0, routing) {
                (true, "bgp-unnumbered") => 4,
                (true, _) => 2,
                (false, "bgp-unnumbered") => 6,
                (false, _) => 0,
            };
            let lines = text.matches(&format!("          adaptive-routing:\n            {word}\n")).count();
            assert_eq!(lines, cables, "{path}");
            let own =
                text.matches(&format!("    router:\n      adaptive-routing:\n        {word}\n")).count();
            assert_eq!(own, usize::from(cables > 0), "{path}");
            let differs = text.lines().count() - plain[path].lines().count();
            let head = if text.contains("bgp:") { 2 } else { 3 };
            assert_eq!(differs, if cables > 0 { 3 * cables + head } else { 0 }, "{path}");
        }
    }
}

#[test]
fn each_release_has_its_own_key_paths() {
    let texts = texts();
    let of = |start: &str| texts.iter().filter(|(name, _)| name.starts_with(start)).collect::<Vec<_>>();
    for (_, text) in of("5.14").into_iter().chain(of("5.13")) {
        assert!(text.contains("        ip:\n") && text.contains("      ntp:\n        mgmt:\n"));
        assert!(!text.contains("ipv6:\n") && !text.contains("        vrf: mgmt\n        ipv4"));
    }
    for (name, text) in of("5.15").into_iter().chain(of("5.18")) {
        let is_ipv4 = name.contains("-none/");
        assert!(
            is_ipv4 != text.contains("        ipv6:\n") && text.contains("      ntp:\n        vrf: mgmt\n")
        );
        assert!(!text.contains("        ip:\n"));
    }
}
