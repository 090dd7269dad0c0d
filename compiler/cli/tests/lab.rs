//! Labs from the command line: what the README does first, and every command on a lab of embedded switches.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

/// The top of the tree.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A place where labs are remembered that no other test has.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Place { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).expect("UTF-8")
    }

    fn closc(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_closc"))
            .args(words)
            .current_dir(root())
            .env("CLOSC_RUNTIME", self.path().join("run/lab"))
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs")
    }

    /// Runs a command that has to succeed, and returns what it prints.
    fn fine(&self, words: &[&str]) -> String {
        let output = self.closc(words);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.success(), "{words:?}\n{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// Runs a command that has to fail, and returns why it does.
    fn fails(&self, words: &[&str]) -> String {
        let output = self.closc(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    }
}

/// A lab in a process of its own, which is ended whatever happens.
struct Up {
    place: Place,
    tree: String,
    fabric: &'static str,
}

impl Up {
    fn new() -> Self {
        let (place, fabric) = (Place::new(), "two-planes-p4");
        let tree = place.path().join("tree").into_string();
        place.fine(&["compile", "topologies/lab/two-planes-p4.yaml", "--out", &tree]);
        let up = Up { place, tree, fabric };
        assert!(up.on("up").contains("is up on target embedded: 8 switches, 4 nodes, 16 cables"));
        up
    }

    /// Runs a lab command on the tree.
    fn on(&self, command: &str) -> String {
        self.place.fine(&["lab", command, &self.tree])
    }

    fn push(&self) -> String {
        self.place.fine(&["push", &self.tree, "--inventory", "lab"])
    }

    fn socket(&self) -> Utf8PathBuf {
        self.place.path().join("run/lab").join(self.fabric).join("control.sock")
    }

    /// The processes that have the socket on their command line.
    fn processes(&self) -> Vec<i32> {
        let socket = self.socket();
        let numbers = std::fs::read_dir("/proc")
            .expect("Linux")
            .filter_map(|entry| entry.expect("it can be listed").file_name().to_str()?.parse::<i32>().ok());
        let has = |pid: &i32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|word| word == socket.as_str().as_bytes())
        };
        numbers.filter(has).collect()
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        drop(self.place.closc(&["lab", "down", self.fabric]));
    }
}

#[test]
fn one_command_does_everything() {
    let place = Place::new();
    let text = place.fine(&["lab", "run", "topologies/lab/two-planes-p4.yaml"]);
    for line in [
        "two-planes-p4 is up on target embedded: 8 switches, 4 nodes, 16 cables in ",
        "8 switches are as they should be, 0 failed, 0 not begun; 248 updates sent in ",
        "12 pairs, 40 paths, 40 packets: 40 delivered, 0 lost, 0 misdelivered in ",
        "32 port counters, 16 segment counters: 0 differ from what the addresses named",
        "two-planes-p4 is down in ",
        "everything is as it should be: ",
    ] {
        assert!(text.lines().any(|printed| printed.starts_with(line)), "{line}\n{text}");
    }
    assert_eq!(place.fine(&["lab", "status"]), "no lab is up\n");
}

#[test]
fn the_run_of_a_sample_is_told_as_json_and_can_be_kept() {
    let place = Place::new();
    let file = "topologies/lab/two-planes-p4.yaml";
    let run =
        place.fine(&["lab", "run", file, "--sample", "20", "--seed", "5", "--keep", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&run).expect("one document");
    assert_eq!(report["test"]["paths"], 20);
    assert_eq!(report["test"]["drawn"], serde_json::json!({ "of": 40, "seed": 5 }));
    assert_eq!(report["test"]["delivered"], 20);
    assert!(place.fine(&["lab", "test", file]).contains("40 delivered"));
    assert!(place.fine(&["lab", "down", file]).contains("is down: 1 process ended"));
}

#[test]
fn every_command_works_on_embedded_switches() {
    let up = Up::new();
    let why = up.place.fails(&["lab", "test", &up.tree]);
    assert!(why.contains("`p0-t0-001` has no pipeline yet: program the lab with `closc push"), "{why}");
    assert!(up.push().contains("248 updates sent"));
    assert!(up.on("test").contains("40 delivered, 0 lost"));
    assert!(up.push().contains(" 0 updates sent"));
    up.place.fine(&["drift", &up.tree, "--inventory", "lab"]);

    let (a, b) = ("p0-t0-001--p0-t1-001", "p0-t0-002--p0-t1-001");
    let text = up.place.fine(&["lab", "miswire", &up.tree, a, b, "--keep"]);
    assert!(text.contains(&format!("found: {a} and {b} are swapped")), "{text}");
    assert!(up.on("status").contains(&format!("{a} and {b} are swapped")));
    assert_eq!(up.place.closc(&["lab", "test", &up.tree]).status.code(), Some(1));
    up.on("restore");
    assert!(up.on("test").contains("40 delivered, 0 lost"));
    assert!(up.place.fine(&["lab", "cut", &up.tree, a]).contains(&format!("found: {a} (")));
    assert!(up.on("up").contains("is configured again"));
    assert!(up.on("test").contains("40 delivered, 0 lost"));
    assert_eq!(up.processes().len(), 1);
    assert!(up.place.fine(&["lab", "down", up.fabric]).contains("1 process ended"));
    assert!(up.processes().is_empty());
    assert!(up.place.fails(&["push", &up.tree, "--inventory", "lab"]).contains("no lab of fabric"));
}

#[test]
fn a_lab_that_was_killed_is_in_nobodys_way() {
    let up = Up::new();
    let [pid] = up.processes()[..] else { panic!("one process") };
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.expect("kill runs").success());
    while !up.processes().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(up.place.fine(&["lab", "status"]).contains("is broken"));
    assert!(up.place.fails(&["lab", "test", &up.tree]).contains("no lab of fabric `two-planes-p4` is up"));
    assert!(up.on("up").contains("is up on target embedded"));
    up.push();
    assert!(up.on("test").contains("40 delivered, 0 lost"));
}

/// Tells whether this machine has what tests in namespaces need.
fn has_namespaces() -> bool {
    match closc_lab::backend::linux::check_features() {
        Ok(()) => true,
        Err(error) => {
            closc_skip::skip(format_args!("{error}"));
            false
        }
    }
}

fn has(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// Writes the small fabric under a name that no other process has.
fn small(place: &Place, name: &str) -> (String, String) {
    let fabric = format!("{name}{}", std::process::id());
    let text = std::fs::read_to_string(root().join("topologies/lab/two-planes-p4.yaml")).expect("it ships");
    let file = place.path().join("fabric.yaml");
    std::fs::write(&file, text.replace("fabric: two-planes-p4", &format!("fabric: {fabric}")))
        .expect("written");
    (file.into_string(), fabric)
}

/// A process for each switch: the embedded switch, and BMv2 where it is installed.
#[test]
fn switches_in_namespaces_are_programmed_walked_and_rewired() {
    if !has_namespaces() {
        return;
    }
    for program in ["closc", "simple_switch_grpc"] {
        if program != "closc" && !has(program) {
            closc_skip::skip(format_args!("no {program} in PATH"));
            continue;
        }
        let place = Place::new();
        let (file, fabric) = small(&place, "cb");
        place.fine(&["lab", "up", &file, "--target", "bmv2", "--switch-program", program]);
        let tree = place.path().join("run/trees").join(&fabric).into_string();
        let work = || {
            assert!(place.fine(&["push", &tree, "--inventory", "lab"]).contains("248 updates sent"));
            assert!(place.fine(&["lab", "test", &file]).contains("40 delivered, 0 lost"));
            assert!(place.fine(&["push", &tree, "--inventory", "lab"]).contains(" 0 updates sent"));
            let (a, b) = ("su001-n001/nic0.p0", "su002-n002/nic0.p0");
            let text = place.fine(&["lab", "miswire", &file, a, b]);
            assert!(text.contains(&format!("found: {a} and {b} are swapped")), "{text}");
            assert!(place.fine(&["lab", "cut", &file, a]).contains("found: "));
            assert!(place.fine(&["lab", "test", &file]).contains("40 delivered, 0 lost"));
        };
        let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        let down = place.fine(&["lab", "down", &fabric]);
        assert!(down.contains("13 namespaces removed, 8 processes ended"), "{down}");
        if let Err(panic) = worked {
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn a_program_that_is_not_there_is_said_with_the_way_out() {
    if !has_namespaces() {
        return;
    }
    let place = Place::new();
    let (file, _) = small(&place, "cn");
    let why = place.fails(&["lab", "up", &file, "--target", "bmv2", "--switch-program", "no_such_switch"]);
    assert!(
        why.contains("`no_such_switch` is not in PATH") && why.contains("--switch-program closc"),
        "{why}"
    );
    assert_eq!(place.fine(&["lab", "status"]), "no lab is up\n");
}

#[test]
fn a_mininet_script_carries_every_path() {
    let place = Place::new();
    let (file, fabric) = small(&place, "cm");
    let script = place.path().join("script.py").into_string();
    assert_eq!(place.fine(&["export", "mininet", &file, "-o", &script]), format!("{script}\n"));
    let text = std::fs::read_to_string(&script).expect("it was written");
    assert!(text.contains("SWITCH = \"simple_switch_grpc\"") && text.contains(&fabric), "{text}");
    if !has_namespaces() {
        return;
    }
    // Debian's own Python has it; one that comes first in PATH need not.
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
    let tree = place.path().join("run/trees").join(&fabric);
    for program in [env!("CARGO_BIN_EXE_closc"), "simple_switch_grpc"] {
        if !program.contains('/') && !has(program) {
            closc_skip::skip(format_args!("no {program} in PATH"));
            continue;
        }
        let push = format!("{} push {tree} --inventory \"$INVENTORY\"", env!("CARGO_BIN_EXE_closc"));
        let folder = place.path().join("mininet").into_string();
        let run = Command::new(python)
            .args([&script, "--switch", program, "--folder", &folder, "--run", &push, "--walk"])
            .output()
            .expect("python3 runs");
        let said = String::from_utf8_lossy(&run.stdout);
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{program}:\n{said}{errors}");
        assert!(
            said.contains("248 updates sent") && said.contains("40 paths: 40 delivered, 0 not"),
            "{said}"
        );
    }
}

#[test]
fn what_does_not_fit_is_said_with_the_way_out() {
    let place = Place::new();
    let linux = ["lab", "up", "topologies/lab/two-planes.yaml", "--target", "embedded"];
    assert!(place.fails(&linux).contains("platform: bmv2, os: p4"));
    let sonic = place.path().join("sonic.yaml");
    let text = std::fs::read_to_string(root().join("topologies/lab/two-planes-p4.yaml")).expect("it ships");
    let text = text.replace("platform: bmv2, os: p4", "platform: th5-512x100g, os: sonic");
    std::fs::write(&sonic, text.replace("medium: virtual", "medium: dr4")).expect("it can be written");
    let why = place.fails(&["lab", "run", sonic.as_str()]);
    assert!(why.contains("os: p4"), "{why}");
}
