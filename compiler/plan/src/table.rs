//! The path table of a T0 group. Its NICs use it to map a destination and an entropy value to an outer destination
//! address.
//!
//! In: a plan and a group. Out: [`PathTable`]: one template per destination group, with plane, uplink and downlink as
//! variables, and the elements that must not be used. It also has every number that its readers need, so that rendering
//! does not need the plan. Invariants: one table serves every NIC of the group. Its size grows with the number of
//! groups, not of NICs or paths.

use std::net::Ipv6Addr;
use std::num::NonZeroU16;

use closc_qos::bdp::Delay;
use closc_qos::profile::Profile;
use closc_qos::units::Nanoseconds;
use closc_topology::{
    Link, Nic, NicPort, PlaneId, SegmentPlan, Switch, TierId, Topology, Usid, UsidLayout, ZoneId,
};
use ipnet::Ipv6Net;
use smol_str::SmolStr;

use crate::entropy::{EntropyFormat, EntropySets};
use crate::mac::Mac;
use crate::path::PathKind;
use crate::plan::Plan;
use crate::segment::{UplinkChoice, address};

/// The path table of a T0 group.
#[derive(Debug, Clone)]
pub struct PathTable<'a> {
    /// Name of the fabric.
    pub fabric: &'a str,
    /// Zone of the group.
    pub zone: ZoneId,
    /// The group.
    pub group: u16,
    /// Prefix of the group's NICs.
    pub prefix: Ipv6Net,
    /// Counts of the fabric.
    pub size: TableSize,
    /// Composition of uSIDs.
    pub segments: TableSegments,
    /// Entropy values that NICs use.
    pub sets: EntropySets,
    /// Minimum number of active entropy values, over all planes. A NIC does not retire values below this number.
    pub min_active: u16,
    /// UDP destination port of packets that carry the entropy value in the source port.
    pub udp_port: u16,
    /// The seed of the order of uplinks.
    pub seed: u64,
    /// Packing of entropy values.
    pub format: EntropyFormat,
    /// The group's T0 in each plane.
    pub planes: Vec<TablePlane>,
    /// The group's NICs.
    pub nics: Vec<TableNic>,
    /// One entry for each T0 group of the fabric, including this group.
    pub destinations: Vec<Destination>,
    /// The order of uplinks in each plane, from which entropy sets are taken.
    pub orders: Vec<Vec<u16>>,
    /// First T1 uplink of entropy sets; 0 without a T2 tier.
    pub t1_start: u16,
    /// Unusable elements.
    pub denied: Vec<DeniedPaths>,
    /// Probes that test which paths are usable.
    pub probes: Vec<Probe>,
    /// The QoS profile.
    pub qos: &'a Profile,
    /// Maximum size of the inner packet.
    pub payload_mtu: u16,
    /// Data of the longest path.
    pub delay: Delay,
    /// Target delay of senders; absent if switches do not mark.
    pub target_delay: Option<Nanoseconds>,
}

/// Counts of a fabric that a table needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSize {
    /// Planes.
    pub planes: u8,
    /// Zones.
    pub zones: u16,
    /// T0 groups of a zone.
    pub groups: u16,
    /// NICs of a group.
    pub nics: u16,
    /// Uplinks of a T0.
    pub t0_uplinks: u16,
    /// Uplinks of a T1; 0 without a T2 tier.
    pub t1_uplinks: u16,
    /// Whether there is a T2 tier.
    pub has_t2: bool,
    /// The prefix of all NICs.
    pub pool: Ipv6Net,
    /// Bits of the zone in a NIC address.
    pub zone_bits: u8,
}

/// Composition of uSIDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSegments {
    /// Whether uSIDs or the block contain the plane.
    pub plan: SegmentPlan,
    /// The block of plane 0.
    pub block: Ipv6Net,
    /// The fields of a uSID.
    pub layout: UsidLayout,
    /// Parallel cables of a T0 to one T1.
    pub parallel_t0_t1: u16,
    /// Parallel cables of a T1 to one T2.
    pub parallel_t1_t2: u16,
    /// uSIDs that each T1 owns.
    pub per_t1: u16,
    /// Increment of the T2's uSID per step, which is the T1 uplink divided by `parallel_t1_t2`.
    pub t2_step: u16,
    /// Increment of the T2's uSID per row of T1s.
    pub t2_row: u16,
    /// Number of T1 rows: the row of a T1 is its index modulo this; `None` if the row is the index.
    pub t2_rows: Option<NonZeroU16>,
}

impl TableSegments {
    /// Returns the destination address that carries a list of plane 0.
    pub fn address(&self, list: &[Usid]) -> Ipv6Addr {
        address(self.block, list)
    }
}

/// The T0 of a group in one plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePlane {
    /// The plane, which is also the NIC port.
    pub plane: PlaneId,
    /// Name of the T0.
    pub t0: SmolStr,
    /// Its MAC address.
    pub mac: Mac,
    /// Its uSID, the first of every list.
    pub usid: Usid,
}

/// A NIC of the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableNic {
    /// Its coordinate.
    pub nic: Nic,
    /// Name, for example `su001-n004/nic2`.
    pub name: SmolStr,
    /// Inner address.
    pub address: Ipv6Addr,
}

/// Routes to the NICs of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Zone of the group.
    pub zone: ZoneId,
    /// The group.
    pub group: u16,
    /// Its NICs' prefix.
    pub prefix: Ipv6Net,
    /// Kind of the paths to it.
    pub kind: PathKind,
    /// The list for plane 0, uplink 0, downlink 0; other lists differ in those fields only.
    pub template: Vec<Usid>,
}

/// Paths that must not be used, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeniedPaths {
    /// The plane.
    pub plane: PlaneId,
    /// The paths in it.
    pub scope: Scope,
    /// The reason.
    pub reason: Reason,
    /// Name of the device or cable at fault.
    pub name: String,
}

/// The denied paths of a plane. Each field restricts them; an absent field matches everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Scope {
    /// Sending NIC's downlink.
    pub source: Option<u16>,
    /// First and last T0 uplink, for paths that leave the group.
    pub uplinks: Option<(u16, u16)>,
    /// First and last T1 uplink, for paths that leave the zone.
    pub t1_uplinks: Option<(u16, u16)>,
    /// Destination zone.
    pub zone: Option<ZoneId>,
    /// Destination group in that zone.
    pub group: Option<u16>,
    /// Destination NIC's downlink in that group.
    pub downlink: Option<u16>,
}

/// Why paths must not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The element is absent.
    Absent,
    /// The element is drained.
    Drained,
}

impl Reason {
    /// Returns the word used in artefacts.
    pub fn keyword(self) -> &'static str {
        match self {
            Reason::Absent => "absent",
            Reason::Drained => "drained",
        }
    }
}

/// A probe: a list that returns to the sender, or reaches a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The element that it tests.
    pub kind: ProbeKind,
    /// The list for plane 0, uplink 0 and the NIC on downlink 0.
    pub template: Vec<Usid>,
}

/// Scope of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProbeKind {
    /// NIC to T0 and back: tests the NIC's cable and T0.
    T0,
    /// NIC to T0 to T1 and back: together with a successful T0 probe, tests one T0-T1 cable.
    T1,
    /// NIC to T0 to T1 to T2 and back over the same path: together with a successful T1 probe, tests one T1-T2 cable.
    T2,
}

impl DeniedPaths {
    /// Returns whether it matches a path. A path of another plane never matches.
    pub fn covers(&self, plane: PlaneId, from: Nic, to: Nic, choice: UplinkChoice) -> bool {
        let kind = PathKind::classify(from, to);
        let s = self.scope;
        let within = |range: Option<(u16, u16)>, value: u16| {
            range.is_none_or(|(first, last)| (first..=last).contains(&value))
        };
        plane == self.plane
            && s.source.is_none_or(|d| d == from.downlink)
            && (s.uplinks.is_none() || kind != PathKind::Local)
            && within(s.uplinks, choice.t0)
            && (s.t1_uplinks.is_none() || kind == PathKind::Far)
            && within(s.t1_uplinks, choice.t1)
            && s.zone.is_none_or(|z| z == to.zone)
            && s.group.is_none_or(|g| g == to.group)
            && s.downlink.is_none_or(|d| d == to.downlink)
    }
}

impl PathTable<'_> {
    /// Returns the first denial of a path, if any.
    pub fn denies(&self, plane: PlaneId, from: Nic, to: Nic, choice: UplinkChoice) -> Option<&DeniedPaths> {
        self.denied.iter().find(|d| d.covers(plane, from, to, choice))
    }
}

impl Plan {
    /// Creates the path table of a T0 group.
    pub fn path_table(&self, zone: ZoneId, group: u16) -> PathTable<'_> {
        table(self, zone, group)
    }
}

fn table(plan: &Plan, zone: ZoneId, group: u16) -> PathTable<'_> {
    let topology = plan.topology();
    let sets = EntropySets::new(topology, zone, group);
    PathTable {
        fabric: &topology.name,
        zone,
        group,
        prefix: plan.addresses().group(zone, group).to_ipv6(),
        size: size(topology),
        segments: segments(plan),
        sets,
        min_active: min_active(plan),
        udp_port: topology.entropy.udp_port,
        seed: topology.entropy.seed,
        format: EntropyFormat::of(topology),
        planes: topology.plane_ids().map(|plane| table_plane(plan, plane, zone, group)).collect(),
        nics: plan.fabric().group_nics(zone, group).map(|nic| table_nic(plan, nic)).collect(),
        destinations: plan.groups().map(|to| destination(plan, (zone, group), to)).collect(),
        orders: topology.plane_ids().map(|plane| sets.order(plane)).collect(),
        t1_start: sets.t1_start(),
        denied: denials(plan, zone, group),
        probes: probes(plan, zone, group),
        qos: &topology.qos,
        payload_mtu: topology.mtu.payload,
        delay: plan.zone_delay(zone).delay.clone(),
        target_delay: plan.zone_delay(zone).target,
    }
}

/// Returns the minimum number of active values. The configured number is for all planes, so it is reduced in
/// proportion if some planes are absent.
fn min_active(plan: &Plan) -> u16 {
    let topology = plan.topology();
    let (all, there) = (u32::from(topology.planes), plan.planes().count() as u32);
    let floor = u32::from(topology.entropy.min_active) * there / all.max(1);
    u16::try_from(floor).expect("it is at most what is stated")
}

fn size(topology: &Topology) -> TableSize {
    TableSize {
        planes: topology.planes,
        zones: topology.zones,
        groups: topology.hosts.groups,
        nics: topology.hosts.per_group,
        t0_uplinks: topology.t0.up.count,
        t1_uplinks: topology.t1.up.count,
        has_t2: topology.t2.is_some(),
        pool: topology.addresses.hosts.to_ipv6(),
        zone_bits: topology.addresses.widths.zone,
    }
}

fn segments(plan: &Plan) -> TableSegments {
    let topology = plan.topology();
    let (t2_step, t2_row) = plan.segments().t2_strides();
    TableSegments {
        plan: topology.srv6.plan,
        block: topology.srv6.block(PlaneId(0)),
        layout: topology.srv6.layout,
        parallel_t0_t1: topology.t0.parallel,
        parallel_t1_t2: topology.t1.parallel,
        per_t1: plan.segments().per_switch(TierId::T1),
        t2_step,
        t2_row,
        t2_rows: plan.segments().shared_rows(),
    }
}

fn table_plane(plan: &Plan, plane: PlaneId, zone: ZoneId, group: u16) -> TablePlane {
    let t0 = Switch { plane, tier: TierId::T0, zone, index: group };
    TablePlane {
        plane,
        t0: plan.topology().naming.switch(t0),
        mac: plan.addresses().switch_mac(t0),
        usid: plan.segments().switch(t0, 0),
    }
}

fn table_nic(plan: &Plan, nic: Nic) -> TableNic {
    let (node, number) = plan.topology().node_of(nic);
    TableNic {
        nic,
        name: SmolStr::from(plan.topology().naming.nic(node, number)),
        address: plan.addresses().nic(nic).to_ipv6(),
    }
}

const FIRST: UplinkChoice = UplinkChoice { t0: 0, t1: 0 };

fn destination(plan: &Plan, from: (ZoneId, u16), (zone, group): (ZoneId, u16)) -> Destination {
    let to = Nic { zone, group, downlink: 0 };
    let source = Nic { zone: from.0, group: from.1, downlink: 0 };
    Destination {
        zone,
        group,
        prefix: plan.addresses().group(zone, group).to_ipv6(),
        kind: PathKind::classify(source, to),
        template: plan.segments().list(PlaneId(0), from, to, FIRST),
    }
}

fn probes(plan: &Plan, zone: ZoneId, group: u16) -> Vec<Probe> {
    let segments = plan.segments();
    let own = Nic { zone, group, downlink: 0 };
    let t0 = segments.list(PlaneId(0), (zone, group), own, FIRST);
    let t1 = Switch { plane: PlaneId(0), tier: TierId::T1, zone, index: 0 };
    let (own, up, nic) = (t0[0], segments.switch(t1, 0), t0[1]);
    let mut probes = vec![
        Probe { kind: ProbeKind::T0, template: t0 },
        Probe { kind: ProbeKind::T1, template: vec![own, up, own, nic] },
    ];
    if plan.topology().t2.is_some() {
        let t2 = Switch { plane: PlaneId(0), tier: TierId::T2, zone: ZoneId(0), index: 0 };
        let top = segments.switch(t2, 0);
        probes.push(Probe { kind: ProbeKind::T2, template: vec![own, up, top, up, own, nic] });
    }
    probes
}

/// Returns the denials that exceptions cause for paths from a group.
fn denials(plan: &Plan, zone: ZoneId, group: u16) -> Vec<DeniedPaths> {
    let exceptions = &plan.topology().exceptions;
    let view = View { plan, zone, group };
    let mut out = Vec::new();
    // Absent and drained planes are one denial each, instead of one per switch.
    let absent_planes = plan.topology().absent_planes();
    for (planes, reason) in [(&absent_planes, Reason::Absent), (&exceptions.drained_planes, Reason::Drained)]
    {
        let whole = |plane: &PlaneId| DeniedPaths {
            plane: *plane,
            scope: Scope::default(),
            reason,
            name: format!("plane {plane}"),
        };
        out.extend(planes.iter().map(whole));
    }
    let switches =
        [(&exceptions.absent_switches, Reason::Absent), (&exceptions.drained_switches, Reason::Drained)];
    for (set, reason) in switches {
        for switch in set.iter().filter(|switch| !absent_planes.contains(&switch.plane)) {
            let name = plan.topology().naming.switch(*switch).to_string();
            let scopes = view.switch(*switch).into_iter();
            out.extend(scopes.map(|scope| DeniedPaths {
                plane: switch.plane,
                scope,
                reason,
                name: name.clone(),
            }));
        }
    }
    let links = [(&exceptions.absent_links, Reason::Absent), (&exceptions.drained_links, Reason::Drained)];
    for (set, reason) in links {
        for link in set {
            let name = plan.link_name(*link);
            let scopes = view.link(*link).into_iter();
            out.extend(scopes.map(|scope| DeniedPaths {
                plane: link.plane(),
                scope,
                reason,
                name: name.clone(),
            }));
        }
    }
    out.sort();
    out.dedup();
    out
}

/// The fabric as seen from one group: maps a fault to the paths that it denies.
pub(crate) struct View<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) zone: ZoneId,
    pub(crate) group: u16,
}

impl View<'_> {
    pub(crate) fn switch(&self, switch: Switch) -> Vec<Scope> {
        let topology = self.plan.topology();
        let (k0, k1) = (topology.t0.parallel, topology.t1.parallel);
        let cables = |index: u16, parallel: u16| Some((index * parallel, index * parallel + parallel - 1));
        let base = Scope::default();
        match switch.tier {
            TierId::T0 if (switch.zone, switch.index) == (self.zone, self.group) => vec![base],
            TierId::T0 => vec![Scope { zone: Some(switch.zone), group: Some(switch.index), ..base }],
            TierId::T1 => self.through_t1(switch, Scope { uplinks: cables(switch.index, k0), ..base }),
            TierId::T2 => {
                let rows = topology.t2_rows();
                let step = Scope { t1_uplinks: cables(switch.index / rows, k1), ..base };
                if rows == 1 {
                    return vec![step];
                }
                let over = |t1| Scope { uplinks: cables(t1, k0), ..step };
                topology.t1s_below(switch.index).map(over).collect()
            }
        }
    }

    pub(crate) fn link(&self, link: Link) -> Vec<Scope> {
        let base = Scope::default();
        match link {
            Link::Host(NicPort { nic, .. }) => {
                let to = Scope {
                    zone: Some(nic.zone),
                    group: Some(nic.group),
                    downlink: Some(nic.downlink),
                    ..base
                };
                let from = Scope { source: Some(nic.downlink), ..base };
                let own = (nic.zone, nic.group) == (self.zone, self.group);
                if own { vec![from, to] } else { vec![to] }
            }
            Link::Fabric { lower, up } => match lower.tier {
                TierId::T0 if (lower.zone, lower.index) == (self.zone, self.group) => {
                    vec![Scope { uplinks: Some((up, up)), ..base }]
                }
                TierId::T0 => vec![Scope {
                    uplinks: Some((up, up)),
                    zone: Some(lower.zone),
                    group: Some(lower.index),
                    ..base
                }],
                TierId::T1 | TierId::T2 => {
                    let k0 = self.plan.topology().t0.parallel;
                    let uplinks = Some((lower.index * k0, lower.index * k0 + k0 - 1));
                    self.through_t1(lower, Scope { uplinks, t1_uplinks: Some((up, up)), ..base })
                }
            },
        }
    }

    /// Returns the paths in `scope` through a T1. A T1 of the group's zone is on paths to all destinations, a
    /// T1 of another zone only on paths to that zone.
    fn through_t1(&self, t1: Switch, scope: Scope) -> Vec<Scope> {
        if t1.zone == self.zone { vec![scope] } else { vec![Scope { zone: Some(t1.zone), ..scope }] }
    }
}
