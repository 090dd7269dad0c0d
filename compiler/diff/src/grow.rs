//! The work order from one fabric to a larger one: which cables to plug, pull or move.
//!
//! In: two plans. Out: [`WorkOrder`]. Invariants: a cable that both plans have at the same two ports is not in it.
//! Since ports are functions of coordinates, growth within reserved numbers moves no cable.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use closc_diagnostics::figures::number;
use closc_fabric::Fabric;
use closc_plan::{CableEnds, Plan};
use closc_qos::units::Length;
use closc_topology::{Cable, Link};
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::{Change, Setting, TierSetting};
use crate::compare::Difference;
use crate::minimal_moves::MinimalMoves;
use crate::population::{MovedCable, Population, moved_ends};
use crate::renumbering::{KeptAddresses, Renumbering};
use crate::replacements::{ReplacedNics, ReplacedSwitches, replaced_cables};
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
    /// Replace it by one of another length or medium, in the same ports.
    Replace,
    /// Lay and plug it.
    Add,
}

impl Action {
    /// Returns the keyword used in the list.
    pub fn word(self) -> &'static str {
        match self {
            Action::Remove => "remove",
            Action::Move => "move",
            Action::Replace => "replace",
            Action::Add => "add",
        }
    }
}

/// One cable of the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Job {
    /// Work on the cable.
    pub action: Action,
    /// The plane.
    pub plane: u8,
    /// `nic-t0`, `t0-t1` or `t1-t2`.
    pub kind: &'static str,
    /// Device and port at the lower end.
    pub lower: (String, String),
    /// Device and port at the upper end.
    pub upper: (String, String),
    /// Current port of the end that moves. A cable with two moved ends is listed twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<(String, String)>,
    /// Length.
    pub length: String,
    /// Medium.
    pub medium: String,
    /// The cable that it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ReplacedCable>,
    #[serde(skip)]
    millimeters: u64,
}

/// A cable that is taken out of its ports for another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ReplacedCable {
    /// Its length.
    pub length: String,
    /// Its medium.
    pub medium: String,
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
    /// Switches of both fabrics that get other hardware.
    pub switches_replaced: Vec<ReplacedSwitches>,
    /// NICs of both fabrics that are replaced by others of another speed, or with other lanes or cages.
    pub nics_replaced: Vec<ReplacedNics>,
    /// Changes that renumber existing elements; empty for growth.
    pub renumbers: Vec<String>,
    /// Addresses of existing elements that change; none for growth within the bits of the addresses.
    pub addresses: Renumbering,
    /// Whether hosts write segments into packets.
    pub source_routed: bool,
    /// The fewest moves, if they were asked for. The jobs are then those with its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimal: Option<MinimalMoves>,
    /// The cables.
    pub jobs: Vec<Job>,
}

/// First line of a work order as CSV.
pub const HEADER: &str =
    "action,plane,kind,lower_device,lower_port,upper_device,upper_port,from_device,from_port,length,medium\n";

impl WorkOrder {
    /// Compares two plans.
    pub fn between(old: &Plan, new: &Plan) -> WorkOrder {
        let population = Population::between(old.fabric(), new.fabric());
        let difference = Difference::between(old.fabric(), new.fabric());
        WorkOrder {
            switches_added: population.switches.added.len(),
            switches_removed: population.switches.removed.len(),
            nics_added: population.nics.added.len(),
            switches_replaced: ReplacedSwitches::between(old.fabric(), new.fabric()),
            nics_replaced: ReplacedNics::between(old, new),
            source_routed: new.is_source_routed(),
            renumbers: difference
                .changes
                .iter()
                .filter_map(|change| renumbering_change(change, new))
                .collect(),
            addresses: Renumbering::between(old, new, KeptAddresses::All),
            minimal: None,
            jobs: jobs(&population, old, new),
        }
    }

    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
            && self.switches_added + self.switches_removed + self.nics_added == 0
            && self.switches_replaced.is_empty()
            && self.nics_replaced.is_empty()
            && !self.is_renumbering()
    }

    /// Returns whether an existing element gets another name, number or address.
    pub fn is_renumbering(&self) -> bool {
        !self.renumbers.is_empty() || !self.addresses.is_empty()
    }

    /// Compares two plans, with the port order of the new one that moves the fewest cables.
    pub fn minimal(old: &Plan, new: &Plan) -> WorkOrder {
        let (minimal, topology) = MinimalMoves::between(old.fabric(), new.fabric());
        let ordered = Plan::new(Fabric::new(topology.into()));
        WorkOrder { minimal: Some(minimal), ..WorkOrder::between(old, &ordered) }
    }

    /// Writes the cables as CSV.
    pub fn csv(&self) -> String {
        let mut text = String::from(HEADER);
        for job in &self.jobs {
            let (device, port) = job.from.as_ref().map_or(("", ""), |(device, port)| (device, port));
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{device},{port},{},{}",
                job.action.word(),
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

    /// Counts cables and jobs by kind. The jobs of both ends of a cable are adjacent in the list.
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
    pub fn moved_or_removed(&self) -> u64 {
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
        let _ = writeln!(
            text,
            "mount {}, take out {}; {} added",
            plural_of(self.switches_added, "switch", "switches"),
            number(self.switches_removed as u64),
            plural_of(self.nics_added, "NIC", "NICs"),
        );
        let switches = self.switches_replaced.iter().map(ReplacedSwitches::line);
        for line in switches.chain(self.nics_replaced.iter().map(ReplacedNics::line)) {
            let _ = writeln!(text, "{line}");
        }
        for ((action, kind, length, medium, replaces), sum) in self.kinds() {
            let cables = plural(sum.cables, "cable", "cables");
            let ends = match action {
                Action::Move => format!(" ({} to plug elsewhere)", plural(sum.jobs, "end", "ends")),
                Action::Remove | Action::Replace | Action::Add => String::new(),
            };
            let replaced = replaces.map_or_else(String::new, |ReplacedCable { length, medium }| {
                format!(" of {length} {medium} by others")
            });
            let all = Length::from_millimeters(sum.millimeters);
            let _ = writeln!(
                text,
                "{} {kind}: {cables}{ends}{replaced} of {length} {medium}, {all} in all",
                action.word()
            );
        }
        match self.count(&[Action::Move]) {
            0 => text.push_str("no cable that is plugged moves\n"),
            more => drop(writeln!(text, "{} to move", plural(more, "plugged cable", "plugged cables"))),
        }
        self.add_renumbering(&mut text);
        text
    }

    /// Writes what gets another name, number or address.
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
        for line in self.addresses.lines() {
            let _ = writeln!(text, "renumber {line}");
        }
        if let Some(reason) = self.addresses.reason() {
            let _ = writeln!(text, "{reason}");
        }
    }
}

/// The cables that one line of a summary counts: action, kind, length, medium, and the cable that is replaced.
type CableKind<'a> = (Action, &'static str, &'a str, &'a str, Option<&'a ReplacedCable>);

/// Jobs of one kind.
#[derive(Debug, Default)]
struct Sum {
    cables: u64,
    /// A cable that moves has one job per moved end.
    jobs: u64,
    millimeters: u64,
}

/// Lists the work on cables. A cable that would move and has another length or medium is removed and added.
fn jobs(population: &Population, old: &Plan, new: &Plan) -> Vec<Job> {
    let replaced = replaced_cables(old.fabric(), new.fabric());
    let other: BTreeSet<MovedCable> = replaced.iter().copied().collect();
    let (swapped, moved): (Vec<&MovedCable>, Vec<&MovedCable>) =
        population.moved.iter().partition(|cable| other.contains(cable));
    let swapped_ends: BTreeSet<MovedCable> = swapped.iter().map(|cable| **cable).collect();
    let removed = population.cables.removed.iter().copied().chain(swapped.iter().map(|cable| cable.old));
    let mut jobs: Vec<Job> = removed.map(|link| job(Action::Remove, link, old, None)).collect();
    for cable in moved {
        let CableEnds { lower, upper } = ends(old, cable.old);
        let moved = moved_ends(old.fabric(), new.fabric(), *cable).into_iter().zip([lower, upper]);
        let from = moved.filter_map(|(moves, end)| moves.then_some(end));
        jobs.extend(from.map(|end| job(Action::Move, cable.new, new, Some(end))));
    }
    for cable in replaced.iter().filter(|cable| !swapped_ends.contains(cable)) {
        let Cable { length, medium } = old.fabric().cable(cable.old);
        let replaces = Some(ReplacedCable { length: length.to_string(), medium: medium.to_string() });
        jobs.push(Job { replaces, ..job(Action::Replace, cable.new, new, None) });
    }
    let added = population.cables.added.iter().copied().chain(swapped.iter().map(|cable| cable.new));
    jobs.extend(added.map(|link| job(Action::Add, link, new, None)));
    jobs
}

fn ends(plan: &Plan, link: Link) -> CableEnds {
    plan.cable_ends(link)
}

fn job(action: Action, link: Link, plan: &Plan, from: Option<(smol_str::SmolStr, smol_str::SmolStr)>) -> Job {
    let CableEnds { lower, upper } = ends(plan, link);
    let Cable { length, medium } = plan.fabric().cable(link);
    let text =
        |(device, port): (smol_str::SmolStr, smol_str::SmolStr)| (device.to_string(), port.to_string());
    Job {
        action,
        plane: link.plane().0,
        kind: Kind::of(link).word(),
        lower: text(lower),
        upper: text(upper),
        from: from.map(text),
        length: length.to_string(),
        medium: medium.to_string(),
        replaces: None,
        millimeters: length.millimeters(),
    }
}

/// Returns the name of a change that renumbers existing elements; `None` for other changes.
fn renumbering_change(change: &Change, new: &Plan) -> Option<String> {
    match change {
        Change::Setting(setting) => match &**setting {
            Setting::Block(_)
            | Setting::SegmentPlan(_)
            | Setting::Layout(_)
            | Setting::HostPool(_)
            | Setting::LinkPool(_)
            | Setting::LoopbackPool(_)
            | Setting::ManagementPool(_)
            | Setting::AsnBase(_)
            | Setting::AddressWidths(_)
            | Setting::Rails(_)
            | Setting::NicsPerNode(_) => Some(format!("`{}`", setting.field())),
            _ => None,
        },
        Change::Tier(tier, setting) => match setting {
            // Only segments count parallel links. Addresses of cables are those of ports.
            TierSetting::Parallel(_) if !new.is_source_routed() => None,
            TierSetting::Parallel(_) | TierSetting::DownCage(_) | TierSetting::UpCage(_) => {
                Some(format!("`{}`", setting.field(*tier)))
            }
            _ => None,
        },
        Change::Naming(..) => Some("`naming`".to_owned()),
        Change::Count(..)
        | Change::T2(_)
        | Change::T2Added(_)
        | Change::T2Removed(_)
        | Change::Exception(_) => None,
    }
}
