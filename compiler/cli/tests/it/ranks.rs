//! `closc export ranks`: the report, the files, and a test that Slurm accepts the tree.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Place, has};

/// Exports the ranks of a job over two sites; returns the report.
fn ranks(place: &Place, job: &[&str]) -> String {
    const EXPORT: [&str; 6] =
        ["export", "ranks", "topologies/reference/region-two-sites.yaml", "--out", "out", "--quiet"];
    place.ends(0, &[&EXPORT, job].concat())
}

#[test]
fn a_job_over_two_sites_cuts_rings_where_that_is_less_than_stages() {
    let place = Place::new();
    let report = ranks(&place, &["--tp", "8", "--dp", "64", "--pp", "3", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((report["ranks"].as_u64(), report["nodes"].as_u64()), (Some(1536), Some(192)));
    // In the order of node names, the third stage is at the second site, so 512 ranks send 500 MB each between the
    // sites. With complete replicas at each site, the rings of 8 ranks in 3 stages are cut twice, at 2 GB each. That
    // is 96 GB, plus one replica that spans both sites.
    let zone_bytes = |side: &str| report[side]["zone_bytes"].as_u64().unwrap();
    assert_eq!(zone_bytes("by_name"), 512 * 500_000_000);
    assert!((96_000_000_000..=104_000_000_000).contains(&zone_bytes("placed")), "{report}");
    let hosts = place.read("out/ranks/hostfile");
    assert_eq!(hosts.lines().count(), 192);
    assert!(hosts.lines().all(|line| line.ends_with(" slots=8")));
}

/// Slurm's controller reads the tree at its start.
#[test]
fn slurm_takes_the_tree() {
    if !has("slurmctld") {
        closc_skip::skip("slurmctld is not installed, so the tree is not judged");
        return;
    }
    let place = Place::new();
    ranks(&place, &["--tp", "8", "--dp", "192"]);
    let tree = place.read("out/ranks/topology.conf");
    assert!(tree.contains("SwitchName=zone1-unit001 Nodes=z1-su001-n[001-064]\n"), "{tree}");
    assert!(tree.ends_with("SwitchName=region-two-sites Switches=zone[0-1]\n"), "{tree}");
    // A free port, so that parallel runs of this test do not collide.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a port");
    let port = listener.local_addr().expect("it is bound").port();
    drop(listener);
    let state = place.text("out/ranks");
    let conf = format!(
        "ClusterName=closc\nSlurmctldHost=localhost\nAuthType=auth/none\nCryptoType=crypto/none\nSlurmUser=root\n\
         StateSaveLocation={state}\nSlurmctldPidFile={state}/pid\nSlurmctldPort={port}\n\
         TopologyPlugin=topology/tree\nReturnToService=2\nProctrackType=proctrack/pgid\n\
         NodeName=z0-su[001-002]-n[001-064],z1-su001-n[001-064] NodeAddr=localhost CPUs=8\n\
         PartitionName=all Nodes=ALL Default=YES\n"
    );
    place.write("out/ranks/slurm.conf", conf);
    let log = place.path("out/ranks/log");
    let started = place
        .program("slurmctld")
        .args(["-D", "-c", "-vv", "-f", "out/ranks/slurm.conf", "-L"])
        .arg(&log)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut controller = started.expect("slurmctld starts");
    // The controller logs the topology first.
    let read = || std::fs::read_to_string(&log).unwrap_or_default();
    let started = Instant::now();
    while started.elapsed() < Duration::from_mins(2) {
        let said = read();
        let over = said.contains("switches_dist") || said.contains("fatal");
        if over || controller.try_wait().is_ok_and(|ended| ended.is_some()) {
            break;
        }
        sleep(Duration::from_millis(100));
    }
    // SIGTERM also ends the helper process of the controller.
    let _ = Command::new("kill").arg(controller.id().to_string()).status();
    let _ = controller.wait();
    let said = read();
    if !said.contains("Reading the topology.conf file") {
        closc_skip::skip(format_args!("slurmctld does not start here, so the tree is not judged: {said}"));
        return;
    }
    assert!(!said.contains("fatal"), "{said}");
    for name in ["zone0-unit001", "zone0-unit002", "zone1-unit001", "zone1", "region-two-sites"] {
        assert!(said.contains(name), "{name}\n{said}");
    }
}
