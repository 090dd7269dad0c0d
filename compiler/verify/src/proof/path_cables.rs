//! The state of each cable that segment lists use, per direction: usable, drained or missing.
//!
//! In: the fabric and the cables of NICs. Out: [`PathCables`]: bits by group and plane (uplinks up and down, NICs) and
//! by zone and plane (T1 to T2 and back). Invariants: a bit is set only if the switch has the required route and the
//! route uses a working cable. The owner of the next uSID must be at the other end of that cable.

use std::collections::HashMap;

use rayon::prelude::*;

use super::bits::Bits;
use super::nodes;
use crate::bind::nics::NicCables;
use crate::forward::carry::carries;
use crate::model::cabling::{CableId, DeviceId, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::group::Group;
use crate::model::segment::{Layout, Usid};

/// Dimensions of the fabric, from the path tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) planes: usize,
    pub(crate) zones: usize,
    pub(crate) uplinks: usize,
    pub(crate) t1_uplinks: usize,
    pub(crate) parallel0: u16,
    pub(crate) parallel1: u16,
    pub(crate) t2_step: u16,
    pub(crate) t2_row: u16,
}

/// One direction of several cables.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Direction {
    /// Cables that carry packets.
    pub(crate) carries: Bits,
    /// Cables that exist and are drained.
    pub(crate) drained: Bits,
}

/// State of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// The path carries packets.
    Fine,
    /// The path carries packets, but is drained.
    Drained,
    /// The path does not carry packets.
    Missing,
}

impl Direction {
    fn new(len: usize) -> Self {
        Direction { carries: Bits::new(len), drained: Bits::new(len) }
    }

    fn set(&mut self, at: usize, way: Hop) {
        if way.carries {
            self.carries.set(at);
        }
        if way.drained {
            self.drained.set(at);
        }
    }

    fn is_fine(&self, len: usize) -> bool {
        self.carries.count() == len as u64 && self.drained.count() == 0
    }

    /// Returns the state of a cable.
    pub(crate) fn level(&self, at: usize) -> Level {
        match (self.carries.get(at), self.drained.get(at)) {
            (false, _) => Level::Missing,
            (true, true) => Level::Drained,
            (true, false) => Level::Fine,
        }
    }
}

/// The cables of a group in a plane.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupCables {
    /// T0 to T1, by uplink.
    pub(crate) up: Direction,
    /// T1 to T0, by the T0's uplink.
    pub(crate) down: Direction,
    /// NIC to T0, by index in the list of NICs.
    pub(crate) out: Direction,
    /// T0 to NIC.
    pub(crate) into: Direction,
    /// Whether all cables from the T1s to the T0 and from the T0 to the NICs are usable and not drained.
    pub(crate) whole: bool,
}

/// The cables between the T1s of a zone and the T2s in a plane. The index is `row * t1_uplinks + t1_uplink`.
#[derive(Debug, Clone, Default)]
pub(crate) struct ZoneCables {
    /// T1 to T2.
    pub(crate) up: Direction,
    /// T2 to T1.
    pub(crate) down: Direction,
    /// Whether all upward cables are usable and not drained.
    pub(crate) whole_up: bool,
    /// Whether all downward cables are usable and not drained.
    pub(crate) whole_down: bool,
}

/// Cables that paths can use.
#[derive(Debug)]
pub(crate) struct PathCables {
    pub(crate) numbers: Numbers,
    /// Cables at index `group * planes + plane`.
    groups: Vec<GroupCables>,
    /// Cables at index `zone * planes + plane`; empty without a T2 tier.
    zones: Vec<ZoneCables>,
    /// Cables that at least one segment list uses.
    pub(crate) used: Bits,
    /// Planes that are judged.
    pub(crate) judged_planes: Vec<usize>,
}

impl PathCables {
    /// Returns the cables of a group in a plane, by the index of the group.
    pub(crate) fn group(&self, group: usize, plane: usize) -> &GroupCables {
        &self.groups[group * self.numbers.planes + plane]
    }

    /// Returns the cables of a zone in a plane.
    pub(crate) fn zone(&self, zone: u16, plane: usize) -> Option<&ZoneCables> {
        self.zones.get(usize::from(zone) * self.numbers.planes + plane)
    }

    /// Returns the row of the T1 at the end of an uplink.
    pub(crate) fn row(&self, uplink: usize) -> usize {
        uplink / usize::from(self.numbers.parallel0)
    }
}

/// One direction of a cable.
#[derive(Debug, Clone, Copy, Default)]
struct Hop {
    carries: bool,
    drained: bool,
    cable: Option<CableId>,
}

/// Determines the state of every cable that segment lists use.
pub(crate) fn follow(fabric: &Fabric, layout: &Layout, nics: &NicCables) -> Option<PathCables> {
    let h = *fabric.groups.first()?.table().header();
    let numbers = Numbers {
        planes: h.planes.into(),
        zones: h.zones.into(),
        uplinks: h.t0_uplinks.into(),
        t1_uplinks: h.t1_uplinks.into(),
        parallel0: h.parallel0,
        parallel1: h.parallel1,
        t2_step: h.t2_step,
        t2_row: h.t2_row,
    };
    let work = PathTracer { fabric, layout, numbers, owners: owners(fabric) };
    let judged = |plane: usize| fabric.slice.has_plane(plane as u8);
    let groups: Vec<(GroupCables, Vec<CableId>)> = (0..fabric.groups.len() * numbers.planes)
        .into_par_iter()
        .map(|at| (at / numbers.planes, at % numbers.planes))
        .map(|(at, plane)| if judged(plane) { work.group(at, plane, nics) } else { Default::default() })
        .collect();
    let far = numbers.t1_uplinks > 0 && h.t1_uplink_bits > 0;
    let zones: Vec<(ZoneCables, Vec<CableId>)> = (0..if far { numbers.zones * numbers.planes } else { 0 })
        .into_par_iter()
        .map(|at| ((at / numbers.planes) as u16, at % numbers.planes))
        .map(|(zone, plane)| if judged(plane) { work.zone(zone, plane as u8) } else { Default::default() })
        .collect();
    let mut used = Bits::new(fabric.cabling.cables().len());
    for cable in groups.iter().map(|group| &group.1).chain(zones.iter().map(|zone| &zone.1)).flatten() {
        used.set(cable.0 as usize);
    }
    Some(PathCables {
        numbers,
        used,
        judged_planes: fabric.slice.planes(numbers.planes),
        groups: groups.into_iter().map(|group| group.0).collect(),
        zones: zones.into_iter().map(|zone| zone.0).collect(),
    })
}

/// Returns the owner of each uSID in each plane. Two owners of a uSID are a violation; the first by name counts here.
fn owners(fabric: &Fabric) -> HashMap<(u8, Usid), SwitchId> {
    let mut owners = HashMap::new();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let Some(plane) = switch.plane else { continue };
        for usid in &switch.usids {
            owners.entry((plane, *usid)).or_insert(id);
        }
    }
    owners
}

struct PathTracer<'a> {
    fabric: &'a Fabric,
    layout: &'a Layout,
    numbers: Numbers,
    owners: HashMap<(u8, Usid), SwitchId>,
}

impl PathTracer<'_> {
    fn owner(&self, plane: u8, usid: Option<Usid>) -> Option<SwitchId> {
        self.owners.get(&(plane, usid?)).copied()
    }

    /// Returns the state of the cable that a switch uses for a uSID. The owner of the uSID must be at the other end.
    fn hop(&self, from: Option<SwitchId>, usid: Option<Usid>, to: Option<DeviceId>) -> Hop {
        let none = Hop::default();
        let (Some(from), Some(usid), Some(to)) = (from, usid, to) else { return none };
        let Some(route) = self.fabric.switch(from).and_then(|switch| switch.route(usid)) else { return none };
        let (id, cable, side) = self.fabric.slot_cable(from, route.slot);
        let arrives = cable.ends(side).1.party == to && carries(self.fabric, &cable, side, route.gateway);
        Hop { carries: arrives, drained: cable.drained, cable: Some(id) }
    }

    fn group(&self, at: usize, plane: usize, nics: &NicCables) -> (GroupCables, Vec<CableId>) {
        let group = &self.fabric.groups[at];
        let p = plane as u8;
        let mut used = Vec::new();
        let mut ways = GroupCables {
            up: Direction::new(self.numbers.uplinks),
            down: Direction::new(self.numbers.uplinks),
            out: Direction::new(group.nics.len()),
            into: Direction::new(group.nics.len()),
            whole: false,
        };
        let t0 = self.t0(group, p);
        for uplink in 0..self.numbers.uplinks {
            let (row, cable) =
                (uplink as u16 / self.numbers.parallel0, uplink as u16 % self.numbers.parallel0);
            let up = self.layout.t1(p, group.zone, row, cable);
            let t1 = self.owner(p, up);
            let down = self.layout.t0(p, group.zone, group.group, cable);
            let both =
                [self.hop(t0, up, t1.map(DeviceId::Switch)), self.hop(t1, down, t0.map(DeviceId::Switch))];
            ways.up.set(uplink, both[0]);
            ways.down.set(uplink, both[1]);
            used.extend(both.iter().filter_map(|way| way.cable));
        }
        for (nic, _) in group.nics.iter().enumerate() {
            let Some(id) = nics.cable(at, self.numbers.planes, nic, plane) else { continue };
            let [out, into] = self.nic(t0, group, nic, id, p);
            ways.out.set(nic, out);
            ways.into.set(nic, into);
            used.push(id);
        }
        ways.whole = ways.down.is_fine(self.numbers.uplinks) && ways.into.is_fine(group.nics.len());
        (ways, used)
    }

    /// Returns the T0 of a group: the switch named in the table, if it owns the first uSID of the group's segment
    /// lists.
    fn t0(&self, group: &Group, plane: u8) -> Option<SwitchId> {
        let stated = group.planes.get(usize::from(plane))?;
        let id = stated.t0?;
        let usid = self.layout.t0(plane, group.zone, group.group, 0)?;
        let owns = self.owner(plane, Some(usid)) == Some(id) && stated.usid == usid;
        owns.then_some(id)
    }

    /// Returns the state of the cable from a NIC to its T0, and back.
    fn nic(&self, t0: Option<SwitchId>, group: &Group, nic: usize, id: CableId, plane: u8) -> [Hop; 2] {
        let cable = self.fabric.cabling.cable(id);
        let usid = self.layout.nic(plane, group.nics[nic].downlink);
        let down = self.hop(t0, usid, Some(cable.lower.party));
        let here = t0.is_some_and(|t0| cable.upper.party == DeviceId::Switch(t0));
        let sends = nodes::sends(self.fabric, &cable, self.layout.t0(plane, group.zone, group.group, 0));
        let accepts =
            usid.is_some_and(|usid| nodes::accepts(self.fabric, &cable, self.layout.prefix(plane, usid)));
        let way = |carries| Hop { carries, drained: cable.drained, cable: Some(id) };
        [way(here && sends), way(down.carries && down.cable == Some(id) && accepts)]
    }

    fn zone(&self, zone: u16, plane: u8) -> (ZoneCables, Vec<CableId>) {
        let rows = self.numbers.uplinks / usize::from(self.numbers.parallel0);
        let len = rows * self.numbers.t1_uplinks;
        let (up, down) = (Direction::new(len), Direction::new(len));
        let mut ways = ZoneCables { up, down, whole_up: false, whole_down: false };
        let mut used = Vec::new();
        for row in 0..rows as u16 {
            for uplink in 0..self.numbers.t1_uplinks as u16 {
                let (step, cable) = (uplink / self.numbers.parallel1, uplink % self.numbers.parallel1);
                let before = u32::from(step) * u32::from(self.numbers.t2_step)
                    + u32::from(self.layout.row_of(row)) * u32::from(self.numbers.t2_row);
                let up = self.layout.t2(plane, before, cable);
                let down = self.layout.t1(plane, zone, row, cable);
                let (t1, t2) = (self.owner(plane, down), self.owner(plane, up));
                let both = [
                    self.hop(t1, up, t2.map(DeviceId::Switch)),
                    self.hop(t2, down, t1.map(DeviceId::Switch)),
                ];
                let at = usize::from(row) * self.numbers.t1_uplinks + usize::from(uplink);
                ways.up.set(at, both[0]);
                ways.down.set(at, both[1]);
                used.extend(both.iter().filter_map(|way| way.cable));
            }
        }
        (ways.whole_up, ways.whole_down) = (ways.up.is_fine(len), ways.down.is_fine(len));
        (ways, used)
    }
}
