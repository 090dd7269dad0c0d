//! Modules in the cages of a switch.
//!
//! In: a plan and a switch. Out: modules by kind. Invariants: ports of a cage share a module. Only cages with a cable
//! count.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::PortUse;
use closc_plan::Plan;
use closc_qos::units::Speed;
use closc_topology::{Switch, TierId, ZoneId};
use smol_str::SmolStr;

/// A kind of module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleKind {
    /// `T0`, `T1`, `T2` or `NIC`.
    pub place: &'static str,
    /// Medium of its cable.
    pub medium: SmolStr,
    /// Lanes of its cage.
    pub lanes: u8,
    /// Speed of each lane.
    pub lane: Speed,
}

impl ModuleKind {
    /// Returns the typical and the maximum power of the module in watts, if a source publishes them.
    pub fn power(&self) -> Option<(u32, u32)> {
        closc_design::module_watts(&self.medium, self.lanes, self.lane)
    }

    /// Returns whether the module is a plug of a cable, which is not bought separately.
    pub fn is_assembly(&self) -> bool {
        closc_design::is_assembly(&self.medium)
    }

    /// Returns the module in a cage of a NIC.
    pub fn of_nic(plan: &Plan, medium: &str) -> Self {
        let hosts = &plan.topology().hosts;
        ModuleKind::at(hosts.nic_speed, (hosts.nic_lanes, hosts.nics_per_adapter), hosts.nic_cages, medium)
    }

    /// Returns the module in a NIC cage of a zone.
    pub fn in_zone(plan: &Plan, zone: ZoneId, medium: &str) -> Self {
        let topology = plan.topology();
        let lanes = (topology.nic_lanes(zone), topology.hosts.nics_per_adapter);
        ModuleKind::at(topology.nic_speed(zone), lanes, topology.nic_cages(zone), medium)
    }

    fn at(speed: Speed, (lanes, nics): (u8, u8), cages: u8, medium: &str) -> Self {
        let lane = Speed::from_mbps(speed.mbps() / u32::from(lanes.max(1))).unwrap_or(speed);
        let lanes = lanes.saturating_mul(nics) / cages.max(1);
        let medium = closc_design::module_medium(medium, lanes, lane).into();
        ModuleKind { place: "NIC", medium, lanes, lane }
    }
}

/// Counts the cages of a switch that have a cable, by kind of module.
pub fn modules(plan: &Plan, switch: Switch) -> BTreeMap<ModuleKind, u64> {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    let platform = topology.hardware(switch).0;
    let place = match switch.tier {
        TierId::T0 => "T0",
        TierId::T1 => "T1",
        TierId::T2 => "T2",
    };
    let (mut seen, mut counts) = (BTreeSet::new(), BTreeMap::new());
    for port in fabric.ports(switch) {
        let PortUse::Link { link, .. } = port.usage else { continue };
        let slot = topology.slot(switch, port.at);
        if !seen.insert(slot.cage) {
            continue;
        }
        let lanes = slot.breakout.share.map_or(platform.panel.lanes, |share| share.lanes);
        let mbps = slot.breakout.speed.mbps() * u32::from(slot.breakout.ports) / u32::from(lanes.max(1));
        let lane = Speed::from_mbps(mbps).unwrap_or(slot.breakout.speed);
        let medium = closc_design::module_medium(&fabric.cable(link).medium, lanes, lane).into();
        *counts.entry(ModuleKind { place, medium, lanes, lane }).or_default() += 1;
    }
    counts
}
