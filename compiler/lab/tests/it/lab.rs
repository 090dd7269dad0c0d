//! Labs on this machine, started from artefacts and tested packet by packet. They need root and a kernel with seg6local
//! NEXT-CSID, and are skipped with a message otherwise.

use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use closc_lab::probe::SuspectElement;
use closc_lab::trace::Finding;
use closc_lab::{Ends, Interrupt, Lab, LabError, LinkLayer, Watch};

use crate::common::{CompiledTree, can_run, compile, quietly, shipped};

/// A lab that is stopped even if a test fails.
struct RunningLab {
    lab: Option<Lab>,
    compiled_tree: CompiledTree,
}

impl RunningLab {
    fn new(topology: &str, fabric: &str) -> Option<RunningLab> {
        RunningLab::of(&shipped(topology), fabric)
    }

    fn of(yaml: &str, fabric: &str) -> Option<RunningLab> {
        if !can_run() {
            return None;
        }
        let compiled = compile(yaml, fabric);
        let (lab, report) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
        print!("{report}");
        assert!(!report.again);
        Some(RunningLab { lab: Some(lab), compiled_tree: compiled })
    }

    fn lab(&mut self) -> &mut Lab {
        self.lab.as_mut().unwrap()
    }

    fn is_fine(&mut self) {
        let report = quietly(|watch| self.lab().test(watch)).unwrap();
        assert!(report.is_fine(), "{report}");
    }
}

impl Drop for RunningLab {
    fn drop(&mut self) {
        if let Some(lab) = self.lab.take() {
            print!("{}", lab.down().unwrap());
        }
    }
}

fn namespaces(fabric: &str) -> usize {
    let output = Command::new("ip").args(["netns", "list"]).output().unwrap();
    let prefix = format!("closc-{fabric}-");
    String::from_utf8(output.stdout).unwrap().lines().filter(|line| line.starts_with(&prefix)).count()
}

#[test]
fn eight_planes_deliver_every_path_and_count_every_packet() {
    let Some(mut up) = RunningLab::new("lab/eight-planes", "ta") else { return };
    let report = quietly(|watch| up.lab().test(watch)).unwrap();
    assert!(report.is_fine(), "{report}");
    assert_eq!((report.pairs, report.paths, report.delivered), (56, 1600, 1600));
    assert_eq!((report.ports, report.segments), (384, 128));
    let fabric = up.compiled_tree.fabric.clone();
    drop(up);
    assert_eq!(namespaces(&fabric), 0);
}

#[test]
fn parallel_cables_carry_what_names_them() {
    let yaml =
        shipped("examples/parallel-links").replace("groups: 4, per_group: 8", "groups: 2, per_group: 2");
    let Some(mut up) = RunningLab::of(&yaml, "tb") else { return };
    let report = quietly(|watch| up.lab().test(watch)).unwrap();
    assert!(report.is_fine(), "{report}");
    assert!(report.packets > report.paths);
}

/// A C program sends with the header of the path tables and a raw socket, and the receiving kernel decapsulates each
/// packet.
#[test]
fn the_example_in_c_sends_a_packet_over_every_path() {
    let Some(up) = RunningLab::new("lab/eight-planes", "tx") else { return };
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths = manifest.join("../paths");
    let program = up.compiled_tree.tree.join("send");
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-I"]).arg(paths.join("include"));
    cc.arg("-o").arg(&program).arg(paths.join("examples/send.c"));
    match cc.status() {
        Err(error) => return closc_skip::skip(format_args!("no C compiler `cc` ({error})")),
        Ok(status) => assert!(status.success(), "the example does not compile"),
    }
    let inside = |node: &str| {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("closc-{}-{node}", up.compiled_tree.fabric)]);
        command
    };
    let said = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // No socket listens on the port, so the kernel counts accepted packets in `Udp6NoPorts`.
    let arrived = || {
        let counters = said(inside("su002-n001").args(["cat", "/proc/net/snmp6"]));
        let line = counters.lines().find(|line| line.starts_with("Udp6NoPorts")).expect("a counter");
        line.split_whitespace().next_back().unwrap().parse::<usize>().unwrap()
    };
    let before = arrived();
    let table = up.compiled_tree.tree.join("path-tables/group-0001.bin");
    let ends = ["fd00:c105:1:1::1", "fd00:c105:1:2::1", "nic0p%u"];
    let sent = said(inside("su001-n001").arg(&program).arg(&table).args(ends)).lines().count();
    assert!(sent >= 8, "{sent} packets");
    let last = Instant::now() + Duration::from_mins(1);
    while arrived() < before + sent && Instant::now() < last {
        sleep(Duration::from_millis(5));
    }
    assert_eq!(arrived() - before, sent);
}

/// Simulates a compiler fault: the ports of two routes of a T0 are exchanged. Every packet still arrives, but over
/// the wrong one of two parallel cables. Only counters show that.
#[test]
fn packets_over_other_cables_than_named_are_seen() {
    if !can_run() {
        return;
    }
    let yaml =
        shipped("examples/parallel-links").replace("groups: 4, per_group: 8", "groups: 2, per_group: 2");
    let compiled = compile(&yaml, "tk");
    let batch = compiled.tree.join("switches/p0-t0-001/ip.batch");
    let text = std::fs::read_to_string(&batch).unwrap();
    let way = |usid: &str| {
        let line = text.lines().find(|line| line.contains(&format!(":{usid}::/48 via "))).unwrap();
        (line.to_owned(), line.split_once(" via ").unwrap().1.to_owned())
    };
    let ((first, first_way), (second, second_way)) = (way("4001"), way("4002"));
    let wrong = text
        .replace(&first, &first.replace(&first_way, &second_way))
        .replace(&second, &second.replace(&second_way, &first_way));
    assert_ne!(text, wrong);
    std::fs::write(&batch, wrong).unwrap();
    compiled.seal();
    let (mut lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    let report = quietly(|watch| lab.test(watch)).unwrap();
    lab.down().unwrap();
    assert_eq!(report.delivered, report.packets, "{report}");
    assert!(!report.is_fine() && report.port_mismatches.len() >= 4, "{report}");
}

#[test]
fn three_tiers_deliver_every_path() {
    let Some(mut up) = RunningLab::new("examples/three-tiers", "tc") else { return };
    up.is_fine();
}

#[test]
fn a_miswire_loses_packets_delivers_none_to_others_and_is_found() {
    // If each plane has its own block, uSIDs are the same in all planes.
    let blocks = shipped("lab/two-planes") + "srv6: { plan: plane-in-block }\n";
    for (yaml, name) in [(shipped("lab/two-planes"), "td"), (blocks, "tf")] {
        let Some(up) = RunningLab::of(&yaml, name) else { return };
        a_miswire_is_found(up);
    }
}

fn a_miswire_is_found(mut up: RunningLab) {
    let pairs = [
        // In order: two downlinks of a T1, two uplinks of a T0, cables of two planes, NICs of one group, NICs of two
        // groups, a NIC cable and a fabric cable.
        ("p0-t0-001--p0-t1-001", "p0-t0-002--p0-t1-001"),
        ("p0-t0-001--p0-t1-001", "p0-t0-001--p0-t1-002"),
        ("p0-t0-001--p0-t1-001", "p1-t0-001--p1-t1-001"),
        ("su001-n001/nic0.p0", "su001-n002/nic0.p0"),
        ("su001-n001/nic0.p0", "su002-n001/nic0.p0"),
        ("su001-n001/nic0.p0", "p1-t0-002--p1-t1-002"),
    ];
    for (first, second) in pairs {
        for link_layer in [LinkLayer::Open, LinkLayer::AsConfigured] {
            let report = quietly(|watch| up.lab().miswire(first, second, link_layer, watch)).unwrap();
            assert!(report.test.lost > 0, "{report}");
            assert_eq!((report.test.misdelivered, report.test.damaged), (0, 0), "{report}");
            let found = matches!(
                report.findings.as_slice(),
                [Finding::Swapped { first: a, second: b, .. }] if (a.as_str(), b.as_str()) == (first, second)
            );
            assert!(found && report.is_found(), "{link_layer:?}\n{report}");
            quietly(|watch| up.lab().restore(watch)).unwrap();
        }
    }
    up.is_fine();
}

#[test]
fn a_cut_cable_is_found_by_self_probes() {
    let Some(mut up) = RunningLab::new("lab/two-planes", "te") else { return };
    let fine = quietly(|watch| up.lab().probe(watch)).unwrap();
    assert!(fine.is_fine() && fine.accused.is_empty(), "{fine}");
    for name in ["p0-t0-001--p0-t1-002", "su002-n001/nic0.p1"] {
        let report = quietly(|watch| up.lab().cut(name, Ends::Up, watch)).unwrap();
        let accused = report.probes.as_ref().unwrap().accused.as_slice();
        assert!(matches!(accused, [SuspectElement::Cable { cable, .. }] if cable == name), "{report}");
        let error = quietly(|watch| up.lab().cut(name, Ends::Up, watch)).unwrap_err();
        assert!(matches!(error, LabError::CableInUse { .. }), "{error}");
        quietly(|watch| up.lab().restore(watch)).unwrap();
    }
    up.is_fine();
}

#[test]
fn routes_of_nodes_carry_ordinary_traffic() {
    let Some(mut up) = RunningLab::new("lab/two-planes", "tf") else { return };
    let namespace = |node: &str| format!("closc-{}-{node}", up.compiled_tree.fabric);
    let (near, far) = (namespace("su001-n001"), namespace("su002-n001"));
    let address = |node: &str| {
        let output = Command::new("ip").args(["-n", node, "-6", "-o", "addr", "show", "dev", "sr0"]).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        text.split_whitespace().find_map(|word| word.strip_suffix("/128")).unwrap().to_owned()
    };
    // Plain UDP over the node's own routes. The kernel encapsulates it, and its hash spreads flows over paths.
    let to = address(&far);
    let script = format!(
        "import socket\n\
         for n in range(64):\n  s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n  s.bind(('::', 20000 + n))\n  \
         s.sendto(b'x' * 8000, ('{to}', 9))\n"
    );
    let sent = Command::new("ip").args(["netns", "exec", &near, "python3", "-c", &script]).status();
    if !sent.is_ok_and(|status| status.success()) {
        closc_skip::skip("no python3 to send with");
        return;
    }
    let count = |segment| {
        let args = ["-n", &far, "-s", "-j", "-6", "route", "show", segment];
        let text = String::from_utf8(Command::new("ip").args(args).output().unwrap().stdout).unwrap();
        let (_, rest) = text.split_once("\"packets\":").unwrap();
        rest.split(',').next().unwrap().parse::<u32>().unwrap()
    };
    // Packets are in flight and arrive when the kernel is scheduled.
    let started = Instant::now();
    let decapsulated = loop {
        let counts = ["fcbb:bbbb:8001::/48", "fcbb:bbbb:8801::/48"].map(count);
        if counts.iter().sum::<u32>() == 64 || started.elapsed() > Duration::from_mins(1) {
            break counts;
        }
        sleep(Duration::from_millis(20));
    };
    assert_eq!(decapsulated.iter().sum::<u32>(), 64, "{decapsulated:?}");
    assert!(decapsulated.iter().all(|count| *count > 8), "both planes carry a share: {decapsulated:?}");
    up.is_fine();
}

#[test]
fn up_again_puts_everything_right() {
    if !can_run() {
        return;
    }
    let compiled = compile(&shipped("lab/two-planes"), "tg");
    let up = || quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch));
    let (mut lab, _) = up().unwrap();
    let busy = up().unwrap_err();
    assert!(matches!(busy, LabError::Busy { .. }), "{busy}");
    quietly(|watch| lab.miswire("p0-t0-001--p0-t1-001", "p0-t0-002--p0-t1-002", LinkLayer::Open, watch))
        .unwrap();
    assert_eq!(lab.status().changes.len(), 1);
    // If a T0 link goes down, the kernel removes its static routes until the batch is applied again.
    let link = |state: &str| {
        let namespace = format!("closc-{}-p1-t0-001", compiled.fabric);
        let args = ["-n", &namespace, "link", "set", "eth501", state];
        assert!(Command::new("ip").args(args).status().unwrap().success());
    };
    link("down");
    link("up");
    drop(lab);
    assert_eq!(closc_lab::list(&compiled.options).unwrap().len(), 1);
    let (mut lab, report) = up().unwrap();
    assert!(report.again);
    let test = quietly(|watch| lab.test(watch)).unwrap();
    assert!(test.is_fine(), "{test}");
    drop(lab);
    let report = closc_lab::down(&compiled.fabric, &compiled.options).unwrap();
    assert_eq!(report.namespaces, 12);
    assert_eq!(namespaces(&compiled.fabric), 0);
    assert!(matches!(closc_lab::down(&compiled.fabric, &compiled.options), Err(LabError::NotUp { .. })));
    assert!(!compiled.options.runtime.exists(), "nothing is left behind");
}

#[test]
fn an_interrupt_or_a_fault_half_way_leaves_nothing() {
    if !can_run() {
        return;
    }
    let compiled = compile(&shipped("lab/two-planes"), "th");
    for stage in ["make namespaces", "plug cables", "configure devices"] {
        let interrupt = Interrupt::default();
        let stop = |progress: closc_lab::Progress| {
            if progress.operation == stage {
                interrupt.set();
            }
        };
        let error = Lab::up(&compiled.tree, &compiled.options, &Watch::new(&stop, &interrupt)).unwrap_err();
        assert!(matches!(error, LabError::TakenDown { .. }), "{stage}: {error}");
        assert_eq!(namespaces(&compiled.fabric), 0, "{stage}");
    }
    let batch = compiled.tree.join("switches/p1-t1-002/ip.batch");
    let text = std::fs::read_to_string(&batch).unwrap();
    // The port does not exist, so the command is valid but cannot be applied.
    std::fs::write(&batch, format!("{text}link set dev eth77 up\n")).unwrap();
    compiled.seal();
    let error = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap_err();
    assert!(matches!(&error, LabError::Command { device, .. } if device == "p1-t1-002"), "{error}");
    assert_eq!(namespaces(&compiled.fabric), 0);
}

#[test]
fn namespaces_of_others_are_left_alone() {
    if !can_run() {
        return;
    }
    let compiled = compile(&shipped("lab/two-planes"), "ti");
    let ip = |args: &[&str]| assert!(Command::new("ip").args(args).status().unwrap().success());
    let foreign = format!("closc-{}-p0-t0-001", compiled.fabric);
    ip(&["netns", "add", &foreign]);
    let error = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap_err();
    let left = namespaces(&compiled.fabric);
    ip(&["netns", "del", &foreign]);
    assert!(matches!(&error, LabError::Foreign(names) if *names == [foreign.as_str()]), "{error}");
    assert_eq!(left, 1);
}

#[test]
fn what_a_crash_left_is_cleared_away() {
    if !can_run() {
        return;
    }
    let compiled = compile(&shipped("lab/two-planes"), "tj");
    let (lab, _) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    drop(lab);
    // As after a kill during creation, the record contains more than exists.
    let gone = format!("closc-{}-p0-t1-001", compiled.fabric);
    assert!(Command::new("ip").args(["netns", "del", &gone]).status().unwrap().success());
    let status = closc_lab::list(&compiled.options).unwrap();
    assert_eq!(status[0].missing, [format!("namespace {gone}")]);
    let (mut lab, report) = quietly(|watch| Lab::up(&compiled.tree, &compiled.options, watch)).unwrap();
    assert!(!report.again);
    let test = quietly(|watch| lab.test(watch)).unwrap();
    assert_eq!(lab.down().unwrap().namespaces, 12);
    assert!(test.is_fine(), "{test}");
}
