//! Commands run on a switch: to read it, to apply a change that rolls back automatically, to confirm it.
//!
//! In: a folder of the switch, patches or a file. Out: scripts for `sh`. Invariants: a script that arrives
//! incomplete does not run at all. Names in it are validated, and everything else is base64. Only one push at
//! a time changes a switch. A rollback returns to the state before the first unconfirmed change, even if
//! several pushes have been interrupted since then.

pub(super) mod lease;
mod routing;
mod sequence;

use std::fmt::Write as _;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::routing::RoutingChange;
use super::ssh::SshLink;
use crate::options::SequenceGuard;

/// Computes a digest of the output of `sonic-db-dump`, without timestamps, which differ between calls. Values of
/// CONFIG_DB are quoted and therefore kept.
const DIGEST: &str = r#"grep -Ev '^ *"(expireat|ttl)": -?[0-9.e+-]+,?$' | sha256sum"#;

/// Reloads a file. SONiC's models (`sonic-port.yang` of April 2026) lack the `id` of a port and NODE_CFG, which
/// P4Runtime switches need. A file from a pipe is not validated against them.
const LOAD: &str = "load() { if grep -q '\"NODE_CFG\"' \"$1\"; then config reload -y -f /dev/stdin <\"$1\"; \
                    else config reload -y -f \"$1\" </dev/null; fi; }\n";

/// Rejects a switch with several ASICs. Each of them has a CONFIG_DB in its own network namespace, but this
/// script reads only that of the host, which has no ports.
fn one_asic(namespaces: &str) -> String {
    format!(
        "for space in {namespaces}/asic*; do\n\
         [ ! -e \"$space\" ] || {{ echo 'the switch has several ASICs, each with its own CONFIG_DB; closc supports one per switch' >&2; \
         exit 78; }}\ndone\n"
    )
}

/// Folder in which Linux lists network namespaces.
const NAMESPACES: &str = "/run/netns";

/// Prints whether a change is unconfirmed, then a digest of CONFIG_DB, then CONFIG_DB. With `has_routing`, the first
/// line also has the files that change the routing mode at boot, and the routing comes before CONFIG_DB. A push that
/// lost its connection may still be running, so the script waits up to 45 s for its end.
pub(super) fn read(link: &SshLink, has_routing: bool) -> String {
    let (state, one_asic) = (&link.state, one_asic(NAMESPACES));
    let (define, print) = if has_routing {
        let print =
            "held_frr=$(frr)\nprintf '%s\\n' \"$held_frr\" | sha256sum\nprintf '%s\\n' \"$held_frr\"\n";
        (routing::define_frr(&link.frr) + &routing::boot_files(&link.frr), print)
    } else {
        ("boot_files=\n".to_owned(), "")
    };
    wrap_script(&format!(
        "{one_asic}{define}if [ -e {state}/lock ]; then exec 9<{state}/lock; flock -s -w 45 9 || :; fi\n\
         if [ -e {state}/pending ]; then echo \"pending$boot_files\"; else echo \"settled$boot_files\"; fi\n\
         held=$(sonic-db-dump -n CONFIG_DB -y </dev/null)\n\
         printf '%s\\n' \"$held\" | {DIGEST}\n\
         {print}printf '%s\\n' \"$held\"\n"
    ))
}

/// Prints the state of the daemons, as a JSON list: APPL_DB, the size limits of buffers, the status of access lists,
/// the names of ports, and the ports of the ASIC.
pub(super) fn read_state() -> String {
    wrap_script(
        "echo '['; sonic-db-dump -n APPL_DB -y </dev/null\n\
         echo ','; sonic-db-dump -n STATE_DB -k 'BUFFER_MAX_PARAM_TABLE|*' -y </dev/null\n\
         echo ','; sonic-db-dump -n STATE_DB -k 'ACL_TABLE_TABLE|*' -y </dev/null\n\
         echo ','; sonic-db-dump -n COUNTERS_DB -k COUNTERS_PORT_NAME_MAP -y </dev/null\n\
         echo ','; sonic-db-dump -n ASIC_DB -k 'ASIC_STATE:SAI_OBJECT_TYPE_PORT:*' -y </dev/null\n\
         echo ']'\n",
    )
}

/// The changes to apply to a switch.
pub(super) struct ScriptChanges<'a> {
    /// The digest of the CONFIG_DB that was read.
    pub(super) digest: &'a str,
    /// Patches, in the order of application.
    pub(super) patches: &'a [String],
    /// The complete CONFIG_DB, for a reload.
    pub(super) file: Option<&'a str>,
    /// The change of `frr.conf`, and the digest of the routing that was read.
    pub(super) routing: Option<(&'a RoutingChange, &'a str)>,
    /// The controller that takes the lease.
    pub(super) claim: Claim<'a>,
}

/// A controller that takes the lease of a switch for a change.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a> {
    /// Its name.
    pub(super) owner: &'a str,
    /// The number of a lease whose owner is gone.
    pub(super) dead: Option<u64>,
    /// Sequence number of its tree.
    pub(super) release: Option<SequenceGuard>,
}

/// Seconds by which a lease outlasts the time for the confirmation, so that the switch has rolled back before
/// the lease ends.
const LEASE_MORE_S: u64 = 60;

/// Takes the lock of the folder, then checks the sequence number and takes the lease. Prints the number of the lease.
fn claim_lease(state: &str, confirm: Duration, claim: Claim<'_>) -> String {
    let seconds = confirm.as_secs().saturating_add(LEASE_MORE_S);
    format!(
        "umask 077\nmkdir -p {state}\nexec 9>{state}/lock\n\
         flock -w 45 9 || {{ echo 'another push is in progress on this switch' >&2; exit 75; }}\n{}{}",
        sequence::check(state, claim.release),
        lease::take(state, claim.owner, seconds, claim.dead),
    )
}

/// Compares the switch with the state that was read, arms the rollback, then applies the changes. `frr.conf` is
/// installed first, because a reload starts routing with it; its commands run last, when ports exist.
pub(super) fn apply(link: &SshLink, confirm: Duration, applied: &ScriptChanges<'_>) -> String {
    let (state, digest) = (&link.state, applied.digest);
    let end = lease::end(state);
    let mut body = format!(
        "{LOAD}{}held=$(sonic-db-dump -n CONFIG_DB -y </dev/null)\n\
         case $(printf '%s\\n' \"$held\" | {DIGEST}) in {digest}*) ;;\n\
         *) echo 'the configuration changed after it was read' >&2; {end}exit 77 ;; esac\n",
        claim_lease(state, confirm, applied.claim)
    );
    if let Some((_, digest)) = applied.routing {
        let _ = write!(
            body,
            "{}case $(frr | sha256sum) in {digest}*) ;;\n\
             *) echo 'frr.conf or the running configuration of FRR changed after it was read' >&2; {end}exit 77 ;; esac\n",
            routing::define_frr(&link.frr)
        );
    }
    let _ = write!(
        body,
        "if [ ! -e {state}/pending ]; then\n\
         config delete-checkpoint closc </dev/null >/dev/null 2>&1 || :\n\
         config checkpoint closc </dev/null >&2\n\
         sonic-cfggen -d --print-data </dev/null > {state}/before.json\n\
         {}rm -f {state}/saving\n\
         fi\n",
        routing::forget(state)
    );
    if let Some((change, _)) = applied.routing {
        body.push_str(&routing::note(state, &link.frr));
        routing::bring(&mut body, state, &link.frr, change);
    }
    arm(&mut body, link, confirm);
    go(&mut body, link, applied);
    wrap_script(&body)
}

/// Writes the rollback script, and schedules it in case the push is not confirmed. A timer does not survive a
/// reboot, so a unit runs the script at boot. `pending` is created only after both are armed; otherwise a
/// forgotten rollback could undo later changes of the site. A failed unit would block its name, so it is
/// reset.
fn arm(body: &mut String, link: &SshLink, confirm: Duration) {
    let (state, seconds) = (&link.state, confirm.as_secs().max(1));
    put(body, &format!("{state}/roll-back"), &rollback_script(link));
    put(body, &format!("{state}/closc-roll-back.service"), &unit(state));
    let _ = write!(
        body,
        "chmod 700 {state}/roll-back\n\
         systemctl stop closc-unless-confirmed.timer </dev/null >/dev/null 2>&1 || :\n\
         systemctl reset-failed closc-unless-confirmed.timer closc-unless-confirmed.service </dev/null >/dev/null 2>&1 || :\n\
         systemctl --quiet enable {state}/closc-roll-back.service </dev/null >&2\n\
         systemd-run --quiet --collect --unit=closc-unless-confirmed --on-active={seconds} --property=Restart=on-failure \
         --property=RestartSec={AGAIN_S} {state}/roll-back </dev/null >&2\n\
         : > {state}/pending\n\
         echo $$ > {state}/pid\n\
         sync\n"
    );
}

/// Applies all changes, or rolls back.
fn go(body: &mut String, link: &SshLink, applied: &ScriptChanges<'_>) {
    let state = &link.state;
    body.push_str("go() {\n:\n");
    if applied.routing.is_some() {
        routing::install(body, state);
    }
    for (number, patch) in applied.patches.iter().enumerate() {
        let path = format!("{state}/patch-{number}.json");
        put(body, &path, patch);
        let _ = writeln!(body, "config apply-patch {path} </dev/null >&2 || return 1");
    }
    if let Some(file) = applied.file {
        put(body, &format!("{state}/whole.json"), file);
        let _ = writeln!(body, "load {state}/whole.json >&2 || return 1");
    }
    if let Some((change, _)) = applied.routing {
        routing::apply(body, state, &link.frr, &change.method);
    }
    let _ = write!(
        body,
        "}}\nif go; then rm -f {state}/pid; else rm -f {state}/pid; exec 9>&-; {state}/roll-back >&2; \
         echo 'SONiC rejected the change; the switch was rolled back' >&2; exit 70; fi\n"
    );
}

/// Confirms the change. The change is unconfirmed until `pending` is removed. A push that is interrupted
/// before that is rolled back. The rollback saves the restored state if the change may have been saved. The
/// timer is stopped last; if it fires in the meantime, the rollback waits for the lock.
pub(super) fn confirm(state: &str, fence: u64, release: Option<SequenceGuard>) -> String {
    wrap_script(&format!(
        "exec 9>{state}/lock\nflock -w 60 9 || {{ echo 'another push is in progress on this switch' >&2; exit 75; }}\n\
         {}{}",
        lease::check(state, fence),
        confirm_script(state, release)
    ))
}

/// Confirms the change of an interrupted push, because the switch is in the target state.
pub(super) fn confirm_of_before(state: &str, confirm: Duration, claim: Claim<'_>) -> String {
    wrap_script(&format!("{}{}", claim_lease(state, confirm, claim), confirm_script(state, claim.release)))
}

/// Stores the sequence number of a tree that changes nothing.
pub(super) fn remember(state: &str, confirm: Duration, claim: Claim<'_>) -> String {
    let (claimed, ended) = (claim_lease(state, confirm, claim), lease::end(state));
    wrap_script(&format!("{claimed}{}{ended}", sequence::remember(state, claim.release)))
}

fn confirm_script(state: &str, release: Option<SequenceGuard>) -> String {
    format!(
        "[ -e {state}/pending ] || {{ echo 'the switch rolled the change back before it was confirmed' >&2; exit 76; }}\n\
         : > {state}/saving\n\
         config save -y </dev/null >&2\n\
         {}rm -f {state}/pending\n\
         sync\n\
         {}rm -f {state}/saving\n\
         systemctl stop closc-unless-confirmed.timer </dev/null >/dev/null 2>&1 || :\n\
         systemctl --quiet disable closc-roll-back.service </dev/null >&2 || :\n\
         config delete-checkpoint closc </dev/null >/dev/null 2>&1 || :\n\
         {}rm -f {state}/patch-*.json {state}/whole.json {state}/before.json\n",
        sequence::remember(state, release),
        lease::end(state),
        routing::forget(state)
    )
}

/// Rolls back the change, unless another controller took the switch over.
pub(super) fn roll_back(state: &str, fence: u64) -> String {
    wrap_script(&format!("{}{state}/roll-back >&2\n", lease::check(state, fence)))
}

/// Seconds after which a failed rollback is retried.
const AGAIN_S: u64 = 60;

/// Seconds for which a rollback waits for another one, or for a confirmation.
const LOCK_S: u64 = 1200;

/// Rollback, run by the timer, at boot, or by a push that failed. A hanging push is killed together with its
/// current command, if its process still holds the lock. If the rollback fails, the timer stays armed.
/// SONiC's own rollback has the limits of patches; if it fails, the backup of CONFIG_DB is reloaded. The
/// backup is read from a pipe, because SONiC rejects a named file with a table that has no model. The site's
/// CONFIG_DB may contain one.
fn rollback_script(link: &SshLink) -> String {
    let state = &link.state;
    let (put_back, run_back) = (routing::put_back(state, &link.frr), routing::run_back(state));
    format!(
        "#!/bin/sh\n\
         pid=$(cat {state}/pid 2>/dev/null || :)\n\
         [ \"$(readlink /proc/$pid/fd/9 2>/dev/null)\" != {state}/lock ] || {{ pkill -P $pid; kill $pid; }} || :\n\
         exec 9>{state}/lock\n\
         flock -w {LOCK_S} 9 || :\n\
         [ -e {state}/pending ] || exit 0\n\
         {put_back}timeout 900 config rollback closc </dev/null || config reload -y -f /dev/stdin <{state}/before.json || exit 1\n\
         [ ! -e {state}/saving ] || config save -y </dev/null || exit 1\n\
         {run_back}rm -f {state}/pending {state}/pid {state}/saving {state}/lease\n\
         sync\n\
         systemctl stop closc-unless-confirmed.timer </dev/null >/dev/null 2>&1 || :\n\
         systemctl --quiet disable closc-roll-back.service </dev/null || :\n\
         config delete-checkpoint closc </dev/null || :\n"
    )
}

/// Unit of the rollback at boot. After a warm boot, the switch still runs the unconfirmed change; after a
/// cold boot, it runs the saved state.
fn unit(state: &str) -> String {
    format!(
        "[Unit]\nDescription=Roll back an unconfirmed closc push\n\
         After=sonic.target database.service config-setup.service\nConditionPathExists={state}/pending\nStartLimitIntervalSec=0\n\n\
         [Service]\nType=simple\nExecStart={state}/roll-back\nRestart=on-failure\nRestartSec={AGAIN_S}\n\n\
         [Install]\nWantedBy=multi-user.target\n"
    )
}

/// Writes a file on the switch. A line of base64 cannot be equal to the terminator.
pub(crate) fn put(body: &mut String, path: &str, text: &str) {
    let _ = writeln!(body, "base64 -d > {path} <<'--closc--'\n{}\n--closc--", STANDARD.encode(text));
}

/// Wraps a script in a function that is called in the last line: a truncated script never reaches the call.
pub(crate) fn wrap_script(body: &str) -> String {
    format!("main() {{\nset -eu\n{body}}}\nmain\n")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Runs `load` of a file with a fake `config` that prints its arguments and its input.
    fn run_load(file: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let path = folder.path().join("whole.json");
        std::fs::write(&path, file).expect("a folder for tests");
        let script = format!("set -eu\nconfig() {{ echo \"$4\"; cat; }}\n{LOAD}load {}\n", path.display());
        let output = Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").replace(&path.display().to_string(), "FILE")
    }

    #[test]
    fn a_switch_with_several_asics_is_refused() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let script = wrap_script(&one_asic(&folder.path().display().to_string()));
        let run = || Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
        std::fs::write(folder.path().join("mgmt"), "").expect("a folder for tests");
        assert!(run().status.success());
        std::fs::write(folder.path().join("asic0"), "").expect("a folder for tests");
        let refused = run();
        assert_eq!(refused.status.code(), Some(78));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("several ASICs"));
    }

    #[test]
    fn what_no_model_knows_comes_by_a_pipe() {
        assert_eq!(run_load(r#"{"PORT": {}}"#), "FILE\n");
        let numbered = r#"{"NODE_CFG": {"integrated_circuit0": {"node-id": "1"}}}"#;
        assert_eq!(run_load(numbered), format!("/dev/stdin\n{numbered}"));
        // The guide lists the settings that the models lack, and the push that delivers them.
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/push.md");
        let guide = std::fs::read_to_string(guide).expect("the guide is there");
        let begins = guide.find("- **SONiC's models**").expect("it has the entry");
        let entry = guide[begins..].split("\n- **").next().expect("the entry");
        let entry = entry.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [
            "the field `id` of a port. Pull request 25054 of sonic-buildimage",
            "lack `NODE_CFG`",
            "`push --reload` over `sonic-ssh` works: it passes the file through a pipe",
        ] {
            assert!(entry.contains(words), "{words}: {entry}");
        }
    }
}
