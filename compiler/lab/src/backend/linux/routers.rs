//! FRR in the namespaces of switches.
//!
//! In: the configurations of switches. Out: daemons that run them. Invariants: a daemon is identified by the folder of
//! its sockets on its command line. It runs in the namespace of its switch, writes only into its folder, and is stopped
//! with the lab.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Group, User};

use super::namespace::{Namespace, Rights, run_in_namespaces_as};
use crate::LabError;
use crate::backend::embedded::process::find_processes;
use crate::name::FabricName;
use crate::progress::Watch;
use crate::tree::Router;

/// Folders in which distributions install the daemons.
const DAEMONS: [&str; 3] = ["/usr/lib/frr", "/usr/libexec/frr", "/usr/sbin"];
/// Folder for the sockets of routers. The routers' user cannot access the folder of the lab.
const RUN: &str = "/run/closc-frr";
/// The user that daemons run as.
const USER: &str = "frr";
/// Maximum time until daemons have ended.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(20);

/// User of daemons.
#[derive(Debug, Clone, Copy)]
struct Account {
    user: u32,
    group: u32,
}

/// FRR on this machine.
#[derive(Debug)]
pub(super) struct Frr {
    daemons: &'static str,
    account: Account,
}

impl Frr {
    /// Finds FRR.
    pub(super) fn find() -> Result<Frr, LabError> {
        let has = |folder: &&&str| {
            Path::new(folder).join("zebra").is_file() && Path::new(folder).join("bgpd").is_file()
        };
        let Some(daemons) = DAEMONS.iter().find(has) else { return Err(LabError::NoFrr) };
        let user =
            User::from_name(USER).map_err(LabError::os("look up user `frr`"))?.ok_or(LabError::NoFrr)?;
        let group =
            Group::from_name(USER).map_err(LabError::os("look up group `frr`"))?.ok_or(LabError::NoFrr)?;
        Ok(Frr { daemons, account: Account { user: user.uid.as_raw(), group: group.gid.as_raw() } })
    }

    /// Starts the routers of switches.
    pub(super) fn start(
        &self,
        routers: &[(&Namespace, Router)],
        folder: &Utf8Path,
        jobs: usize,
        watch: &Watch<'_>,
    ) -> Result<(), LabError> {
        self.make_folder(folder)?;
        let done = std::sync::atomic::AtomicU64::new(0);
        run_in_namespaces_as(Rights::Routers, routers.iter().map(|(namespace, _)| *namespace), jobs, |at| {
            watch.check()?;
            let (namespace, router) = &routers[at];
            self.start_one(&place(folder, &namespace.device), &namespace.device, router)?;
            let number = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            watch.step("start routers", number, routers.len() as u64);
            Ok(())
        })?;
        Ok(())
    }

    /// Creates the folder for the routers of a lab, accessible to their user.
    fn make_folder(&self, folder: &Utf8Path) -> Result<(), LabError> {
        let what = || format!("create `{folder}`");
        DirBuilder::new().recursive(true).mode(0o711).create(RUN).map_err(LabError::io(what()))?;
        fs::set_permissions(RUN, Permissions::from_mode(0o711)).map_err(LabError::io(what()))?;
        // Delete the leftovers of a crashed lab of this name.
        crate::backend::remove_folder(folder)?;
        DirBuilder::new().mode(0o700).create(folder).map_err(LabError::io(what()))?;
        chown(folder, None, Some(self.account.group)).map_err(LabError::io(what()))?;
        fs::set_permissions(folder, Permissions::from_mode(0o710)).map_err(LabError::io(what()))
    }

    fn start_one(&self, place: &Utf8Path, device: &str, router: &Router) -> Result<(), LabError> {
        let what = || format!("create `{place}`");
        DirBuilder::new().mode(0o700).create(place).map_err(LabError::io(what()))?;
        let configuration = place.join("frr.conf");
        fs::write(&configuration, &router.text).map_err(LabError::io(format!("write `{configuration}`")))?;
        fs::set_permissions(&configuration, Permissions::from_mode(0o644)).map_err(LabError::io(what()))?;
        chown(place, None, Some(self.account.group)).map_err(LabError::io(what()))?;
        fs::set_permissions(place, Permissions::from_mode(0o770)).map_err(LabError::io(what()))?;
        let wanted =
            [("mgmtd", true), ("zebra", true), ("staticd", true), ("bfdd", router.bfd), ("bgpd", router.bgp)];
        for (daemon, _) in wanted.into_iter().filter(|(_, wanted)| *wanted) {
            let program = Utf8Path::new(self.daemons).join(daemon);
            // FRR 8 has no `mgmtd`.
            if program.is_file() || daemon != "mgmtd" {
                let mut command = Command::new(program);
                let file = |name: String| place.join(name).into_string();
                command.args(["-d", "-i", &file(format!("{daemon}.pid")), "--vty_socket", place.as_str()]);
                command.args(["--log", &format!("file:{}", file(format!("{daemon}.log")))]);
                if daemon != "mgmtd" {
                    command.args(["-z", &file("zserv.api".to_owned()), "-f", "/dev/null"]);
                }
                run(command, daemon, device)?;
            }
        }
        let mut load = Command::new("vtysh");
        load.args(["--vty_socket", place.as_str(), "-f", configuration.as_str()]);
        load.uid(self.account.user).gid(self.account.group);
        run(load, "vtysh", device)
    }
}

fn run(mut command: Command, what: &str, device: &str) -> Result<(), LabError> {
    let output = command.process_group(0).stdin(Stdio::null()).output();
    let output = output.map_err(LabError::io(format!("start `{what}` for `{device}`")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let message = String::from_utf8_lossy(&said).trim().replace('\n', "; ");
    Err(LabError::Command { command: what.to_owned(), device: device.to_owned(), message })
}

/// Returns the folder of a lab's routers.
pub(crate) fn folder(fabric: &FabricName) -> Utf8PathBuf {
    Utf8Path::new(RUN).join(&**fabric)
}

/// The folder of a switch's sockets.
pub(super) fn place(folder: &Utf8Path, device: &str) -> Utf8PathBuf {
    folder.join(device)
}

/// The arguments that identify the daemons of switches.
fn process_args<'a>(folder: &Utf8Path, switches: impl Iterator<Item = &'a String>) -> Vec<String> {
    switches
        .map(|switch| place(folder, switch).into_string())
        .filter(|path| Path::new(path).is_dir())
        .collect()
}

/// Returns whether daemons were started and all of them have ended.
pub(crate) fn have_exited<'a>(folder: &Utf8Path, switches: impl Iterator<Item = &'a String>) -> bool {
    let words = process_args(folder, switches);
    !words.is_empty() && find_processes(&words).is_empty()
}

/// Stops all daemons; returns how many there were.
pub(crate) fn end<'a>(
    folder: &Utf8Path,
    switches: impl Iterator<Item = &'a String>,
) -> Result<usize, LabError> {
    let words = process_args(folder, switches);
    if words.is_empty() {
        return Ok(0);
    }
    let found = find_processes(&words);
    let started = Instant::now();
    let mut left = found.clone();
    while !left.is_empty() {
        for pid in &left {
            // The process may have just ended by itself.
            let _ = kill(*pid, Signal::SIGKILL);
        }
        if started.elapsed() > PATIENCE {
            return Err(LabError::Process(format!("process {} does not end", left[0])));
        }
        sleep(PAUSE);
        left = find_processes(&words);
    }
    crate::backend::remove_folder(folder)?;
    // The folder is removed only if it is empty.
    let _ = fs::remove_dir(RUN);
    Ok(found.len())
}
