//! Labs from the command line: the first steps of the README, and every command on a lab of embedded switches.

use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::common::{Place, fabric_name, has};

/// A running lab in a separate process.
struct RunningLab {
    place: Place,
    fabric: &'static str,
}

impl RunningLab {
    fn new() -> Self {
        let place = Place::new();
        place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", "tree"]);
        let up = RunningLab { place, fabric: "two-planes-p4" };
        assert!(up.on("up").contains("is up on target embedded: 8 switches, 4 nodes, 16 cables"));
        up
    }

    /// Runs a lab command on the tree.
    fn on(&self, command: &str) -> String {
        self.place.ends(0, &["lab", command, "tree"])
    }

    fn push(&self) -> String {
        self.place.ends(0, &["push", "tree", "--inventory", "lab"])
    }

    /// Returns the processes with the socket on their command line.
    fn processes(&self) -> Vec<i32> {
        let socket = self.place.text(&format!("run/lab/{}/control.sock", self.fabric));
        let numbers = std::fs::read_dir("/proc")
            .expect("Linux")
            .filter_map(|entry| entry.expect("it can be listed").file_name().to_str()?.parse::<i32>().ok());
        let has = |pid: &i32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|word| word == socket.as_bytes())
        };
        numbers.filter(has).collect()
    }
}

#[test]
fn one_command_does_everything() {
    let place = Place::new();
    let text = place.ends(0, &["lab", "run", "topologies/lab/two-planes-p4.yaml"]);
    for line in [
        "two-planes-p4 is up on target embedded: 8 switches, 4 nodes, 16 cables in ",
        "8 switches up to date, 0 failed, 0 skipped; 288 updates sent in ",
        "12 pairs, 40 paths, 40 packets: 40 delivered, 0 lost, 0 misdelivered in ",
        "32 port counters, 16 segment counters: 0 differ from the expected values",
        "two-planes-p4 is down in ",
        "everything works: ",
    ] {
        assert!(text.lines().any(|printed| printed.starts_with(line)), "{line}\n{text}");
    }
    assert_eq!(place.ends(0, &["lab", "status"]), "no lab is up\n");
}

#[test]
fn the_run_of_a_sample_is_written_as_json_and_can_be_kept() {
    let place = Place::new();
    let file = "topologies/lab/two-planes-p4.yaml";
    let report = place.json(0, &["lab", "run", file, "--sample", "20", "--seed", "5", "--keep"]);
    assert_eq!(report["test"]["paths"], 20);
    assert_eq!(report["test"]["drawn"], serde_json::json!({ "of": 40, "seed": 5 }));
    assert_eq!(report["test"]["delivered"], 20);
    assert!(place.ends(0, &["lab", "test", file]).contains("40 delivered"));
    assert!(place.ends(0, &["lab", "down", file]).contains("is down: 1 process ended"));
}

#[test]
fn ports_above_those_of_v1model_are_walked_and_refused_where_bmv2_would_run_them() {
    let place = Place::new();
    let file = "topologies/lab/ports-512-p4.yaml";
    let report = place.json(0, &["lab", "run", file, "--sample", "300", "--seed", "5"]);
    let text = report.to_string();
    assert!(text.contains("\"lost\":0") && text.contains("\"misdelivered\":0"), "{text}");
    place.ends(0, &["compile", file, "--out", "tree"]);
    place.ends(0, &["verify", "tree"]);
    // On target `bmv2` and in Mininet, the nodes run in the kernel.
    let text = place.read("topologies/lab/two-planes-p4.yaml").replace("bmv2", "embedded-512");
    place.write(
        "small.yaml",
        text.replace("fabric: two-planes-p4", &format!("fabric: {}", fabric_name("cw"))),
    );
    let refused = |command: &[&str]| {
        let why = place.ends(1, command);
        assert!(why.contains("port numbers of this tree have 11 bits"), "{why}");
    };
    refused(&["export", "mininet", "small.yaml", "--out", "fabric.py"]);
    if let Some(_alone) = namespaces() {
        refused(&["lab", "up", "small.yaml", "--target", "bmv2"]);
    }
}

#[test]
fn every_command_works_on_embedded_switches() {
    let up = RunningLab::new();
    let why = up.place.ends(1, &["lab", "test", "tree"]);
    assert!(why.contains("`p0-t0-001` has no pipeline yet: program the lab with `closc push"), "{why}");
    assert!(up.push().contains("288 updates sent"));
    assert!(up.on("test").contains("40 delivered, 0 lost"));
    assert!(up.push().contains(" 0 updates sent"));
    up.place.ends(0, &["drift", "tree", "--inventory", "lab"]);

    let (a, b) = ("p0-t0-001--p0-t1-001", "p0-t0-002--p0-t1-001");
    let text = up.place.ends(0, &["lab", "miswire", "tree", a, b, "--keep"]);
    assert!(text.contains(&format!("found: {a} and {b} are swapped")), "{text}");
    assert!(up.on("status").contains(&format!("{a} and {b} are swapped")));
    assert!(text.ends_with("this lasts until `closc lab restore`\n"), "{text}");
    let text = up.place.ends(1, &["lab", "test", "tree"]);
    assert!(
        text.contains(&format!("deliberate fault: {a} and {b} are swapped\n`closc lab restore`")),
        "{text}"
    );
    up.on("restore");
    assert!(up.on("test").contains("40 delivered, 0 lost"));
    let text = up.place.ends(0, &["lab", "cut", "tree", a]);
    assert!(text.contains(&format!("found: {a} (")), "{text}");
    assert!(text.ends_with("the cable is repaired; `--keep` leaves it cut\n"), "{text}");
    assert!(!up.on("up").contains("repaired"));
    up.place.ends(0, &["lab", "cut", "tree", a, "--keep"]);
    let text = up.on("up");
    assert!(
        text.contains("is configured again") && text.contains(&format!("repaired: {a} is cut\n")),
        "{text}"
    );
    assert!(up.on("test").contains("40 delivered, 0 lost"));
    assert_eq!(up.processes().len(), 1);
    assert!(up.place.ends(0, &["lab", "down", up.fabric]).contains("1 process ended"));
    assert!(up.processes().is_empty());
    assert!(up.place.ends(1, &["push", "tree", "--inventory", "lab"]).contains("no lab of fabric"));
}

/// Returns the permissions of a file.
fn mode(place: &Place, path: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(place.text(path)).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn switches_are_reached_at_a_socket_of_their_owner() {
    let up = RunningLab::new();
    let folder = format!("run/lab/{}", up.fabric);
    let inventory = std::fs::read_to_string(up.place.text(&format!("{folder}/inventory.json")));
    let inventory: serde_json::Value = serde_json::from_str(&inventory.expect("it is there")).expect("JSON");
    let socket = up.place.text(&format!("{folder}/p4runtime.sock"));
    for device in inventory["devices"].as_object().expect("devices").values() {
        assert_eq!(device["endpoint"], format!("unix:{socket}"));
    }
    assert_eq!((mode(&up.place, &folder), mode(&up.place, "run/lab")), (0o700, 0o700));
    let [pid] = up.processes()[..] else { panic!("one process") };
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        assert_eq!(count_sockets(pid, table), 0, "{table}");
    }
    assert!(up.push().contains("288 updates sent"));
    up.on("down");
    let text = up.place.ends(0, &["lab", "up", "tree", "--listen", "127.0.0.1:0"]);
    assert!(text.contains("is up"), "{text}");
    let [pid] = up.processes()[..] else { panic!("one process") };
    assert_eq!(count_sockets(pid, "tcp"), 1);
    assert!(up.push().contains("288 updates sent"));
    up.on("down");
}

/// Counts the sockets of a process in a table of `/proc`.
fn count_sockets(pid: i32, table: &str) -> usize {
    let open: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("it is ours")
        .filter_map(|entry| Some(std::fs::read_link(entry.ok()?.path()).ok()?.to_str()?.to_owned()))
        .collect();
    let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).expect("Linux");
    let inode = |line: &str| Some(format!("socket:[{}]", line.split_whitespace().nth(9)?));
    text.lines().skip(1).filter_map(inode).filter(|socket| open.contains(socket)).count()
}

#[test]
fn the_process_of_a_lab_ends_at_the_first_signal() {
    let up = RunningLab::new();
    let [pid] = up.processes()[..] else { panic!("one process") };
    assert!(Command::new("kill").arg(pid.to_string()).status().expect("kill runs").success());
    while !up.processes().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(!std::path::Path::new(&up.place.text(&format!("run/lab/{}/control.sock", up.fabric))).exists());
    up.on("down");
}

#[test]
fn nothing_is_left_of_labs_of_files() {
    let place = Place::new();
    let file = "topologies/lab/two-planes-p4.yaml";
    place.ends(0, &["lab", "run", file]);
    assert!(!std::path::Path::new(&place.text("run")).exists() || is_empty(&place.text("run")));
    place.ends(0, &["lab", "up", file]);
    assert!(std::path::Path::new(&place.text("run/lab/.trees/two-planes-p4/manifest.json")).exists());
    place.ends(0, &["lab", "down", "two-planes-p4"]);
    assert!(is_empty(&place.text("run")));
}

fn is_empty(folder: &str) -> bool {
    std::fs::read_dir(folder).expect("it can be listed").next().is_none()
}

#[test]
fn a_name_is_no_path() {
    let place = Place::new();
    let why = place.ends(1, &["lab", "down", "../../x"]);
    assert!(why.contains("\"../../x\" is not a valid name for a fabric"), "{why}");
}

#[test]
fn a_tree_that_was_changed_is_run_only_where_it_is_asked_for() {
    let place = Place::new();
    place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", "tree"]);
    let path = place.text("tree/hosts/su001-n001/ip.batch");
    let text = std::fs::read_to_string(&path).expect("it is there");
    std::fs::write(&path, format!("{text}# by hand\n")).expect("it is ours");
    let why = place.ends(1, &["lab", "up", "tree"]);
    assert!(why.contains("ip.batch`: it differs from the manifest"), "{why}");
    assert!(place.ends(0, &["lab", "up", "tree", "--no-digests"]).contains("is up"));
    place.ends(0, &["lab", "down", "tree"]);
}

#[test]
fn what_needs_paths_of_hosts_is_refused_by_name() {
    let place = Place::new();
    let why = place.ends(1, &["export", "mininet", "topologies/lab/bgp-unnumbered.yaml", "--out", "net.py"]);
    assert!(
        why.contains(
            "fabric `bgp-unnumbered` has `routing: bgp-unnumbered`, but a Mininet script needs `srv6-static`"
        ),
        "{why}"
    );
}

#[test]
fn one_command_runs_a_fabric_that_speaks_bgp() {
    let Some(_alone) = namespaces() else { return };
    let place = Place::new();
    let text = place.read("topologies/lab/bgp-unnumbered.yaml");
    let fabric = fabric_name("cb");
    place.write("fabric.yaml", text.replace("fabric: bgp-unnumbered", &format!("fabric: {fabric}")));
    let output = place.closc(&["lab", "run", "fabric.yaml"]);
    let why = String::from_utf8_lossy(&output.stderr);
    if why.contains("which is not installed here") {
        closc_skip::skip("FRR is not installed");
        return;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}{why}");
    assert!(text.contains("12 pairs, ") && text.contains(" 0 lost, 0 misdelivered"), "{text}");
    assert!(text.contains(": 0 have a share that does not match their weight"), "{text}");
}

#[test]
fn a_lab_that_was_killed_is_in_nobodys_way() {
    let up = RunningLab::new();
    let [pid] = up.processes()[..] else { panic!("one process") };
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.expect("kill runs").success());
    while !up.processes().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(up.place.ends(0, &["lab", "status"]).contains("is broken"));
    assert!(up.place.ends(1, &["lab", "test", "tree"]).contains("no lab of fabric `two-planes-p4` is up"));
    assert!(up.on("up").contains("is up on target embedded"));
    up.push();
    assert!(up.on("test").contains("40 delivered, 0 lost"));
}

/// Sends two or more signals to the process group at arbitrary moments. Afterwards, the lab is completely up or
/// nothing is left.
#[test]
fn signals_leave_a_lab_or_nothing() {
    use std::os::unix::process::CommandExt as _;
    let place = Place::new();
    place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", "tree"]);
    let state = place.path("run/lab/two-planes-p4.json");
    for (round, signal) in ["-INT", "-TERM", "-INT", "-HUP", "-INT"].into_iter().enumerate() {
        let mut up = place.command(&["lab", "up", "tree"]);
        let mut up = up.process_group(0).stderr(std::process::Stdio::piped()).spawn().expect("closc runs");
        // The state file is written before anything is created.
        while !state.exists() && up.try_wait().expect("it is ours").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_millis(40 * round as u64));
        for _ in 0..2 {
            let group = format!("-{}", up.id());
            // The process may have ended already.
            let _ = Command::new("kill")
                .args([signal, "--", &group])
                .stderr(std::process::Stdio::null())
                .status();
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let output = up.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => assert!(place.ends(0, &["lab", "down", "tree"]).contains("is down"), "{said}"),
            Some(1) => {
                assert!(said.contains("error: interrupted; the partial lab was removed"), "{said}");
            }
            other => panic!("{signal}: {other:?}, {said}"),
        }
        assert!(!place.path("run/lab").exists(), "{signal} in round {round}: {said}");
    }
}

/// Only one process at a time works on a lab, including the compilation of its tree. Locks of dead processes have no
/// effect.
#[test]
fn two_at_once_are_refused_by_name() {
    let place = Place::new();
    let file = "topologies/lab/two-planes-p4.yaml";
    place.ends(0, &["compile", file, "--out", "tree"]);
    for (lock, source) in
        [("run/lab/.trees/two-planes-p4.lock", file), ("run/lab/two-planes-p4.lock", "tree")]
    {
        let path = place.path(lock);
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != place.path("")) {
            std::fs::create_dir_all(folder).expect("a folder");
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            std::fs::set_permissions(folder, private).expect("it is ours");
        }
        let held = std::fs::File::create(&path).expect("a file");
        held.lock().expect("it is free");
        for command in ["up", "run", "test"] {
            let why = place.ends(1, &["lab", command, source]);
            assert!(why.contains("another process is changing lab `two-planes-p4`"), "{lock}: {why}");
        }
        drop(held);
        // This process id is above the maximum.
        std::fs::write(&path, "4194305").expect("it is ours");
        assert!(place.ends(0, &["lab", "up", source]).contains("is up"));
        assert!(place.ends(0, &["lab", "down", "two-planes-p4"]).contains("is down"));
    }
}

/// Jobs in virtual time run inside one process. Several jobs on fabrics with the same name can run in parallel with a
/// lab of that name, with the same results.
#[test]
fn jobs_in_virtual_time_are_in_nobodys_way() {
    let place = Place::new();
    let file = "topologies/lab/two-planes-p4.yaml";
    let job =
        |seed: &'static str| ["lab", "job", file, "--messages", "30", "--seed", seed, "--format", "json"];
    place.ends(0, &["lab", "up", file]);
    let held: Vec<std::fs::File> = ["two-planes-p4.lock", ".trees/two-planes-p4.lock"]
        .map(|lock| std::fs::File::create(place.path("run/lab").join(lock)).expect("a file"))
        .into();
    for file in &held {
        file.lock().expect("it is free");
    }
    let alone = place.ends(0, &job("7"));
    let running: Vec<_> = (0..4)
        .map(|_| {
            let mut command = place.command(&job("7"));
            let command = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().expect("closc runs")
        })
        .collect();
    for job in running {
        let output = job.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), alone);
    }
    drop(held);
    assert!(place.ends(0, &["lab", "down", file]).contains("is down"));
    assert!(is_empty(&place.text("run")));
}

/// The next job on a fabric removes the leftovers of a killed job in virtual time.
#[test]
fn what_a_killed_job_leaves_goes_with_the_next_one() {
    let place = Place::new();
    let file = "topologies/lab/two-planes-p4.yaml";
    let job = |seconds: &'static str| ["lab", "job", file, "--seconds", seconds];
    let mut killed: Vec<_> =
        (0..2).map(|_| place.command(&job("3600")).spawn().expect("closc runs")).collect();
    for (number, child) in (1..).zip(&mut killed) {
        let tree = place.path(&format!("run/lab/.trees/.own-{number}/two-planes-p4"));
        while !tree.exists() && child.try_wait().expect("it is ours").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    for child in &mut killed {
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
    }
    assert!(place.path("run/lab/.trees").exists());
    place.ends(0, &job("1"));
    assert!(is_empty(&place.text("run")));
}

/// An empty folder of the user is kept, and nothing is created next to it.
#[test]
fn a_folder_that_was_there_stays() {
    let place = Place::new();
    std::fs::create_dir(place.path("own")).expect("a folder");
    let lab = |words: &[&str]| {
        let output =
            place.command(words).env("CLOSC_RUNTIME", place.path("own")).output().expect("closc runs");
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let beside = || {
        let all = std::fs::read_dir(place.path("")).expect("a folder");
        let mut names: Vec<_> = all.map(|entry| entry.expect("it can be listed").file_name()).collect();
        names.sort();
        names
    };
    let before = beside();
    lab(&["lab", "run", "topologies/lab/two-planes-p4.yaml"]);
    assert_eq!(beside(), before);
    assert_eq!(std::fs::read_dir(place.path("own")).expect("it is there").count(), 0);
}

/// Incomplete labs and swapped cables are reported.
#[test]
fn a_lab_that_is_not_as_it_should_be_says_so() {
    let up = RunningLab::new();
    let state = up.place.path("run/lab/two-planes-p4.json");
    let text = std::fs::read_to_string(&state).expect("it is up");
    std::fs::write(&state, text.replace("\"complete\": true", "\"complete\": false")).expect("it is ours");
    let why = up.place.ends(1, &["lab", "test", "tree"]);
    assert!(why.contains("is only partly up: take it down with `closc lab down`"), "{why}");
    assert!(up.on("up").contains("is up on target embedded"), "it heals");
    up.push();
    up.place.closc(&["lab", "miswire", "tree", "p0-t0-001--p0-t1-001", "p0-t0-002--p0-t1-001", "--keep"]);
    let status = up.place.ends(0, &["lab", "status"]);
    assert!(status.contains("is up with deliberate faults") && status.contains("are swapped"), "{status}");
    up.on("restore");
    assert!(up.place.ends(0, &["lab", "status"]).contains("is up: "));
}

/// Waits for exclusive use of network namespaces; `None` if this machine lacks requirements of such tests.
fn namespaces() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    match closc_lab::backend::linux::check_features() {
        Ok(()) => Some(ONE.lock().unwrap_or_else(PoisonError::into_inner)),
        Err(error) => {
            closc_skip::skip(format_args!("{error}"));
            None
        }
    }
}

/// Writes the small fabric to `fabric.yaml`, with a unique name.
fn small(place: &Place, name: &str) -> String {
    let fabric = fabric_name(name);
    let text = place.read("topologies/lab/two-planes-p4.yaml");
    place.write("fabric.yaml", text.replace("fabric: two-planes-p4", &format!("fabric: {fabric}")));
    fabric
}

/// Labs with one process per switch: the embedded switch, and BMv2 if it is installed.
#[test]
fn switches_in_namespaces_are_programmed_walked_and_rewired() {
    let Some(_alone) = namespaces() else { return };
    for program in ["closc", "simple_switch_grpc"] {
        if program != "closc" && !has(program) {
            closc_skip::skip(format_args!("no {program} in PATH"));
            continue;
        }
        let place = Place::new();
        let (file, fabric) = ("fabric.yaml", small(&place, "cb"));
        place.ends(0, &["lab", "up", file, "--target", "bmv2", "--switch-program", program]);
        let tree = format!("run/lab/.trees/{fabric}");
        assert!(place.ends(0, &["push", &tree, "--inventory", "lab"]).contains("288 updates sent"));
        assert!(place.ends(0, &["lab", "test", file]).contains("40 delivered, 0 lost"));
        assert!(place.ends(0, &["push", &tree, "--inventory", "lab"]).contains(" 0 updates sent"));
        let (a, b) = ("su001-n001/nic0.p0", "su002-n002/nic0.p0");
        let text = place.ends(0, &["lab", "miswire", file, a, b]);
        assert!(text.contains(&format!("found: {a} and {b} are swapped")), "{text}");
        assert!(place.ends(0, &["lab", "cut", file, a]).contains("found: "));
        assert!(place.ends(0, &["lab", "test", file]).contains("40 delivered, 0 lost"));
        let down = place.ends(0, &["lab", "down", &fabric]);
        assert!(down.contains("13 namespaces removed, 8 processes ended"), "{down}");
    }
}

/// A lab with one process per switch, nodes in the kernel, and switches that choose the path.
#[test]
fn switches_in_namespaces_choose_paths_by_their_weights() {
    let Some(_alone) = namespaces() else { return };
    for (topology, prefix) in [("ecmp-p4", "cx"), ("ecmp-pins", "cy")] {
        let place = Place::new();
        let (file, fabric) = ("fabric.yaml", fabric_name(prefix));
        let text = place.read(&format!("topologies/lab/{topology}.yaml"));
        place.write(file, text.replace(&format!("fabric: {topology}"), &format!("fabric: {fabric}")));
        let own = ["--target", "bmv2", "--switch-program", "closc"];
        place.ends(0, &["lab", "up", file, own[0], own[1], own[2], own[3]]);
        let tree = format!("run/lab/.trees/{fabric}");
        assert!(
            place
                .ends(0, &["push", &tree, "--inventory", "lab"])
                .contains("10 switches up to date, 0 failed")
        );
        let text = place.ends(0, &["lab", "test", file, "--sample", "6000"]);
        assert!(
            text.contains("6000 delivered, 0 lost") && text.contains(" 0 have a share that does not match"),
            "{text}"
        );
        assert!(place.ends(0, &["push", &tree, "--inventory", "lab"]).contains(" 0 updates sent"));
        assert!(place.ends(0, &["lab", "status"]).contains(&fabric));
        let cut = place.ends(0, &["lab", "cut", file, "p0-t0-001--p0-t1-002"]);
        assert!(cut.contains("found: p0-t0-001--p0-t1-002 is cut"), "{cut}");
        let said = place.ends(1, &["lab", "job", file]);
        assert!(said.contains("needs `srv6-static`, where hosts choose paths"), "{said}");
        let down = place.ends(0, &["lab", "down", &fabric]);
        assert!(down.contains("17 namespaces removed, 10 processes ended"), "{down}");
    }
    let place = Place::new();
    place.write("pins.yaml", place.read("topologies/lab/ecmp-pins.yaml"));
    if has("simple_switch_grpc") {
        let said = place.ends(1, &["lab", "up", "pins.yaml", "--target", "bmv2"]);
        assert!(said.contains("identify ports and next hops by name"), "{said}");
    }
}

#[test]
fn a_program_that_is_not_there_is_said_with_the_way_out() {
    let Some(_alone) = namespaces() else { return };
    let place = Place::new();
    small(&place, "cn");
    let why = place
        .ends(1, &["lab", "up", "fabric.yaml", "--target", "bmv2", "--switch-program", "no_such_switch"]);
    assert!(
        why.contains("`no_such_switch` is not in PATH") && why.contains("--switch-program closc"),
        "{why}"
    );
    assert_eq!(place.ends(0, &["lab", "status"]), "no lab is up\n");
}

#[test]
fn a_mininet_script_carries_every_path() {
    let place = Place::new();
    let (file, fabric) = ("fabric.yaml", small(&place, "cm"));
    let script = place.text("script.py");
    assert_eq!(place.ends(0, &["export", "mininet", file, "-o", &script]), format!("{script}\n"));
    let text = place.read("script.py");
    assert!(text.contains("SWITCH = \"simple_switch_grpc\"") && text.contains(&fabric), "{text}");
    let Some(_alone) = namespaces() else { return };
    // Debian's own Python has Mininet; another one first in `PATH` may lack it.
    let has_mininet = |python: &&str| {
        let run = Command::new(python).args(["-c", "import mininet.net"]).output();
        run.is_ok_and(|run| run.status.success())
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(has_mininet) else {
        closc_skip::skip(format_args!(
            "the script is not run: no Mininet (Debian: `apt-get install mininet`)"
        ));
        return;
    };
    let tree = place.text("tree");
    place.ends(0, &["compile", file, "--out", &tree]);
    for program in [env!("CARGO_BIN_EXE_closc"), "simple_switch_grpc"] {
        if !program.contains('/') && !has(program) {
            closc_skip::skip(format_args!("no {program} in PATH"));
            continue;
        }
        let push = format!("{} push {tree} --inventory \"$INVENTORY\"", env!("CARGO_BIN_EXE_closc"));
        let folder = place.text("mininet");
        let run = place
            .program(python)
            .args([&script, "--switch", program, "--folder", &folder, "--run", &push, "--walk"])
            .output()
            .expect("python3 runs");
        let said = String::from_utf8_lossy(&run.stdout);
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{program}:\n{said}{errors}");
        assert!(
            said.contains("288 updates sent") && said.contains("40 paths: 40 delivered, 0 not"),
            "{said}"
        );
    }
}

#[test]
fn what_does_not_fit_is_said_with_the_way_out() {
    let place = Place::new();
    let linux = ["lab", "up", "topologies/lab/two-planes.yaml", "--target", "embedded"];
    assert!(place.ends(1, &linux).contains("platform: bmv2, os: p4"));
    let text = place.read("topologies/lab/two-planes-p4.yaml");
    let text = text.replace("platform: bmv2, os: p4", "platform: th5-512x100g, os: sonic");
    place.write("sonic.yaml", text.replace("medium: virtual", "medium: dr4"));
    let why = place.ends(1, &["lab", "run", "sonic.yaml"]);
    assert!(why.contains("`os: linux`, `frr`, `p4`"), "{why}");
}

/// A job report in Markdown. With `--quiet`, a job that meets its expectations prints nothing.
#[test]
fn a_job_has_a_form_for_a_wiki() {
    let place = Place::new();
    let job = |more: &[&str]| {
        let given =
            ["lab", "job", "topologies/lab/two-planes-p4.yaml", "--messages", "1", "--port-mbps", "100"];
        place.ends(0, &[&given[..], more].concat())
    };
    let text = job(&["--format", "markdown"]);
    assert!(text.starts_with("## Job\n") && text.contains("| transport | messages |"), "{text}");
    assert_eq!(job(&["-q"]), "");
}
