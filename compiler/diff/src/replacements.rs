//! Equipment that growth replaces: switches by other hardware, NICs by others, cables by others.
//!
//! In: two plans. Out: switches and NICs by kind, and cables that stay in their ports but have another length or
//! medium. Invariants: only elements of both fabrics are replaced. NICs and cables are visited only if some differ.

use std::collections::BTreeMap;

use closc_fabric::{Fabric, Port, PortUse};
use closc_plan::Plan;
use closc_topology::{Link, Switch, TierId, ZoneId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::population::{MovedCable, at_same_port, is_replaced};
use crate::words::plural;

/// Switches of a tier that are replaced by other hardware.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReplacedSwitches {
    /// `t0`, `t1` or `t2`.
    #[schemars(with = "String")]
    pub tier: &'static str,
    /// Platform in the old fabric.
    pub old: String,
    /// Platform in the new fabric.
    pub new: String,
    /// Their number.
    pub switches: u64,
    /// Cables of both fabrics that are in their ports.
    pub cables: u64,
}

/// Tier, and platform before and after.
type SwitchKind = (TierId, String, String);

/// NICs that are replaced by others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReplacedNics {
    /// Speed, lanes and cages in the old fabric.
    pub old: String,
    /// Speed, lanes and cages in the new fabric.
    pub new: String,
    /// Their number.
    pub nics: u64,
}

impl ReplacedSwitches {
    /// Compares the hardware of the switches of both fabrics.
    pub(crate) fn between(old: &Fabric, new: &Fabric) -> Vec<ReplacedSwitches> {
        let is_other = |switch: &Switch| old.has_switch(*switch) && is_replaced(old, new, *switch);
        let platform = |fabric: &Fabric, switch| fabric.topology().hardware(switch).0.id.to_string();
        let mut found: BTreeMap<SwitchKind, (u64, u64)> = BTreeMap::new();
        for switch in new.switches().filter(is_other) {
            let key = (switch.tier, platform(old, switch), platform(new, switch));
            let (switches, cables) = found.entry(key).or_default();
            *switches += 1;
            *cables += plugged(old, new, switch);
        }
        let row = |((tier, old, new), (switches, cables)): (SwitchKind, (u64, u64))| ReplacedSwitches {
            tier: tier.word(),
            old,
            new,
            switches,
            cables,
        };
        found.into_iter().map(row).collect()
    }

    /// Describes them in a line of a work order.
    pub(crate) fn line(&self) -> String {
        let ReplacedSwitches { tier, old, new, switches, cables } = self;
        let tier = tier.to_uppercase();
        let switches = plural(*switches, &tier, &format!("{tier}s"));
        format!(
            "replace {switches}, `{old}` by `{new}`: {} to plug again",
            plural(*cables, "cable", "cables")
        )
    }
}

/// Counts the cables of both fabrics in the ports of a switch of the new one.
fn plugged(old: &Fabric, new: &Fabric, switch: Switch) -> u64 {
    let stays = |port: &Port| match port.used {
        PortUse::Link { link, .. } => old.has_link(at_same_port(old.topology(), new.topology(), link)),
        PortUse::Absent { .. } | PortUse::Spare => false,
    };
    new.ports(switch).filter(stays).count() as u64
}

impl ReplacedNics {
    /// Compares speed, lanes and cages of the NICs of both fabrics.
    pub(crate) fn between(old: &Plan, new: &Plan) -> Vec<ReplacedNics> {
        let kind = |plan: &Plan, zone| {
            let hosts = &plan.topology().hosts;
            let lanes = hosts.nic_by_zone.get(&zone).map_or(hosts.nic_lanes, |own| own.lanes);
            let cages = u64::from(plan.topology().nic_cages(zone));
            let lanes = plural(lanes.into(), "lane", "lanes");
            format!("{}, {lanes}, {}", plan.topology().nic_speed(zone), plural(cages, "cage", "cages"))
        };
        let zones = (0..old.topology().zones.min(new.topology().zones)).map(ZoneId);
        let other: BTreeMap<ZoneId, (String, String)> = zones
            .map(|zone| (zone, (kind(old, zone), kind(new, zone))))
            .filter(|(_, (before, after))| before != after)
            .collect();
        let mut found: BTreeMap<&(String, String), u64> = BTreeMap::new();
        if !other.is_empty() {
            for nic in new.fabric().nics().filter(|nic| old.fabric().has_nic(*nic)) {
                if let Some(kinds) = other.get(&nic.zone) {
                    *found.entry(kinds).or_default() += 1;
                }
            }
        }
        let row = |((old, new), nics): (&(String, String), u64)| ReplacedNics {
            old: old.clone(),
            new: new.clone(),
            nics,
        };
        found.into_iter().map(row).collect()
    }

    /// Describes them in a line of a work order.
    pub(crate) fn line(&self) -> String {
        let ReplacedNics { old, new, nics } = self;
        format!("replace {}, {old} by {new}", plural(*nics, "NIC", "NICs"))
    }
}

/// Returns the cables of both fabrics that have another length or medium in the new one.
pub(crate) fn replaced_cables(old: &Fabric, new: &Fabric) -> Vec<MovedCable> {
    let (before, after) = (old.topology(), new.topology());
    if before.cables == after.cables && before.exceptions.cables == after.exceptions.cables {
        return Vec::new();
    }
    let both = |link: Link| MovedCable { old: at_same_port(before, after, link), new: link };
    let is_other =
        |cable: &MovedCable| old.has_link(cable.old) && old.cable(cable.old) != new.cable(cable.new);
    new.links().map(both).filter(is_other).collect()
}
