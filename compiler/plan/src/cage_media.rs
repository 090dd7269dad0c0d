//! E0606: cables of different media or lengths in one cage.
//!
//! In: a plan. Out: diagnostics. Invariants: without exceptions, switches of a tier and zone have the same cables. So
//! one of them is checked, and the switches and NICs of exceptional cables.

use std::collections::{BTreeMap, BTreeSet};

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};
use closc_fabric::PortUse;
use closc_topology::{Cable, Link, Nic, NicPort, Switch, TierId, field, media::Medium};

use crate::plan::Plan;

/// Cables in one cage that do not fit together.
pub(crate) static MIXED_CAGE: Rule = Rule {
    code: "E0606",
    title: "the cables of a cage have different media or lengths",
    condition: "All cables in a cage of a switch or NIC have the same medium. Ports of a split cage share the cage, \
           and so do ports of a NIC. Cables with attached plugs (`dac`, `acc`, `aec`, `aoc`) also have the same length.",
    impact: "A cage holds one module or one plug. A copper plug and an optical module do not fit into it \
           together, and neither do two copper plugs. Bills and lists of modules would be wrong.",
    example: "fabric: mixed\nplanes: 2\nrouting: ecmp-static\nqos: none\n\
              hosts: { groups: 2, per_group: 2, nic: { speed: 800G } }\n\
              tiers:\n  t0: { platform: th5-128x400g, up: 2 }\n  t1: { platform: th5-128x400g }\n\
              cables: { nic-t0: { length: 2m, medium: dac } }\n\
              exceptions: { cables: { su001-n001/nic0.p1: { length: 30m, medium: dr4 } } }",
    fix: "Give all cables of the cage one medium and one length, move a cable to another cage, or set \
           `hosts.nic.cages` if NICs have several cages.",
};

/// A cage that has cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CagePlace {
    Switch(Switch, u16),
    Nic(Nic, u8),
}

/// Two cables of one cage that have different media, or different lengths with attached plugs.
struct MixedCage {
    place: CagePlace,
    cables: [Link; 2],
    spans: [Option<Span>; 2],
    /// Number of further cages with the same two kinds of cables.
    more: u64,
}

/// Reports each pair of kinds of cables, or of exceptions, that share a cage and do not fit together.
pub(crate) fn check(plan: &Plan, out: &mut Diagnostics) {
    let mut found: Vec<MixedCage> = Vec::new();
    let (switches, nics) = representatives(plan);
    for switch in switches {
        add(plan, switch_cages(plan, switch), &mut found);
    }
    for nic in nics {
        add(plan, nic_cages(plan, nic), &mut found);
    }
    for mixed in found {
        out.push(report(plan, &mixed));
    }
}

/// Returns a switch of each tier and zone, a T2 of each row, and the switches and NICs of exceptional cables.
fn representatives(plan: &Plan) -> (BTreeSet<Switch>, BTreeSet<Nic>) {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    let mut switches = BTreeSet::new();
    for tier in TierId::ALL.into_iter().filter(|tier| topology.tier(*tier).is_some()) {
        // T2s of a row have the same cables.
        let kind = |switch: &Switch| {
            (switch.zone, if tier == TierId::T2 { switch.index % topology.t2_rows() } else { 0 })
        };
        let mut kinds = BTreeSet::new();
        let Some(plane) =
            topology.plane_ids().find(|plane| fabric.tier_switches(*plane, tier).next().is_some())
        else {
            continue;
        };
        switches.extend(fabric.tier_switches(plane, tier).filter(|switch| kinds.insert(kind(switch))));
    }
    let mut nics = BTreeSet::new();
    for link in topology.exceptions.cables.keys().filter(|link| fabric.has_link(**link)) {
        match link {
            Link::Host(port) => drop(nics.insert(topology.adapter(port.nic))),
            Link::Fabric { lower, .. } => drop(switches.insert(*lower)),
        }
        switches.extend(fabric.upper_end(*link).map(|(switch, _)| switch));
    }
    (switches, nics)
}

/// Returns the cables of a switch with their cages. Ports of software have no cages.
fn switch_cages(plan: &Plan, switch: Switch) -> Vec<(CagePlace, Link)> {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    if topology.hardware(switch).0.is_software() {
        return Vec::new();
    }
    let cable = |port: closc_fabric::Port| match port.usage {
        PortUse::Link { link, .. } => {
            Some((CagePlace::Switch(switch, topology.slot(switch, port.at).cage), link))
        }
        PortUse::Absent { .. } | PortUse::Spare => None,
    };
    fabric.ports(switch).filter_map(cable).collect()
}

/// Returns the cables of a NIC, or of its adapter, with their cages.
fn nic_cages(plan: &Plan, nic: Nic) -> Vec<(CagePlace, Link)> {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    let of_nic = |nic| topology.plane_ids().map(move |plane| NicPort { plane, nic });
    let ports = topology.adapter_nics(nic).flat_map(of_nic);
    let is_hardware = |port: &NicPort| {
        let t0 = port.nic.t0(port.plane);
        fabric.has_link(Link::Host(*port)) && !topology.hardware(t0).0.is_software()
    };
    let cable = |port: NicPort| (CagePlace::Nic(nic, topology.nic_cage(port)), Link::Host(port));
    ports.filter(is_hardware).map(cable).collect()
}

/// Returns whether two cables can share a cage.
fn fits(one: &Cable, other: &Cable) -> bool {
    let is_assembly = || Medium::find(&one.medium).is_some_and(Medium::is_assembly);
    one.medium == other.medium && (one.length == other.length || !is_assembly())
}

/// Adds the first two cables of each cage that do not fit together. If the same two kinds are known from another cage,
/// only counts the cage.
fn add(plan: &Plan, cables: Vec<(CagePlace, Link)>, found: &mut Vec<MixedCage>) {
    let mut first: BTreeMap<CagePlace, Link> = BTreeMap::new();
    let mut done = BTreeSet::new();
    for (place, link) in cables {
        let other = *first.entry(place).or_insert(link);
        if fits(plan.fabric().cable(other), plan.fabric().cable(link)) || !done.insert(place) {
            continue;
        }
        // The message points at the cable listed first. Prefer one that is not an exception.
        let is_exception = plan.topology().exceptions.cables.contains_key(&other);
        let cables = if is_exception { [link, other] } else { [other, link] };
        let spans = cables.map(|link| span(plan, link));
        match found.iter_mut().find(|known| known.spans == spans) {
            Some(known) => known.more += 1,
            None => found.push(MixedCage { place, cables, spans, more: 0 }),
        }
    }
}

/// Returns where the file states the medium of a cable.
fn span(plan: &Plan, link: Link) -> Option<Span> {
    let topology = plan.topology();
    if topology.exceptions.cables.contains_key(&link) {
        return topology.spans.get(field!("exceptions.cables"));
    }
    topology.spans.get(match link {
        Link::Host(_) => field!("cables.nic-t0").into(),
        Link::Fabric { lower, .. } if lower.tier == TierId::T0 => field!("cables.t0-t1").into(),
        Link::Fabric { lower, .. } if topology.cables.t1_t2_by_zone.contains_key(&lower.zone) => {
            field!("cables.by_zone.*").with_key(lower.zone)
        }
        Link::Fabric { .. } => field!("cables.t1-t2").into(),
    })
}

fn report(plan: &Plan, mixed: &MixedCage) -> Diagnostic {
    let topology = plan.topology();
    let cables = mixed.cables.map(|link| plan.fabric().cable(link));
    let has_one_medium = cables[0].medium == cables[1].medium;
    let texts = cables.map(|cable| {
        let Cable { length, medium } = cable;
        if has_one_medium { format!("{length} {medium}") } else { medium.to_string() }
    });
    let names = mixed.cables.map(|link| plan.link_name(link));
    let place = match mixed.place {
        CagePlace::Switch(switch, cage) => {
            let number = topology.hardware(switch).0.panel.cage_number(cage);
            format!("cage {number} of `{}`", plan.switch_name(switch))
        }
        CagePlace::Nic(nic, cage) => {
            let (node, number) = topology.node_of(nic);
            let name = || topology.naming.nic(node, number);
            let owner = if topology.has_adapters() { topology.adapter_name(nic) } else { name() };
            format!("cage {} of `{owner}`", cage + 1)
        }
    };
    let mut diagnostic =
        Diagnostic::error(&MIXED_CAGE, format!("{place} has cables of `{}` and `{}`", texts[0], texts[1]));
    for (at, (name, text)) in names.iter().zip(&texts).enumerate().rev() {
        let label = format!("`{name}` is `{text}`");
        diagnostic = match (mixed.spans[at], at) {
            (Some(span), 1) => diagnostic.at(span, label),
            (Some(span), _) => diagnostic.and(span, label),
            (None, _) => diagnostic.note(label),
        };
    }
    if mixed.more > 0 {
        let noun = if mixed.more == 1 { "cage has" } else { "cages have" };
        diagnostic = diagnostic.note(format!("{} more {noun} such cables", mixed.more));
    }
    let value = if has_one_medium { "length" } else { "medium" };
    let other = match mixed.place {
        CagePlace::Switch(..) => "move the port to another cage",
        CagePlace::Nic(..) => "set `hosts.nic.cages` if NICs have several cages",
    };
    let help = format!("give all cables of the cage one {value}, or {other}");
    diagnostic.note("a cage holds one module or one plug").help(help)
}
