//! The files of a node: their contents are correct, and the programs that read them accept them.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use closc_plan::{Plan, SharedComponent};
use closc_render::{Artefact, Templates, targets};
use closc_tests::shape::plan;
use closc_topology::HostOutput;

/// Two planes and two rails; each node has two NICs in each rail, and two power supplies.
fn fabric(routing: &str, qos: &str) -> Plan {
    plan(&format!(
        "
fabric: host
planes: 2
routing: {routing}
hosts:
  groups: 4
  per_group: 4
  nics_per_node: 4
  rails: 2
  nic: {{ speed: 800G, lanes: 8 }}
  slots:
    - {{ pci: \"0000:18:00.0\", gpu: \"0000:1b:00.0\", power: a }}
    - {{ pci: \"0000:29:00.0\", gpu: \"0000:2c:00.0\", power: b }}
    - {{ pci: \"0000:9a:00.0\", gpu: \"0000:9d:00.0\", numa: 1, power: a }}
    - {{ pci: \"0000:ab:00.0\", gpu: \"0000:ae:00.0\", numa: 1, power: b }}
tiers:
  t0: {{ platform: th5-128x400g, os: sonic, up: 2 }}
  t1: {{ platform: th5-128x400g, os: sonic }}
cables:
  nic-t0: {{ length: 3m, medium: dac }}
  t0-t1: {{ length: 30m, medium: dr4 }}
qos: {qos}
"
    ))
}

fn render(plan: &Plan, output: HostOutput) -> Vec<Artefact> {
    let node = plan.nodes().next().unwrap();
    targets::host::render(&plan.host(node), output, &Templates::builtin()).unwrap()
}

fn text(artefacts: &[Artefact], name: &str) -> String {
    let artefact = artefacts.iter().find(|artefact| artefact.path.file_name() == Some(name)).unwrap();
    String::from_utf8(artefact.bytes.clone()).unwrap()
}

/// Writes artefacts below a folder.
fn put(folder: &Path, artefacts: &[Artefact]) {
    for artefact in artefacts {
        let place = folder.join(&artefact.path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, &artefact.bytes).unwrap();
    }
}

/// Returns whether a program is installed; prints what is skipped otherwise.
#[track_caller]
fn has(program: &str, argument: &str, skipped: &str) -> bool {
    let run = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if run.is_err() {
        closc_skip::skip(format_args!("{program} is not installed, so {skipped}"));
    }
    run.is_ok()
}

#[test]
fn nics_have_the_classes_of_the_switches() {
    let script = text(&render(&fabric("ecmp-static", "lossless"), HostOutput::Nic), "nic-qos.sh");
    for line in [
        "--dscp2prio set,26,3 \\",
        "--dscp2prio set,63,0",
        "--pfc 0,0,0,1,0,0,0,0 --cable_len \"$2\"",
        "--tsa ets,strict,strict,ets,strict,strict,strict,strict --tcbw 11,0,0,89,0,0,0,0",
        "--prio2buffer 0,0,0,1,0,0,0,0",
        "cma_roce_tos -d \"$1\" -p 1 -t 104",
        "echo 48 >\"/sys/class/net/$1/ecn/roce_np/cnp_dscp\"",
        "port nic3p1 3    # p1-t0-002 Ethernet4",
    ] {
        assert!(script.contains(line), "{line}\n{script}");
    }
    let lossy = text(&render(&fabric("srv6-static", "lossy-trim"), HostOutput::Nic), "nic-qos.sh");
    assert!(lossy.contains("--pfc 0,0,0,0,0,0,0,0") && !lossy.contains("cnp_dscp"));
    if !has("sh", "-c :", "the script is not parsed") {
        return;
    }
    for script in [script, lossy] {
        let run = Command::new("sh").args(["-n", "-c", &script]).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
}

#[test]
fn nccl_gets_devices_by_rail_and_the_traffic_classes_of_the_profile() {
    let files = render(&fabric("ecmp-static", "lossless"), HostOutput::Nccl);
    let environment = text(&files, "nccl.conf");
    for line in [
        "NCCL_IB_HCA==nic0p0,nic0p1,nic1p0,nic1p1,nic2p0,nic2p1,nic3p0,nic3p1",
        "NCCL_IB_ADDR_RANGE=fd00:c105:1::/48",
        "NCCL_IB_TC=104",
        "NCCL_IB_FIFO_TC=184",
        "NCCL_IB_QPS_PER_CONNECTION=2",
        "NCCL_CROSS_NIC=0",
    ] {
        assert!(environment.lines().any(|found| found == line), "{line}\n{environment}");
    }
    let topology = text(&files, "nccl-topology.xml");
    assert!(topology.contains("<pci busid=\"0000:ab:00.0\" class=\"0x020000\"/>"), "{topology}");
    assert_eq!(topology.matches("class=\"0x030200\"").count(), 4);
    assert!(text(&files, "vccl.conf").contains("NCCL_ENABLE_FAULT_TOLERANCE=1"));
    let source_routed = text(&render(&fabric("srv6-static", "lossy-trim"), HostOutput::Nccl), "nccl.conf");
    assert!(
        source_routed.contains("NCCL_IB_QPS_PER_CONNECTION=1\n"),
        "the NIC spreads one queue pair over paths"
    );
    assert!(!source_routed.contains("FIFO_TC"), "the profile has no class for clear-to-send messages");
    let swapped = "{ base: lossless, classes: { cts: { dscp: [0] }, best-effort: { dscp: [46] } } }";
    let zero = text(&render(&fabric("ecmp-static", swapped), HostOutput::Nccl), "nccl.conf");
    assert!(zero.contains("NCCL_IB_FIFO_TC=0\n"), "DSCP 0 is set too: {zero}");
}

#[test]
fn a_backup_port_shares_no_failure_domain_if_possible() {
    let plan = fabric("ecmp-static", "lossless");
    let pairs = plan.host(plan.nodes().next().unwrap()).backups();
    assert_eq!(pairs.len(), 8);
    assert!(pairs.iter().all(|pair| pair.shares.is_empty()), "{pairs:?}");
    let backups: BTreeSet<_> = pairs.iter().map(|pair| &pair.backup.name).collect();
    assert_eq!(backups.len(), 8, "no port is the backup of two ports");
}

#[test]
fn unavoidable_shared_domains_are_listed() {
    let one_plane = plan(
        "
fabric: one
planes: 1
routing: ecmp-static
hosts: { groups: 2, per_group: 2, nics_per_node: 2, rails: 2, nic: { speed: 400G } }
tiers:
  t0: { platform: th5-128x400g, os: sonic, up: 2 }
  t1: { platform: th5-128x400g, os: sonic }
",
    );
    for pair in one_plane.host(one_plane.nodes().next().unwrap()).backups() {
        assert_eq!(pair.shares, BTreeSet::from([SharedComponent::Plane]));
        assert_ne!(pair.primary.t0, pair.backup.t0);
    }
}

/// Without T1s, a port of another rail does not reach any of the peers.
#[test]
fn with_one_tier_a_backup_port_is_of_the_same_rail() {
    let backups = |planes: u32| {
        let plan = plan(&format!(
            "fabric: rails\nplanes: {planes}\nrouting: ecmp-static\nhosts: {{ groups: 2, per_group: 2, nics_per_node: 2, rails: 2, nic: {{ \
             speed: {}G, lanes: {planes} }} }}\ntiers: {{ t0: {{ platform: linux, os: linux }} }}\ncables: {{ nic-t0: {{ length: 1m, \
             medium: virtual }} }}\nqos: none\n",
            100 * planes
        ));
        plan.host(plan.nodes().next().unwrap()).backups()
    };
    let pairs = backups(2);
    assert_eq!(pairs.len(), 4);
    for pair in pairs {
        assert_eq!((pair.primary.nic, pair.primary.plane), (pair.backup.nic, 1 - pair.backup.plane));
    }
    assert!(backups(1).is_empty(), "the only port of a rail has no backup");
}

/// Each zone has half of a node's NICs. A port of the other zone does not reach any of the peers.
#[test]
fn with_planes_by_nic_a_backup_port_is_of_the_same_zone() {
    let backups = |nics: u32| {
        let plan = plan(&format!(
            "fabric: by-nic\nplanes: 1\nzones: 2\nrouting: ecmp-static\nhosts: {{ groups: 2, per_group: 1, nics_per_node: {nics}, rails: {nics}, \
             zones_per_node: 2, nic: {{ speed: 100G, lanes: 1 }} }}\ntiers:\n  t0: {{ platform: linux, os: linux, up: 1 }}\n  t1: {{ platform: \
             linux, os: linux }}\ncables:\n  nic-t0: {{ length: 1m, medium: virtual }}\n  t0-t1: {{ length: 1m, medium: virtual }}\nqos: none\n"
        ));
        plan.host(plan.nodes().next().unwrap()).backups()
    };
    let pairs: Vec<(u8, u8)> = backups(4).iter().map(|pair| (pair.primary.nic, pair.backup.nic)).collect();
    assert_eq!(pairs, [(0, 1), (1, 0), (2, 3), (3, 2)]);
    assert!(backups(2).is_empty(), "the only port of a node in a zone has no backup");
}

/// T0s that share a declared domain are not independent backups, so the pair lists the domain.
#[test]
fn a_backup_port_lists_the_declared_domain_that_it_shares() {
    let text = "
fabric: fed
planes: 2
hosts: { groups: 2, per_group: 2, nics_per_node: 2, rails: 2, nic: { speed: 800G, lanes: 8 } }
tiers:
  t0: { platform: th5-128x400g, os: sonic, up: 2 }
  t1: { platform: th5-128x400g, os: sonic }
domains:
  feed: { members: [p0-t0-001, p0-t0-002, p1-t0-001, p1-t0-002] }
";
    let plan = plan(text);
    let pairs = plan.host(plan.nodes().next().unwrap()).backups();
    assert_eq!(pairs.len(), 4);
    for pair in &pairs {
        assert_eq!(pair.shares, BTreeSet::from([SharedComponent::Domain("feed".into())]), "{pair:?}");
    }
    let half = text.replace(", p1-t0-001, p1-t0-002] }", "] }");
    let plan = closc_tests::shape::plan(&half);
    for pair in plan.host(plan.nodes().next().unwrap()).backups() {
        assert!(pair.shares.is_empty(), "the other plane is fed by something else: {pair:?}");
    }
}

#[test]
fn a_missing_port_leaves_the_others_their_backups() {
    let text = "
fabric: hole
planes: 2
hosts: { groups: 2, per_group: 2, nics_per_node: 2, rails: 2, nic: { speed: 800G, lanes: 8 } }
tiers:
  t0: { platform: th5-128x400g, os: sonic, up: 2 }
  t1: { platform: th5-128x400g, os: sonic }
exceptions: { absent: [su001-n001/nic1.p1] }
";
    let plan = plan(text);
    let pairs = plan.host(plan.nodes().next().unwrap()).backups();
    assert_eq!(pairs.len(), 3);
    let first = &pairs[0];
    assert_eq!((first.primary.name.as_str(), first.shares.len()), ("nic0p0", 1), "{first:?}");
    assert!(pairs[1].shares.is_empty() && pairs[1].backup.name == "nic1p0");
}

#[test]
fn netplan_takes_the_files() {
    if !has("netplan", "--help", "its files are not checked") {
        return;
    }
    for routing in ["srv6-static", "ecmp-static", "bgp-unnumbered"] {
        let file = text(&render(&fabric(routing, "lossless"), HostOutput::Netplan), "netplan.yaml");
        let root = generate_units(&file);
        let unit = root.path().join("run/systemd/network/10-netplan-nic3p1.network");
        let unit = std::fs::read_to_string(unit).unwrap();
        assert!(unit.contains("Address=fd00:c105:2:100:2:2:0:a/127"), "{unit}");
        assert_eq!(unit.contains("Table=1049"), routing != "srv6-static", "{unit}");
    }
}

#[test]
fn traffic_to_a_nic_falls_through_planes_that_do_not_reach_it() {
    let text = "
fabric: hole
planes: 2
routing: ecmp-static
hosts: { groups: 2, per_group: 2, nic: { speed: 800G, lanes: 8 } }
tiers:
  t0: { platform: th5-128x400g, os: sonic, up: 2 }
  t1: { platform: th5-128x400g, os: sonic }
exceptions: { absent: [su002-n001/nic0.p0] }
";
    let file = self::text(&render(&plan(text), HostOutput::Netplan), "netplan.yaml");
    let far = "fd00:c105:1:2::1/128";
    assert!(file.contains(&format!("{{to: \"{far}\", type: throw, table: 1000}}")), "{file}");
    assert!(file.contains(&format!(
        "{{to: \"{far}\", via: \"fd00:c105:2:100:1:1:0:b\", metric: 1024, table: 1001}}"
    )));
    if has("netplan", "--help", "its file is not checked") {
        generate_units(&file);
    }
}

/// Runs netplan to generate units from a file; returns their folder.
fn generate_units(file: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("etc/netplan");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("50-closc.yaml"), file).unwrap();
    let run = Command::new("netplan").args(["generate", "--root-dir"]).arg(root.path()).output().unwrap();
    assert!(run.status.success(), "{}\n{file}", String::from_utf8_lossy(&run.stderr));
    root
}

/// systemd-networkd logs unknown keys and continues, so the test reads its log.
#[test]
fn networkd_accepts_every_key_of_its_units() {
    let daemon = "/lib/systemd/systemd-networkd";
    let namespace = Command::new("unshare").args(["-nm", "true"]).output();
    if !Path::new(daemon).exists() || !namespace.is_ok_and(|run| run.status.success()) {
        closc_skip::skip(
            "systemd-networkd is not installed or may not create namespaces, so its units are not checked",
        );
        return;
    }
    for routing in ["srv6-static", "ecmp-static"] {
        let files = render(&fabric(routing, "lossless"), HostOutput::Networkd);
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        put(folder.path(), &files);
        let script = format!(
            "mount -t tmpfs none /run && mkdir -p /run/systemd/network && \
             cp {}/hosts/su001-n001/networkd/*.network /run/systemd/network/ && \
             exec env SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console {daemon} 2>&1",
            folder.path().display()
        );
        let mut daemon = Command::new("unshare")
            .args(["-nm", "sh", "-c", &script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The daemon does not exit. Once it lists the links, it has read its files.
        let mut log = String::new();
        for line in BufReader::new(daemon.stdout.take().unwrap()).lines() {
            log += &(line.unwrap() + "\n");
            if log.contains("Enumeration completed") {
                break;
            }
        }
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        assert!(log.contains("Enumeration completed"), "{log}");
        let complaints: Vec<&str> =
            log.lines().filter(|line| line.contains("/run/systemd/network/")).collect();
        assert!(complaints.is_empty(), "{routing}: {complaints:?}");
    }
}

#[test]
fn the_topology_file_is_well_formed() {
    if !has("python3", "--version", "the topology file of NCCL is not parsed") {
        return;
    }
    let file = text(&render(&fabric("ecmp-static", "lossless"), HostOutput::Nccl), "nccl-topology.xml");
    let check = "import sys, xml.etree.ElementTree as t; r = t.fromstring(sys.argv[1]); \
                 assert r.tag == 'system' and r.get('version') == '1'; assert len(r.findall('./cpu/pci/pci')) == 8";
    let run = Command::new("python3").args(["-c", check, &file]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
