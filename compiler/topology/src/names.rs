//! From names to the elements that they name: a plane, switch, node, NIC or cable.
//!
//! In: a name, the counts of a fabric and its naming. Out: the coordinate, or why there is none. Invariants: elements
//! beyond the counts of the fabric are not found. A range in brackets is expanded only when each name is needed.

mod ranges;

use smol_str::SmolStr;

pub(crate) use ranges::{NAMES_MAX, NameRange, rewritten};

use crate::coordinate::{Link, Nic, NicPort, Node, PlaneId, Subject, Switch, TierId, ZoneId};
use crate::naming::{LINK_SEPARATOR, Naming};
use crate::shape::Shape;
use crate::suggest::format_list;

/// Why a name cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NameFault {
    /// It does not have the form of a name.
    Unreadable,
    /// It has the form of a name, but is beyond the counts of the fabric.
    Beyond {
        /// The last existing element, for example ``the last T0 there is `p3-t0-512` ``, or a text that there is
        /// none.
        last: String,
    },
    /// No cable connects the two switches.
    NoCable {
        /// Why not.
        reason: String,
    },
    /// A range in brackets is wrong.
    Range {
        /// The error.
        reason: String,
    },
    /// It stands for more names than are allowed.
    TooMany {
        /// The reason, with the maximum.
        reason: String,
    },
}

/// Finds the switch with a name.
pub(crate) fn find_switch(shape: &Shape, naming: &Naming, name: &str) -> Result<Switch, NameFault> {
    let switch = naming.parse_switch(name).ok_or(NameFault::Unreadable)?;
    if shape.has_switch(switch) {
        return Ok(switch);
    }
    let label = switch.tier.label();
    let count = shape.count(switch.tier);
    let last = match count.checked_sub(1) {
        None => format!("the fabric has no {label}"),
        Some(index) => {
            let plane = switch.plane.0.min((shape.planes.saturating_sub(1)) as u8);
            let zone = switch.zone.0.min(shape.zones.saturating_sub(1));
            let last = Switch {
                plane: PlaneId(plane),
                zone: ZoneId(if switch.tier == TierId::T2 { 0 } else { zone }),
                index,
                ..switch
            };
            format!("the last {label} there is `{}`", naming.switch(last))
        }
    };
    Err(NameFault::Beyond { last })
}

/// Finds the link with a name: `LOWER--UPPER`, `LOWER--UPPER#2`, or a NIC port.
pub(crate) fn find_link(shape: &Shape, naming: &Naming, name: &str) -> Result<Link, NameFault> {
    let Some((lower_name, rest)) = name.split_once(LINK_SEPARATOR) else {
        return find_port(shape, naming, name).map(Link::Host);
    };
    let (upper_name, number) = match rest.split_once('#') {
        Some((upper, number)) => (upper, number.parse().map_err(|_| NameFault::Unreadable)?),
        None => (rest, 1_u16),
    };
    let lower = find_switch(shape, naming, lower_name)?;
    let upper = find_switch(shape, naming, upper_name)?;
    let link = number.checked_sub(1).ok_or(NameFault::Unreadable)?;
    match shape.uplink(lower, upper, link) {
        Some(up) => Ok(Link::Fabric { lower, up }),
        None => Err(NameFault::NoCable { reason: no_cable(shape, naming, lower, upper, number) }),
    }
}

/// Explains why no cable connects two switches.
fn no_cable(shape: &Shape, naming: &Naming, lower: Switch, upper: Switch, number: u16) -> String {
    if lower.tier > upper.tier {
        let turned = format!("{}{LINK_SEPARATOR}{}", naming.switch(upper), naming.switch(lower));
        return format!("write the lower switch first: `{turned}`");
    }
    if lower.plane != upper.plane {
        return format!("they are in different planes, {} and {}", lower.plane, upper.plane);
    }
    if lower.tier.level() + 1 != upper.tier.level() {
        return format!("a {} has no cable to a {}", lower.tier.label(), upper.tier.label());
    }
    if lower.zone != upper.zone && upper.tier != TierId::T2 {
        return format!("they are in different zones, {} and {}", lower.zone, upper.zone);
    }
    let parallel = if lower.tier == TierId::T0 { shape.t0_parallel } else { shape.t1_parallel };
    if number > parallel {
        return format!("there is no link {number}: the switches have {parallel} parallel links");
    }
    "they are in different rows".to_owned()
}

/// Finds the NIC port of a name such as `su017-n004/nic2.p3`.
fn find_port(shape: &Shape, naming: &Naming, name: &str) -> Result<NicPort, NameFault> {
    let (node, number, plane) = naming.parse_nic_port(name).ok_or(NameFault::Unreadable)?;
    let nic = find_nic(shape, naming, node, number)?;
    if u16::from(plane.0) < shape.planes {
        return Ok(NicPort { plane, nic });
    }
    Err(NameFault::Beyond { last: format!("the last plane is {}", shape.planes.saturating_sub(1)) })
}

/// Finds a NIC of a node.
pub(crate) fn find_nic(shape: &Shape, naming: &Naming, node: Node, number: u8) -> Result<Nic, NameFault> {
    find_node(shape, naming, node)?;
    if u16::from(number) < shape.nics_per_node {
        return shape.nic_of(node, number).ok_or(NameFault::Unreadable);
    }
    Err(NameFault::Beyond { last: format!("the last NIC of a node is `nic{}`", shape.nics_per_node - 1) })
}

/// Checks that a node exists.
pub(crate) fn find_node(shape: &Shape, naming: &Naming, node: Node) -> Result<(), NameFault> {
    if shape.has_node(node) {
        return Ok(());
    }
    let (units, nodes) = (shape.units(), shape.nodes_per_unit());
    let (Some(unit), Some(index)) = (units.checked_sub(1), nodes.checked_sub(1)) else {
        return Err(NameFault::Beyond { last: "the fabric has no node".to_owned() });
    };
    let zone = node.zone.0.min(shape.zones.saturating_sub(1));
    let last = Node { zone: ZoneId(zone), unit, index };
    Err(NameFault::Beyond { last: format!("the last node there is `{}`", naming.node(last)) })
}

/// Finds the element of one name.
pub(crate) fn find(name: &str, shape: &Shape, naming: &Naming) -> Result<Subject, NameFault> {
    if let Some(plane) = name.strip_prefix("plane ") {
        let plane: u16 = plane.trim().parse().map_err(|_| NameFault::Unreadable)?;
        return match u8::try_from(plane) {
            Ok(id) if plane < shape.planes => Ok(Subject::Plane(PlaneId(id))),
            _ => Err(NameFault::Beyond {
                last: format!("the last plane is {}", shape.planes.saturating_sub(1)),
            }),
        };
    }
    if name.contains(LINK_SEPARATOR) || naming.parse_nic_port(name).is_some() {
        return find_link(shape, naming, name).map(Subject::Link);
    }
    if let Some((node, number)) = naming.parse_nic(name) {
        return find_nic(shape, naming, node, number).map(Subject::Nic);
    }
    if let Some(node) = naming.parse_node(name) {
        return find_node(shape, naming, node).map(|()| Subject::Node(node));
    }
    find_switch(shape, naming, name).map(Subject::Switch)
}

/// Returns the correct name of the existing element that a misspelt name stands for.
pub(crate) fn correct_name(written: &str, shape: &Shape, naming: &Naming) -> Result<String, NameFault> {
    let near = naming.nearest(written).ok_or(NameFault::Unreadable)?;
    find(&near, shape, naming).map(|_| near)
}

/// Returns the correct form of a misspelt name with ranges, if all elements that it stands for exist.
pub(crate) fn all_meant(written: &str, shape: &Shape, naming: &Naming) -> Option<String> {
    rewritten(written, |name| correct_name(name, shape, naming).ok())
}

/// Describes how parts and cables of a device are named, if a name starts with an existing device and `/` or
/// `:`.
pub(crate) fn form_below(name: &str, shape: &Shape, naming: &Naming) -> Option<String> {
    let device = correct_name(name.split_once(['/', ':'])?.0, shape, naming).ok()?;
    if naming.parse_node(&device).is_some() {
        let last = shape.nics_per_node.saturating_sub(1);
        return Some(format!(
            "NICs of `{device}` are `{device}/nic0` to `{device}/nic{last}`, and ports `{device}/nic0.p0`"
        ));
    }
    Some(format!(
        "`{device}` is a switch; cables are named by both switches, `LOWER--UPPER`, or by the port of a NIC"
    ))
}

/// Lists a name of each kind.
pub(crate) fn samples(naming: &Naming) -> String {
    let switch = |tier| Switch { plane: PlaneId(0), tier, zone: ZoneId(0), index: 0 };
    let node = Node { zone: ZoneId(0), unit: 0, index: 0 };
    let (t0, t1) = (naming.switch(switch(TierId::T0)), naming.switch(switch(TierId::T1)));
    let link = format!("{t0}{LINK_SEPARATOR}{t1}");
    let (nic, port) = (naming.nic(node, 0), naming.nic_port(node, 0, PlaneId(0)));
    format_list([t0.as_str(), t1.as_str(), &naming.node(node), &nic, &port, &link, "plane 0"])
}

/// Resolves a name in the syntax of exceptions, which may stand for many elements. Returns the reason if it cannot be
/// resolved.
pub(crate) fn resolve_name(
    name: &str,
    shape: &Shape,
    naming: &Naming,
) -> Result<Vec<(SmolStr, Subject)>, String> {
    let written = name;
    let one = |name: SmolStr| match find(&name, shape, naming) {
        Ok(subject) => Ok((name, subject)),
        Err(fault) => {
            // The correct spelling may not exist either.
            let fault = match fault {
                NameFault::Unreadable => correct_name(&name, shape, naming).err().unwrap_or(fault),
                _ => fault,
            };
            Err(match fault {
                NameFault::Unreadable => {
                    let help = match all_meant(written, shape, naming) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => form_below(&name, shape, naming)
                            .unwrap_or_else(|| format!("names look like {}", samples(naming))),
                    };
                    format!("`{name}` is not a name in this fabric; {help}")
                }
                NameFault::Beyond { last } => format!("`{name}` does not exist: {last}"),
                NameFault::NoCable { reason: why } => format!("`{name}` is not a cable: {why}"),
                NameFault::Range { reason: why } | NameFault::TooMany { reason: why } => {
                    format!("`{name}`: {why}")
                }
            })
        }
    };
    match NameRange::parse(name) {
        Ok(range) => range.names().map(one).collect(),
        Err(NameFault::Range { reason: why } | NameFault::TooMany { reason: why }) => Err(why),
        Err(NameFault::Unreadable | NameFault::Beyond { .. } | NameFault::NoCable { .. }) => {
            Err(format!("`{name}` is not a name in this fabric"))
        }
    }
}

/// Returns the texts that a text with ranges in brackets stands for: `group 1` and `group 2` for `group [1-2]`. The
/// error states why it cannot be expanded.
pub fn expand_ranges(text: &str) -> Result<Vec<SmolStr>, String> {
    match NameRange::parse(text) {
        Ok(range) => Ok(range.names().collect()),
        Err(NameFault::Range { reason: why } | NameFault::TooMany { reason: why }) => {
            Err(format!("`{text}`: {why}"))
        }
        Err(NameFault::Unreadable | NameFault::Beyond { .. } | NameFault::NoCable { .. }) => {
            Err(format!("`{text}` is not a range"))
        }
    }
}
