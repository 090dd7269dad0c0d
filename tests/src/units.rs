//! systemd in separate namespaces, where shipped units run as on a machine: with credentials, users, memory
//! limits, system call filters and restarts.
//!
//! In: files for its root. Out: commands inside, and properties of units. Invariants: systemd cannot write to
//! the machine's files or cgroups outside its own; when [`Units`] is dropped, its processes and cgroups are
//! removed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Hierarchies of cgroups version 1 that systemd gets.
const CONTROLLERS: [&str; 4] = ["memory", "pids", "devices", "systemd"];

/// Targets that units refer to.
const TARGETS: [&str; 6] = ["tests", "basic", "sysinit", "shutdown", "network-online", "multi-user"];

/// The programs that the boot needs, in addition to those of coreutils.
const PROGRAMS: [(&str, &[&str]); 5] = [
    ("unshare", &["--version"]),
    ("nsenter", &["--version"]),
    ("setpriv", &["--version"]),
    ("pivot_root", &["--version"]),
    ("systemctl", &["--version"]),
];

/// A running systemd.
pub struct Units {
    child: Child,
    /// Its process id in the namespace of this process.
    init: u32,
    cgroups: Vec<PathBuf>,
    folder: tempfile::TempDir,
}

/// Files for the root of a systemd that has not been started yet.
pub struct Stage(tempfile::TempDir);

impl Stage {
    /// Creates the files that every root has; `Err` if systemd cannot run here.
    ///
    /// # Errors
    ///
    /// Returns the missing requirement.
    pub fn new() -> Result<Stage, String> {
        if !Path::new("/usr/lib/systemd/systemd").exists() || !Path::new("/bin").is_symlink() {
            return Err("no systemd below /usr/lib, or /bin is separate from /usr".to_owned());
        }
        for (program, words) in PROGRAMS {
            if !Command::new(program).args(words).output().is_ok_and(|output| output.status.success()) {
                return Err(format!("`{program}` cannot be run"));
            }
        }
        let stage = Stage(tempfile::tempdir().map_err(|error| error.to_string())?);
        for folder in ["root", "files/etc"] {
            fs::create_dir_all(stage.0.path().join(folder)).map_err(|error| error.to_string())?;
        }
        for target in TARGETS {
            let unit = format!("[Unit]\nDescription={target}\nDefaultDependencies=no\n");
            stage.write(&format!("usr/lib/systemd/system/{target}.target"), unit, 0o644);
        }
        stage.write("etc/passwd", "root:x:0:0::/root:/bin/sh\n", 0o644);
        stage.write("etc/group", "root:x:0:\n", 0o644);
        Ok(stage)
    }

    /// Writes a file.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>, mode: u32) {
        let path = self.0.path().join("files").join(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder can be made");
        fs::write(&path, content).expect("a file can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    /// Copies a file or folder.
    ///
    /// # Panics
    ///
    /// If it cannot be copied.
    pub fn copy(&self, from: impl AsRef<Path>, path: &str) {
        let path = self.0.path().join("files").join(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder can be made");
        let copied = Command::new("cp").arg("-a").arg(from.as_ref()).arg(&path).status();
        assert!(copied.is_ok_and(|status| status.success()), "{}", path.display());
    }

    /// Starts systemd.
    ///
    /// # Errors
    ///
    /// Returns why it does not start here.
    pub fn boot(self) -> Result<Units, String> {
        let cgroups = cgroups()?;
        let at = |name: &str| self.0.path().join(name);
        fs::write(at("boot.sh"), include_str!("units/boot.sh")).map_err(|error| error.to_string())?;
        let said = fs::File::create(at("said")).map_err(|error| error.to_string())?;
        let join = "for group in \"$@\"; do echo $$ >\"$group/cgroup.procs\"; done; \
            exec unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child \
            sh \"$BOOT\" \"$ROOT\" \"$FILES\"";
        let child = Command::new("sh")
            .args(["-euc", join, "sh"])
            .args(&cgroups)
            .envs([("BOOT", at("boot.sh")), ("ROOT", at("root")), ("FILES", at("files"))])
            .stdin(Stdio::null())
            .stdout(said.try_clone().map_err(|error| error.to_string())?)
            .stderr(said)
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut units = Units { child, init: 0, cgroups, folder: self.0 };
        let why = |units: &Units| {
            let text = fs::read_to_string(units.folder.path().join("said")).unwrap_or_default();
            text.lines().next().unwrap_or("systemd ended").to_owned()
        };
        loop {
            if units.child.try_wait().map_err(|error| error.to_string())?.is_some() {
                return Err(why(&units));
            }
            units.init = first_child(units.child.id()).unwrap_or(0);
            // Before it has its own root, a command would run in that of the machine.
            if units.init != 0 && units.root().join("run/systemd/private").exists() && units.is_inside() {
                return Ok(units);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Units {
    /// Returns the path of its root for this process.
    pub fn root(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root", self.init))
    }

    /// Returns its network namespace.
    pub fn network(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/ns/net", self.init))
    }

    fn is_inside(&self) -> bool {
        fs::read_link(format!("/proc/{}/exe", self.init))
            .is_ok_and(|exe| exe.file_name().is_some_and(|name| name == "systemd"))
    }

    /// Returns a command that runs inside, as root.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.init.to_string()]);
        command.args(["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd", program]);
        command.env_clear().env("PATH", "/usr/bin:/usr/sbin:/bin:/sbin").stdin(Stdio::null());
        command
    }

    /// Runs `systemctl`.
    ///
    /// # Errors
    ///
    /// Returns its standard error.
    pub fn systemctl(&self, words: &[&str]) -> Result<String, String> {
        let output = self.command("systemctl").args(words).output().map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Returns a property of a unit.
    ///
    /// # Panics
    ///
    /// If systemd does not answer.
    pub fn property(&self, unit: &str, name: &str) -> String {
        let shown = self.systemctl(&["show", unit, "--value", "--property", name]);
        shown.unwrap_or_else(|why| panic!("{name} of {unit}: {why}")).trim().to_owned()
    }

    /// Returns the peak memory of a unit since its start, and its limit, in bytes.
    ///
    /// # Panics
    ///
    /// If its cgroup has no figures.
    pub fn memory(&self, unit: &str) -> (u64, u64) {
        let group = self.property(unit, "ControlGroup");
        let group = self.cgroups[0].join(group.trim_start_matches('/'));
        let read = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse().ok();
        let peak = read("memory.max_usage_in_bytes").or_else(|| read("memory.peak"));
        let limit = read("memory.limit_in_bytes").or_else(|| read("memory.max"));
        peak.zip(limit).unwrap_or_else(|| panic!("{} has no figures", group.display()))
    }
}

impl Drop for Units {
    fn drop(&mut self) {
        if self.init != 0 {
            let _ = Command::new("kill").args(["-KILL", &self.init.to_string()]).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        for group in &self.cgroups {
            // A process leaves its group a moment after its end.
            for _ in 0..500 {
                let _ = Command::new("find")
                    .arg(group)
                    .args(["-depth", "-type", "d", "-exec", "rmdir", "{}", ";"])
                    .stderr(Stdio::null())
                    .status();
                if !group.exists() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// Creates a cgroup for systemd in each hierarchy, the one with memory first.
fn cgroups() -> Result<Vec<PathBuf>, String> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let name = format!("closc-units-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    let top = Path::new("/sys/fs/cgroup");
    let given = fs::read_to_string(top.join("cgroup.subtree_control"));
    let tops = match given {
        Ok(given) if given.split_whitespace().any(|controller| controller == "memory") => {
            vec![top.to_owned()]
        }
        Ok(_) => return Err("cgroups of this machine have no limits of memory".to_owned()),
        Err(_) => CONTROLLERS.map(|controller| top.join(controller)).to_vec(),
    };
    let mut groups: Vec<PathBuf> = Vec::new();
    for top in tops {
        let group = top.join(&name);
        if let Err(error) = fs::create_dir(&group) {
            for made in &groups {
                let _ = fs::remove_dir(made);
            }
            return Err(format!("{}: {error}", group.display()));
        }
        groups.push(group);
    }
    Ok(groups)
}

fn first_child(process: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}
