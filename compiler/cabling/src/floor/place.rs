//! Placement of racks of a fabric on a floor plan.
//!
//! In: a plan, a floor plan and the size of nodes. Out: a [`Placement`], with the `racks` rules of the fabric file and
//! the position of each rack. Invariants: every device has a place. No rack exceeds its limits of units and watts.
//! Unless the floor plan is very large, no swap of two racks shortens the sum of all cables.

mod assign;
mod distance;
mod links;
mod rules;
mod swap;

use std::collections::BTreeMap;

use closc_plan::Plan;
use closc_qos::units::Length;
use closc_topology::{Racks, TierId};
use smol_str::SmolStr;

use super::{Floor, standard_length};
use assign::Block;
use distance::{Distances, LengthSum};
use links::{DeviceLinks, RackLinks};

/// Size of a node.
#[derive(Debug, Clone, Copy)]
pub struct NodeSize {
    /// Rack units.
    pub units: u16,
    /// Power; needed if racks have limits.
    pub watts: Option<u32>,
}

/// A rack with devices of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cabinet {
    /// Its name in the fabric file.
    pub name: SmolStr,
    /// `nodes`, `t0`, `t1` or `t2`.
    pub kind: &'static str,
    /// Number of devices.
    pub devices: u32,
    /// Height up to the highest device, in units.
    pub units: u32,
    /// Power of its devices, if the power of all of them is known.
    pub watts: Option<u64>,
    /// Index of its rack in the floor plan.
    pub at: usize,
    /// Block of its devices. Higher tiers have the first block of their zone.
    block: Block,
}

/// The longest cables of each kind, as standard lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CableLengths {
    /// Between NICs and T0s.
    pub nic_t0: Length,
    /// Between T0s and T1s, if there are T1s.
    pub t0_t1: Option<Length>,
    /// Between T1s and T2s, if there are T2s.
    pub t1_t2: Option<Length>,
}

/// A placement of a fabric on a floor plan.
#[derive(Debug, Clone)]
pub struct Placement {
    /// Rules of the fabric file.
    pub racks: Racks,
    /// Racks with devices, in the order of their names.
    pub cabinets: Vec<Cabinet>,
    /// The longest cables.
    pub longest: CableLengths,
}

/// Why a fabric cannot be placed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// The height of a switch is unknown.
    #[error(
        "no source publishes the height of `{0}`: use `--switch-units`, or add `rack_units` in a file for `--platforms`"
    )]
    Height(SmolStr),
    /// The power of a switch is unknown.
    #[error(
        "racks have power limits, and no source publishes the power of `{0}`: use `--switch-watts`, or remove `watts` from the floor plan"
    )]
    Power(SmolStr),
    /// The power of a module is unknown.
    #[error(
        "racks have power limits, and no source publishes the power of {0}: use `--module-watts`, or remove `watts` from the floor plan"
    )]
    ModulePower(String),
    /// The power of a node is unknown.
    #[error(
        "racks have power limits: set the power of a node with `--node-watts`, or remove `watts` from the floor plan"
    )]
    NodePower,
    /// No rack can hold a device.
    #[error("no rack of the floor plan can hold a {0}")]
    Device(String),
    /// No number of T0s per rack fits.
    #[error("no number of T0s per rack fits both the racks of the floor plan and the T0s of a unit")]
    NoRule,
    /// The floor is too small.
    #[error(
        "the floor plan is too small: {placed} of {cabinets} racks are placed, and no free rack has {units} units{} for rack `{name}` of kind `{kind}`",
        watts.map(|watts| format!(" and {watts} W")).unwrap_or_default()
    )]
    Small {
        /// Racks that the fabric needs.
        cabinets: usize,
        /// Number of these racks that have a place.
        placed: usize,
        /// Kind of the first rack without a place.
        kind: &'static str,
        /// Its name.
        name: SmolStr,
        /// Units that it needs.
        units: u32,
        /// Power that it needs.
        watts: Option<u64>,
    },
}

/// A placement with shorter cables may need this percentage more racks than the placement with the fewest.
const MORE_RACKS: usize = 25;

/// Maximum number of lengths that swaps compute: enough for some thousand racks, and about a second.
const LENGTHS_MAX: u64 = 150_000_000;

/// Sizes of switches for which no source publishes them.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnpublishedSizes {
    /// Rack units.
    pub units: Option<u16>,
    /// Power in watts, without modules.
    pub watts: Option<u32>,
    /// Power of a module in watts.
    pub module_watts: Option<u32>,
}

/// Places a fabric.
///
/// # Errors
///
/// [`PlaceError`] with the first reason.
pub fn place(
    plan: &Plan,
    floor: &Floor,
    node: NodeSize,
    unpublished: UnpublishedSizes,
) -> Result<Placement, PlaceError> {
    let sizes = rules::Sizes::new(plan, floor, node, unpublished)?;
    let site =
        Site { plan, floor, sizes, distances: Distances::new(floor), links: DeviceLinks::of(plan.fabric()) };
    let mut small = None;
    for nodes in site.sizes.nodes_per_rack() {
        let mut found: Vec<Candidate> = Vec::new();
        for racks in site.sizes.racks(nodes) {
            match site.shortest_walk(racks) {
                Ok(candidate) => found.push(candidate),
                Err(error) => small = small.or(Some(error)),
            }
        }
        let fewest = found.iter().map(|candidate| candidate.cabinets.len()).min().unwrap_or_default();
        found.retain(|candidate| candidate.cabinets.len() * 100 <= fewest * (100 + MORE_RACKS));
        // Work that is left after the best candidate is spent on the next.
        found.sort_by_key(|candidate| (candidate.sum, candidate.cabinets.len()));
        let mut work = LENGTHS_MAX;
        for candidate in &mut found {
            swap::refine(floor, &site.distances, &candidate.links, &mut candidate.cabinets, &mut work);
            candidate.sum = site.sum(&candidate.links, &candidate.cabinets);
        }
        let best = found.into_iter().min_by_key(|candidate| (candidate.sum, candidate.cabinets.len()));
        if let Some(best) = best {
            return Ok(site.placement(best));
        }
    }
    Err(small.unwrap_or(PlaceError::NoRule))
}

/// A fabric and the floor that it is placed on.
struct Site<'a> {
    plan: &'a Plan,
    floor: &'a Floor,
    sizes: rules::Sizes<'a>,
    distances: Distances,
    links: DeviceLinks,
}

/// A placement with given rules.
struct Candidate {
    racks: Racks,
    /// Racks in the order in which the fabric numbers their devices.
    cabinets: Vec<Cabinet>,
    links: RackLinks,
    /// Sum of all cables.
    sum: LengthSum,
}

impl Site<'_> {
    /// Places a fabric with the given rules, along the walk with the shortest cables.
    fn shortest_walk(&self, racks: Racks) -> Result<Candidate, PlaceError> {
        let (mut cabinets, rack_of) = self.cabinets(&racks);
        let links = RackLinks::new(&self.links, &rack_of, cabinets.len());
        let (mut best, mut small) = (None::<(LengthSum, Vec<Cabinet>)>, None);
        for order in assign::orders(self.floor) {
            match assign::assign(self.floor, &order, &mut cabinets) {
                Ok(()) => {
                    let sum = self.sum(&links, &cabinets);
                    if best.as_ref().is_none_or(|(known, _)| sum < *known) {
                        best = Some((sum, cabinets.clone()));
                    }
                }
                Err(error) => small = small.or(Some(error)),
            }
        }
        match best {
            Some((sum, cabinets)) => Ok(Candidate { racks, cabinets, links, sum }),
            None => Err(small.unwrap_or(PlaceError::NoRule)),
        }
    }

    /// Returns the sum of all cables.
    fn sum(&self, links: &RackLinks, cabinets: &[Cabinet]) -> LengthSum {
        let length = |&(lower, upper, cables): &(u32, u32, u32)| {
            let [from, to] = [lower, upper].map(|rack| cabinets[rack as usize].at);
            self.distances.length(from, to) * LengthSum::from(cables)
        };
        links.pairs.iter().map(length).sum()
    }

    /// Returns the racks that follow from the rules, without positions, and the rack of each device.
    fn cabinets(&self, racks: &Racks) -> (Vec<Cabinet>, Vec<Option<u32>>) {
        let hosts = &self.plan.topology().hosts;
        let in_zone = u32::from(hosts.rails / hosts.zones_per_node).max(1);
        let t0s_of_rack = racks.t0.as_ref().map_or(1, |rule| u32::from(rule.per_rack));
        let units = (t0s_of_rack / in_zone).max(1);
        let block = |zone: u16, unit: u32| Block {
            zone: zone - zone % u16::from(hosts.zones_per_node),
            unit: unit / units,
        };
        let (mut found, mut known) = (Vec::<Cabinet>::new(), BTreeMap::<SmolStr, usize>::new());
        let mut add = |place: Option<closc_topology::RackPlace>, kind, block, watts: Option<u32>| {
            let place = place?;
            let at = *known.entry(place.rack.clone()).or_insert(found.len());
            if at == found.len() {
                let name = place.rack.clone();
                found.push(Cabinet { name, kind, devices: 0, units: 0, watts: Some(0), at: 0, block });
            }
            let cabinet = &mut found[at];
            cabinet.devices += 1;
            cabinet.units = cabinet.units.max(place.unit + u32::from(place.units) - 1);
            cabinet.watts = cabinet.watts.zip(watts).map(|(sum, more)| sum + u64::from(more));
            Some(at as u32)
        };
        let mut rack_of: Vec<Option<u32>> = Vec::new();
        for node in &self.links.nodes {
            let block = block(node.zone.0, node.unit.into());
            rack_of.push(add(racks.node(*node), "nodes", block, self.sizes.node.watts));
        }
        for switch in &self.links.switches {
            let unit = if switch.tier == TierId::T0 { u32::from(switch.index) / in_zone } else { 0 };
            let block = block(switch.zone.0, unit);
            let watts = self.sizes.watts(*switch);
            rack_of.push(add(racks.switch(*switch), switch.tier.keyword(), block, watts));
        }
        (found, rack_of)
    }

    /// Returns a finished placement.
    fn placement(&self, candidate: Candidate) -> Placement {
        let Candidate { mut racks, mut cabinets, links, .. } = candidate;
        let heights = cabinets.iter().map(|cabinet| self.floor.racks[cabinet.at].units);
        racks.height = heights.max().unwrap_or(racks.height);
        let longest = self.longest(&links, &cabinets);
        cabinets.sort_by(|a, b| a.name.cmp(&b.name));
        Placement { racks, cabinets, longest }
    }

    /// Returns the longest cables between racks.
    fn longest(&self, links: &RackLinks, cabinets: &[Cabinet]) -> CableLengths {
        let mut longest: BTreeMap<&str, Length> = BTreeMap::new();
        for (lower, upper, _) in &links.pairs {
            let [lower, upper] = [lower, upper].map(|rack| &cabinets[*rack as usize]);
            let length = self.floor.length(lower.at, upper.at);
            let known = longest.entry(lower.kind).or_default();
            *known = length.max(*known);
        }
        let of = |kind: &str| longest.get(kind).copied().map(standard_length);
        CableLengths {
            nic_t0: of("nodes").unwrap_or_else(|| standard_length(Length::default())),
            t0_t1: of("t0"),
            t1_t2: of("t1"),
        }
    }
}
