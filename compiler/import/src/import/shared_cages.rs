//! Rejects switches whose cages have ports to both neighbouring tiers.
//!
//! In: a network and the positions of its devices. Out: the error for a tier with such cages. Invariants: a single
//! wrong cable is not an error here, because it is reported as a finding. So there is an error only if at least half of
//! the cages of one side are shared.

use std::collections::{BTreeMap, BTreeSet};

use crate::network::{ExistingNetwork, Fault, FilePlace, Level};
use crate::position::Positions;

/// The tiers whose switches have ports to two other tiers.
const TIERS: [Level; 2] = [Level::T0, Level::T1];

/// Cages of a tier by switch and number, each with its first cable.
type Cages = BTreeMap<(u32, u16), FilePlace>;

/// Returns the error for the lowest tier with shared cages. Lists without the number of the cage do not show them.
pub(super) fn fault(network: &ExistingNetwork, positions: &Positions) -> Option<Fault> {
    TIERS.into_iter().find_map(|tier| {
        let [down, up] = cages(network, positions, tier);
        let shared: BTreeSet<&(u32, u16)> = down.keys().filter(|cage| up.contains_key(*cage)).collect();
        let (device, cage) = **shared.first()?;
        (shared.len() * 2 >= down.len().min(up.len())).then(|| {
            let at = up[&(device, cage)];
            let text = format!(
                "cage {cage} of `{}` has both downlinks and uplinks, and `closc import` does not support shared cages; \
                 help: write the fabric file with a breakout such as `2x400G(4)`, as in \"Ports and cages\" of the language",
                network.devices.name(device)
            );
            Fault { place: Some(network.place(at)), text }
        })
    })
}

/// Returns the cages of a tier with downlinks, and those with uplinks.
fn cages(network: &ExistingNetwork, positions: &Positions, tier: Level) -> [Cages; 2] {
    let mut found = [Cages::new(), Cages::new()];
    for cable in &network.cables {
        for (own, other) in [(0, 1), (1, 0)] {
            let (own, other) = (cable.ends[own], cable.ends[other]);
            let level = |device: u32| positions.levels[device as usize];
            let Some(cage) = own.cage.filter(|_| level(own.device) == tier) else { continue };
            let side = usize::from(level(other.device) > tier);
            found[side].entry((own.device, cage.number)).or_insert(cable.at);
        }
    }
    found
}
