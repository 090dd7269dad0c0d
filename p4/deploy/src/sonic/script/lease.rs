//! Commands that let one controller at a time change a switch: a lease with an owner, an expiry and a fencing token.
//!
//! In: the folder of the switch, the owner, a duration. Out: commands for `sh`, to be run under the lock of the folder.
//! Invariants: the expiry counts seconds since boot, so changes of the clock do not move it. A reboot ends the lease.
//! Each lease has a higher token than earlier ones. A controller whose lease was taken over neither confirms nor rolls
//! back.

/// Exit status of a rejected request for the lease.
pub(in crate::sonic) const HELD: i32 = 74;

/// The first word of the line that names the holder.
pub(in crate::sonic) const HOLDER: &str = "closc-lease";

/// Takes the lease, or is rejected with the holder and the remaining time. A lease of the same owner is taken over, and
/// so is the one with the number `dead`, whose owner is gone.
pub(super) fn take(state: &str, owner: &str, seconds: u64, dead: Option<u64>) -> String {
    let dead = dead.unwrap_or(0);
    format!(
        "boot=$(cat /proc/sys/kernel/random/boot_id); now=$(cut -d. -f1 /proc/uptime)\n\
         if [ -e {state}/lease ]; then\n\
         read -r fence held until by <{state}/lease || :\n\
         if [ \"${{held:-}}\" = \"$boot\" ] && [ \"${{until:-0}}\" -gt \"$now\" ] && [ \"${{by:-}}\" != '{owner}' ] && \
         [ \"${{fence:-0}}\" != {dead} ]; then\n\
         echo \"{HOLDER} $fence $((until - now)) $by\" >&2; exit {HELD}; fi\nfi\n\
         fence=0; [ ! -e {state}/fence ] || fence=$(cat {state}/fence)\n\
         fence=$((fence + 1))\n\
         echo $fence >{state}/fence.new; mv {state}/fence.new {state}/fence\n\
         echo \"$fence $boot $((now + {seconds})) {owner}\" >{state}/lease.new; mv {state}/lease.new {state}/lease\n\
         echo $fence\n"
    )
}

/// Rejects a controller whose lease was removed or taken over. An expired lease that is still in the file is accepted.
pub(super) fn check(state: &str, fence: u64) -> String {
    format!(
        "fence=; by='no controller'; [ ! -e {state}/lease ] || read -r fence held until by <{state}/lease || :\n\
         [ \"$fence\" = {fence} ] || {{ echo \"the lease of this push ended; the switch is held by $by\" >&2; exit 76; }}\n"
    )
}

/// Ends the lease.
pub(super) fn end(state: &str) -> String {
    format!("rm -f {state}/lease\n")
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use super::*;

    fn run(script: &str) -> Output {
        Command::new("sh").args(["-c", &format!("set -eu\n{script}")]).output().expect("there is a shell")
    }

    /// Without leases, two controllers can change a switch at the same time, and the read-back of one rolls back the
    /// change of the other.
    #[test]
    fn a_lease_has_one_owner_an_end_and_a_number() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let state = folder.path().display().to_string();
        let number = |output: &Output| String::from_utf8_lossy(&output.stdout).trim().parse::<u64>().ok();
        let first = run(&take(&state, "alice@a", 600, None));
        assert_eq!(number(&first), Some(1), "{first:?}");
        let refused = run(&take(&state, "bob@b", 600, None));
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(HELD));
        assert!(said.starts_with("closc-lease 1 ") && said.trim_end().ends_with(" alice@a"), "{said}");
        // The same owner takes the lease again. Another one takes it over, because the owner is gone. Then the first
        // has lost it.
        assert_eq!(number(&run(&take(&state, "alice@a", 600, None))), Some(2));
        assert_eq!(run(&take(&state, "bob@b", 600, Some(1))).status.code(), Some(HELD));
        assert_eq!(number(&run(&take(&state, "bob@b", 600, Some(2)))), Some(3));
        assert!(run(&check(&state, 3)).status.success());
        let lost = run(&check(&state, 2));
        assert_eq!(lost.status.code(), Some(76));
        assert!(String::from_utf8_lossy(&lost.stderr).contains("held by bob@b"));
        // An expired lease, one from before a reboot, and a truncated file do not block a controller.
        for line in ["3 BOOT 0 bob@b", "3 other-boot 99999999999 bob@b", "3", ""] {
            let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("it is mounted");
            std::fs::write(folder.path().join("lease"), line.replace("BOOT", boot.trim())).expect("ours");
            let taken = run(&take(&state, "carol@c", 0, None));
            assert!(taken.status.success(), "{line}: {taken:?}");
        }
        assert_eq!(number(&run(&take(&state, "dave@d", 600, None))), Some(8), "numbers never repeat");
        assert!(run(&end(&state)).status.success());
        assert_eq!(run(&check(&state, 8)).status.code(), Some(76));
    }
}
