//! The name of this controller in leases: user, host and process.
//!
//! In: files of `/proc`. Out: a name without special characters of a shell. Invariants: two processes have
//! different names, even on the same machine and after a restart. Whether an owner is gone is decided only
//! for processes of the same machine, boot and process namespace.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

/// Returns the name of this process: `uid@host/boot/namespace/process/start`.
pub(crate) fn of_this_process() -> String {
    let uid = fs::metadata("/proc/self").map_or(0, |meta| meta.uid());
    let pid = std::process::id();
    format!("{uid}@{}/{pid}/{}", place(), start(pid).unwrap_or(0))
}

/// Returns whether an owner ran on this machine and is gone.
pub(crate) fn is_gone(owner: &str) -> bool {
    let Some((_, rest)) = owner.split_once('@') else { return false };
    let Some(process) = rest.strip_prefix(&place()).and_then(|rest| rest.strip_prefix('/')) else {
        return false;
    };
    let Some((pid, began)) = process.split_once('/') else { return false };
    let (Ok(pid), Ok(began)) = (pid.parse(), began.parse::<u64>()) else { return false };
    start(pid) != Some(began)
}

/// Returns the machine, its boot, and the namespace of process ids.
fn place() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let plain = |text: &str| -> String {
        let kept = text.chars().filter(|sign| sign.is_ascii_alphanumeric() || ".-_".contains(*sign));
        kept.take(64).collect()
    };
    let boot = plain(read("/proc/sys/kernel/random/boot_id").get(..8).unwrap_or_default());
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{}/{boot}/{}", plain(read("/proc/sys/kernel/hostname").trim()), plain(&space.to_string_lossy()))
}

/// Returns when a process started, in ticks since boot (proc_pid_stat(5), field 22).
fn start(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may contain any character.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ended_is_gone() {
        let own = of_this_process();
        assert!(!is_gone(&own), "{own:?}");
        assert!(own.chars().all(|sign| sign.is_ascii_alphanumeric() || "@./-_".contains(sign)));
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("there is `sleep`");
        let (pid, began) = (child.id(), start(child.id()).expect("it runs"));
        let other = format!("0@{}/{pid}/{began}", place());
        assert!(!is_gone(&other));
        child.kill().expect("it runs");
        child.wait().expect("it ended");
        assert!(is_gone(&other));
        // A reused process id, and machines that are not visible.
        assert!(is_gone(&own.replace(&format!("/{}", start(std::process::id()).expect("it runs")), "/1")));
        assert!(!is_gone("0@elsewhere/12345678/pid4026531836/1/1") && !is_gone("x"));
    }
}
