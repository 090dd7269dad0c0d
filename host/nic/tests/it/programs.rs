//! Programs over the TUN device, on a compiled fabric in network namespaces: iperf3, and an all-reduce of Open MPI. A
//! T1 fails and is restored, then both agents are upgraded. The programs report no error.
//!
//! It needs root, a kernel with seg6local NEXT-CSID, `iperf3`, `mpicc` and `mpirun`, and is skipped with a message
//! otherwise.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::restart::{Site, nic};

const T1: &str = "p0-t1-001";
/// Times of the events, and the duration of a program, in seconds.
const CUT_S: u64 = 6;
const RESTORE_S: u64 = 12;
const UPGRADE_S: u64 = 17;
const END_S: u64 = 25;

impl Site {
    fn ip(&self, device: &str, args: &[&str]) -> String {
        let namespace = format!("closc-{}-{device}", self.compiled_tree.fabric);
        let output = Command::new("ip").args(["-n", &namespace]).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn cut(&self, device: &str) {
        let shown: Value = serde_json::from_str(&self.ip(device, &["-j", "link", "show"])).unwrap();
        let names = shown.as_array().unwrap().iter().filter_map(|link| link["ifname"].as_str());
        for port in names.filter(|name| *name != "lo") {
            self.ip(device, &["link", "set", "dev", port, "down"]);
        }
    }

    /// Configures a T1 and its neighbours again, because static routes disappeared with the ports.
    fn restore(&self) {
        for device in [T1, "p0-t0-001", "p0-t0-002"] {
            let batch = self.compiled_tree.tree.join(format!("switches/{device}/ip.batch"));
            self.ip(device, &["-force", "-batch", batch.as_str()]);
        }
    }

    /// Returns a command that runs on the first node of a group.
    fn on_node(&self, group: usize) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(group)]).stdin(Stdio::null());
        command
    }

    /// Lets a T1 fail and recover, and upgrades both agents, while a program runs.
    fn disturb(&mut self, started: Instant) {
        let wait = |at_s: u64| {
            thread::sleep((started + Duration::from_secs(at_s)).saturating_duration_since(Instant::now()));
        };
        wait(CUT_S);
        self.cut(T1);
        wait(RESTORE_S);
        self.restore();
        wait(UPGRADE_S);
        for group in [1, 2] {
            self.restart(group, Signal::SIGTERM, || ());
        }
    }

    /// Runs a program while the fabric is disturbed.
    fn run_disturbed(&mut self, program: Child, started: Instant) -> Output {
        self.disturb(started);
        program.wait_with_output().unwrap()
    }
}

/// Returns whether programs can be started.
fn has(programs: &[&str]) -> bool {
    let is_there = |name: &&&str| {
        let found = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    let missing = programs.iter().find(|name| !is_there(name));
    if let Some(name) = missing {
        closc_skip::skip(format_args!("there is no {name}"));
    }
    missing.is_none()
}

/// Compares the goodput before the fault, during it, after the repair and after the upgrade. Takes times and Mb/s.
fn compare(name: &str, series: &[(f64, f64)]) {
    let mean = |from_s: u64, to_s: u64| {
        let range = from_s as f64..to_s as f64;
        let own: Vec<f64> =
            series.iter().filter(|(at, _)| range.contains(at)).map(|(_, mbps)| *mbps).collect();
        own.iter().sum::<f64>() / own.len().max(1) as f64
    };
    let before = mean(1, CUT_S);
    let means =
        [(CUT_S, RESTORE_S), (RESTORE_S, UPGRADE_S), (UPGRADE_S, UPGRADE_S + 3), (UPGRADE_S + 3, END_S)];
    let means = means.map(|(from_s, to_s)| mean(from_s, to_s));
    println!("{name}: before {before:.0} Mb/s; cut, restored, upgrade, after it: {means:.0?}\n{series:.0?}");
    // The machine may be busy.
    assert!(means[3] > before / 5.0 && means[0] > before / 5.0, "{name}: {before} {means:?}");
}

#[test]
fn iperf3_survives_the_loss_of_a_t1_and_an_upgrade() {
    if !has(&["iperf3"]) {
        return;
    }
    let Some(mut site) = Site::new("np") else { return };
    let [from, to] = [1, 2].map(|group| nic(group).to_string());
    let mut server =
        site.on_node(2).args(["iperf3", "-s", "-1", "-B", &to]).stdout(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    let started = Instant::now();
    let end = END_S.to_string();
    let client = ["iperf3", "-c", &to, "-B", &from, "-t", &end, "-i", "1", "--json"];
    let client = site.on_node(1).args(client).stdout(Stdio::piped()).spawn().unwrap();
    let output = site.run_disturbed(client, started);
    let _ = server.kill();
    let _ = server.wait();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success() && report["error"].is_null(), "{}", report["error"]);
    let intervals = report["intervals"].as_array().unwrap().iter().map(|interval| {
        let sum = &interval["sum"];
        (sum["start"].as_f64().unwrap(), sum["bits_per_second"].as_f64().unwrap() / 1e6)
    });
    compare("iperf3", &intervals.collect::<Vec<_>>());
}

#[test]
fn an_all_reduce_survives_the_loss_of_a_t1_and_an_upgrade() {
    if !has(&["mpicc", "mpirun"]) {
        return;
    }
    let Some(mut site) = Site::new("nm") else { return };
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs");
    let program = site.file("allreduce");
    let compiler = Command::new("mpicc").arg(sources.join("allreduce.c")).arg("-o").arg(&program).status();
    assert!(compiler.unwrap().success());
    let [own, far] = [1, 2].map(|group| site.namespace(group));
    // Open MPI uses only interfaces with an address of their own.
    for group in [1, 2] {
        let address = format!("{}/128", nic(group));
        site.ip(&format!("su{group:03}-n001"), &["addr", "add", &address, "dev", "closc0", "nodad"]);
    }
    let started = Instant::now();
    let run = format!(
        "hostname {own}; exec mpirun --allow-run-as-root --host {own}:1,{far}:1 -np 2 --mca plm_rsh_agent 'sh {agent}' \
         --mca pml ob1 --mca btl tcp,self --mca btl_tcp_disable_family 4 --mca btl_tcp_if_include closc0 \
         --mca oob_tcp_if_include closc0 {program} {END_S}",
        agent = sources.join("agent.sh").display(),
        program = program.display(),
    );
    let mpirun = site.on_node(1).args(["unshare", "--uts", "sh", "-c", &run]).stdout(Stdio::piped()).spawn();
    let output = site.run_disturbed(mpirun.unwrap(), started);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let sums = text.lines().filter(|line| line.ends_with(" 0 wrong")).count();
    assert_eq!(sums, 2, "{text}");
    let series = text.lines().filter_map(|line| {
        let (at, rate) = line.strip_suffix(" Mb/s")?.split_once(" s: ")?;
        Some((at.parse().ok()?, rate.parse().ok()?))
    });
    compare("all-reduce", &series.collect::<Vec<(f64, f64)>>());
}
