//! Commands for `frr.conf` on a switch: to read it, to install it, to apply it, to roll it back.
//!
//! In: folders of the switch, the file, commands. Out: parts of scripts for `sh`. Invariants: the file is always
//! complete, either the old or the new one; the state before the first unconfirmed change is kept until the
//! confirmation.

use std::fmt::Write as _;

use super::put;
use crate::sonic::routing::{RoutingChange, RoutingMethod};

/// The name of the container, and of its service.
const CONTAINER: &str = "bgp";

/// Defines `frr`, which prints the installed file, the running configuration, and the running daemons, one per line. No
/// line is empty, because the shell would drop empty lines at the end.
pub(super) fn define_frr(folder: &str) -> String {
    format!(
        "frr() {{\n\
         if [ -e {folder}/frr.conf ]; then base64 -w 0 <{folder}/frr.conf; else printf -; fi; echo\n\
         if run=$(docker exec {CONTAINER} vtysh -c 'show running-config' </dev/null 2>/dev/null); \
         then printf '%s\\n' \"$run\" | base64 -w 0; else printf -; fi; echo\n\
         printf 'daemons '; docker exec {CONTAINER} vtysh -c 'show daemons' </dev/null 2>/dev/null | tr '\\n' ' '; echo\n}}\n"
    )
}

/// Sets `boot_files` to the names of the files from which SONiC sets the routing mode at boot, each preceded
/// by a space. It is empty if `golden_config_db.json`, which overrides `minigraph.xml`, already sets the
/// mode.
pub(super) fn boot_files(folder: &str) -> String {
    let folder = folder.trim_end_matches('/').rsplit_once('/').map_or(".", |(parent, _)| parent);
    format!(
        "boot_files=\n\
         if ! grep -Eqs '\"docker_routing_config_mode\" *: *\"split-unified\"' {folder}/golden_config_db.json; then\n\
         for file in minigraph.xml golden_config_db.json; do\n\
         if [ -e {folder}/$file ]; then boot_files=\"$boot_files $file\"; fi\ndone\nfi\n"
    )
}

/// Backs up the installed file before the first unconfirmed change.
pub(super) fn note(state: &str, folder: &str) -> String {
    format!(
        "if [ ! -e {state}/frr-before.conf ] && [ ! -e {state}/frr-absent ]; then\n\
         if [ -e {folder}/frr.conf ]; then cp -p {folder}/frr.conf {state}/frr-before.conf; else : > {state}/frr-absent; fi\nfi\n"
    )
}

/// Removes the backup and the other files of a change.
pub(super) fn forget(state: &str) -> String {
    format!(
        "rm -f {state}/frr-before.conf {state}/frr-absent {state}/frr-touched {state}/frr-wanted.conf {state}/frr-commands\n"
    )
}

/// Defines functions: one writes a file next to the old one and renames it into place, the other restarts the
/// daemons. The restart resets systemd's count of starts, because SONiC allows three in twenty minutes.
fn functions(folder: &str) -> String {
    format!(
        "install_frr() {{ mkdir -p {folder} && cp \"$1\" {folder}/frr.conf.closc && chown --reference={folder} {folder}/frr.conf.closc && \
         chmod 640 {folder}/frr.conf.closc && sync {folder}/frr.conf.closc && mv -f {folder}/frr.conf.closc {folder}/frr.conf && \
         sync {folder}; }}\n\
         restart_frr() {{ systemctl reset-failed {CONTAINER} </dev/null >/dev/null 2>&1 || :; systemctl restart {CONTAINER} </dev/null >&2; }}\n"
    )
}

/// Copies the file and the commands to the switch, without applying them.
pub(super) fn bring(body: &mut String, state: &str, folder: &str, change: &RoutingChange) {
    body.push_str(&functions(folder));
    put(body, &format!("{state}/frr-wanted.conf"), &change.file);
    let mut commands = change.commands.join("\n");
    commands.push('\n');
    put(body, &format!("{state}/frr-commands"), &commands);
}

/// Installs the file. A reload starts the daemons with it, so this comes first.
pub(super) fn install(body: &mut String, state: &str) {
    let _ = writeln!(body, ": > {state}/frr-touched\ninstall_frr {state}/frr-wanted.conf || return 1");
}

/// Makes the daemons run the file. Some images overwrite the file during a reload (sonic-buildimage 27014). It is then
/// installed again.
pub(super) fn apply(body: &mut String, state: &str, folder: &str, method: &RoutingMethod) {
    let _ = match method {
        RoutingMethod::Nothing | RoutingMethod::Install => Ok(()),
        RoutingMethod::Commands => writeln!(
            body,
            "docker exec -i {CONTAINER} sh -c 'cat >/tmp/closc-frr && vtysh -f /tmp/closc-frr' <{state}/frr-commands >&2 || return 1"
        ),
        RoutingMethod::Restart { .. } => writeln!(body, "restart_frr || return 1"),
        RoutingMethod::Reload => writeln!(
            body,
            "cmp -s {state}/frr-wanted.conf {folder}/frr.conf || {{ install_frr {state}/frr-wanted.conf && restart_frr; }} || return 1"
        ),
    };
}

/// Restores the previous file; part of a rollback, before CONFIG_DB.
pub(super) fn put_back(state: &str, folder: &str) -> String {
    format!(
        "{}if [ -e {state}/frr-before.conf ]; then install_frr {state}/frr-before.conf || exit 1; fi\n\
         if [ -e {state}/frr-absent ]; then rm -f {folder}/frr.conf; fi\n",
        functions(folder)
    )
}

/// Makes the daemons run the restored file.
pub(super) fn run_back(state: &str) -> String {
    format!("if [ -e {state}/frr-touched ]; then restart_frr || exit 1; fi\n{}", forget(state))
}
