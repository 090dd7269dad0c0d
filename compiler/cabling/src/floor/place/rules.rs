//! Rules of racks: the number of devices per rack, limited by units and power.
//!
//! In: a plan, a floor plan and the sizes of devices. Out: [`Racks`] to try. Invariants: racks of nodes, T1s
//! and T2s are filled evenly. T1s and T2s use as few racks as possible.

use std::collections::BTreeMap;

use closc_plan::Plan;
use closc_platform::Platform;
use closc_topology::naming::{Pattern, Placeholder};
use closc_topology::{Face, RackRule, Racks, Switch, TierId};

use super::super::Floor;
use super::{NodeSize, PlaceError, UnpublishedSizes};
use crate::modules::modules;

/// Units and watts of a device.
type Size = (u16, Option<u32>);

/// Sizes of all devices.
pub(super) struct Sizes<'a> {
    plan: &'a Plan,
    /// Kinds of racks of the floor plan: units and power, without duplicates.
    racks: Vec<(u16, Option<u32>)>,
    pub(super) node: NodeSize,
    /// Watts of each switch, including its modules.
    watts: BTreeMap<Switch, Option<u32>>,
    /// Units and watts of the largest switch of each existing tier.
    tiers: BTreeMap<TierId, Size>,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        floor: &Floor,
        node: NodeSize,
        unpublished: UnpublishedSizes,
    ) -> Result<Self, PlaceError> {
        let has_limit = floor.racks.iter().any(|rack| rack.watts.is_some());
        if has_limit && node.watts.is_none() {
            return Err(PlaceError::NodePower);
        }
        let (mut watts, mut tiers) = (BTreeMap::new(), BTreeMap::<TierId, Size>::new());
        for switch in plan.fabric().switches() {
            let platform = plan.topology().hardware(switch).0;
            let units = platform.rack_units.or(unpublished.units);
            let units = units.ok_or_else(|| PlaceError::Height(platform.id.clone()))?;
            let power = match power(plan, (switch, platform), unpublished) {
                Ok(watts) => Some(watts),
                Err(why) if has_limit => return Err(why),
                Err(_) => None,
            };
            watts.insert(switch, power);
            let size = tiers.entry(switch.tier).or_insert((0, Some(0)));
            size.0 = size.0.max(units);
            size.1 = size.1.zip(power).map(|(known, power)| known.max(power));
        }
        let mut racks: Vec<(u16, Option<u32>)> =
            floor.racks.iter().map(|rack| (rack.units, rack.watts)).collect();
        racks.sort_unstable();
        racks.dedup();
        let sizes = Sizes { plan, racks, node, watts, tiers };
        let devices = sizes.tiers.iter().map(|(tier, size)| (tier.keyword(), *size));
        for (name, size) in devices.chain([("node", (node.units, node.watts))]) {
            if sizes.max_per_rack(size) == 0 {
                let watts =
                    size.1.filter(|_| has_limit).map(|watts| format!(" and {watts} W")).unwrap_or_default();
                return Err(PlaceError::Device(format!("{name} of {} units{watts}", size.0)));
            }
        }
        Ok(sizes)
    }

    /// Returns the power of a switch, including its modules.
    pub(super) fn watts(&self, switch: Switch) -> Option<u32> {
        self.watts.get(&switch).copied().flatten()
    }

    /// Returns the number of devices of a size per kind of rack, largest first.
    fn capacities(&self, (units, watts): Size) -> Vec<u16> {
        let hold = |(rack_units, rack_watts): &(u16, Option<u32>)| {
            let by_power = rack_watts.zip(watts).map(|(most, each)| most / each.max(1));
            u32::from(rack_units / units.max(1)).min(by_power.unwrap_or(u32::MAX)) as u16
        };
        let mut held: Vec<u16> = self.racks.iter().map(hold).filter(|held| *held > 0).collect();
        held.sort_unstable_by(|a, b| b.cmp(a));
        held.dedup();
        held
    }

    fn max_per_rack(&self, size: Size) -> u16 {
        self.capacities(size).first().copied().unwrap_or_default()
    }

    /// Returns the numbers of nodes per rack to try.
    pub(super) fn nodes_per_rack(&self) -> Vec<u16> {
        let all = self.plan.topology().nodes_per_unit();
        let mut even: Vec<u16> = self
            .capacities((self.node.units, self.node.watts))
            .into_iter()
            .map(|held| even_share(all, held))
            .collect();
        even.dedup();
        even
    }

    /// Returns rules with this number of nodes per rack, one for each number of T0s per rack.
    pub(super) fn racks(&self, nodes: u16) -> Vec<Racks> {
        let topology = self.plan.topology();
        let zone = if topology.has_zones() { "z{zone}-" } else { "" };
        let (t1s, t2s) = (topology.t1_count, topology.t2.as_ref().map_or(0, |t2| t2.count));
        let t1 = self.switches(TierId::T1, &format!("{zone}t1"), t1s);
        let t2 = self.switches(TierId::T2, "t2", t2s);
        let hosts = rule(&format!("{zone}su{{unit:03}}-{{rack:02}}"), nodes, self.node.units);
        self.t0s(zone)
            .into_iter()
            .map(|t0| Racks {
                height: 1,
                t0: Some(t0),
                t1: t1.clone(),
                t2: t2.clone(),
                hosts: Some(hosts.clone()),
            })
            .collect()
    }

    /// Returns rules of T0s. The number of T0s per rack divides the number of T0s of a unit in one zone and plane, or
    /// is a multiple of it.
    fn t0s(&self, zone: &str) -> Vec<RackRule> {
        let topology = self.plan.topology();
        let Some(size) = self.tiers.get(&TierId::T0).copied() else { return Vec::new() };
        let (planes, most) = (u16::from(topology.planes), self.max_per_rack(size));
        let in_unit = (u16::from(topology.hosts.rails) / u16::from(topology.hosts.zones_per_node)).max(1);
        let is_shared = most >= planes;
        let (most, name) = if is_shared {
            (most / planes, format!("{zone}t0-{{rack:03}}"))
        } else {
            (most, format!("{zone}p{{plane}}-t0-{{rack:03}}"))
        };
        let divides = |count: &u16| in_unit.is_multiple_of(*count) || count.is_multiple_of(in_unit);
        let counts = (1..=most.min(topology.hosts.groups)).filter(divides);
        counts.map(|count| rule(&name, count, size.0)).collect()
    }

    /// Returns the rule of T1s or T2s with the fewest racks. Planes share racks only if this saves racks.
    fn switches(&self, tier: TierId, name: &str, all: u16) -> Option<RackRule> {
        let size = self.tiers.get(&tier).copied()?;
        let (planes, most) = (u16::from(self.plan.topology().planes), self.max_per_rack(size));
        if all == 0 || most == 0 {
            return None;
        }
        let shared = most / planes;
        let is_shared = shared > 0 && all.div_ceil(shared) < planes * all.div_ceil(most);
        Some(if is_shared {
            rule(&format!("{name}-{{rack:03}}"), even_share(all, shared), size.0)
        } else {
            rule(&format!("p{{plane}}-{name}-{{rack:03}}"), even_share(all, most), size.0)
        })
    }
}

/// Returns the number of devices per rack that fills the fewest racks evenly.
fn even_share(all: u16, most: u16) -> u16 {
    all.div_ceil(all.div_ceil(most.max(1)).max(1)).max(1)
}

fn rule(name: &str, per_rack: u16, units: u16) -> RackRule {
    let allowed =
        [Placeholder::Plane, Placeholder::Zone, Placeholder::Unit, Placeholder::Rack, Placeholder::Row];
    let name = Pattern::parse(name, &allowed).expect("the rack name patterns of this module are valid");
    RackRule { name, per_rack, per_row: None, units, first_unit: 1, face: Face::Front }
}

/// Returns the power of a switch with its modules: the maximum, or the typical power if no maximum is published.
/// `unpublished` has the power of a switch without modules, and of a module, for parts without published figures. The
/// error names the part whose power is unknown.
fn power(
    plan: &Plan,
    (switch, platform): (Switch, &Platform),
    unpublished: UnpublishedSizes,
) -> Result<u32, PlaceError> {
    let figure = platform.power.as_ref().and_then(|power| power.maximum_watts.or(power.typical_watts));
    let own = figure.or(unpublished.watts).ok_or_else(|| PlaceError::Power(platform.id.clone()))?;
    let mut sum = u64::from(own);
    for (kind, count) in modules(plan, switch) {
        let name = || format!("`{}` modules with {} lanes of {}", kind.medium, kind.lanes, kind.lane);
        let each = kind.power().map(|(_, maximum)| maximum).or(unpublished.module_watts);
        sum += u64::from(each.ok_or_else(|| PlaceError::ModulePower(name()))?) * count;
    }
    Ok(u32::try_from(sum).unwrap_or(u32::MAX))
}
