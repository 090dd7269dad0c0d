//! Kinds of hardware: the platform of switches and the names of their ports.
//!
//! In: a topology. Out: [`Hardware`]. Invariants: switches of the same platform, operating system, port
//! blocks and order of uplinks are one kind, so that port names are stored once. Every switch has a kind:
//! that of its exception if it has one, otherwise that of its tier, plane and zone.

use closc_platform::capability::Capability;
use closc_platform::{Os, Platform, Slot};
use closc_topology::{PortBlock, PortRef, Side, Switch, TierId, Topology};
use serde::Serialize;

use super::tiers_of;

/// Kinds of hardware, and the kind of each switch.
#[derive(Debug, Serialize)]
pub(crate) struct Hardware {
    kinds: Vec<Kind>,
    /// By tier, plane and zone.
    kind_of: Vec<Vec<Vec<usize>>>,
    /// Switches that differ: tier, plane, zone, index, kind.
    kind_exceptions: Vec<[usize; 5]>,
}

/// A kind of hardware.
#[derive(Debug, Serialize)]
struct Kind {
    platform: String,
    title: String,
    os: &'static str,
    hwsku: Option<String>,
    /// Maximum number of members of an ECMP group.
    ecmp_width: u32,
    /// Whether members of a static group can have different weights.
    weighs: bool,
    /// Numbers of all cages on the panel, in order; empty for software switches, whose ports have no position.
    cages: Vec<u16>,
    down: Block,
    up: Block,
}

/// Ports of one side, in order.
#[derive(Debug, Serialize)]
struct Block {
    mbps: u32,
    breakout: String,
    /// Name, cage on the panel, part of the cage (0 where it is not split).
    ports: Vec<(String, u16, u8)>,
}

/// Properties that distinguish kinds. The tier is set if T0 uplinks have their own order.
type Key = (usize, Os, [PortBlock; 2], Option<TierId>);

impl Hardware {
    /// Extracts the hardware of a topology.
    pub(super) fn of(topology: &Topology) -> Self {
        let mut found = Kinds { topology, keys: Vec::new(), unique: Vec::new() };
        let mut plain = Vec::new();
        for tier in tiers_of(topology) {
            // No exception has this index, so the result is the kind of switches without an exception.
            let of = |plane, zone| Switch { plane, tier, zone, index: u16::MAX };
            let planes = topology
                .plane_ids()
                .map(|plane| topology.zone_ids().map(|zone| found.kind(of(plane, zone))).collect::<Vec<_>>());
            plain.push(planes.collect::<Vec<_>>());
        }
        let exceptions = topology.exceptions.switches.keys().map(|switch| {
            let kind = found.kind(*switch);
            let tier = usize::from(switch.tier.level());
            [tier, switch.plane.0.into(), switch.zone.0.into(), switch.index.into(), kind]
        });
        let kind_exceptions = exceptions.collect();
        Hardware { kinds: found.unique, kind_of: plain, kind_exceptions }
    }
}

/// The kinds found so far.
struct Kinds<'a> {
    topology: &'a Topology,
    keys: Vec<Key>,
    unique: Vec<Kind>,
}

impl Kinds<'_> {
    fn kind(&mut self, switch: Switch) -> usize {
        let (platform, os) = self.topology.hardware(switch);
        let blocks = self.topology.blocks(switch);
        let ordered = self.topology.uplink_places().map(|_| switch.tier);
        // Platforms are shared, so the address of a platform identifies it.
        let key = (std::ptr::from_ref::<Platform>(platform).addr(), os, blocks, ordered);
        if let Some(at) = self.keys.iter().position(|known| *known == key) {
            return at;
        }
        self.keys.push(key);
        self.unique.push(kind(self.topology, switch));
        self.unique.len() - 1
    }
}

fn kind(topology: &Topology, switch: Switch) -> Kind {
    let ((platform, os), blocks) = (topology.hardware(switch), topology.blocks(switch));
    let uplinks = blocks[1].count.into();
    let of_side = |side, block: PortBlock| {
        let ports = (0..block.count + block.spare).map(|index| {
            let port = platform.port(topology.slot(switch, PortRef { side, index }));
            (port.name.to_string(), port.panel, port.subport)
        });
        Block {
            mbps: block.breakout.speed.mbps(),
            breakout: block.breakout.to_string(),
            ports: ports.collect(),
        }
    };
    let (down, up) = (of_side(Side::Down, blocks[0]), of_side(Side::Up, blocks[1]));
    Kind {
        platform: platform.id.to_string(),
        title: platform.title.clone(),
        os: os.keyword(),
        ecmp_width: topology.group_width(switch).max_width(uplinks),
        hwsku: platform.hwsku(topology.cages_in_use(switch)).map(str::to_owned),
        weighs: os.renders(Capability::StaticWeights),
        cages: cages(platform),
        down,
        up,
    }
}

fn cages(platform: &Platform) -> Vec<u16> {
    let is_hardware = !platform.is_software();
    let panel = &platform.panel;
    let number = |cage| platform.port(Slot { cage, part: 0, breakout: panel.default_breakout }).panel;
    (0..panel.cages).filter(|_| is_hardware).map(number).collect()
}
