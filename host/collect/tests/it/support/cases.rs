//! Random faults, and the expected verdicts.

use std::collections::BTreeSet;

use closc_collect::{Collector, Element, Kind};
use closc_plan::Plan;
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch};

use super::{Fault, Numbers};

/// An element and the keyword of its fault.
pub(crate) type Name = (Element, String);

/// Returns the keyword of a kind of faults.
pub(crate) fn keyword(kind: Kind) -> String {
    match kind {
        Kind::Dead => "dead".into(),
        Kind::Gray => "gray".into(),
        Kind::Corrupt => "corrupt".into(),
        Kind::ShortOnly => "short only".into(),
        Kind::Swapped(with) => format!("swapped with {with:?}"),
    }
}

/// Returns the named elements, with the kinds of faults.
pub(crate) fn named(collector: &Collector) -> BTreeSet<Name> {
    collector.verdicts().map(|verdict| (verdict.element, keyword(verdict.kind))).collect()
}

/// Returns the expected verdicts for a fault.
pub(crate) fn expected(fault: Fault) -> Vec<Name> {
    let cable = |port| Element::Cable(Link::Host(port));
    match fault {
        Fault::Cut(link) => vec![(Element::Cable(link), "dead".into())],
        Fault::Gray(link, _) => vec![(Element::Cable(link), "gray".into())],
        Fault::Corrupt(link, _) => vec![(Element::Cable(link), "corrupt".into())],
        Fault::NoRoute(_) => Vec::new(),
        Fault::Switch(switch) => vec![(Element::Switch(switch), "dead".into())],
        Fault::GraySwitch(switch, _) => vec![(Element::Switch(switch), "gray".into())],
        Fault::Port(port) => vec![(Element::Port(port), "dead".into())],
        Fault::Narrow(link, _) => vec![(Element::Cable(link), "short only".into())],
        Fault::NarrowSwitch(switch, _) => vec![(Element::Switch(switch), "short only".into())],
        Fault::Swapped(a, b) => {
            [(a, b), (b, a)].map(|(a, b)| (cable(a), keyword(Kind::Swapped(cable(b))))).to_vec()
        }
        Fault::Round(ports) => {
            (0..3).map(|at| (cable(ports[at]), keyword(Kind::Swapped(cable(ports[(at + 1) % 3]))))).collect()
        }
    }
}

/// Returns a random fault.
pub(crate) fn random(plan: &Plan, numbers: &mut Numbers) -> Fault {
    let links: Vec<Link> = plan.fabric().links().collect();
    let switches: Vec<Switch> = plan.fabric().switches().collect();
    let ports: Vec<NicPort> = links
        .iter()
        .filter_map(|link| if let Link::Host(port) = link { Some(*port) } else { None })
        .collect();
    let share = 0.005 + 0.045 * numbers.below(100) as f64 / 100.0;
    match numbers.below(7) {
        0 | 1 => Fault::Cut(*numbers.of(&links)),
        2 | 3 => Fault::Gray(*numbers.of(&links), share),
        4 => Fault::Port(*numbers.of(&ports)),
        5 if numbers.chance(0.5) => Fault::Switch(*numbers.of(&switches)),
        5 => Fault::GraySwitch(*numbers.of(&switches), share),
        _ => {
            let port = *numbers.of(&ports);
            let planes = plan.topology().planes;
            let plane = PlaneId((port.plane.0 + 1 + numbers.below(usize::from(planes) - 1) as u8) % planes);
            let other = Nic { downlink: port.nic.downlink ^ 1, ..port.nic };
            if numbers.chance(0.5) {
                Fault::Swapped(port, NicPort { plane, ..port })
            } else {
                Fault::Swapped(port, NicPort { nic: other, ..port })
            }
        }
    }
}

/// Returns a random fault, sometimes one of the kinds that [`random`] never returns.
pub(crate) fn random_of_any_kind(plan: &Plan, numbers: &mut Numbers) -> Fault {
    let bytes = 1_300 + numbers.below(4_000) as u16;
    let links: Vec<Link> = plan.fabric().links().collect();
    let switches: Vec<Switch> = plan.fabric().switches().collect();
    match numbers.below(10) {
        0 if numbers.chance(0.5) => Fault::Narrow(*numbers.of(&links), bytes),
        0 => Fault::NarrowSwitch(*numbers.of(&switches), bytes),
        1 if numbers.chance(0.5) => {
            let nic = *numbers.of(&plan.fabric().nics().collect::<Vec<Nic>>());
            let first = numbers.below(usize::from(plan.topology().planes)) as u8;
            let port = |n: u8| NicPort { plane: PlaneId((first + n) % plan.topology().planes), nic };
            Fault::Round([port(0), port(1), port(2)])
        }
        2 => Fault::Corrupt(*numbers.of(&links), 0.005 + 0.045 * numbers.below(100) as f64 / 100.0),
        _ => random(plan, numbers),
    }
}

/// Returns the switches at the ends of faulty elements, which restart their links at a repair.
pub(crate) fn switches_at(plan: &Plan, fault: Fault) -> Vec<Switch> {
    let ends = |link: Link| {
        let lower = if let Link::Fabric { lower, .. } = link { Some(lower) } else { None };
        plan.fabric().upper_end(link).map(|(switch, _)| switch).into_iter().chain(lower).collect()
    };
    match fault {
        Fault::Cut(link) => ends(link),
        Fault::Port(port) => ends(Link::Host(port)),
        Fault::Switch(switch) => vec![switch],
        Fault::Gray(..)
        | Fault::GraySwitch(..)
        | Fault::NoRoute(_)
        | Fault::Corrupt(..)
        | Fault::Narrow(..)
        | Fault::NarrowSwitch(..)
        | Fault::Swapped(..)
        | Fault::Round(_) => Vec::new(),
    }
}

/// Returns whether one fault hides another, or both together are a larger fault.
pub(crate) fn hides(plan: &Plan, one: Fault, other: Fault) -> bool {
    let parts = |fault: Fault| -> (BTreeSet<Link>, BTreeSet<Switch>) {
        let cables: Vec<Link> = expected(fault)
            .iter()
            .filter_map(|(element, _)| match element {
                Element::Cable(link) => Some(*link),
                Element::Port(port) => Some(Link::Host(*port)),
                Element::Plane(_) | Element::Switch(_) | Element::Nic(_) => None,
            })
            .collect();
        let all = expected(fault);
        let switches = all.iter().filter_map(|(element, _)| match element {
            Element::Switch(switch) => Some(*switch),
            Element::Plane(_) | Element::Port(_) | Element::Nic(_) | Element::Cable(_) => None,
        });
        (cables.iter().copied().collect(), switches.collect())
    };
    let ends = |link: &Link| -> Vec<Switch> {
        let upper = plan.fabric().upper_end(*link).map(|(switch, _)| switch);
        let lower = if let Link::Fabric { lower, .. } = link { Some(*lower) } else { None };
        upper.into_iter().chain(lower).collect()
    };
    let ((a, sa), (b, sb)) = (parts(one), parts(other));
    let touches = |cables: &BTreeSet<Link>, switches: &BTreeSet<Switch>| {
        cables.iter().flat_map(ends).any(|switch| switches.contains(&switch))
    };
    // If both ports of a T0 with two NICs fail, the T0 is named. A dead T0 hides its cables to T1s.
    let t0s = |cables: &BTreeSet<Link>| -> BTreeSet<Switch> {
        cables.iter().filter(|link| matches!(link, Link::Host(_))).flat_map(ends).collect()
    };
    // If both NICs of a T0 are swapped, its uplinks are not probed.
    let cut_off = |fault: Fault| match fault {
        Fault::Swapped(a, b) if a.nic.t0(a.plane) == b.nic.t0(b.plane) => Some(a.nic.t0(a.plane)),
        _ => None,
    };
    let unseen = |fault: Fault, cables: &BTreeSet<Link>| {
        cut_off(fault).is_some_and(|t0| cables.iter().flat_map(ends).any(|switch| switch == t0))
    };
    unseen(one, &b)
        || unseen(other, &a)
        || !a.is_disjoint(&b)
        || touches(&a, &sb)
        || touches(&b, &sa)
        || !t0s(&a).is_disjoint(&t0s(&b))
        || (!sa.is_empty() && !sb.is_empty() && sa.first().map(|s| s.plane) == sb.first().map(|s| s.plane))
}

/// Returns a random fault of a cable: cut, gray, swapped, or a port without a carrier, all equally likely.
pub(crate) fn random_cable(plan: &Plan, numbers: &mut Numbers) -> Fault {
    let kind = numbers.below(4);
    loop {
        let fault = random(plan, numbers);
        let is_it = match fault {
            Fault::Cut(_) => kind == 0,
            Fault::Gray(..) => kind == 1,
            Fault::Port(_) => kind == 2,
            Fault::Swapped(..) => kind == 3,
            Fault::NoRoute(_)
            | Fault::Corrupt(..)
            | Fault::Narrow(..)
            | Fault::NarrowSwitch(..)
            | Fault::Switch(_)
            | Fault::GraySwitch(..)
            | Fault::Round(_) => false,
        };
        if is_it {
            return fault;
        }
    }
}
