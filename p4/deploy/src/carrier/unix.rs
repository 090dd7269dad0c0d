//! Switches that are a Linux system: with FRRouting, or with kernel routes only.
//!
//! In: the files of a tree, and the state of the system. Out: scripts that change only differences. Invariants: startup
//! files are replaced when the change is confirmed, so a reboot before that returns to the earlier state. If the set of
//! FRR's daemons changes, FRR's files are replaced at once, and the rollback at boot restores them.

use std::fmt::Write as _;

use closc_artefacts::paths::{DAEMONS, DEVICES_BATCH, FRR_CONF, IP_BATCH, SYSCTL_CONF, TC_BATCH};

use super::facts::{Finding, lines};
use super::guard::{self, Change};
use super::system::{ChangeParameters, Step, System, SystemState, Texts, begin};
use super::{frr, kernel, queues, saved_files};
use crate::folders::Place;

/// Files of the kernel.
const KERNEL: [&str; 4] = [DEVICES_BATCH, IP_BATCH, SYSCTL_CONF, TC_BATCH];

/// The service that applies the files of the kernel at boot. The playbook of `closc export ansible` writes the same
/// unit.
const UNIT: &str = "closc-network.service";

/// A Linux system.
pub(super) struct Unix {
    pub(super) has_frr: bool,
}

impl Unix {
    /// Returns the commands that print its state.
    fn print_commands(&self, place: &Place, wanted: &Texts) -> String {
        let mut script = kernel::read(wanted) + &queues::read(wanted);
        if self.has_frr {
            script += &frr::read(place);
        }
        for file in KERNEL {
            let _ = writeln!(
                script,
                "{}cat {}/closc/{file} 2>/dev/null || :",
                begin(&format!("saved {file}")),
                place.etc
            );
        }
        script
    }
}

fn unit(etc: &str) -> String {
    format!(
        "[Unit]\nDescription=Addresses, routes, queues and kernel settings that closc compiled\nAfter=network-pre.target\n\
         Before=network.target frr.service\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\n\
         ExecStart=sysctl -q -p {etc}/closc/sysctl.conf\nExecStart=-ip -force -batch {etc}/closc/devices.batch\n\
         ExecStart=ip -batch {etc}/closc/ip.batch\nExecStart=tc -batch {etc}/closc/tc.batch\n\n\
         [Install]\nWantedBy=multi-user.target\n"
    )
}

/// Returns the paths of the files that a confirmation writes.
fn confirmed_files(etc: &str, has_frr: bool) -> Vec<(&'static str, String)> {
    let kernel = KERNEL.iter().map(|file| (*file, format!("{etc}/closc/{file}")));
    let frr =
        [DAEMONS, FRR_CONF].into_iter().filter(|_| has_frr).map(|file| (file, format!("{etc}/frr/{file}")));
    kernel.chain(frr).chain([(UNIT, format!("{etc}/systemd/system/{UNIT}"))]).collect()
}

/// Restores a file, or removes it if it did not exist.
fn restore(state: &str, name: &str, path: &str) -> String {
    format!(
        "if [ -e {state}/before/{name} ]; then cp -p {state}/before/{name} {path}.closc; mv {path}.closc {path}; \
         else rm -f {path}; fi\n"
    )
}

/// Replaces a file atomically.
fn install(from: &str, to: &str, mode: &str) -> String {
    format!("cp {from} {to}.closc\nchmod {mode} {to}.closc\nsync {to}.closc\nmv {to}.closc {to}\n")
}

/// Installs a file of FRR, owned by FRR's user.
fn install_frr(from: &str, to: &str) -> String {
    format!(
        "cp {from} {to}.closc\nchmod 640 {to}.closc\nchown frr:frr {to}.closc 2>/dev/null || :\nsync {to}.closc\nmv {to}.closc {to}\n"
    )
}

/// Finds `frr-reload.py`, which is in a separate package of FRR.
const RELOAD: &str = "reload=$(command -v frr-reload.py || command -v /usr/lib/frr/frr-reload.py || :)\n";

impl Unix {
    fn change(
        &self,
        wanted: &Texts,
        held: &SystemState,
        making: &ChangeParameters<'_>,
    ) -> Result<(Texts, String, String), String> {
        let Place { state, etc } = making.place;
        let moves = kernel::moves(wanted, held)?;
        let mut new: Texts =
            KERNEL.iter().filter_map(|file| Some(((*file).to_owned(), wanted.get(*file)?.clone()))).collect();
        new.insert(UNIT.to_owned(), unit(etc));
        let (mut go, mut back) = (String::new(), String::new());
        let settings = ("sysctl", "sysctl -q -p", &moves.settings, &moves.settings_back);
        let batches =
            moves.batches.iter().map(|batch| (batch.name, batch.command, &batch.forward, &batch.back));
        for (name, command, there, undo) in std::iter::once(settings).chain(batches) {
            if there.is_empty() {
                continue;
            }
            new.insert(format!("{name}.change"), there.clone());
            new.insert(format!("{name}.back"), undo.clone());
            let _ = writeln!(go, "{command} {state}/new/{name}.change </dev/null >/dev/null");
            let forced = command.replace("-batch", "-force -batch");
            let _ = writeln!(back, "{forced} {state}/new/{name}.back </dev/null >/dev/null || :");
        }
        if !queues::compare(wanted, held)?.is_empty() {
            new.insert("tc.back".to_owned(), queues::rollback_file(wanted, held));
            // Errors are ignored, because the read-back decides: `tc` fails on a queue that does not exist.
            let _ = writeln!(go, "tc -force -batch {state}/new/{TC_BATCH} </dev/null || :");
            let _ = writeln!(back, "tc -force -batch {state}/new/tc.back </dev/null || :");
        }
        if self.has_frr && !frr::compare(wanted, held).is_empty() {
            let daemons = !saved_files::compare(DAEMONS, wanted, held).is_empty();
            new.extend(frr::changes(wanted, held));
            let _ = writeln!(go, "vtysh -C -f {state}/new/{FRR_CONF} </dev/null");
            let (there, undo) =
                if daemons { restart_commands(making.place) } else { reload_commands(making.place) };
            go += &there;
            back += &undo;
        }
        // An interrupted confirmation may have written some of them.
        for (name, path) in confirmed_files(etc, self.has_frr) {
            back += &restore(state, name, &path);
        }
        Ok((new, go, back))
    }
}

/// A different set of daemons requires a restart with the new files.
fn restart_commands(place: &Place) -> (String, String) {
    let Place { state, etc } = place;
    let mut go = String::new();
    for file in [DAEMONS, FRR_CONF] {
        go += &install_frr(&format!("{state}/new/{file}"), &format!("{etc}/frr/{file}"));
    }
    go += "systemctl restart frr </dev/null\n";
    (go, rollback_restart(place))
}

/// Restarts FRR with the earlier daemons and running configuration. The startup file is restored last.
fn rollback_restart(Place { state, etc }: &Place) -> String {
    let daemons = restore(state, DAEMONS, &format!("{etc}/frr/{DAEMONS}"));
    let running = install_frr(&format!("{state}/new/{}", frr::BEFORE), &format!("{etc}/frr/{FRR_CONF}"));
    format!("{daemons}{running}systemctl restart frr </dev/null\n")
}

/// For the same daemons, only differences of the configuration are applied.
fn reload_commands(place: &Place) -> (String, String) {
    let state = &place.state;
    let with = |file: &str, or: &str| {
        format!(
            "{RELOAD}if [ \"$reload\" ]; then $reload --reload {state}/new/{file} </dev/null; else\n{or}fi\n"
        )
    };
    let go = with(FRR_CONF, &format!("vtysh -f {state}/new/{} </dev/null\n", frr::CHANGE));
    (go, with(frr::BEFORE, &rollback_restart(place)))
}

impl System for Unix {
    fn shell(&self) -> Option<&'static str> {
        Some("sudo -n sh -s")
    }

    fn has_folders(&self) -> bool {
        true
    }

    fn files(&self) -> &'static [&'static str] {
        static ALL: [&str; 6] = [DEVICES_BATCH, IP_BATCH, SYSCTL_CONF, TC_BATCH, FRR_CONF, DAEMONS];
        if self.has_frr { &ALL } else { &ALL[..4] }
    }

    fn read(&self, place: &Place, wanted: &Texts) -> String {
        guard::read(place, &self.print_commands(place, wanted))
    }

    fn parse_state(&self, output: &str) -> Result<SystemState, String> {
        guard::parse_state(output)
    }

    fn compare(&self, wanted: &Texts, held: &SystemState) -> Result<Vec<Finding>, String> {
        let mut found = kernel::compare(wanted, held)?;
        found.extend(queues::compare(wanted, held)?);
        if self.has_frr {
            found.extend(frr::compare(wanted, held));
        }
        for file in KERNEL {
            found.extend(saved_files::compare(file, wanted, held));
        }
        Ok(found)
    }

    fn apply(
        &self,
        wanted: &Texts,
        held: &SystemState,
        making: &ChangeParameters<'_>,
    ) -> Result<Vec<Step>, String> {
        let place = making.place;
        let (new, go, back) = self.change(wanted, held, making)?;
        let mut before = kernel::texts(wanted, held)?;
        before.insert(TC_BATCH.to_owned(), queues::rollback_file(wanted, held));
        if self.has_frr {
            before.extend(frr::texts(wanted, held));
        }
        let state = &place.state;
        let kept = confirmed_files(&place.etc, self.has_frr).into_iter();
        let note =
            lines(kept.map(|(name, path)| format!("[ ! -e {path} ] || cp -p {path} {state}/before/{name}")));
        let change = Change {
            state_commands: &self.print_commands(place, wanted),
            digest: &held.digest,
            before: &before,
            new: &new,
            note: &note,
            go: &go,
            back: &back,
        };
        Ok(vec![Step { script: guard::apply(&change, making), rereads: false }])
    }

    fn abandon(&self, _: &ChangeParameters<'_>) -> Option<String> {
        None
    }

    fn confirm(&self, place: &Place, _: &str, _: &SystemState) -> String {
        let Place { state, etc } = place;
        let mut save = format!("mkdir -p {etc}/closc\n");
        for file in KERNEL {
            let (from, to) = (format!("{state}/new/{file}"), format!("{etc}/closc/{file}"));
            let _ = write!(save, "if [ -e {from} ]; then\n{}fi\n", install(&from, &to, "644"));
        }
        let (from, to) = (format!("{state}/new/{UNIT}"), format!("{etc}/systemd/system/{UNIT}"));
        let _ = write!(
            save,
            "if [ -e {from} ]; then\nmkdir -p {etc}/systemd/system\n{}systemctl --quiet enable {UNIT} </dev/null >/dev/null 2>&1 || :\nfi\n",
            install(&from, &to, "644")
        );
        for file in [FRR_CONF, DAEMONS].into_iter().filter(|_| self.has_frr) {
            let (from, to) = (format!("{state}/new/{file}"), format!("{etc}/frr/{file}"));
            let _ = write!(save, "if [ -e {from} ]; then\n{}fi\n", install_frr(&from, &to));
        }
        guard::confirm(place, &save)
    }

    fn roll_back(&self, place: &Place, _: &str) -> String {
        guard::roll_back(place)
    }

    fn backup(&self, place: &Place, run: &str) -> String {
        guard::backup(place, run)
    }

    fn parse_backup(&self, output: &str) -> Result<Option<Texts>, String> {
        Ok(guard::parse_backup(output, self.files()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_put_into_place_by_a_rename() {
        assert!(install("a", "b", "644").ends_with("mv b.closc b\n"));
    }
}
