//! Marks values that the lists do not contain: with comments in the file, and with a note in the terminal.
//!
//! In: an existing network, its positions, and the plan of its fabric. Out: [`AssumptionNotes`]. Invariants:
//! a value in the file that is neither in the lists nor on the command line is marked.

use std::collections::BTreeMap;

use closc_diagnostics::figures::format_count;
use closc_plan::Plan;
use closc_topology::{Link, TierId};

use super::Options;
use crate::network::{ExistingNetwork, Level};
use crate::position::{Place, Positions, level_of};
use crate::text::{AssumptionNotes, CableSpecs, Settings};

/// Finds the assumptions of a file.
pub(super) fn find_assumptions(
    network: &ExistingNetwork,
    positions: &Positions,
    plan: &Plan,
    options: &Options,
    specs: &CableSpecs,
) -> AssumptionNotes {
    let tiers = TierId::ALL.map(|tier| {
        let level = level_of(tier);
        let is_stated = options.hardware.platform(level).is_some() || is_in_list(network, positions, level);
        match (is_stated, options.hardware.os.is_some()) {
            (true, true) => "",
            (true, false) => "os assumed",
            (false, true) => "platform assumed, from the port names",
            (false, false) => "platform and os assumed, from the port names",
        }
    });
    let has_speed = network.cables.iter().any(|cable| {
        let is_node = |device: u32| positions.levels[device as usize] == Level::Node;
        cable.ends.iter().any(|plug| is_node(plug.device))
            && cable.ends.iter().any(|plug| plug.speed.is_some())
    });
    AssumptionNotes {
        tiers,
        nics: if positions.nics.is_named { "" } else { "assumed, from the T0s that nodes are connected to" },
        nic: match (has_speed, has_cages(positions)) {
            (true, true) => "lanes assumed",
            (true, false) => "lanes and cages assumed",
            (false, true) => "speed and lanes assumed",
            (false, false) => "speed, lanes and cages assumed",
        },
        cables: cables(plan, specs),
        is_routing: options.hardware.routing.is_none(),
    }
}

/// Returns whether the lists contain the NIC cages of every zone.
fn has_cages(positions: &Positions) -> bool {
    let zone = |place: &Place| match place {
        Place::Switch(switch) if switch.tier == TierId::T0 => Some(switch.zone.0),
        Place::Switch(_) | Place::Node(_) => None,
    };
    let known = &positions.nics.cages.by_zone;
    positions.places.iter().filter_map(zone).all(|zone| known.contains_key(&zone))
}

/// Returns the assumed values of NICs.
fn nic_values(assumed: &str, plan: &Plan) -> String {
    let hosts = &plan.topology().hosts;
    let values = [
        ("speed", format!("speed {}", hosts.nic_speed)),
        ("lanes", format_count(hosts.nic_lanes.into(), "lane")),
        ("cages", format_count(hosts.nic_cages.into(), "cage")),
    ];
    let values: Vec<String> =
        values.into_iter().filter(|(word, _)| assumed.contains(word)).map(|(_, value)| value).collect();
    format!("{} of a NIC", values.join(", "))
}

/// Returns whether a list of devices contains the model of each switch of a tier.
fn is_in_list(network: &ExistingNetwork, positions: &Positions, level: Level) -> bool {
    let mut devices = (0..).zip(&positions.places).filter(|(device, place)| {
        matches!(place, Place::Switch(_)) && positions.levels[*device as usize] == level
    });
    devices.all(|(device, _)| network.models.contains_key(network.devices.name(device)))
}

/// Returns length and medium of the kinds of cables for which the lists do not contain them.
fn cables(plan: &Plan, specs: &CableSpecs) -> BTreeMap<&'static str, Vec<String>> {
    let mut found = BTreeMap::new();
    let kind = |link: &Link| match link {
        Link::Host(_) => "nic-t0",
        Link::Fabric { lower, .. } if lower.tier == TierId::T0 => "t0-t1",
        Link::Fabric { .. } => "t1-t2",
    };
    let mut open: Vec<&'static str> = specs.kinds.keys().copied().collect();
    for link in plan.fabric().links() {
        if open.is_empty() {
            break;
        }
        let kind = kind(&link);
        let Some(at) = open.iter().position(|other| *other == kind) else { continue };
        open.remove(at);
        let (own, usual) = (&specs.kinds[kind], plan.fabric().cable(link));
        let length = own.0.is_none().then(|| format!("length {}", usual.length));
        let medium = own.1.is_none().then(|| format!("medium {}", usual.medium));
        let all: Vec<String> = length.into_iter().chain(medium).collect();
        if !all.is_empty() {
            found.insert(kind, all);
        }
    }
    found
}

/// Returns the note for the terminal.
pub(super) fn note(assumed: &AssumptionNotes, plan: &Plan, settings: &Settings) -> String {
    let mut parts = Vec::new();
    if assumed.is_routing {
        parts.push(format!("routing {}", settings.routing.keyword()));
    }
    parts.push(format!("qos {}", settings.qos));
    let tiers: Vec<&str> = TierId::ALL
        .iter()
        .zip(assumed.tiers)
        .filter(|(tier, text)| {
            text.contains("platform") && plan.fabric().switches().any(|at| at.tier == **tier)
        })
        .map(|(tier, _)| tier.keyword())
        .collect();
    if !tiers.is_empty() {
        parts.push(format!("platforms of {}", tiers.join(", ")));
    }
    if assumed.tiers.iter().any(|text| text.contains("os assumed")) {
        parts.push("operating systems".to_owned());
    }
    if !assumed.nics.is_empty() {
        parts.push("NICs per node and rails".to_owned());
    }
    parts.push(nic_values(assumed.nic, plan));
    parts.extend(
        assumed.cables.iter().map(|(kind, values)| format!("{} of {kind} cables", values.join(" and "))),
    );
    format!("assumed, because the lists do not contain them: {}", parts.join("; "))
}
