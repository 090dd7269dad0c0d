//! A fabric of network namespaces, with FRR on the switches that have an `frr.conf`. The fabric is removed
//! when its value is dropped.
//!
//! In: a plan and the files rendered from it. Out: namespaces named after the process and the device,
//! connected by veth pairs where the plan has cables, and configured only by the rendered files. Invariants:
//! only processes that were started here are stopped, by their ids.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use camino::Utf8PathBuf;
use closc_plan::Plan;

/// Folder of FRR's daemons on Debian.
const DAEMONS: &str = "/usr/lib/frr";

/// The daemons in the order of their start. FRR 10 needs `mgmtd` first; FRR 8 does not have it.
const ORDER: [&str; 5] = ["mgmtd", "zebra", "staticd", "bfdd", "bgpd"];

/// Returns the missing requirement for running a fabric on this machine; `None` if it can run.
pub fn missing_requirement() -> Option<String> {
    let namespace = prefix();
    if !runs("ip", &["netns", "add", &namespace]) {
        return Some("network namespaces cannot be made; run as root with iproute2".to_owned());
    }
    runs("ip", &["netns", "del", &namespace]);
    let ping = "`ping` cannot be run; install iputils-ping".to_owned();
    (!runs("ping", &["-V"])).then_some(ping)
}

/// Returns the missing requirement for running a fabric with FRR on its switches.
pub fn missing_frr() -> Option<String> {
    if let Some(missing) = missing_requirement() {
        return Some(missing);
    }
    for daemon in ["zebra", "bgpd", "bfdd", "staticd"] {
        if !Path::new(DAEMONS).join(daemon).exists() {
            return Some(format!("{DAEMONS}/{daemon} is not there; install frr"));
        }
    }
    (!runs("vtysh", &["--help"])).then_some("`vtysh` cannot be run; install frr".to_owned())
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Returns a unique prefix for names of namespaces, because tests run in parallel.
fn prefix() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    format!("closc-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}

/// A file of a switch or node: its path in a tree, and its content.
pub type File = (Utf8PathBuf, Vec<u8>);

/// A running fabric.
pub struct Fabric {
    prefix: String,
    folder: tempfile::TempDir,
    namespaces: Vec<String>,
    daemons: Vec<PathBuf>,
}

impl Fabric {
    /// Starts the fabric of a plan.
    pub fn up(plan: &Plan, files: &[File]) -> Self {
        let mut fabric = Fabric {
            prefix: prefix(),
            folder: tempfile::tempdir().expect("a temporary folder"),
            namespaces: Vec::new(),
            daemons: Vec::new(),
        };
        // The daemons run as a separate user.
        let public = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        fs::set_permissions(fabric.folder.path(), public).expect("the folder is ours");
        for (path, bytes) in files {
            let path = fabric.folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder is ours");
            fs::write(path, bytes).expect("the folder is ours");
        }
        let devices = devices(files);
        for (_, device) in &devices {
            let name = fabric.namespace(device);
            run("ip", &["netns", "add", &name]);
            fabric.namespaces.push(name);
        }
        for link in plan.fabric().links() {
            let ends = plan.cable_ends(link);
            let (lower, upper) = (fabric.namespace(&ends.lower.0), fabric.namespace(&ends.upper.0));
            let veth = ["type", "veth", "peer", "name", &ends.upper.1, "netns", &upper];
            run("ip", &[&["link", "add", "name", &ends.lower.1, "netns", &lower], &veth[..]].concat());
        }
        for (folder, device) in &devices {
            fabric.kernel(folder, device);
        }
        for (folder, device) in &devices {
            if Path::new(&fabric.path(&format!("{folder}/frr.conf"))).exists() {
                fabric.routing(folder, device);
            }
        }
        fabric
    }

    fn path(&self, file: &str) -> String {
        self.folder.path().join(file).to_str().expect("the path is text").to_owned()
    }

    fn namespace(&self, device: &str) -> String {
        format!("{}-{device}", self.prefix)
    }

    fn kernel(&self, folder: &str, device: &str) {
        let file = |name: &str| self.path(&format!("{folder}/{name}"));
        run("ip", &["netns", "exec", &self.namespace(device), "sysctl", "-qp", &file("sysctl.conf")]);
        run("ip", &["-n", &self.namespace(device), "-force", "-batch", &file("devices.batch")]);
        run("ip", &["-n", &self.namespace(device), "-batch", &file("ip.batch")]);
    }

    fn routing(&mut self, folder: &str, device: &str) {
        let sockets = self.path(&format!("run/{device}"));
        fs::create_dir_all(&sockets).expect("the folder is ours");
        run("chown", &["frr:frr", &sockets]);
        for daemon in ORDER.into_iter().filter(|daemon| Path::new(DAEMONS).join(daemon).exists()) {
            let (pid, zebra) = (format!("{sockets}/{daemon}.pid"), format!("{sockets}/zserv.api"));
            let log = format!("file:{sockets}/{daemon}.log");
            let program = format!("{DAEMONS}/{daemon}");
            let mut arguments =
                vec!["netns", "exec", "", &program, "-d", "-i", &pid, "--vty_socket", &sockets];
            let name = self.namespace(device);
            arguments[2] = &name;
            arguments.extend(["--log", &log]);
            if daemon != "mgmtd" {
                arguments.extend(["-z", &zebra, "-f", "/dev/null"]);
            }
            run("ip", &arguments);
            self.daemons.push(PathBuf::from(pid));
        }
        let file = self.path(&format!("{folder}/frr.conf"));
        run("vtysh", &["--vty_socket", &sockets, "-f", &file]);
    }

    /// Runs a command of FRR on a switch, and returns its output.
    pub fn show(&self, device: &str, command: &str) -> String {
        let output = run("vtysh", &["--vty_socket", &self.path(&format!("run/{device}")), "-c", command]);
        String::from_utf8(output.stdout).expect("FRR speaks text")
    }

    /// Runs `ip` in the namespace of a device.
    pub fn ip(&self, device: &str, arguments: &[&str]) -> String {
        let output = run("ip", &[&["-n", &self.namespace(device)], arguments].concat());
        String::from_utf8(output.stdout).expect("ip speaks text")
    }

    /// Sends one echo request, and returns whether it was answered.
    pub fn ping(&self, device: &str, from: &str, to: &str) -> bool {
        let name = self.namespace(device);
        let arguments =
            ["netns", "exec", &name, "ping", "-6", "-n", "-q", "-c", "1", "-W", "2", "-I", from, to];
        Command::new("ip").args(arguments).output().is_ok_and(|output| output.status.success())
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        for pid in &self.daemons {
            if let Ok(id) = fs::read_to_string(pid) {
                let _ = Command::new("kill").args(["-KILL", id.trim()]).output();
            }
        }
        for namespace in &self.namespaces {
            let _ = Command::new("ip").args(["netns", "del", namespace]).output();
        }
    }
}

/// Folders and names of the devices, each once.
fn devices(files: &[File]) -> Vec<(String, String)> {
    let folder = |(path, _): &File| {
        let folder = path.parent().expect("a file is in a folder");
        (folder.to_string(), folder.file_name().expect("a folder has a name").to_owned())
    };
    let mut devices: Vec<(String, String)> = files.iter().map(folder).collect();
    devices.sort();
    devices.dedup();
    devices
}

fn run(program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
