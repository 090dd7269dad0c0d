//! Detects whether the owner of a lock is about to end. Its process id is in the lock file.
//!
//! A killed process keeps its locks until the kernel has ended all of its threads. That can take long while it moves
//! devices between namespaces. In: a lock file. Out: whether the lock will soon be released. Invariants: the result
//! is false if the process is alive, or if its state is unknown.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

/// Bit of SIGKILL in the masks of `/proc/PID/status`.
const KILLED: u64 = 1 << (nix::libc::SIGKILL - 1);

/// Writes the id of this process into a lock file after it has taken the lock. If that fails, other processes do not
/// wait for it to end.
pub(super) fn write(file: &File) {
    let _ = file.set_len(0).and_then(|()| file.write_all_at(std::process::id().to_string().as_bytes(), 0));
}

/// Returns whether the holder of a lock has ended, or was killed and is about to end.
pub(super) fn is_ending(file: &File) -> bool {
    let mut bytes = [0; 16];
    let Ok(length) = file.read_at(&mut bytes, 0) else { return false };
    let pid = std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.trim().parse::<u32>().ok());
    let Some(pid) = pid else { return false };
    match fs::read_to_string(format!("/proc/{pid}/status")) {
        Ok(status) => is_killed(&status),
        // The process has ended, so its locks are released.
        Err(_) => true,
    }
}

/// Returns whether a process is a zombie, or has been sent SIGKILL.
fn is_killed(status: &str) -> bool {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let pending = |name: &str| field(name).and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    let is_dead = field("State:").is_some_and(|state| state.starts_with(['Z', 'X']));
    // A process without memory is about to end.
    let has_no_memory = field("VmSize:").is_none();
    is_dead || has_no_memory || (pending("SigPnd:") | pending("ShdPnd:")) & KILLED != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_works_is_not_waited_for() {
        let own = fs::read_to_string("/proc/self/status").unwrap();
        assert!(!is_killed(&own), "{own}");
        let file = tempfile::tempfile().unwrap();
        assert!(!is_ending(&file), "an empty file names no switch");
        write(&file);
        assert!(!is_ending(&file));
    }

    #[test]
    fn one_that_was_killed_is() {
        let running = "State:\tS (sleeping)\nVmSize:\t 10 kB\nSigPnd:\t0000000000000000\nShdPnd:\t";
        assert!(is_killed(&format!("{running}0000000000000100\n")));
        assert!(!is_killed(&format!("{running}0000000000000002\n")));
        assert!(is_killed("State:\tZ (zombie)\n"));
    }
}
