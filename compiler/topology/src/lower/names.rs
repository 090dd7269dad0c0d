//! Name patterns of a file, and what a name in it means.
//!
//! In: patterns, or the name of a switch, node, NIC or link. Out: the naming, or the coordinate. Invariants: a
//! broken pattern is kept as a fault and the default is in for it, so that other checks can go on.

use closc_diagnostics::Span;

use crate::coordinate::{Link, Nic, NicPort, Node, PlaneId, Switch, TierId, ZoneId};
use crate::document::NamingDoc;
use crate::naming::{Field, LINK_SEPARATOR, Naming, Pattern, PatternError};
use crate::read::Spanned;
use crate::shape::Shape;

/// The naming of a draft.
#[derive(Debug, Clone)]
pub(crate) struct DraftNames {
    pub(crate) naming: Naming,
    /// Patterns that are none: key, place and reason.
    pub(crate) faults: Vec<(&'static str, Span, PatternError)>,
}

impl DraftNames {
    /// Reads the patterns of a file.
    pub(super) fn new(doc: Option<&NamingDoc>, zoned: bool) -> Self {
        let mut names = DraftNames { naming: Naming::default_for(zoned), faults: Vec::new() };
        let doc = doc.cloned().unwrap_or_default();
        let tiers = [(TierId::T0, doc.t0), (TierId::T1, doc.t1), (TierId::T2, doc.t2)];
        for (tier, stated) in tiers {
            let allowed = if tier == TierId::T2 { Naming::SHARED } else { Naming::ZONED };
            if let Some(pattern) = names.read(tier.word(), stated, allowed) {
                names.naming = names.naming.clone().with_tier(tier, pattern);
            }
        }
        if let Some(pattern) = names.read("node", doc.node, Naming::NODE) {
            names.naming = names.naming.clone().with_node(pattern);
        }
        names
    }

    fn read(
        &mut self,
        key: &'static str,
        stated: Option<Spanned<smol_str::SmolStr>>,
        allowed: &[Field],
    ) -> Option<Pattern> {
        let stated = stated?;
        match Pattern::parse(&stated.value, allowed) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.faults.push((key, stated.span, error));
                None
            }
        }
    }
}

/// Why a name means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NameFault {
    /// It has none of the forms that names have.
    Unreadable,
    /// It has the form, but the fabric does not reach so far.
    Beyond {
        /// What there is, for example ``the last T0 of a plane is `p3-t0-512` ``.
        last: String,
    },
    /// No cable leads from the one to the other.
    NoCable {
        /// Why not.
        why: String,
    },
    /// A range in brackets is wrong.
    Range {
        /// What is wrong.
        why: String,
    },
    /// It stands for more names than there may be.
    TooMany {
        /// How many there may be.
        why: String,
    },
}

/// Finds the switch of a name.
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

/// Finds the link of a name: `LOWER--UPPER`, `LOWER--UPPER#2`, or a NIC port.
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
        None => Err(NameFault::NoCable { why: no_cable(shape, naming, lower, upper, number) }),
    }
}

/// Says why no cable leads from one switch to another.
fn no_cable(shape: &Shape, naming: &Naming, lower: Switch, upper: Switch, number: u16) -> String {
    if lower.tier > upper.tier {
        let turned = format!("{}{LINK_SEPARATOR}{}", naming.switch(upper), naming.switch(lower));
        return format!("the lower switch stands first: `{turned}`");
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
        return format!("there are {parallel} parallel links and no link {number}");
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
pub(super) fn find_nic(shape: &Shape, naming: &Naming, node: Node, number: u8) -> Result<Nic, NameFault> {
    find_node(shape, naming, node)?;
    if u16::from(number) < shape.nics_per_node {
        return shape.nic_of(node, number).ok_or(NameFault::Unreadable);
    }
    Err(NameFault::Beyond { last: format!("the last NIC of a node is `nic{}`", shape.nics_per_node - 1) })
}

/// Checks that a node is there.
pub(super) fn find_node(shape: &Shape, naming: &Naming, node: Node) -> Result<(), NameFault> {
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
