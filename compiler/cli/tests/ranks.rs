//! `closc export ranks`: the report, the files, and that Slurm takes the tree.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn closc(out: &Path, fabric: &str, more: &[&str]) -> Output {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../topologies/reference").join(fabric);
    let mut command = Command::new(env!("CARGO_BIN_EXE_closc"));
    command.args(["export", "ranks"]).arg(file).arg("--out").arg(out).arg("--quiet").args(more);
    command.output().expect("closc runs")
}

fn text(run: &Output) -> String {
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8_lossy(&run.stdout).into_owned()
}

#[test]
fn a_job_over_two_sites_cuts_rings_where_that_is_less_than_stages() {
    let out = tempfile::tempdir().unwrap();
    let report = text(&closc(
        out.path(),
        "region-two-sites.yaml",
        &["--tp", "8", "--dp", "64", "--pp", "3", "--format", "json"],
    ));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((report["ranks"].as_u64(), report["nodes"].as_u64()), (Some(1536), Some(192)));
    // By name the third stage is in the hills: 512 ranks send 500 MB each over the fibre. With whole replicas on either
    // side the rings of 8 ranks in 3 stages are cut twice, 2 GB each: 96 GB, and one replica that the sites share.
    let zone_bytes = |side: &str| report[side]["zone_bytes"].as_u64().unwrap();
    assert_eq!(zone_bytes("by_name"), 512 * 500_000_000);
    assert!((96_000_000_000..=104_000_000_000).contains(&zone_bytes("placed")), "{report}");
    let hosts = std::fs::read_to_string(out.path().join("ranks/hostfile")).unwrap();
    assert_eq!(hosts.lines().count(), 192);
    assert!(hosts.lines().all(|line| line.ends_with(" slots=8")));
}

/// Slurm's controller reads the tree as it starts.
#[test]
fn slurm_takes_the_tree() {
    let installed = |program: &str| {
        Command::new(program).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    if !installed("slurmctld") {
        println!("skipped: slurmctld is not installed, so the tree is not judged");
        return;
    }
    let out = tempfile::tempdir().unwrap();
    text(&closc(out.path(), "region-two-sites.yaml", &["--tp", "8", "--dp", "192"]));
    let folder = out.path().join("ranks");
    let tree = std::fs::read_to_string(folder.join("topology.conf")).unwrap();
    assert!(tree.contains("SwitchName=zone1-unit001 Nodes=z1-su001-n[001-064]\n"), "{tree}");
    assert!(tree.ends_with("SwitchName=region-two-sites Switches=zone[0-1]\n"), "{tree}");
    let state = folder.display();
    let conf = format!(
        "ClusterName=closc\nSlurmctldHost=localhost\nAuthType=auth/none\nCryptoType=crypto/none\nSlurmUser=root\n\
         StateSaveLocation={state}\nSlurmctldPidFile={state}/pid\nSlurmctldPort=16817\n\
         TopologyPlugin=topology/tree\nReturnToService=2\nProctrackType=proctrack/pgid\n\
         NodeName=z0-su[001-002]-n[001-064],z1-su001-n[001-064] NodeAddr=localhost CPUs=8\n\
         PartitionName=all Nodes=ALL Default=YES\n"
    );
    std::fs::write(folder.join("slurm.conf"), conf).unwrap();
    let log = folder.join("log");
    let started = Command::new("slurmctld")
        .args(["-D", "-c", "-vv", "-f"])
        .arg(folder.join("slurm.conf"))
        .arg("-L")
        .arg(&log)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut controller = started.expect("slurmctld starts");
    // It says what it read before it does anything else.
    let said = (0..150).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        let over = said.contains("switches_dist") || said.contains("fatal");
        (over || controller.try_wait().is_ok_and(|ended| ended.is_some())).then_some(said)
    });
    // It is asked to end, so that the helper that it starts ends too.
    let _ = Command::new("kill").arg(controller.id().to_string()).status();
    let _ = controller.wait();
    let said = said.unwrap_or_default();
    if !said.contains("Reading the topology.conf file") {
        println!("skipped: slurmctld does not start here, so the tree is not judged: {said}");
        return;
    }
    assert!(!said.contains("fatal"), "{said}");
    for name in ["zone0-unit001", "zone0-unit002", "zone1-unit001", "zone1", "region-two-sites"] {
        assert!(said.contains(name), "{name}\n{said}");
    }
}
