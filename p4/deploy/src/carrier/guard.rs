//! Changes on a switch with a shell that roll back automatically unless they are confirmed.
//!
//! In: commands that print, change and restore. Out: scripts for `sh`. Invariants: a script that arrives
//! incomplete does not run. Only one push at a time changes a switch; nothing is saved before the
//! confirmation. The state before a push is kept under the push's name.

use std::fmt::Write as _;

use super::system::{ChangeParameters, SystemState, Texts, begin, sections};
use crate::folders::Place;
use crate::sonic::{put, wrap_script};

/// Backups kept on a switch.
const KEPT: usize = 8;

/// Seconds after which a failed rollback is retried.
const AGAIN_S: u64 = 60;

/// The section with the unconfirmed change.
const PENDING: &str = "pending";

/// A change.
pub(super) struct Change<'a> {
    /// Commands that print the state of the switch.
    pub(super) state_commands: &'a str,
    /// The digest of their output.
    pub(super) digest: &'a str,
    /// The earlier state, as files of a tree.
    pub(super) before: &'a Texts,
    /// Files in the folder `new`.
    pub(super) new: &'a Texts,
    /// Commands that save in the folder `before` the files that a rollback needs.
    pub(super) note: &'a str,
    /// Commands that change the switch; they stop at the first that fails.
    pub(super) go: &'a str,
    /// Commands that roll back.
    pub(super) back: &'a str,
}

/// Prints the unconfirmed change, a digest of the state of the switch, then the state. A push that lost its connection
/// may still be running, so the script waits up to 45 s for its end.
pub(super) fn read(place: &Place, held: &str) -> String {
    let state = &place.state;
    let pending = begin(PENDING);
    wrap_script(&format!(
        "if [ -e {state}/lock ]; then exec 9<{state}/lock; flock -s -w 45 9 || :; fi\n\
         {pending}if [ -e {state}/pending ]; then cat {state}/pending; fi\n\
         held() {{\n{held}}}\n\
         text=$(held)\n\
         printf '%s\\n' \"$text\" | sha256sum\n\
         printf '%s\\n' \"$text\"\n"
    ))
}

/// Parses the output of [`read`].
pub(super) fn parse_state(output: &str) -> Result<SystemState, String> {
    let mut found = sections(output);
    let head = found.remove(PENDING).ok_or("the switch printed no sections")?;
    let digest = head.lines().last().and_then(|line| line.split(' ').next()).unwrap_or_default();
    if digest.len() != 64 || !digest.bytes().all(|sign| sign.is_ascii_hexdigit()) {
        return Err("sha256sum printed no digest".to_owned());
    }
    let pending = head.lines().next().filter(|_| head.lines().count() > 1).map(str::to_owned);
    Ok(SystemState { sections: found, digest: digest.to_owned(), pending_change: pending })
}

/// Compares the switch with the state that was read, keeps the earlier state, arms the rollback, then changes the
/// switch.
pub(super) fn apply(change: &Change<'_>, making: &ChangeParameters<'_>) -> String {
    let (state, run) = (&making.place.state, making.run);
    let Change { state_commands: held, digest, before, new, note, go, back } = change;
    let mut body = format!(
        "umask 077\nmkdir -p {state}/runs\nexec 9>{state}/lock\n\
         flock -w 45 9 || {{ echo 'another push is in progress on this switch' >&2; exit 75; }}\n\
         [ ! -e {state}/pending ] || {{ echo 'another change waits for its confirmation' >&2; exit 75; }}\n\
         held() {{\n{held}}}\n\
         text=$(held)\n\
         case $(printf '%s\\n' \"$text\" | sha256sum) in {digest}*) ;;\n\
         *) echo 'the configuration changed after it was read' >&2; exit 77 ;; esac\n\
         rm -rf {state}/new {state}/before {state}/runs/{run}\n\
         mkdir {state}/new {state}/before {state}/runs/{run}\n"
    );
    for (name, text) in *before {
        put(&mut body, &format!("{state}/runs/{run}/{name}"), text);
    }
    for (name, text) in *new {
        put(&mut body, &format!("{state}/new/{name}"), text);
    }
    body.push_str(note);
    put(&mut body, &format!("{state}/roll-back"), &roll_back_script(state, back));
    put(&mut body, &format!("{state}/closc-roll-back.service"), &unit(state));
    let seconds = making.confirm.as_secs().max(1);
    // Without systemd a background process waits. It rolls back only the push that started it.
    let _ = write!(
        body,
        "chmod 700 {state}/roll-back\n\
         systemctl stop closc-unless-confirmed.timer </dev/null >/dev/null 2>&1 || :\n\
         systemctl reset-failed closc-unless-confirmed.timer closc-unless-confirmed.service </dev/null >/dev/null 2>&1 || :\n\
         systemctl --quiet enable {state}/closc-roll-back.service </dev/null >/dev/null 2>&1 || :\n\
         systemd-run --quiet --collect --unit=closc-unless-confirmed --on-active={seconds} --property=Restart=on-failure \
         --property=RestartSec={AGAIN_S} {state}/roll-back </dev/null >/dev/null 2>&1 || {{ \
         setsid sh -c 'sleep {seconds}; while grep -qsx {run} {state}/pending; do {state}/roll-back || sleep {AGAIN_S}; done' \
         </dev/null >/dev/null 2>&1 9>&- & }}\n\
         echo {run} > {state}/pending\n\
         echo $$ > {state}/pid\n\
         sync\n\
         go() (\nset -eu\n{go})\n\
         set +e\ngo >&2\nstatus=$?\nset -e\nrm -f {state}/pid\n\
         [ $status = 0 ] || {{ exec 9>&-; {state}/roll-back >&2; echo 'the switch rejected the change and was rolled back' >&2; exit 70; }}\n"
    );
    wrap_script(&body)
}

/// Confirms a change. It is saved first, so that an interrupted confirmation is rolled back.
pub(super) fn confirm(place: &Place, save: &str) -> String {
    let state = &place.state;
    wrap_script(&format!(
        "umask 077\nmkdir -p {state}\nexec 9>{state}/lock\n\
         flock -w 60 9 || {{ echo 'another push is in progress on this switch' >&2; exit 75; }}\n\
         [ -e {state}/pending ] || {{ echo 'the switch rolled the change back before it was confirmed' >&2; exit 76; }}\n\
         {save}\
         rm -f {state}/pending\n\
         sync\n\
         systemctl stop closc-unless-confirmed.timer </dev/null >/dev/null 2>&1 || :\n\
         systemctl --quiet disable closc-roll-back.service </dev/null >/dev/null 2>&1 || :\n\
         ls -1 {state}/runs | sort | head -n -{KEPT} | while read -r old; do rm -rf \"{state}/runs/$old\"; done\n\
         rm -rf {state}/new {state}/before\n"
    ))
}

/// Rolls back an unconfirmed change.
pub(super) fn roll_back(place: &Place) -> String {
    wrap_script(&format!("{}/roll-back >&2\n", place.state))
}

/// Prints the state before a push, one section per file.
pub(super) fn backup(place: &Place, run: &str) -> String {
    let folder = format!("{}/runs/{run}", place.state);
    let found = begin("found");
    wrap_script(&format!(
        "[ -d {folder} ] || exit 0\n{found}for file in {folder}/*; do\n[ -e \"$file\" ] || continue\n\
         echo \"--closc-section ${{file##*/}}\"\ncat \"$file\"\ndone\n"
    ))
}

/// Parses the output of [`backup`] into the files of an operating system.
pub(super) fn parse_backup(output: &str, files: &[&str]) -> Option<Texts> {
    let mut found = sections(output);
    found.remove("found")?;
    found.retain(|name, _| files.contains(&name.as_str()));
    Some(found)
}

/// Rollback: a hanging push is killed together with its current command, if its process still holds the lock.
fn roll_back_script(state: &str, back: &str) -> String {
    format!(
        "#!/bin/sh\n\
         pid=$(cat {state}/pid 2>/dev/null || :)\n\
         [ \"$(readlink /proc/$pid/fd/9 2>/dev/null)\" != {state}/lock ] || {{ pkill -P $pid; kill $pid; }} || :\n\
         exec 9>{state}/lock\n\
         flock -w 1200 9 || :\n\
         [ -e {state}/pending ] || exit 0\n\
         back() (\nset -eu\n{back})\n\
         back\n[ $? = 0 ] || exit 1\n\
         rm -f {state}/pending {state}/pid\n\
         sync\n\
         systemctl stop closc-unless-confirmed.timer </dev/null >/dev/null 2>&1 || :\n\
         systemctl --quiet disable closc-roll-back.service </dev/null >/dev/null 2>&1 || :\n"
    )
}

/// Unit of the rollback at boot.
fn unit(state: &str) -> String {
    format!(
        "[Unit]\nDescription=Roll back an unconfirmed closc push\nAfter=network.target frr.service nvued.service\n\
         ConditionPathExists={state}/pending\nStartLimitIntervalSec=0\n\n\
         [Service]\nType=simple\nExecStart={state}/roll-back\nRestart=on-failure\nRestartSec={AGAIN_S}\n\n\
         [Install]\nWantedBy=multi-user.target\n"
    )
}
