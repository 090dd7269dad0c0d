//! Figures of a design, for comparison with another design.
//!
//! In: a fabric. Out: its parts, the distance between NICs, and the greatest impact of a single failure, by
//! kind. Invariants: parts that the fabric file declares absent are not counted. Figures that grow with the
//! fabric are compared per NIC, so that fabrics of different sizes are comparable.

use closc_fabric::Fabric;
use closc_plan::PathKind;
use closc_topology::{Link, NicPort, PlaneId};
use serde::Serialize;

use crate::WhatIf;
use crate::each::Class;
use crate::element::{Element, Elements, Kind};

/// A figure of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// Name of the figure.
    pub what: &'static str,
    /// Value of the figure.
    pub value: u64,
    /// Whether it grows with the number of NICs.
    pub per_nic: bool,
}

/// Figures of a fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// NICs.
    pub nics: u64,
    /// Figures in the order in which a report lists them.
    pub figures: Vec<Figure>,
    /// For each kind in `FAILURES` that the fabric contains, the single failures with the greatest impact.
    pub failures: Vec<(Kind, Class)>,
}

/// Kinds whose failures are compared.
const FAILURES: [Kind; 9] =
    [Kind::T0T1, Kind::T1T2, Kind::NicT0, Kind::Cage, Kind::Nic, Kind::T0, Kind::T1, Kind::T2, Kind::Plane];

impl Design {
    /// Counts the figures of a fabric.
    pub fn of(elements: Elements<'_>) -> Design {
        let fabric = elements.fabric;
        let topology = fabric.topology();
        let counts = fabric.counts();
        let modules = Modules::of(elements);
        let farthest = match (&topology.t2, topology.hosts.groups) {
            (Some(_), _) if topology.zones > 1 => PathKind::Far,
            (_, 1) => PathKind::Local,
            _ if !topology.has_t1() => PathKind::Local,
            (_, _) => PathKind::Zone,
        };
        let paths = match farthest {
            PathKind::Local => counts.paths_local,
            PathKind::Zone => counts.paths_zone,
            PathKind::Far => counts.paths_far,
        };
        let whole = |what, value| Figure { what, value, per_nic: false };
        let each = |what, value| Figure { what, value, per_nic: true };
        let figures = vec![
            whole("NICs", counts.nics),
            whole("planes", counts.planes),
            each("switches", counts.switches()),
            each("T0 switches", counts.t0),
            each("T1 switches", counts.t1),
            each("T2 switches", counts.t2),
            each("host cables", counts.host_links),
            each("fabric cables", counts.fabric_links),
            each("modules in cages and NICs", modules.all),
            each("optical modules", modules.optical),
            whole("switches on the longest path", farthest.switches() as u64),
            whole("paths between the farthest NICs", paths),
            whole("NICs behind one switch", u64::from(topology.hosts.per_group)),
        ];
        let whatif = WhatIf::new(elements);
        let failures = FAILURES
            .into_iter()
            .filter_map(|kind| Some((kind, whatif.fail_combinations(&[kind], 1).into_iter().next()?)))
            .collect();
        Design { nics: counts.nics, figures, failures }
    }
}

/// Returns the ratio of two figures as a fraction in lowest terms; `None` if the second figure is 0. Figures
/// that grow with the number of NICs are compared per NIC.
pub fn ratio(figure: Figure, nics: u64, other: Figure, other_nics: u64) -> Option<(u64, u64)> {
    let (mut a, mut b) = (u128::from(figure.value), u128::from(other.value));
    if figure.per_nic {
        a *= u128::from(other_nics);
        b *= u128::from(nics);
    }
    if b == 0 {
        return None;
    }
    let divisor = gcd(a, b);
    Some((u64::try_from(a / divisor).ok()?, u64::try_from(b / divisor).ok()?))
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Modules in cages of switches, plus one module per NIC or adapter that has a cable.
struct Modules {
    all: u64,
    optical: u64,
}

impl Modules {
    fn of(elements: Elements<'_>) -> Modules {
        let fabric = elements.fabric;
        let mut modules = Modules { all: 0, optical: 0 };
        for element in elements.all(Kind::Cage) {
            if let Element::Cage(switch, cage) = element
                && let Some(link) = elements.in_cage(switch, cage).next()
            {
                modules.add(fabric, link);
            }
        }
        for first in elements.adapters() {
            let of_nic =
                |nic| fabric.topology().plane_ids().map(move |plane: PlaneId| NicPort { plane, nic });
            let ports = elements.nics_of_adapter(first).flat_map(of_nic);
            if let Some(link) = ports.map(Link::Host).find(|link| fabric.has_link(*link)) {
                modules.add(fabric, link);
            }
        }
        modules
    }

    fn add(&mut self, fabric: &Fabric, link: Link) {
        self.all += 1;
        // Media without optics: passive, redriven and retimed copper, and virtual cables.
        let electric = ["dac", "acc", "aec", "virtual"];
        self.optical += u64::from(!electric.contains(&fabric.cable(link).medium.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_per_nic() {
        let figure = |value, per_nic| Figure { what: "switches", value, per_nic };
        assert_eq!(ratio(figure(6144, true), 131_072, figure(1280, true), 16_384), Some((3, 5)));
        assert_eq!(ratio(figure(3, false), 131_072, figure(5, false), 16_384), Some((3, 5)));
        assert_eq!(ratio(figure(3, true), 8, figure(0, true), 8), None);
    }
}
