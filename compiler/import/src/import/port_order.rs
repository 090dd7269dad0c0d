//! The port order of a network that has grown with fewer parallel cables, or is wired for such growth.
//!
//! In: an existing network, the positions of its devices, hardware and counts. Out: the order, in the form of
//! `tiers.t0.port_order`. Invariants: the result is `None` if most cables are in the order of switch numbers.
//! It is also `None` if every port order of at most two stages contradicts a port in use.

use std::collections::BTreeMap;

use closc_topology::{PortStage, Side, TierId, far_switches};

use super::hardware::Hardware;
use crate::fit::Fit;
use crate::network::ExistingNetwork;
use crate::position::Positions;
use crate::shape::{Numbers, Order};
use crate::text::TierHardware;

/// The index of the switch to which most ports at a position lead, by position.
type SwitchIndices = BTreeMap<u16, u16>;

/// Maximum number of pairs of T0 counts to try for two stages.
const PAIRS_MAX: usize = 1024;

/// One side of the panel, and the switches to which its ports lead.
struct Panel {
    side: Side,
    indices: SwitchIndices,
}

/// Finds the port order between T0s and T1s, if it is not the order of switch numbers.
pub(super) fn order(
    network: &ExistingNetwork,
    positions: &Positions,
    hardware: &Hardware,
    numbers: &Numbers,
) -> Option<Order> {
    let [t0, t1] = [hardware.tiers[0].as_ref()?, hardware.tiers[1].as_ref()?];
    let own = numbers.stage();
    if own.up == 0 {
        return None;
    }
    let up = Panel::new(network, positions, (TierId::T0, Side::Up), t0)?;
    let down = Panel::new(network, positions, (TierId::T1, Side::Down), t1)?;
    if up.fits(&[own]) && down.fits(&[own]) {
        return None;
    }
    let stages = one_stage(&up, &down, own).or_else(|| two_stages(&up, &down, own))?;
    let all: Vec<PortStage> = stages.iter().copied().chain([own]).collect();
    let spare = |side, used: u16| {
        let places = u16::try_from(far_switches(&all, side).len()).unwrap_or(u16::MAX);
        places.saturating_sub(used)
    };
    let (up_spare, down_spare) =
        (spare(Side::Up, own.up), spare(Side::Down, own.groups.saturating_mul(own.parallel)));
    Some(Order { stages, up_spare, down_spare })
}

impl Panel {
    /// Reads the ports of the switches with their tier's usual hardware; `None` if port names do not fit the
    /// hardware.
    fn new(
        network: &ExistingNetwork,
        positions: &Positions,
        (tier, side): (TierId, Side),
        hardware: &TierHardware,
    ) -> Option<Panel> {
        let fit: &Fit = Some(&hardware.base).filter(|fit| fit.is_named)?;
        let places = fit.indices(side == Side::Up);
        let mut votes: BTreeMap<u16, BTreeMap<u16, u32>> = BTreeMap::new();
        for cable in &network.cables {
            for (near, far) in [(0, 1), (1, 0)] {
                let (near, far) = (cable.ends[near], cable.ends[far]);
                let (Some(own), Some(other)) = (positions.switch(near.device), positions.switch(far.device))
                else {
                    continue;
                };
                let is_meant = own.tier == tier && (other.tier > tier) == (side == Side::Up);
                let is_usual = !hardware.by_plane.contains_key(&own.plane.0.into())
                    && !hardware.by_zone.contains_key(&own.zone.0);
                let place = places.get(network.ports.name(near.port)).filter(|_| is_meant && is_usual);
                if let Some(place) = place {
                    *votes.entry(*place).or_default().entry(other.index).or_default() += 1;
                }
            }
        }
        let most = |(place, votes): (u16, BTreeMap<u16, u32>)| {
            let (index, _) =
                votes.into_iter().max_by_key(|(index, count)| (*count, std::cmp::Reverse(*index)))?;
            Some((place, index))
        };
        Some(Panel { side, indices: votes.into_iter().filter_map(most).collect() })
    }

    /// Returns whether the port order of these stages explains every port in use.
    fn fits(&self, stages: &[PortStage]) -> bool {
        let planned = far_switches(stages, self.side);
        self.indices.iter().all(|(place, index)| planned.get(usize::from(*place)) == Some(&Some(*index)))
    }

    /// Returns an earlier stage with this number of parallel cables, and with this number of switches at the
    /// other end.
    fn stage(&self, parallel: u16, switches: u16) -> PortStage {
        match self.side {
            Side::Up => PortStage { groups: 1, up: switches.saturating_mul(parallel), parallel },
            Side::Down => PortStage { groups: switches, up: parallel, parallel },
        }
    }

    /// Returns the number of parallel cables in the first stage. It is the number of ports before the first
    /// one that leads to the second switch. `None` if all ports lead to a single switch, because then every
    /// order is the same.
    fn first_parallel(&self) -> Option<u16> {
        self.indices
            .iter()
            .find(|(_, index)| **index == 1)
            .map(|(place, _)| *place)
            .filter(|place| *place > 0)
    }

    /// Returns the number of ports up to the last one in use.
    fn used_ports(&self) -> u16 {
        self.indices.last_key_value().map_or(0, |(place, _)| place.saturating_add(1))
    }
}

/// Finds a single earlier stage that explains both sides.
fn one_stage(up: &Panel, down: &Panel, own: PortStage) -> Option<Vec<PortStage>> {
    let parallel = up.first_parallel().or_else(|| down.first_parallel())?;
    let found = |panel: &Panel, most: u16| {
        (1..=most).rev().find(|switches| panel.fits(&[panel.stage(parallel, *switches), own]))
    };
    let t1s = found(up, own.up / parallel.max(1)).or_else(|| found(up, own.up / own.parallel))?;
    let groups = found(down, own.groups)?;
    Some(vec![PortStage { groups, up: t1s.saturating_mul(parallel), parallel }])
}

/// Finds two earlier stages that explain both sides, with the uplinks of this fabric.
fn two_stages(up: &Panel, down: &Panel, own: PortStage) -> Option<Vec<PortStage>> {
    let first = up.first_parallel().or_else(|| down.first_parallel())?;
    let seconds = (1..=own.up).filter(|second| *second != first && own.up.is_multiple_of(*second));
    let stage = |parallel: u16, groups: u16| PortStage { groups, up: own.up, parallel };
    let is_explained = |second: &u16| up.fits(&[stage(first, 1), stage(*second, 1), own]);
    seconds.filter(|_| own.up.is_multiple_of(first)).filter(is_explained).find_map(|second| {
        let groups = |parallel: u16| (1..=down.used_ports() / parallel).rev();
        let pairs = groups(first).flat_map(|one| groups(second).map(move |two| [one, two])).take(PAIRS_MAX);
        let all = pairs.map(|[one, two]| vec![stage(first, one), stage(second, two)]);
        { all }.find(|stages| down.fits(&[stages[0], stages[1], own]))
    })
}
