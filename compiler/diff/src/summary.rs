//! The lines of a difference: what an operator would say.
//!
//! In: a difference and what comes and goes. Out: lines, first the settings, then what comes, goes or moves. Invariants:
//! every change is in exactly one line; identical changes on many devices are one.

mod exceptions;
mod qos;

use closc_diagnostics::figures::number;
use closc_plan::Plan;
use closc_topology::{Link, TierId};

use crate::change::{Change, Edit, Exception, Field, Named, TierField};
use crate::compare::Difference;
use crate::effect::link_name;
use crate::population::Population;
use crate::report::{Line, Options, Sign};
use crate::words::{plural, tier as tier_word};

/// Names shown of a list that was not asked for.
const FIRST: usize = 3;

/// Writes the lines.
pub(crate) fn lines(
    difference: &Difference,
    population: &Population,
    old: &Plan,
    new: &Plan,
    options: Options,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut exceptions: Vec<&Exception> = Vec::new();
    for change in &difference.changes {
        match change {
            Change::Field(field) => match &**field {
                Field::Qos(edit) => lines.extend(qos::lines(edit)),
                field => lines.push(field_line(field, new)),
            },
            Change::Tier(tier, field) => lines.push(tier_line(*tier, field, new)),
            Change::Naming(named, edit) => lines.extend(naming_line(*named, edit, old, new, options)),
            Change::T2Added(tier) => {
                lines.push(simple(Sign::Add, "tiers.t2", format!("T2 tier of {}", tier.platform.id)));
            }
            Change::T2Removed(tier) => {
                lines.push(simple(Sign::Remove, "tiers.t2", format!("T2 tier of {}", tier.platform.id)));
            }
            Change::Exception(exception) => exceptions.push(exception),
        }
    }
    lines.extend(exceptions::lines(&exceptions, old, new, options));
    lines.extend(population_lines(population, old, new, options));
    lines
}

fn simple(sign: Sign, subject: &str, text: String) -> Line {
    Line { sign, subject: subject.to_owned(), text, count: 1, warning: None, names: Vec::new() }
}

/// Keeps all names, or the first few.
fn listed(names: impl Iterator<Item = String>, options: Options) -> Vec<String> {
    if options.list { names.collect() } else { names.take(FIRST).collect() }
}

fn field_line(field: &Field, new: &Plan) -> Line {
    let (before, after) = field.values();
    let mut line = simple(Sign::Change, field.path(), format!("{before} -> {after}"));
    line.warning = warning(field, new);
    line
}

/// What a change of a field does beyond its words.
fn warning(field: &Field, plan: &Plan) -> Option<String> {
    let topology = plan.topology();
    let nics = u64::from(topology.zones) * u64::from(topology.t0.count) * u64::from(topology.hosts.per_group);
    match field {
        Field::Layout(_) | Field::Block(_) => Some("renumbers every segment".to_owned()),
        Field::HostPool(_) => Some(format!("renumbers all {} NICs", number(nics))),
        Field::LinkPool(_) => Some("renumbers both ends of every cable".to_owned()),
        Field::LoopbackPool(_) => {
            Some(format!("renumbers all {} switches", number(plan.switches().count() as u64)))
        }
        Field::ManagementPool(edit) if edit.old.is_some() => {
            Some("renumbers the management port of every switch".to_owned())
        }
        Field::AsnBase(_) => Some("renumbers every autonomous system".to_owned()),
        Field::Planes(_) => Some("every NIC port changes its speed".to_owned()),
        Field::EntropySeed(_) => Some("every NIC draws other entropy values".to_owned()),
        Field::Name(_)
        | Field::Description(_)
        | Field::Zones(_)
        | Field::Sites(_)
        | Field::Routing(_)
        | Field::PerGroup(_)
        | Field::NicsPerNode(_)
        | Field::Rails(_)
        | Field::NicSpeed(_)
        | Field::NicLanes(_)
        | Field::HostOs(_)
        | Field::HostOutputs(_)
        | Field::Slots(_)
        | Field::T2Wiring(_)
        | Field::T2ZonePorts(_)
        | Field::T2Rows(_)
        | Field::ManagementPool(_)
        | Field::ManagementGateway(_)
        | Field::NicT0(_)
        | Field::T0T1(_)
        | Field::T1T2(_)
        | Field::T1T2ByZone(_)
        | Field::LinkMtu(_)
        | Field::PayloadMtu(_)
        | Field::EntropyActive(_)
        | Field::EntropyBackup(_)
        | Field::EntropyMin(_)
        | Field::UdpPort(_)
        | Field::Pin(_)
        | Field::Pins(_)
        | Field::QueuePairs(_)
        | Field::Qos(_)
        | Field::Services(_)
        | Field::Domains(_) => None,
    }
}

fn tier_line(tier: TierId, field: &TierField, new: &Plan) -> Line {
    let (before, after) = field.values();
    let edit = format!("{before} -> {after}");
    let each = tier_word(tier);
    let text = match field {
        TierField::Count(_) if tier == TierId::T0 => format!("T0 groups of a zone: {edit}"),
        TierField::Count(_) => format!("{each}s of a plane: {edit}"),
        TierField::Down(_) => format!("downlinks in use of each {each}: {edit}"),
        TierField::Up(_) => format!("uplinks of each {each}: {edit}"),
        TierField::Platform(_)
        | TierField::Os(_)
        | TierField::DownSpare(_)
        | TierField::DownCage(_)
        | TierField::DownBreakout(_)
        | TierField::UpSpare(_)
        | TierField::UpCage(_)
        | TierField::UpBreakout(_)
        | TierField::Parallel(_)
        | TierField::ByPlane(_) => edit,
    };
    let mut line = simple(Sign::Change, &field.path_in(tier), text);
    line.warning = match field {
        TierField::Parallel(_) if new.is_source_routed() => {
            Some("renumbers every segment of both tiers, and moves cables".to_owned())
        }
        TierField::Parallel(_) => Some("moves cables".to_owned()),
        TierField::DownCage(_)
        | TierField::UpCage(_)
        | TierField::DownBreakout(_)
        | TierField::UpBreakout(_) => Some(format!("ports of every {each} get other names")),
        TierField::Count(_)
        | TierField::Platform(_)
        | TierField::Os(_)
        | TierField::Down(_)
        | TierField::DownSpare(_)
        | TierField::Up(_)
        | TierField::UpSpare(_)
        | TierField::ByPlane(_) => None,
    };
    let of_tier =
        new.topology().plane_ids().map(|plane| new.fabric().tier_switches(plane, tier).count() as u64);
    line.count = of_tier.sum();
    line
}

fn naming_line(
    named: Named,
    edit: &Edit<closc_topology::naming::Pattern>,
    old: &Plan,
    new: &Plan,
    options: Options,
) -> Option<Line> {
    let (subject, noun, pairs): (String, &str, Vec<(String, String)>) = match named {
        Named::Tier(tier) => {
            new.topology().tier(tier)?;
            let name = |plan: &Plan, switch| plan.topology().naming.switch(switch).to_string();
            let tiers = new.switches().filter(|s| s.tier == tier && old.fabric().has_switch(*s));
            let pairs = tiers.map(|s| (name(old, s), name(new, s))).collect();
            (format!("naming.{}", tier.word()), tier_word(tier), pairs)
        }
        Named::Node => {
            let name = |plan: &Plan, node| plan.topology().naming.node(node).to_string();
            let pairs = new.nodes().map(|node| (name(old, node), name(new, node))).collect();
            ("naming.node".to_owned(), "node", pairs)
        }
    };
    let (first, last) = pairs.first()?;
    let text = format!(
        "{} renamed, `{first}` -> `{last}` and so on (`{}` -> `{}`)",
        plural(pairs.len() as u64, noun, &format!("{noun}s")),
        edit.old,
        edit.new
    );
    let count = pairs.len() as u64;
    let names = listed(pairs.into_iter().map(|(old, new)| format!("{old} -> {new}")), options);
    Some(Line { count, names, ..simple(Sign::Change, &subject, text) })
}

fn population_lines(population: &Population, old: &Plan, new: &Plan, options: Options) -> Vec<Line> {
    let mut lines = Vec::new();
    let sides = [
        (Sign::Add, new, &population.switches.added, &population.nics.added, &population.cables.added),
        (
            Sign::Remove,
            old,
            &population.switches.removed,
            &population.nics.removed,
            &population.cables.removed,
        ),
    ];
    for (sign, plan, switches, nics, cables) in sides {
        let mut push = |subject: &str, one: &str, many: &str, all: Vec<String>| {
            if all.is_empty() {
                return;
            }
            let count = all.len() as u64;
            let text = match all.as_slice() {
                [only] => format!("{one} `{only}`"),
                [first, .., last] => format!("{}, `{first}` to `{last}`", plural(count, one, many)),
                [] => String::new(),
            };
            let names = listed(all.into_iter(), options);
            lines.push(Line { count, names, ..simple(sign, subject, text) });
        };
        for tier in TierId::ALL {
            let word = tier_word(tier);
            let of_tier = switches.iter().filter(|s| s.tier == tier);
            let names = of_tier.map(|s| plan.topology().naming.switch(*s).to_string()).collect();
            push("switches", word, &format!("{word}s"), names);
        }
        let topology = plan.topology();
        let nic_name = |nic| {
            let (node, number) = topology.node_of(nic);
            topology.naming.nic(node, number)
        };
        push("nics", "NIC", "NICs", nics.iter().map(|nic| nic_name(*nic)).collect());
        for kind in Kind::ALL {
            let of_kind = cables.iter().filter(|link| Kind::of(**link) == kind);
            let names: Vec<String> = of_kind.map(|link| link_name(*link, plan)).collect();
            push("cables", &format!("{} cable", kind.word()), &format!("{} cables", kind.word()), names);
        }
    }
    if !population.moved.is_empty() {
        let count = population.moved.len() as u64;
        let text = format!("{} to other ports", plural(count, "cable moves", "cables move"));
        let names = listed(population.moved.iter().map(|link| link_name(*link, new)), options);
        let warning = Some("somebody has to pull them".to_owned());
        lines.push(Line { count, warning, names, ..simple(Sign::Change, "cables", text) });
    }
    lines
}

/// Kinds of cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    NicT0,
    T0T1,
    T1T2,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::NicT0, Kind::T0T1, Kind::T1T2];

    pub(crate) fn of(link: Link) -> Kind {
        match link {
            Link::Host(_) => Kind::NicT0,
            Link::Fabric { lower, .. } => match lower.tier {
                TierId::T0 => Kind::T0T1,
                TierId::T1 | TierId::T2 => Kind::T1T2,
            },
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::NicT0 => "nic-t0",
            Kind::T0T1 => "t0-t1",
            Kind::T1T2 => "t1-t2",
        }
    }
}
