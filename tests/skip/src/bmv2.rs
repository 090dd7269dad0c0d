//! BMv2 for tests: a `simple_switch_grpc` without interfaces. It is reached through sockets in a separate
//! folder, so tests do not guess port numbers.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of folders that this process has created.
static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// A running BMv2 process, which ends when this value is dropped.
#[derive(Debug)]
pub struct Bmv2 {
    process: Child,
    command: Command,
    folder: PathBuf,
}

impl Drop for Bmv2 {
    fn drop(&mut self) {
        self.end();
        // Files that cannot be removed stay in the temporary folder.
        drop(fs::remove_dir_all(&self.folder));
    }
}

impl Bmv2 {
    /// Starts BMv2 without a pipeline. `target` is added to the arguments after `--`.
    pub fn start(program: &Path, device: u64, target: &[&str]) -> io::Result<Self> {
        let folder = folder()?;
        let mut command = Command::new(program);
        command.args(["--no-p4", "--device-id", &device.to_string()]);
        if has_thrift(program)? {
            // Port 0: the system chooses a free port; tests do not use it.
            command.args(["--thrift-port", "0"]);
        }
        let (address, packets) = (socket(&folder, "p4runtime"), socket(&folder, "packets"));
        command.args(["--", "--grpc-server-addr", &address, "--dp-grpc-server-addr", &packets]);
        command.args(target).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { process: command.spawn()?, command, folder })
    }

    /// Returns the P4Runtime address: `unix:` and a path.
    pub fn address(&self) -> String {
        socket(&self.folder, "p4runtime")
    }

    /// Returns the address of the socket for packets on ports.
    pub fn packets(&self) -> String {
        socket(&self.folder, "packets")
    }

    /// Returns whether the process is still running.
    pub fn lives(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Stops the process and starts a new one without state.
    pub fn restart(&mut self) -> io::Result<()> {
        self.end();
        self.process = self.command.spawn()?;
        Ok(())
    }

    fn end(&mut self) {
        // The process may have exited already; the test then fails for that reason.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Makes a folder whose path is short enough for a socket.
fn folder() -> io::Result<PathBuf> {
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("closc-bmv2-{}-{number}", process::id()));
    // An earlier process with the same id may have left such a folder.
    drop(fs::remove_dir_all(&folder));
    fs::create_dir(&folder)?;
    Ok(folder)
}

fn socket(folder: &Path, name: &str) -> String {
    format!("unix:{}", folder.join(name).display())
}

/// Returns whether the program was built with Thrift. Without it, Thrift options are rejected.
fn has_thrift(program: &Path) -> io::Result<bool> {
    let help = Command::new(program).arg("--help").output()?;
    Ok(String::from_utf8_lossy(&help.stdout).contains("--thrift-port"))
}
