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
use closc_topology::{Cable, Link, ZoneId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::{Change, Setting, TierSetting};
use crate::compare::Difference;
use crate::minimal_moves::MinimalMoves;
use crate::population::{Population, moved_ends};
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
    /// Lay and plug it.
    Add,
}

impl Action {
    /// Returns the keyword used in the list.
    pub fn word(self) -> &'static str {
        match self {
            Action::Remove => "remove",
            Action::Move => "move",
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
    /// NICs that are replaced by others of another speed or number of lanes.
    pub nics_replaced: usize,
    /// Changes that renumber existing elements; empty for growth.
    pub renumbers: Vec<String>,
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
        let mut jobs = Vec::new();
        jobs.extend(population.cables.removed.iter().map(|link| job(Action::Remove, *link, old, None)));
        for cable in &population.moved {
            let CableEnds { lower, upper } = ends(old, cable.old);
            let moved = moved_ends(old.fabric(), new.fabric(), *cable).into_iter().zip([lower, upper]);
            let from = moved.filter_map(|(moves, end)| moves.then_some(end));
            jobs.extend(from.map(|end| job(Action::Move, cable.new, new, Some(end))));
        }
        jobs.extend(population.cables.added.iter().map(|link| job(Action::Add, *link, new, None)));
        let difference = Difference::between(old.fabric(), new.fabric());
        WorkOrder {
            switches_added: population.switches.added.len(),
            switches_removed: population.switches.removed.len(),
            nics_added: population.nics.added.len(),
            nics_replaced: replaced_nics(old, new),
            source_routed: new.is_source_routed(),
            renumbers: difference
                .changes
                .iter()
                .filter_map(|change| renumbering_change(change, new))
                .collect(),
            minimal: None,
            jobs,
        }
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
            let sum = kinds.entry((job.action, job.kind, &job.length, &job.medium)).or_default();
            sum.cables += 1;
            sum.jobs += jobs.len() as u64;
            sum.millimeters += job.millimeters;
        }
        kinds
    }

    /// Counts the cables that are moved or removed.
    pub fn moved(&self) -> u64 {
        let kinds = self.kinds().into_iter().filter(|((action, ..), _)| *action != Action::Add);
        kinds.map(|(_, sum)| sum.cables).sum()
    }

    /// Writes a summary for people: what to order and what to do, by kind, length and medium.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        let plural_of = |count: usize, one, many| plural(count as u64, one, many);
        let _ = writeln!(
            text,
            "mount {}, take out {}; {} added{}",
            plural_of(self.switches_added, "switch", "switches"),
            number(self.switches_removed as u64),
            plural_of(self.nics_added, "NIC", "NICs"),
            match self.nics_replaced {
                0 => String::new(),
                some => format!(", {} replaced", plural_of(some, "other is", "others are")),
            }
        );
        for ((action, kind, length, medium), sum) in self.kinds() {
            let cables = plural(sum.cables, "cable", "cables");
            let ends = match action {
                Action::Move => format!(" ({} to plug elsewhere)", plural(sum.jobs, "end", "ends")),
                Action::Remove | Action::Add => String::new(),
            };
            let all = Length::from_millimeters(sum.millimeters);
            let _ =
                writeln!(text, "{} {kind}: {cables}{ends} of {length} {medium}, {all} in all", action.word());
        }
        let moves = self.kinds().into_iter().filter(|((action, ..), _)| *action == Action::Move);
        match moves.map(|(_, sum)| sum.cables).sum() {
            0 => text.push_str("no cable that is plugged moves\n"),
            more => drop(writeln!(text, "{} to move", plural(more, "plugged cable", "plugged cables"))),
        }
        match self.renumbers.as_slice() {
            [] if self.source_routed => text.push_str("existing addresses and segments are unchanged\n"),
            [] => text.push_str("existing addresses are unchanged\n"),
            some => {
                let _ =
                    writeln!(text, "not only growth: {} would renumber existing elements", some.join(", "));
            }
        }
        text
    }
}

/// The cables that one line of a summary counts: action, kind, length and medium.
type CableKind<'a> = (Action, &'static str, &'a str, &'a str);

/// Jobs of one kind.
#[derive(Debug, Default)]
struct Sum {
    cables: u64,
    /// A cable that moves has one job per moved end.
    jobs: u64,
    millimeters: u64,
}

/// Counts the NICs of both sides that have another speed, or another number of lanes or cages.
fn replaced_nics(old: &Plan, new: &Plan) -> usize {
    let kind = |plan: &Plan, zone| {
        let hosts = &plan.topology().hosts;
        let lanes = hosts.nic_by_zone.get(&zone).map_or(hosts.nic_lanes, |own| own.lanes);
        (plan.topology().nic_speed(zone), lanes, plan.topology().nic_cages(zone))
    };
    let zones = 0..old.topology().zones.min(new.topology().zones);
    let other: BTreeSet<ZoneId> =
        zones.map(ZoneId).filter(|zone| kind(old, *zone) != kind(new, *zone)).collect();
    if other.is_empty() {
        return 0;
    }
    let both = new.fabric().nics().filter(|nic| other.contains(&nic.zone) && old.fabric().has_nic(*nic));
    both.count()
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
