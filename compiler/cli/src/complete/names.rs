//! Names in a fabric that begin with the typed text. Their number is limited for a fabric of any size.

use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_topology::naming::{LINK_SEPARATOR, NameCompletion, Numbers, Pattern, Placeholder, narrow_names};
use closc_topology::{Link, NicPort, Node, PlaneId, Side, Switch, TierId, ZoneId};

/// Maximum number of names of one kind; if there are more, common prefixes are offered instead.
const NAMES_MAX: usize = 100;

/// Kind of element of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A NIC, or its node.
    Nic,
    /// A node.
    Node,
    /// A switch.
    Switch,
    /// A switch or a plane.
    SwitchOrPlane,
    /// A cable.
    Cable,
    /// An element that can be drained or avoided: a plane, a switch, a cable.
    Part,
    /// An element that can fail: a plane, a switch, a cable, a node, a NIC.
    Failing,
}

/// Returns names that begin with the typed text.
pub(super) fn of(fabric: &Fabric, typed: &str, sort: NameKind) -> Vec<String> {
    let (planes, switches, cables, nodes) = match sort {
        NameKind::Nic | NameKind::Node => (false, false, false, true),
        NameKind::Switch => (false, true, false, false),
        NameKind::SwitchOrPlane => (true, true, false, false),
        NameKind::Cable => (false, true, true, false),
        NameKind::Part => (true, true, true, false),
        NameKind::Failing => (true, true, true, true),
    };
    let mut found = Vec::new();
    if planes {
        let names = fabric.topology().plane_ids().map(|plane| format!("plane={plane}"));
        found.extend(names.filter(|name| name.starts_with(typed)));
    }
    match (typed.split_once(LINK_SEPARATOR), typed.split_once('/')) {
        (Some((lower, upper)), _) if cables => found.extend(uplinks(fabric, lower, upper)),
        (None, Some((node, _))) if cables || sort == NameKind::Nic => {
            found.extend(nics(fabric, node, typed, sort));
        }
        (None, None) => {
            if switches {
                found.extend(with_cables(self::switches(fabric, typed), cables, fabric));
            }
            if nodes || cables {
                found.extend(with_nics(self::nodes(fabric, typed), fabric, sort));
            }
        }
        _ => {}
    }
    found.dedup();
    found
}

/// Keeps the names that begin with the typed text; if there are too many, returns common prefixes.
pub(super) fn limit_names(mut names: Vec<String>, typed: &str) -> Vec<String> {
    names.retain(|name| name.starts_with(typed));
    if names.len() <= NAMES_MAX {
        return names;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    narrow_names(&names).into_iter().map(str::to_owned).collect()
}

/// Returns names of devices that exist in the fabric, from the pattern of their names.
fn pattern_names(
    pattern: &Pattern,
    typed: &str,
    counts: Numbers,
    is_there: impl Fn(Numbers) -> bool,
) -> Vec<String> {
    let found = pattern.completions(typed, counts, NAMES_MAX).into_iter();
    let written = found.filter_map(|begun| match begun {
        NameCompletion::Open(text) => Some(text.to_string()),
        NameCompletion::Name(numbers) => is_there(numbers).then(|| pattern.write(numbers).to_string()),
    });
    written.collect()
}

fn switches(fabric: &Fabric, typed: &str) -> Vec<String> {
    let topology = fabric.topology();
    let of_tier = |tier: TierId| {
        let zones = if tier == TierId::T2 { 1 } else { topology.zones };
        let counts = Numbers::default()
            .with(Placeholder::Plane, u16::from(topology.planes))
            .with(Placeholder::Zone, zones)
            .with(Placeholder::Index, topology.count(tier));
        pattern_names(topology.naming.tier_pattern(tier), typed, counts, |numbers| {
            let plane = u8::try_from(numbers.get(Placeholder::Plane)).map(PlaneId);
            let (zone, index) = (ZoneId(numbers.get(Placeholder::Zone)), numbers.get(Placeholder::Index));
            plane.is_ok_and(|plane| fabric.has_switch(Switch { plane, tier, zone, index }))
        })
    };
    let mut names: Vec<String> = TierId::ALL.into_iter().flat_map(of_tier).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn nodes(fabric: &Fabric, typed: &str) -> Vec<String> {
    let topology = fabric.topology();
    let counts = Numbers::default()
        .with(Placeholder::Zone, topology.zones)
        .with(Placeholder::Unit, topology.units())
        .with(Placeholder::Node, topology.nodes_per_unit());
    pattern_names(topology.naming.node_pattern(), typed, counts, |numbers| {
        fabric.has_node(Node {
            zone: ZoneId(numbers.get(Placeholder::Zone)),
            unit: numbers.get(Placeholder::Unit),
            index: numbers.get(Placeholder::Node),
        })
    })
}

/// Adds the prefix of cable names if only one switch is left.
fn with_cables(mut names: Vec<String>, are_cables: bool, fabric: &Fabric) -> Vec<String> {
    if let ([name], true) = (names.as_slice(), are_cables) {
        let is_lower =
            fabric.topology().naming.parse_switch(name).is_some_and(|switch| switch.tier != top(fabric));
        if is_lower {
            names.push(format!("{}{LINK_SEPARATOR}", names[0]));
        }
    }
    names
}

fn top(fabric: &Fabric) -> TierId {
    if fabric.topology().count(TierId::T2) > 0 { TierId::T2 } else { TierId::T1 }
}

/// Adds the NICs or ports if only one node is left. For [`NameKind::Part`] and [`NameKind::Cable`] the node itself is
/// removed.
fn with_nics(names: Vec<String>, fabric: &Fabric, sort: NameKind) -> Vec<String> {
    let [name] = names.as_slice() else { return names };
    if sort == NameKind::Node || fabric.topology().naming.parse_node(name).is_none() {
        return names;
    }
    let below = nics(fabric, name, &format!("{name}/"), sort);
    let node = (!matches!(sort, NameKind::Part | NameKind::Cable)).then(|| name.clone());
    node.into_iter().chain(below).collect()
}

/// Returns the NICs of a node, their ports, or both, depending on `sort`.
fn nics(fabric: &Fabric, node: &str, typed: &str, sort: NameKind) -> Vec<String> {
    let topology = fabric.topology();
    let Some(node) = topology.naming.parse_node(node).filter(|node| fabric.has_node(*node)) else {
        return Vec::new();
    };
    let numbers = (0..topology.hosts.nics_per_node).filter(|nic| fabric.has_nic(topology.nic_of(node, *nic)));
    let (are_nics, are_ports) = (matches!(sort, NameKind::Nic | NameKind::Failing), sort != NameKind::Nic);
    let mut names = Vec::new();
    for number in numbers {
        if are_nics {
            names.push(topology.naming.nic(node, number));
        }
        let nic = topology.nic_of(node, number);
        let is_there = |plane: &PlaneId| fabric.has_link(Link::Host(NicPort { plane: *plane, nic }));
        let planes = fabric.topology().plane_ids().filter(is_there).filter(|_| are_ports);
        names.extend(planes.map(|plane| topology.naming.nic_port(node, number, plane)));
    }
    limit_names(names, typed)
}

/// Returns the cables from a switch to the tier above it.
fn uplinks(fabric: &Fabric, lower: &str, upper: &str) -> Vec<String> {
    let topology = fabric.topology();
    let Some(switch) = topology.naming.parse_switch(lower).filter(|switch| fabric.has_switch(*switch)) else {
        return Vec::new();
    };
    let ups = fabric.ports(switch).filter(|port| port.at.side == Side::Up).map(|port| port.at.index);
    let links = ups.map(|up| Link::Fabric { lower: switch, up }).filter(|link| fabric.has_link(*link));
    let names = links.filter_map(|link| topology.link_name(link)).collect();
    limit_names(names, &format!("{lower}{LINK_SEPARATOR}{upper}"))
}

/// Returns the ports of a switch.
pub(super) fn ports(plan: &Plan, switch: &str, typed: &str) -> Vec<String> {
    let switch = plan.topology().naming.parse_switch(switch);
    let Some(switch) = switch.filter(|switch| plan.fabric().has_switch(*switch)) else { return Vec::new() };
    let names = plan.fabric().ports(switch).map(|port| plan.port_name(switch, port.at).to_string());
    limit_names(names.collect(), typed)
}

#[cfg(test)]
mod tests {
    use closc_compile::front::{self, Options, Source};

    use super::*;

    fn plan(file: &str) -> Plan {
        let path = format!("{}/../../topologies/{file}", env!("CARGO_MANIFEST_DIR"));
        let source = Source::parse(&path).expect("it is a path");
        front::read(&source, &Options::default()).expect("it can be read").plan.expect("it is valid")
    }

    #[test]
    fn names_of_a_large_fabric_are_few() {
        let plan = plan("reference/mrc-8x512.yaml");
        for sort in [
            NameKind::Nic,
            NameKind::Node,
            NameKind::Switch,
            NameKind::Cable,
            NameKind::Part,
            NameKind::Failing,
        ] {
            for typed in ["", "s", "su0", "su001-n0", "p", "p3-", "p3-t0-", "p3-t0-017", "p3-t0-017--"] {
                let found = of(plan.fabric(), typed, sort);
                assert!(found.len() <= 2 * NAMES_MAX, "{sort:?} {typed}: {}", found.len());
                assert!(found.iter().all(|name| name.starts_with(typed)), "{sort:?} {typed}: {found:?}");
            }
        }
        assert_eq!(of(plan.fabric(), "p3-t0-51", NameKind::Switch), ["p3-t0-510", "p3-t0-511", "p3-t0-512"]);
        assert_eq!(of(plan.fabric(), "p3-t0-017", NameKind::Cable), ["p3-t0-017", "p3-t0-017--"]);
        assert_eq!(of(plan.fabric(), "p3-t1-005", NameKind::Cable), ["p3-t1-005"]);
        assert_eq!(
            of(plan.fabric(), "p3-t0-017--p3-t1-25", NameKind::Part).last().map(String::as_str),
            Some("p3-t0-017--p3-t1-256")
        );
        assert_eq!(of(plan.fabric(), "p9", NameKind::Failing), [""; 0]);
        assert_eq!(of(plan.fabric(), "plane=", NameKind::Part).len(), 8);
    }

    #[test]
    fn nics_follow_their_node() {
        let plan = plan("reference/mrc-8x512.yaml");
        let node = "su001-n001";
        let nics = ["su001-n001", "su001-n001/nic0", "su001-n001/nic1", "su001-n001/nic2", "su001-n001/nic3"];
        assert_eq!(of(plan.fabric(), node, NameKind::Nic), nics);
        assert_eq!(of(plan.fabric(), node, NameKind::Node), [node]);
        assert_eq!(of(plan.fabric(), "su001-n001/nic2.p7", NameKind::Part), ["su001-n001/nic2.p7"]);
        assert_eq!(of(plan.fabric(), "su001-n001/nic9", NameKind::Nic), [""; 0]);
    }

    /// Inconsistent counts, as in a file that is being edited, give few names or none.
    #[test]
    fn odd_counts_have_names_or_none() {
        let mut named = 0;
        for case in (0..4096_u32).step_by(11) {
            let pick = |shift: u32, of: [u16; 4]| of[(case >> shift & 3) as usize];
            let text = format!(
                "planes: {}\nzones: {}\nhosts: {{ groups: {}, per_group: 3, nics_per_node: {}, rails: {} }}\ntiers:\n  \
                 t0: {{ up: {}, parallel: 2 }}\n  t1: {{ up: 5 }}\n  t2: {{ wiring: rows, rows: 2 }}\n",
                pick(0, [1, 3, 16, 300]),
                pick(2, [1, 2, 4095, 65535]),
                pick(4, [1, 7, 8, 65535]),
                pick(6, [1, 2, 3, 64]),
                pick(8, [1, 2, 3, 64]),
                pick(10, [2, 4, 5, 65535]),
            );
            let Some(fabric) = front::outline(text.as_bytes()) else { continue };
            named += 1;
            for typed in ["", "z", "p0-t2-001", "z0-p0-t0-001--", "z0-p0-t1-001--", "z0-su001-n001/"] {
                assert!(of(&fabric, typed, NameKind::Failing).len() <= 4 * NAMES_MAX, "{text}{typed}");
            }
        }
        assert!(named > 0);
    }

    #[test]
    fn what_is_not_there_has_no_name() {
        let plan = plan("examples/exceptions.yaml");
        assert_eq!(
            of(plan.fabric(), "p0-t1-12", NameKind::Switch).last().map(String::as_str),
            Some("p0-t1-127")
        );
        assert_eq!(
            of(plan.fabric(), "p1-t1-12", NameKind::Switch).last().map(String::as_str),
            Some("p1-t1-128")
        );
        assert_eq!(of(plan.fabric(), "p0-t0-007--p0-t1-128", NameKind::Cable), [""; 0]);
        assert_eq!(of(plan.fabric(), "su003-n017", NameKind::Failing), [""; 0]);
    }
}
