//! The part of a fabric to compile: all of it, a shard, a selection, or a selection from a shard.
//!
//! In: a plan. Out: the switches, host groups and cable lists of the part, and its record in the manifest.
//! Invariants: only the part is visited, so the cost is proportional to its size. A cable belongs to the part
//! that has its lower switch.

use std::fmt;

use closc_artefacts::manifest::{GroupRun, StatedPart};
use closc_plan::Plan;
use closc_topology::{Link, NicPort, Node, PlaneId, Switch, TierId, Topology, ZoneId};

use crate::{CompileError, Selection, Shard};

/// The part of a fabric to compile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    shard: Option<Shard>,
    selection: Selection,
}

impl From<Selection> for Part {
    fn from(selection: Selection) -> Self {
        Part { shard: None, selection }
    }
}

impl Part {
    /// Creates a part: a selection from a shard, or from the complete fabric.
    pub fn new(shard: Option<Shard>, selection: Selection) -> Self {
        Part { shard, selection }
    }

    /// Returns whether the part is the complete fabric.
    pub fn is_whole(&self) -> bool {
        self.shard.is_none_or(|shard| shard.of() == 1) && self.selection.is_everything()
    }

    /// Rejects shards without a switch, and planes and zones that do not exist in the fabric.
    pub fn check_fits(&self, plan: &Plan) -> Result<(), CompileError> {
        let topology = plan.topology();
        let most = Shard::max_count(topology);
        if let Some(shard) = self.shard.filter(|shard| shard.of() > most) {
            return Err(CompileError::Shards {
                of: shard.of(),
                planes: topology.planes,
                zones: topology.zones,
            });
        }
        let absent = |what: &str, number: u16, count: u16| CompileError::Absent {
            term: format!("{what}={number}"),
            kind: what.to_owned(),
            last: count.saturating_sub(1),
        };
        let mut planes = self.selection.planes().iter();
        if let Some(plane) = planes.find(|plane| **plane >= topology.planes) {
            return Err(absent("plane", u16::from(*plane), topology.planes.into()));
        }
        let mut zones = self.selection.zones().iter();
        if let Some(zone) = zones.find(|zone| **zone >= topology.zones) {
            return Err(absent("zone", *zone, topology.zones));
        }
        Ok(())
    }

    /// Returns whether the part has T0s and T1s of a zone in a plane: all of them, unless tiers or single
    /// devices are selected.
    fn has_zone(&self, topology: &Topology, plane: PlaneId, zone: ZoneId) -> bool {
        self.selection.has_plane(plane.0)
            && self.selection.has_zone(zone)
            && self.shard.is_none_or(|shard| shard.has_zone(topology, plane, zone))
    }

    /// Returns whether the part has a switch.
    pub fn has_switch(&self, plan: &Plan, switch: Switch) -> bool {
        let topology = plan.topology();
        self.shard.is_none_or(|shard| shard.has_switch(topology, switch))
            && self.selection.has(switch, || plan.switch_name(switch).to_string())
    }

    /// Returns whether the part has a complete plane.
    pub(crate) fn has_plane(&self, topology: &Topology, plane: PlaneId) -> bool {
        let selected = self.selection.has_plane(plane.0)
            && self.selection.zones().is_empty()
            && !self.selection.picks_devices();
        selected && topology.zone_ids().all(|zone| self.has_zone(topology, plane, zone))
    }

    /// Returns the switches of the part, in the order that all listings use.
    pub(crate) fn switches<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = Switch> + 'a {
        let topology = plan.topology();
        let zones = move |plane: PlaneId, tier: TierId| {
            // T2s do not belong to a zone and are few, so each of them is checked below.
            let ends = if tier == TierId::T2 { 1 } else { topology.zones };
            let has = move |zone: &ZoneId| tier == TierId::T2 || self.has_zone(topology, plane, *zone);
            (0..ends).map(ZoneId).filter(has)
        };
        let planes = topology.plane_ids().filter(|plane| self.selection.has_plane(plane.0));
        let rows = planes.flat_map(move |plane| {
            let tiers = TierId::ALL.into_iter().filter(|tier| self.selection.has_tier(*tier));
            tiers.flat_map(move |tier| zones(plane, tier).map(move |zone| (plane, tier, zone)))
        });
        let all = rows.flat_map(move |(plane, tier, zone)| {
            (0..topology.count(tier)).map(move |index| Switch { plane, tier, zone, index })
        });
        all.filter(move |switch| plan.fabric().has_switch(*switch) && self.has_switch(plan, *switch))
    }

    /// Returns whether the part has the first zone of a plane. If a fabric is split into shards, exactly one
    /// of them has that zone, and the plane is counted there.
    pub fn has_first_zone(&self, topology: &Topology, plane: PlaneId) -> bool {
        let selected = self.selection.zones().is_empty() && !self.selection.picks_devices();
        selected && self.has_zone(topology, plane, ZoneId(0))
    }

    /// Returns whether the part has the nodes of a unit, and the T0 groups to which these nodes are attached.
    pub fn has_unit(&self, topology: &Topology, zone: ZoneId, unit: u16) -> bool {
        self.selection.has_hosts()
            && self.selection.has_zone(zone)
            && self.shard.is_none_or(|shard| shard.has_unit(topology, zone, unit))
    }

    /// Returns the units of nodes that it has.
    fn units<'a>(&'a self, topology: &'a Topology) -> impl Iterator<Item = (ZoneId, u16)> + 'a {
        let zones =
            topology.zone_ids().filter(|zone| self.selection.has_hosts() && self.selection.has_zone(*zone));
        let units = zones.flat_map(|zone| (0..topology.units()).map(move |unit| (zone, unit)));
        units
            .filter(move |(zone, unit)| self.shard.is_none_or(|shard| shard.has_unit(topology, *zone, *unit)))
    }

    /// Returns its T0 groups, to which its nodes are attached.
    pub(crate) fn groups<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = (ZoneId, u16)> + 'a {
        let topology = plan.topology();
        let rails = topology.rails_in_zone();
        self.units(topology)
            .flat_map(move |(zone, unit)| (unit * rails..(unit + 1) * rails).map(move |group| (zone, group)))
    }

    /// Returns the nodes of the part with at least one NIC, if nodes have files.
    pub(crate) fn nodes<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = Node> + 'a {
        let topology = plan.topology();
        let units = self.units(topology).filter(|_| topology.hosts.has_files());
        let all = units.flat_map(move |(zone, unit)| {
            (0..topology.nodes_per_unit()).map(move |index| Node { zone, unit, index })
        });
        all.filter(move |node| plan.fabric().has_node(*node))
    }

    /// Returns the planes whose cables the part has. If the part does not have all zones of a plane, returns
    /// the plane with each of its zones.
    pub(crate) fn cable_lists<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> impl Iterator<Item = (PlaneId, Option<ZoneId>)> + 'a {
        let topology = plan.topology();
        let planes = plan.planes().filter(|_| !self.selection.picks_devices());
        planes.flat_map(move |plane| {
            let whole = self.has_plane(topology, plane).then_some((plane, None));
            let zones = topology.zone_ids().filter(move |_| whole.is_none());
            let zones = zones.filter(move |zone| self.has_zone(topology, plane, *zone));
            whole.into_iter().chain(zones.map(move |zone| (plane, Some(zone))))
        })
    }

    /// Returns its record in the manifest.
    pub(crate) fn stated_part(&self, plan: &Plan) -> StatedPart {
        let topology = plan.topology();
        let mut tiers = [0; 3];
        for switch in self.switches(plan) {
            tiers[usize::from(switch.tier.level())] += 1;
        }
        let planes = topology.plane_ids().filter(|plane| self.has_plane(topology, *plane));
        let mut groups: Vec<GroupRun> = Vec::new();
        let mut nics = 0;
        for (zone, group) in self.groups(plan) {
            nics += plan.fabric().group_nics(zone, group).count() as u64;
            match groups.last_mut() {
                Some(run) if run.zone == zone.0 && run.last == group => run.last = group + 1,
                _ => groups.push(GroupRun { zone: zone.0, first: group + 1, last: group + 1 }),
            }
        }
        let [t0, t1, t2] = tiers;
        StatedPart { planes: planes.map(|plane| plane.0).collect(), t0, t1, t2, groups, nics }
    }
}

/// Returns the cables of a zone of a plane, without visiting the others.
pub(crate) fn cables(plan: &Plan, plane: PlaneId, zone: ZoneId) -> impl Iterator<Item = Link> + '_ {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    let nics = (0..topology.hosts.groups).flat_map(move |group| fabric.group_nics(zone, group));
    let hosts = nics.map(move |nic| Link::Host(NicPort { plane, nic }));
    let lower = [TierId::T0, TierId::T1].into_iter().flat_map(move |tier| {
        (0..topology.count(tier)).map(move |index| Switch { plane, tier, zone, index })
    });
    let ups = |lower: Switch| topology.tier(lower.tier).map_or(0, |tier| tier.up.count);
    let between = lower.flat_map(move |lower| (0..ups(lower)).map(move |up| Link::Fabric { lower, up }));
    hosts.chain(between).filter(|link| fabric.has_link(*link))
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shard = self.shard.map(|shard| format!("shard={shard}"));
        let selection = Some(self.selection.to_string()).filter(|terms| !terms.is_empty());
        let terms: Vec<String> = shard.into_iter().chain(selection).collect();
        f.write_str(&terms.join(","))
    }
}
