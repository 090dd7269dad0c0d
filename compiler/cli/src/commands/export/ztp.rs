//! `closc export ztp`: the files that new SONiC switches fetch, and the DHCP options with their URLs.
//!
//! In: a fabric file, and the hardware list of the site. Out: files to be served, and DHCP server configurations.
//! Invariants: missing values in the list of hardware are reported.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_artefacts::carriers::{Transport, UndeliveredFile, undelivered_files};
use closc_artefacts::paths;
use closc_diagnostics::figures::format_count;
use closc_plan::Plan;
use closc_platform::FactorySetting;
use closc_provision::dhcp::{Dhcp, Identifier, Network, Reservation};
use closc_provision::hardware::{self, Hardware};
use closc_provision::ztp;
use closc_render::Artefact;
use closc_topology::Switch;
use rayon::prelude::*;

use super::configuration::{Source, count_absent};
use super::{list_below, put};
use crate::args::Args;
use crate::args::export::ZtpArgs;
use crate::output::{self, Outcome};
use crate::{input, names};

/// Maximum number of names in a note.
const SHOWN: usize = 8;

pub(super) fn run(args: &Args, command: &ZtpArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let site = Site { command, plan, hardware: hardware(plan, command.serials.as_deref())? };
    let source = Source::new(plan, command.overlay.as_deref())?;
    let switches: Vec<Switch> = plan.switches().collect();
    let written = switches.par_iter().map(|switch| site.switch(&source, *switch));
    let written: Vec<SwitchFiles> = written.collect::<anyhow::Result<_>>()?;
    let absent =
        written.iter().zip(&switches).map(|(made, switch)| (plan.os(*switch), made.absent.as_slice()));
    let absent = count_absent(absent);
    let (written, missing): (Vec<Vec<String>>, Vec<Vec<UndeliveredFile>>) =
        written.into_iter().map(|made| (made.files, made.undelivered_files)).unzip();
    let missing: BTreeSet<UndeliveredFile> = missing.into_iter().flatten().collect();
    let sonic: Vec<Switch> = switches
        .iter()
        .zip(&written)
        .filter(|(_, files)| !files.is_empty())
        .map(|(switch, _)| *switch)
        .collect();
    if sonic.is_empty() {
        bail!("no switch of `{}` runs SONiC, and others have no zero touch provisioning", plan.name());
    }
    let mut files = written.concat();
    let notes = &mut Vec::new();
    for UndeliveredFile { file, instead } in missing {
        notes.push(format!("`{file}` is not among the files of ZTP: {instead}"));
    }
    if sonic.len() < switches.len() {
        notes.push(format!(
            "omitted: {} without SONiC",
            format_count((switches.len() - sonic.len()) as u64, "switch")
        ));
    }
    if command.serials.is_some() {
        files.extend(put(&command.out, &site.common(&sonic, notes))?);
    } else {
        notes.push(
            "without `--serials` no switch finds its `ztp.json` by itself: nothing is written for DHCP"
                .to_owned(),
        );
    }
    for line in absent.iter().filter(|_| !args.quiet) {
        output::say(format!("warning: {line}"));
    }
    for note in notes.iter().filter(|_| !args.quiet) {
        output::say(format!("note: {note}"));
    }
    list_below(args, &command.out, files)
}

/// Reads the list of hardware, and checks that every row names a switch of the fabric.
fn hardware(plan: &Plan, file: Option<&Utf8Path>) -> anyhow::Result<BTreeMap<String, Hardware>> {
    let Some(file) = file else { return Ok(BTreeMap::new()) };
    let text = output::read(file, closc_files::TEXT_MAX)?;
    let list = hardware::read(&text).map_err(|faults| {
        let lines: Vec<String> = faults.iter().map(|fault| format!("{file}:{fault}")).collect();
        anyhow::anyhow!("{}", lines.join("\n"))
    })?;
    for (name, row) in &list {
        names::switch(plan, name).with_context(|| format!("{file}:{}", row.line))?;
    }
    Ok(list)
}

/// Files of a switch.
#[derive(Default)]
struct SwitchFiles {
    files: Vec<String>,
    /// Files that ZTP does not deliver.
    undelivered_files: Vec<UndeliveredFile>,
    /// Factory settings that its configuration lacks.
    absent: Vec<&'static FactorySetting>,
}

/// The fabric and its hardware.
struct Site<'a> {
    command: &'a ZtpArgs,
    plan: &'a Plan,
    hardware: BTreeMap<String, Hardware>,
}

impl Site<'_> {
    /// Writes the files of a switch; none if it does not run SONiC.
    fn switch(&self, source: &Source<'_>, switch: Switch) -> anyhow::Result<SwitchFiles> {
        let made = source.files(switch)?;
        if !made.is_sonic {
            return Ok(SwitchFiles::default());
        }
        let absent = made.absent.clone();
        let missed = undelivered_files(made.names(), &[Transport::Ztp]);
        let name = self.plan.switch_name(switch);
        let device = ztp::Device {
            name: &name,
            has_frr: made.has(paths::FRR_CONF),
            gateway: self.plan.addresses().management_gateway(switch),
        };
        let serial = self.hardware.get(&*name).and_then(|row| row.serial.as_ref());
        let mut artefacts = ztp::device(&self.command.url, &device, serial);
        artefacts.extend(
            made.of(Transport::Ztp).map(|(file, bytes)| Artefact::new(ztp::path(&name, &file), bytes)),
        );
        Ok(SwitchFiles { files: put(&self.command.out, &artefacts)?, undelivered_files: missed, absent })
    }

    /// Generates the files that all switches share.
    fn common(&self, sonic: &[Switch], notes: &mut Vec<String>) -> Vec<Artefact> {
        let addresses = self.plan.addresses();
        let (mut without_serial, mut without_all, mut reservations) = (Vec::new(), Vec::new(), Vec::new());
        for switch in sonic {
            let name = self.plan.switch_name(*switch).to_string();
            let row = self.hardware.get(&name).cloned().unwrap_or_default();
            let identifier = Identifier::of(&row);
            let has_serial = row.serial.is_some();
            match (has_serial, &identifier) {
                (true, _) => {}
                (false, Some(_)) => without_serial.push(name.clone()),
                (false, None) => without_all.push(name.clone()),
            }
            let Some(identifier) = identifier else { continue };
            let own = self.command.url.of(&ztp::path(&name, "ztp.json"));
            let address = addresses.management(*switch);
            reservations.push(Reservation { name, identifier, address, file: (!has_serial).then_some(own) });
        }
        let has_serials = sonic.len() > without_serial.len() + without_all.len();
        let network = |switch: &Switch| {
            let (address, gateway) = (addresses.management(*switch)?, addresses.management_gateway(*switch)?);
            Some(Network { pool: address.trunc(), gateway })
        };
        let dhcp = Dhcp {
            networks: sonic.iter().filter_map(network).collect(),
            file: has_serials.then(|| self.command.url.of(ztp::REDIRECT)),
            reservations,
        };
        note(notes, &without_all, "without serial number and MAC address in the list, so without `ztp.json`");
        note(notes, &without_serial, "without serial number in the list; DHCP sends the file by MAC address");
        if dhcp.n_known() < sonic.len() {
            notes.push(format!(
                "{} of {} SONiC switches have no reservation: DHCP identifies a switch by `mac`, in IPv4 \
                 also by `product` with `serial`",
                sonic.len() - dhcp.n_known(),
                sonic.len()
            ));
        }
        has_serials.then(|| ztp::redirect(&self.command.url)).into_iter().chain(dhcp.render()).collect()
    }
}

fn note(notes: &mut Vec<String>, names: &[String], what: &str) {
    if names.is_empty() {
        return;
    }
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = names[..names.len().min(SHOWN)].join(", ");
    notes.push(format!("{} {what}: {shown}{more}", format_count(names.len() as u64, "switch")));
}
