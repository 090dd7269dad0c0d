//! Lines for equipment that is replaced: switches, NICs, cables and modules, each with a count.
//!
//! In: two plans. Out: lines. Invariants: only equipment that both fabrics have is listed. These lines follow
//! from changes of settings.

use std::collections::BTreeMap;

use closc_diagnostics::figures::number;
use closc_plan::Plan;
use closc_topology::Cable;

use super::{Kind, limit_names, simple};
use crate::cable_identity::{ReplacedCable, replaced_cable};
use crate::effect::link_name;
use crate::population::{MovedCable, moved_ends};
use crate::replacements::{CableChanges, ChangedModules, ReplacedSwitches, replaced_nics, replaced_switches};
use crate::report::{Line, Options, Sign};
use crate::words::plural;

/// Kind of a cable, the replaced cable, and the new length and medium.
type CableKind = (Kind, ReplacedCable, (String, String));

/// Returns the lines. `cables` are the cables to replace.
pub(super) fn lines(cables: &[MovedCable], old: &Plan, new: &Plan, options: Options) -> Vec<Line> {
    let replaced = cables.iter().copied().collect();
    let changes = CableChanges { old: old.fabric(), new: new.fabric(), replaced: &replaced };
    let mut lines = switch_lines(changes, new, options);
    lines.extend(nic_lines(old, new, options));
    lines.extend(cable_lines(cables, old, new, options));
    lines.extend(module_lines(cables, old, new));
    lines
}

fn are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn switch_lines(cables: CableChanges<'_>, new: &Plan, options: Options) -> Vec<Line> {
    let line = |(kind, switches): ((_, String, String), Vec<_>)| {
        let found = ReplacedSwitches::of(kind, &switches, cables);
        let ReplacedSwitches { old, new: platform, .. } = &found;
        let count = found.switches;
        let text = format!("{} {} replaced: `{old}` -> `{platform}`", found.count(), are(count));
        let names = limit_names(switches.iter().map(|switch| new.switch_name(*switch).to_string()), options);
        Line { count, names, warning: found.cables(), ..simple(Sign::Change, "switches", text) }
    };
    replaced_switches(cables.old, cables.new).into_iter().map(line).collect()
}

fn nic_lines(old: &Plan, new: &Plan, options: Options) -> Vec<Line> {
    let line = |((before, after), nics): ((String, String), Vec<_>)| {
        let count = nics.len() as u64;
        let text = format!("{} {} replaced: {before} -> {after}", plural(count, "NIC", "NICs"), are(count));
        let name = |nic: &closc_topology::Nic| {
            let (node, number) = new.topology().node_of(*nic);
            new.topology().naming.nic(node, number)
        };
        Line {
            count,
            names: limit_names(nics.iter().map(name), options),
            ..simple(Sign::Change, "nics", text)
        }
    };
    replaced_nics(old, new).into_iter().map(line).collect()
}

fn cable_lines(cables: &[MovedCable], old: &Plan, new: &Plan, options: Options) -> Vec<Line> {
    let mut kinds: BTreeMap<CableKind, Vec<MovedCable>> = BTreeMap::new();
    for cable in cables {
        let Cable { length, medium } = new.fabric().cable(cable.new);
        let before = replaced_cable(old.fabric(), new.fabric(), *cable);
        let key = (Kind::of(cable.new), before, (length.to_string(), medium.to_string()));
        kinds.entry(key).or_default().push(*cable);
    }
    let line = |((kind, before, (length, medium)), cables): (CableKind, Vec<MovedCable>)| {
        let count = cables.len() as u64;
        let one = format!("{} cable", kind.keyword());
        let all = plural(count, &one, &format!("{one}s"));
        let cages = before.cage_text();
        let ReplacedCable { length: old_length, medium: old_medium, .. } = before;
        let is_moved = |cable: &&MovedCable| moved_ends(old.fabric(), new.fabric(), **cable) != [false; 2];
        let moved = match cables.iter().filter(is_moved).count() as u64 {
            0 => String::new(),
            moved if moved == count => " in other ports".to_owned(),
            moved => format!(", {} in other ports", number(moved)),
        };
        let text = format!(
            "{all} {} replaced{moved}: {old_length} {old_medium} -> {length} {medium}{cages}",
            are(count)
        );
        let names = limit_names(cables.iter().map(|cable| link_name(cable.new, new)), options);
        Line { count, names, ..simple(Sign::Change, "cables", text) }
    };
    kinds.into_iter().map(line).collect()
}

fn module_lines(cables: &[MovedCable], old: &Plan, new: &Plan) -> Vec<Line> {
    let lines = ChangedModules::between(old, new, cables).into_iter().flat_map(|found| {
        let works = [(Sign::Remove, found.removed), (Sign::Add, found.added)];
        works.into_iter().filter(|(_, count)| *count > 0).map(move |(sign, count)| {
            let one = format!("module of {}s", found.place);
            let all = plural(count, &one, &one.replacen("module", "modules", 1));
            Line { count, ..simple(sign, "modules", format!("{all}, {}", found.kind())) }
        })
    });
    lines.collect()
}
