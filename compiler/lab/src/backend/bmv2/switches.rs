//! The processes of switches.
//!
//! Invariants: a process is identified by the path of its socket on its command line. Process ids are not stored, so
//! they cannot refer to another process after a crash.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use nix::sys::signal::{Signal, kill};

use crate::LabError;
use crate::backend::embedded::process::find_processes;
use crate::backend::linux::Namespace;
use crate::backend::p4::{self, SpecialPorts};
use crate::progress::Watch;
use crate::tree::{Program, Tree};

/// Time limit until a switch listens.
const PATIENCE: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_millis(20);

/// Queues of each port. The pipeline uses several, and BMv2 drops packets to a queue that does not exist.
const QUEUES: &str = "8";

/// Returns the socket at which a switch serves P4Runtime.
pub(crate) fn socket(folder: &Utf8Path, switch: &str) -> Utf8PathBuf {
    folder.join(format!("{switch}.sock"))
}

/// Returns whether a process listens on a socket.
pub(crate) fn is_alive(socket: &Utf8Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

/// BMv2.
const BMV2: &str = "simple_switch_grpc";

/// Checks that the program exists, and that its port numbers have as many bits as those of the tree.
pub(super) fn check(program: &[String], tree: &Tree) -> Result<(), LabError> {
    let name = program.first().map_or("", String::as_str);
    if Path::new(name).file_name() == Some(BMV2.as_ref()) {
        for (program, special) in SpecialPorts::all(tree)? {
            special.narrow(name)?;
            if program == Program::Sai {
                let mut switches = tree.devices.iter().filter(|(_, device)| device.program == Some(program));
                let switch = switches.next().map(|(name, _)| name.clone()).unwrap_or_default();
                return Err(LabError::Text { program: name.to_owned(), switch });
            }
        }
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).any(|folder| folder.join(name).is_file());
    if found || (name.contains('/') && Path::new(name).is_file()) {
        return Ok(());
    }
    Err(LabError::NoProgram { program: name.to_owned() })
}

/// Starts a switch in each namespace and waits until all of them listen.
pub(super) fn start<'a>(
    program: &[String],
    tree: &Tree,
    namespaces: impl Iterator<Item = &'a Namespace>,
    folder: &Utf8Path,
    watch: &Watch<'_>,
) -> Result<(), LabError> {
    let ids: BTreeMap<&str, u64> = p4::device_ids(tree).collect();
    let special = SpecialPorts::all(tree)?;
    let mut children = Vec::new();
    for namespace in namespaces {
        watch.check()?;
        let name = namespace.device.as_str();
        let device = tree.devices.get(name);
        let special = device.and_then(|device| special.get(&device.program?));
        let Some((device, special)) = device.zip(special) else { continue };
        let interfaces =
            device.numbers.iter().flat_map(|(port, number)| ["-i".to_owned(), format!("{number}@{port}")]);
        let mut command = Command::new(&program[0]);
        command
            .args(&program[1..])
            .args(["--no-p4", "--device-id", &ids.get(name).copied().unwrap_or_default().to_string()])
            .args(interfaces)
            .args(["--", "--grpc-server-addr", &format!("unix:{}", socket(folder, name))])
            .args(["--cpu-port", &special.cpu.to_string(), "--drop-port", &special.drop.to_string()])
            .args(["--priority-queues", QUEUES]);
        let log = folder.join(format!("{name}.log"));
        children.push((name, namespace.run(|| spawn(command, &log))?));
    }
    let total = children.len() as u64;
    let started = Instant::now();
    for (done, (name, child)) in (0..).zip(&mut children) {
        watch.step("start switches", done, total);
        while !is_alive(&socket(folder, name)) {
            watch.check()?;
            let ended = child.try_wait().map_err(LabError::io(format!("start `{name}`")))?;
            if ended.is_some() || started.elapsed() > PATIENCE {
                let log = std::fs::read_to_string(folder.join(format!("{name}.log"))).unwrap_or_default();
                let last: Vec<&str> = log.trim().lines().rev().take(5).collect();
                let message = last.into_iter().rev().collect::<Vec<_>>().join("; ");
                return Err(LabError::Start { program: format!("`{}` for `{name}`", program[0]), message });
            }
            sleep(PAUSE);
        }
    }
    watch.step("start switches", total, total);
    // Reap them, or they remain zombies while this program runs.
    let children: Vec<Child> = children.into_iter().map(|(_, child)| child).collect();
    std::thread::spawn(move || {
        for mut child in children {
            let _ = child.wait();
        }
    });
    Ok(())
}

/// Starts a program in the namespace of the calling thread.
fn spawn(mut command: Command, log: &Utf8Path) -> Result<Child, LabError> {
    let file = File::create(log).map_err(LabError::io(format!("write `{log}`")))?;
    let errors = file.try_clone().map_err(LabError::io(format!("write `{log}`")))?;
    let program = command.get_program().to_string_lossy().into_owned();
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors)
        .spawn()
        .map_err(LabError::io(format!("start `{program}`")))
}

/// Returns the command-line arguments that identify the processes of switches.
pub(super) fn process_args<'a>(folder: &Utf8Path, switches: impl Iterator<Item = &'a str>) -> Vec<String> {
    switches.map(|name| format!("unix:{}", socket(folder, name))).collect()
}

/// Ends the processes of switches; returns how many there were.
pub(crate) fn end<'a>(
    folder: &Utf8Path,
    switches: impl Iterator<Item = &'a String>,
) -> Result<usize, LabError> {
    let words = process_args(folder, switches.map(String::as_str));
    let found = find_processes(&words);
    for pid in &found {
        // The process may have just ended by itself.
        let _ = kill(*pid, Signal::SIGKILL);
    }
    let started = Instant::now();
    while let Some(pid) = find_processes(&words).first() {
        if started.elapsed() > PATIENCE {
            return Err(LabError::Process(format!("process {pid} does not end")));
        }
        sleep(PAUSE);
    }
    Ok(found.len())
}
