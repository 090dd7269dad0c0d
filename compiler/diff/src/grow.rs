//! The work order from one fabric to a larger one: which cables to plug, pull or move.
//!
//! In: two plans. Out: [`WorkOrder`]. Invariants: a cable that both plans have at the same two ports is not
//! in the order. Since ports are functions of coordinates, growth within reserved counts does not move
//! cables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use closc_diagnostics::figures::number;
use closc_fabric::Fabric;
use closc_plan::{CableEnds, Plan};
use closc_qos::units::Length;
use closc_topology::{Cable, Link, Switch};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cable_identity::{ReplacedCable, replaced_cable, replaced_cables};
use crate::change::{Change, Setting, TierSetting};
use crate::compare::Difference;
use crate::minimal_moves::MinimalMoves;
use crate::population::{MovedCable, Population, is_replaced, keeps_nics, moved_ends};
use crate::renamed_devices::RenamedDevices;
use crate::renumbering::{KeptAddresses, Renumbering};
use crate::replacements::{CableChanges, ChangedModules, ReplacedNics, ReplacedSwitches, replaced_switches};
use crate::summary::Kind;
use crate::words::plural;

/// Action on a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Pull it out.
    Remove,
    /// Plug one end elsewhere.
    Move,
    /// Plug one end into a replacement switch.
    Replug,
    /// Replace it with another cable in the same ports.
    Replace,
    /// Lay and plug it.
    Add,
}

impl Action {
    /// Returns the keyword used in the list.
    pub fn keyword(self) -> &'static str {
        match self {
            Action::Remove => "remove",
            Action::Move => "move",
            Action::Replug => "replug",
            Action::Replace => "replace",
            Action::Add => "add",
        }
    }
}

/// One cable of the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Job {
    /// The action on the cable.
    pub action: Action,
    /// The plane.
    pub plane: u8,
    /// `nic-t0`, `t0-t1` or `t1-t2`.
    pub kind: &'static str,
    /// Device and port at the lower end.
    pub lower: (String, String),
    /// Device and port at the upper end.
    pub upper: (String, String),
    /// Current device and port of the end that is to be plugged elsewhere. A cable with two such ends is
    /// listed twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<(String, String)>,
    /// Length.
    pub length: String,
    /// Medium.
    pub medium: String,
    /// The cable that is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ReplacedCable>,
    #[serde(skip)]
    millimeters: u64,
}

/// The work order: switches, NICs and cables to add, move or remove.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkOrder {
    /// New switches.
    pub switches_added: usize,
    /// Removed switches.
    pub switches_removed: usize,
    /// New NICs.
    pub nics_added: usize,
    /// Removed NICs.
    pub nics_removed: usize,
    /// Existing switches whose hardware is replaced.
    pub switches_replaced: Vec<ReplacedSwitches>,
    /// Existing NICs that are replaced, because their speed, lanes or cages change.
    pub nics_replaced: Vec<ReplacedNics>,
    /// Existing cables that are replaced and whose ports change. `jobs` lists each of them twice: removed, and added.
    #[serde(skip_serializing_if = "is_zero")]
    pub replaced_in_other_ports: usize,
    /// Modules to remove from or add to existing devices because cables in their cages are replaced.
    pub modules_changed: Vec<ChangedModules>,
    /// Existing devices that are renamed.
    pub renamed: Vec<RenamedDevices>,
    /// Changes that renumber existing elements; empty for growth.
    pub renumbers: Vec<String>,
    /// Changed addresses of existing elements; none for growth that fits the address bits.
    pub addresses: Renumbering,
    /// Whether hosts write segments into packets.
    pub source_routed: bool,
    /// The minimum number of moves, if requested. `jobs` then assumes its `settings`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimal: Option<MinimalMoves>,
    /// Work on cables.
    pub jobs: Vec<Job>,
}

// Serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// First line of a work order as CSV.
pub const HEADER: &str =
    "action,plane,kind,lower_device,lower_port,upper_device,upper_port,from_device,from_port,length,medium\n";

impl WorkOrder {
    /// Compares two plans.
    pub fn compare(old: &Plan, new: &Plan) -> WorkOrder {
        let population = Population::compare(old.fabric(), new.fabric());
        let difference = Difference::compare(old.fabric(), new.fabric());
        let replaced = replaced_cables(old.fabric(), new.fabric());
        let all = replaced.iter().copied().collect();
        let cables = CableChanges { old: old.fabric(), new: new.fabric(), replaced: &all };
        WorkOrder {
            switches_added: population.switches.added.len(),
            switches_removed: population.switches.removed.len(),
            nics_added: population.nics.added.len(),
            nics_removed: population.nics.removed.len(),
            switches_replaced: ReplacedSwitches::compare(cables),
            nics_replaced: ReplacedNics::compare(old, new),
            replaced_in_other_ports: population.moved.iter().filter(|cable| all.contains(cable)).count(),
            modules_changed: ChangedModules::between(old, new, &replaced),
            renamed: RenamedDevices::between(&difference, old, new),
            source_routed: new.is_source_routed(),
            renumbers: difference
                .changes
                .iter()
                .filter_map(|change| renumbering_change(change, old, new))
                .collect(),
            addresses: Renumbering::compare(old, new, KeptAddresses::All),
            minimal: None,
            jobs: jobs(&population, cables, old, new),
        }
    }

    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
            && self.switches_added + self.switches_removed + self.nics_added + self.nics_removed == 0
            && self.switches_replaced.is_empty()
            && self.nics_replaced.is_empty()
            && self.modules_changed.is_empty()
            && !self.is_renumbering()
    }

    /// Returns whether the name, number or address of an existing element changes.
    pub fn is_renumbering(&self) -> bool {
        !self.renumbers.is_empty() || !self.renamed.is_empty() || !self.addresses.is_empty()
    }

    /// Compares two plans; the new one gets the port order that [`MinimalMoves::compare`] returns.
    pub fn minimal(old: &Plan, new: &Plan) -> WorkOrder {
        let (minimal, topology) = MinimalMoves::compare(old.fabric(), new.fabric());
        let ordered = Plan::new(Fabric::new(topology.into()));
        WorkOrder { minimal: Some(minimal), ..WorkOrder::compare(old, &ordered) }
    }

    /// Writes the cables as CSV.
    pub fn csv(&self) -> String {
        let mut text = String::from(HEADER);
        for job in &self.jobs {
            let (device, port) = job.from.as_ref().map_or(("", ""), |(device, port)| (device, port));
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{device},{port},{},{}",
                job.action.keyword(),
                job.plane,
                job.kind,
                job.lower.0,
                job.lower.1,
                job.upper.0,
                job.upper.1,
                job.length,
                job.medium
            );
        }
        text
    }

    /// Counts cables and jobs by kind. If both ends of a cable have jobs, these are adjacent in the list.
    fn kinds(&self) -> BTreeMap<CableKind<'_>, Sum> {
        let mut kinds: BTreeMap<CableKind<'_>, Sum> = BTreeMap::new();
        for jobs in self.jobs.chunk_by(|a, b| (a.action, &a.lower) == (b.action, &b.lower)) {
            let job = &jobs[0];
            let key = (job.action, job.kind, job.length.as_str(), job.medium.as_str(), job.replaces.as_ref());
            let sum = kinds.entry(key).or_default();
            sum.cables += 1;
            sum.jobs += jobs.len() as u64;
            sum.millimeters += job.millimeters;
        }
        kinds
    }

    /// Counts the cables that are moved or removed.
    pub fn count_unplugged(&self) -> u64 {
        self.count(&[Action::Move, Action::Remove])
    }

    fn count(&self, actions: &[Action]) -> u64 {
        let kinds = self.kinds().into_iter().filter(|((action, ..), _)| actions.contains(action));
        kinds.map(|(_, sum)| sum.cables).sum()
    }

    /// Writes a summary for people: what to order and what to do, by kind, length and medium.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        let plural_of = |count: usize, one, many| plural(count as u64, one, many);
        let removed = match self.nics_removed {
            0 => String::new(),
            count => format!(", {} removed", number(count as u64)),
        };
        let _ = writeln!(
            text,
            "install {}, remove {}; {} added{removed}",
            plural_of(self.switches_added, "switch", "switches"),
            number(self.switches_removed as u64),
            plural_of(self.nics_added, "NIC", "NICs"),
        );
        let switches = self.switches_replaced.iter().map(ReplacedSwitches::line);
        let nics = self.nics_replaced.iter().map(ReplacedNics::line);
        let modules = self.modules_changed.iter().flat_map(ChangedModules::lines);
        for line in switches.chain(nics).chain(modules) {
            let _ = writeln!(text, "{line}");
        }
        for (kind, sum) in self.kinds() {
            add_cables(&mut text, kind, &sum);
        }
        if self.replaced_in_other_ports > 0 {
            let (same, other) = (self.count(&[Action::Replace]), self.replaced_in_other_ports as u64);
            let _ = writeln!(
                text,
                "{} replaced: {} in the same ports, {} in other ports (removed and added)",
                plural(same + other, "cable is", "cables are"),
                number(same),
                number(other)
            );
        }
        match self.count(&[Action::Move]) {
            0 => text.push_str("no plugged cable moves\n"),
            more => drop(writeln!(text, "{} to move", plural(more, "plugged cable", "plugged cables"))),
        }
        self.add_renumbering(&mut text);
        text
    }

    /// Writes changes of names, numbers and addresses.
    fn add_renumbering(&self, text: &mut String) {
        match self.renumbers.as_slice() {
            [] if self.is_renumbering() => {}
            [] if self.source_routed => text.push_str("existing addresses and segments are unchanged\n"),
            [] => text.push_str("existing addresses are unchanged\n"),
            some => {
                let _ =
                    writeln!(text, "not only growth: {} would renumber existing elements", some.join(", "));
            }
        }
        for line in self.renamed.iter().map(RenamedDevices::line) {
            let _ = writeln!(text, "rename {line}");
        }
        for line in self.addresses.lines() {
            let _ = writeln!(text, "renumber {line}");
        }
        if let Some(reason) = self.addresses.reason() {
            let _ = writeln!(text, "{reason}");
        }
    }
}

/// Key of a line in the summary: action, kind, length, medium, and the cable that is replaced.
type CableKind<'a> = (Action, &'static str, &'a str, &'a str, Option<&'a ReplacedCable>);

/// Jobs of one kind.
#[derive(Debug, Default)]
struct Sum {
    cables: u64,
    /// A moved cable has one job per moved end.
    jobs: u64,
    millimeters: u64,
}

/// Writes the line of a summary for cables of one kind.
fn add_cables(text: &mut String, (action, kind, length, medium, replaces): CableKind<'_>, sum: &Sum) {
    let cables = plural(sum.cables, "cable", "cables");
    let ends = || plural(sum.jobs, "end", "ends");
    let ends = match action {
        Action::Move => format!(" ({} to plug elsewhere)", ends()),
        Action::Replug => format!(" ({} to plug into new switches)", ends()),
        Action::Remove | Action::Replace | Action::Add => String::new(),
    };
    let replaced = replaces.map_or_else(String::new, |ReplacedCable { length, medium, .. }| {
        let others = if sum.cables == 1 { "another" } else { "others" };
        format!(" of {length} {medium} with {others}")
    });
    let cages = replaces.map_or_else(String::new, ReplacedCable::cage_text);
    let all = Length::from_millimeters(sum.millimeters);
    let _ = writeln!(
        text,
        "{} {kind}: {cables}{ends}{replaced} of {length} {medium}, {all} in all{cages}",
        action.keyword()
    );
}

/// Lists the work on cables. If a cable both moves and has to be replaced, the old one is removed and a new
/// one is added.
fn jobs(population: &Population, cables: CableChanges<'_>, old: &Plan, new: &Plan) -> Vec<Job> {
    let other = cables.replaced;
    let (swapped, moved): (Vec<&MovedCable>, Vec<&MovedCable>) =
        population.moved.iter().partition(|cable| other.contains(cable));
    let swapped_ends: BTreeSet<MovedCable> = swapped.iter().map(|cable| **cable).collect();
    let removed = population.cables.removed.iter().copied().chain(swapped.iter().map(|cable| cable.old));
    let mut jobs: Vec<Job> = removed.map(|link| job(Action::Remove, link, old, None)).collect();
    for cable in moved {
        let moves = moved_ends(old.fabric(), new.fabric(), *cable);
        jobs.extend(end_jobs(Action::Move, *cable, moves, old, new));
    }
    for cable in replugged_cables(cables) {
        let moves = moved_ends(old.fabric(), new.fabric(), cable);
        let ends = replaced_ends(old.fabric(), new.fabric(), cable);
        let ends = [ends[0] && !moves[0], ends[1] && !moves[1]];
        jobs.extend(end_jobs(Action::Replug, cable, ends, old, new));
    }
    for cable in other.iter().filter(|cable| !swapped_ends.contains(cable)) {
        let replaces = Some(replaced_cable(old.fabric(), new.fabric(), *cable));
        jobs.push(Job { replaces, ..job(Action::Replace, cable.new, new, None) });
    }
    let added = population.cables.added.iter().copied().chain(swapped.iter().map(|cable| cable.new));
    jobs.extend(added.map(|link| job(Action::Add, link, new, None)));
    jobs
}

/// Returns a job for each given end of a cable, the lower end first.
fn end_jobs(
    action: Action,
    cable: MovedCable,
    ends: [bool; 2],
    old: &Plan,
    new: &Plan,
) -> impl Iterator<Item = Job> {
    let CableEnds { lower, upper } = old.cable_ends(cable.old);
    let from = ends.into_iter().zip([lower, upper]).filter_map(|(is_one, end)| is_one.then_some(end));
    from.map(move |end| job(action, cable.new, new, Some(end)))
}

/// Returns the cables with an end to replug into a switch that is replaced.
fn replugged_cables(cables: CableChanges<'_>) -> BTreeSet<MovedCable> {
    let switches = replaced_switches(cables.old, cables.new).into_values().flatten();
    let mut found = BTreeSet::new();
    for switch in switches {
        found.extend(cables.replugged_cables(switch));
    }
    found
}

/// Returns for each end of a cable whether its switch is replaced, the lower end first.
fn replaced_ends(old: &Fabric, new: &Fabric, cable: MovedCable) -> [bool; 2] {
    let is_other = |switch: Option<Switch>| {
        switch.is_some_and(|switch| old.has_switch(switch) && is_replaced(old, new, switch))
    };
    let lower = match cable.new {
        Link::Fabric { lower, .. } => Some(lower),
        Link::Host(_) => None,
    };
    [is_other(lower), is_other(new.upper_end(cable.new).map(|(switch, _)| switch))]
}

fn job(action: Action, link: Link, plan: &Plan, from: Option<(smol_str::SmolStr, smol_str::SmolStr)>) -> Job {
    let CableEnds { lower, upper } = plan.cable_ends(link);
    let Cable { length, medium } = plan.fabric().cable(link);
    let text =
        |(device, port): (smol_str::SmolStr, smol_str::SmolStr)| (device.to_string(), port.to_string());
    Job {
        action,
        plane: link.plane().0,
        kind: Kind::of(link).keyword(),
        lower: text(lower),
        upper: text(upper),
        from: from.map(text),
        length: length.to_string(),
        medium: medium.to_string(),
        replaces: None,
        millimeters: length.millimeters(),
    }
}

/// Returns the field of a change that renumbers elements; `None` for other changes. Addresses are not
/// included, because they are compared one by one.
fn renumbering_change(change: &Change, old: &Plan, new: &Plan) -> Option<String> {
    match change {
        Change::Setting(setting) => {
            let renumbers = match &**setting {
                Setting::Block(_) | Setting::SegmentPlan(_) | Setting::Layout(_) => {
                    old.is_source_routed() && new.is_source_routed()
                }
                Setting::AsnBase(_) => [old, new].iter().all(|plan| plan.topology().routing.speaks_bgp()),
                Setting::Rails(_) | Setting::NicsPerNode(_) | Setting::ZonesPerNode(_) => {
                    let (before, after) = (old.fabric(), new.fabric());
                    !keeps_nics(before, after) && !keeps_nics(after, before)
                }
                _ => false,
            };
            renumbers.then(|| format!("`{}`", setting.field()))
        }
        // Only segments depend on the number of a parallel link. Addresses of cables follow from ports.
        Change::Tier(tier, setting @ TierSetting::Parallel(_)) if new.is_source_routed() => {
            Some(format!("`{}`", setting.field(*tier)))
        }
        Change::Tier(..)
        | Change::Naming(..)
        | Change::Count(..)
        | Change::T2(_)
        | Change::T2Added(_)
        | Change::T2Removed(_)
        | Change::Exception(_) => None,
    }
}
