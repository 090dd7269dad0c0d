//! Exceptions as runs of numbers.
//!
//! In: a topology. Out: [`Exceptions`]. Invariants: each list has exactly the elements of the topology. Consecutive
//! elements are one run, so that a T0 group without NICs takes one row and not one per NIC.

use std::collections::BTreeSet;

use closc_topology::{Link, Nic, Switch, TierId, Topology};
use serde::Serialize;

use super::cable;

/// Exceptions of a fabric. Rows of [`ElementRows`] end with the first and the last number of a run.
#[derive(Debug, Serialize)]
pub(super) struct Exceptions {
    absent: ElementRows,
    drained: ElementRows,
    /// Cables that differ: a cable, its length in millimetres, its medium.
    cables: Vec<([u16; 5], u64, String)>,
}

/// Elements that exceptions name, with consecutive numbers merged into runs.
#[derive(Debug, Serialize)]
struct ElementRows {
    planes: Vec<u8>,
    /// Tier, plane, zone; first and last index.
    switches: Vec<[u16; 5]>,
    /// Zone, group; first and last downlink.
    nics: Vec<[u16; 4]>,
    /// Tier of the lower end, plane, zone, group or index, first and last downlink or uplink. The tier is 0 for a NIC,
    /// 1 for a T0, 2 for a T1.
    links: Vec<[u16; 6]>,
}

impl Exceptions {
    /// Extracts the exceptions of a topology.
    pub(super) fn of(topology: &Topology) -> Self {
        let own = &topology.exceptions;
        let none = BTreeSet::new();
        let cables = own.cables.iter().map(|(link, own)| {
            let (length, medium) = cable(own);
            (place(*link), length, medium)
        });
        Exceptions {
            absent: element_rows(
                &topology.absent_planes().iter().map(|plane| plane.0).collect::<Vec<_>>(),
                &own.absent_switches,
                &own.absent_nics,
                &own.absent_links,
            ),
            drained: element_rows(
                &own.drained_planes.iter().map(|plane| plane.0).collect::<Vec<_>>(),
                &own.drained_switches,
                &none,
                &own.drained_links,
            ),
            cables: cables.collect(),
        }
    }
}

fn element_rows(
    planes: &[u8],
    switches: &BTreeSet<Switch>,
    nics: &BTreeSet<Nic>,
    links: &BTreeSet<Link>,
) -> ElementRows {
    let switch = |switch: &Switch| {
        [u16::from(switch.tier.level()), switch.plane.0.into(), switch.zone.0, switch.index]
    };
    ElementRows {
        planes: planes.to_vec(),
        switches: runs(switches.iter().map(switch)),
        nics: runs(nics.iter().map(|nic| [nic.zone.0, nic.group, nic.downlink])),
        links: runs(links.iter().map(|link| place(*link))),
    }
}

/// Returns the coordinates of a cable.
fn place(link: Link) -> [u16; 5] {
    match link {
        Link::Host(port) => [0, port.plane.0.into(), port.nic.zone.0, port.nic.group, port.nic.downlink],
        Link::Fabric { lower, up } => {
            let tier = if lower.tier == TierId::T0 { 1 } else { 2 };
            [tier, lower.plane.0.into(), lower.zone.0, lower.index, up]
        }
    }
}

/// Merges rows that are equal except for consecutive last numbers.
fn runs<const N: usize, const M: usize>(rows: impl Iterator<Item = [u16; N]>) -> Vec<[u16; M]> {
    assert_eq!(N + 1, M, "a run has one more number than a row");
    let mut found: Vec<[u16; M]> = Vec::new();
    for row in rows {
        match found.last_mut() {
            Some(last) if last[..N - 1] == row[..N - 1] && last[M - 1] + 1 == row[N - 1] => {
                last[M - 1] = row[N - 1];
            }
            Some(_) | None => {
                let mut run = [0; M];
                run[..N].copy_from_slice(&row);
                run[M - 1] = row[N - 1];
                found.push(run);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn consecutive_numbers_are_one_run() {
        let rows = [[1, 2], [1, 3], [1, 5], [2, 6], [2, 7], [2, 8]];
        let found: Vec<[u16; 3]> = runs(rows.into_iter());
        assert_eq!(found, [[1, 2, 3], [1, 5, 5], [2, 6, 8]]);
    }
}
