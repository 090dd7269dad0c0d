//! Placement of racks of a fabric on a floor plan.
//!
//! In: a plan, a floor plan and the size of nodes. Out: a [`Placement`], with the `racks` rules of the fabric file and
//! the position of each rack. Invariants: every device has a place. No rack exceeds its limits of units and watts. The
//! racks of a unit's T0s are between those of its nodes.

mod assign;
mod rules;

use std::collections::BTreeMap;

use closc_plan::Plan;
use closc_qos::units::Length;
use closc_topology::{Racks, TierId};
use smol_str::SmolStr;

use super::{Floor, standard_length};
use assign::Block;

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
    group: Group,
}

/// Zone, plane and block of the devices of a rack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    zone: u16,
    /// `None` if planes share the rack.
    plane: Option<u16>,
    block: Block,
}

impl Group {
    /// Returns whether both racks have devices of a common plane.
    fn shares_plane(&self, other: &Group) -> bool {
        self.plane.is_none() || other.plane.is_none() || self.plane == other.plane
    }
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

/// Sizes of switches for which no source publishes them.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnpublishedSizes {
    /// Rack units.
    pub units: Option<u16>,
    /// Power in watts, including modules.
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
    let mut small = None;
    for nodes in sizes.nodes_per_rack() {
        let mut found: Vec<Placement> = Vec::new();
        for racks in sizes.racks(nodes) {
            match place_on_floor(plan, floor, &sizes, racks) {
                Ok(placement) => found.push(placement),
                Err(error) => small = small.or(Some(error)),
            }
        }
        let fewest = found.iter().map(|placement| placement.cabinets.len()).min().unwrap_or_default();
        found.retain(|placement| placement.cabinets.len() * 100 <= fewest * (100 + MORE_RACKS));
        let best = found.into_iter().min_by_key(|placement| (placement.longest, placement.cabinets.len()));
        if let Some(best) = best {
            return Ok(best);
        }
    }
    Err(small.unwrap_or(PlaceError::NoRule))
}

/// Places a fabric with the given rules, in the rack order with the shortest cables.
fn place_on_floor(
    plan: &Plan,
    floor: &Floor,
    sizes: &rules::Sizes<'_>,
    mut racks: Racks,
) -> Result<Placement, PlaceError> {
    let cabinets = cabinets(plan, sizes, &racks);
    let (mut best, mut small) = (None::<(CableLengths, Vec<Cabinet>)>, None);
    for order in assign::orders(floor) {
        match assign::assign(floor, &order, cabinets.clone()) {
            Ok(placed) => {
                let longest = longest(floor, &placed);
                if best.as_ref().is_none_or(|(known, _)| longest < *known) {
                    best = Some((longest, placed));
                }
            }
            Err(error) => small = small.or(Some(error)),
        }
    }
    let Some((longest, cabinets)) = best else {
        return Err(small.unwrap_or(PlaceError::NoRule));
    };
    racks.height = cabinets.iter().map(|cabinet| floor.racks[cabinet.at].units).max().unwrap_or(racks.height);
    Ok(Placement { racks, cabinets, longest })
}

/// Returns the racks that follow from the rules, without positions.
fn cabinets(plan: &Plan, sizes: &rules::Sizes<'_>, racks: &Racks) -> Vec<Cabinet> {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    let in_zone = u32::from(topology.hosts.rails / topology.hosts.zones_per_node).max(1);
    let t0s_of_rack = racks.t0.as_ref().map_or(1, |rule| u32::from(rule.per_rack));
    let units = (t0s_of_rack / in_zone).max(1);
    let block = |zone: u16, unit: u32| Block {
        zone: zone - zone % u16::from(topology.hosts.zones_per_node),
        unit: unit / units,
    };
    let mut found: BTreeMap<SmolStr, Cabinet> = BTreeMap::new();
    let mut add = |place: closc_topology::RackPlace, kind, group, watts: Option<u32>| {
        let top = place.unit + u32::from(place.units) - 1;
        let fresh =
            || Cabinet { name: place.rack.clone(), kind, devices: 0, units: 0, watts: Some(0), at: 0, group };
        let cabinet = found.entry(place.rack.clone()).or_insert_with(fresh);
        cabinet.devices += 1;
        cabinet.units = cabinet.units.max(top);
        cabinet.watts = cabinet.watts.zip(watts).map(|(sum, more)| sum + u64::from(more));
    };
    for node in fabric.nodes() {
        let Some(place) = racks.node(node) else { continue };
        let group = Group { zone: node.zone.0, plane: None, block: block(node.zone.0, node.unit.into()) };
        add(place, "nodes", group, sizes.node.watts);
    }
    for switch in fabric.switches() {
        let Some(place) = racks.switch(switch) else { continue };
        let is_shared = racks.tier(switch.tier).is_some_and(closc_topology::RackRule::shares_planes);
        let plane = if is_shared { None } else { Some(u16::from(switch.plane.0)) };
        let unit = if switch.tier == TierId::T0 { u32::from(switch.index) / in_zone } else { 0 };
        let group = Group { zone: switch.zone.0, plane, block: block(switch.zone.0, unit) };
        add(place, switch.tier.keyword(), group, sizes.watts(switch));
    }
    found.into_values().collect()
}

/// Returns the longest cables between racks.
fn longest(floor: &Floor, cabinets: &[Cabinet]) -> CableLengths {
    let of = |kind: &'static str| cabinets.iter().filter(move |cabinet| cabinet.kind == kind);
    let between = |lower: &'static str, upper: &'static str, joins: fn(&Group, &Group) -> bool| {
        let pairs = of(lower).flat_map(|a| of(upper).map(move |b| (a, b)));
        let pairs = pairs.filter(|(a, b)| joins(&a.group, &b.group));
        pairs.map(|(a, b)| floor.length(a.at, b.at)).max().map(standard_length)
    };
    let mut blocks: BTreeMap<Block, [Vec<usize>; 2]> = BTreeMap::new();
    for (kind, side) in [("nodes", 0), ("t0", 1)] {
        for cabinet in of(kind) {
            blocks.entry(cabinet.group.block).or_default()[side].push(cabinet.at);
        }
    }
    let in_block = |[nodes, t0s]: &[Vec<usize>; 2]| {
        nodes.iter().flat_map(|node| t0s.iter().map(|t0| floor.length(*node, *t0))).max()
    };
    CableLengths {
        nic_t0: standard_length(blocks.values().filter_map(in_block).max().unwrap_or_default()),
        t0_t1: between("t0", "t1", |a, b| a.zone == b.zone && a.shares_plane(b)),
        t1_t2: between("t1", "t2", Group::shares_plane),
    }
}
