//! V0708 and V1308: compares the delays of path tables and nodes with the cable lists and the ports of the manifest.
//!
//! In: path tables, and files of nodes. Out: violations. Invariants: the speed of light in fibre and the listed cable
//! lengths bound a round trip. The bandwidth-delay product and the target delay follow from it exactly.

use std::collections::BTreeMap;

use closc_artefacts::cables::Kind as Form;
use closc_artefacts::node_delay::NodeDelay;
use closc_artefacts::path_table::Delay;
use closc_artefacts::paths::{DELAY as DELAY_FILE, HOSTS};
use closc_paths::Header;
use closc_platform::Os;

use crate::check::profile;
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cabling, DeviceId, Kind, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::group::Group;
use crate::model::place::Place;
use crate::model::segment::Tier;
use crate::model::stated::{StatedPort, StatedSwitch, StatedValues};
use crate::model::switch::Switch;
use crate::model::tools::NodeTools;
use crate::rules::hosts::NODE_DELAY;
use crate::rules::tables::DELAY;

/// Round-trip time of light in 1,000 m of fibre in nanoseconds, at a refractive index of 1.514.
const LIGHT_PER_KM: u64 = 2 * 5_051;

/// Upper bound of the round-trip delay of five switches and two NICs without queues. Current cut-through switches take
/// about a microsecond, NICs less.
const DEVICES_MAX: u64 = 2 * (5 * 2_000 + 2 * 2_000);

/// Checks the delays that all tables of a zone share.
pub(crate) fn check(fabric: &Fabric, stated: Option<&StatedValues>, findings: &mut Findings) {
    let Some(stated) = stated.filter(|_| fabric.judged_groups().next().is_some()) else { return };
    let mut zones: BTreeMap<u16, &Group> = BTreeMap::new();
    for group in &fabric.groups {
        zones.entry(group.zone).or_insert(group);
    }
    for group in zones.into_values() {
        check_zone(fabric, stated, group, findings);
    }
}

/// Returns the stated T0s whose values may apply to a group. If no T0 of the group was read, returns the only stated
/// T0, or none if several are stated.
fn stated_t0s<'s>(fabric: &Fabric, stated: &'s StatedValues, group: &Group) -> Vec<&'s StatedSwitch> {
    let there = group.planes.iter().filter_map(|plane| Some((plane.t0?, fabric.switch(plane.t0?)?)));
    let mut own = there.map(|switch| profile::candidates(fabric, stated, switch, Tier::T0));
    own.find(|own| !own.is_empty()).unwrap_or_else(|| {
        let all: Vec<&StatedSwitch> = stated.switches.iter().filter(|switch| switch.tier == "t0").collect();
        if all.len() == 1 { all } else { Vec::new() }
    })
}

fn check_zone(fabric: &Fabric, stated: &StatedValues, group: &Group, findings: &mut Findings) {
    let Some(delay) = &group.delay else { return };
    // The longest path may be in any plane, so a partial tree gives no bounds.
    let bounds = if fabric.slice.is_whole() {
        bounds(
            &lengths(&fabric.cabling, Some(stated)),
            Extent::of(&group.header),
            largest_mtu_and_lowest_speed(stated),
        )
    } else {
        (0, u64::MAX)
    };
    let judged = stated_t0s(fabric, stated, group).into_iter().filter_map(|t0| {
        let port = t0.ports.iter().find(|port| port.down)?;
        Some(faults(delay, t0, port, bounds))
    });
    let wrong = |found: &[Fault; 3]| found.iter().filter(|fault| fault.0).count();
    for (is_wrong, field, message) in judged.min_by_key(wrong).into_iter().flatten() {
        findings.expect(!is_wrong, &DELAY, || {
            let message = format!("`{}`: {message}", group.name());
            Violation::new(&DELAY, group.place(&["\"delay\":", &format!("\"{field}\"")]), message)
        });
    }
}

/// Returns the largest packet and the lowest speed of all stated ports.
pub(crate) fn largest_mtu_and_lowest_speed(stated: &StatedValues) -> (u16, u32) {
    let ports = || stated.switches.iter().flat_map(|switch| &switch.ports);
    let mtu = ports().map(|port| port.mtu).max().unwrap_or(0);
    (mtu, ports().map(|port| port.speed_mbps).min().unwrap_or(1))
}

/// Checks the delays in files of nodes.
pub(crate) fn check_nodes(
    fabric: &Fabric,
    stated: Option<&StatedValues>,
    tools: &[NodeTools],
    findings: &mut Findings,
) {
    let Some(stated) = stated.filter(|_| tools.iter().any(|tools| tools.delay.is_some())) else { return };
    let (cabling, lengths) = (&fabric.cabling, lengths(&fabric.cabling, Some(stated)));
    let queue = data_queue(stated);
    // The lower bound assumes that the longest path stays within a T0 group, as in a fabric with a single group. A
    // partial tree may lack the cables of longer paths.
    let within = |extent| bounds(&lengths, extent, largest_mtu_and_lowest_speed(stated));
    let span = (within(Extent::Group).0, within(Extent::Zones).1);
    let mut known: BTreeMap<SwitchId, Vec<(&StatedSwitch, &StatedPort)>> = BTreeMap::new();
    for (tools, own) in tools.iter().filter_map(|tools| Some((tools, tools.delay.as_ref()?))) {
        let name = cabling.nodes[tools.node.0 as usize].as_str();
        let t0 = cabling.at_node(tools.node).iter().find_map(|plug| {
            match cabling.cable(plug.cable()).upper.party {
                DeviceId::Switch(t0) => Some((t0, fabric.switch(t0)?)),
                DeviceId::Node(_) => None,
            }
        });
        let Some(t0) = t0 else { continue };
        let t0s = known.entry(t0.0).or_insert_with(|| t0s_with_port_speed(fabric, stated, t0));
        let span = if fabric.slice.is_whole() { span } else { (0, u64::MAX) };
        let judged = t0s.iter().map(|(t0, port)| node_faults((own, name), queue, (t0, port), span));
        let wrong = |found: &Vec<Fault>| found.iter().filter(|fault| fault.0).count();
        for (is_wrong, field, message) in judged.min_by_key(wrong).into_iter().flatten() {
            findings.expect(!is_wrong, &NODE_DELAY, || {
                let place = Place::text(format!("{HOSTS}/{name}/{DELAY_FILE}"), vec![format!("\"{field}\"")]);
                Violation::new(&NODE_DELAY, place, format!("`{name}`: {message}"))
            });
        }
    }
}

/// Returns the stated T0s whose NIC ports are as fast as those of `t0`, each with one of these ports. If planes differ
/// in hardware, the delays of a node may come from a T0 to which it is not connected.
fn t0s_with_port_speed<'s>(
    fabric: &Fabric,
    stated: &'s StatedValues,
    t0: (SwitchId, &Switch),
) -> Vec<(&'s StatedSwitch, &'s StatedPort)> {
    let down = |t0: &'s StatedSwitch| t0.ports.iter().find(|port| port.down);
    let own = profile::candidates(fabric, stated, t0, Tier::T0);
    let speeds: Vec<u32> = own.into_iter().filter_map(|t0| Some(down(t0)?.speed_mbps)).collect();
    let t0s = stated.switches.iter().filter(|t0| t0.tier == "t0").filter_map(|t0| Some((t0, down(t0)?)));
    t0s.filter(|(_, port)| speeds.contains(&port.speed_mbps)).collect()
}

/// Returns the queue of data packets, by the DSCP stated for nodes.
fn data_queue(stated: &StatedValues) -> Option<u8> {
    let point = usize::from(stated.hosts.as_ref()?.data_dscp);
    let tc = stated.qos.dscp.get(point)?;
    stated.qos.classes.iter().find(|class| class.tc == *tc).map(|class| class.queue)
}

/// A possible fault: whether it is present, its field, and the reason.
type Fault = (bool, &'static str, String);

/// Compares the delays of a node with those expected from a T0.
fn node_faults(
    (own, name): (&NodeDelay, &str),
    queue: Option<u8>,
    (t0, port): (&StatedSwitch, &StatedPort),
    span: (u64, u64),
) -> Vec<Fault> {
    let mut found = Vec::from(faults(&own.delay, t0, port, span));
    found.push((own.node != name, "node", "it is the file of another node".to_owned()));
    let speed = format!("its ports run at {} Mb/s on their T0s, not at {}", port.speed_mbps, own.port_mbps);
    found.push((own.port_mbps != port.speed_mbps, "port_mbps", speed));
    let mut up = t0.ports.iter().filter(|port| !port.down).filter_map(|port| port.marks.get(&queue?));
    let fits = match own.marks {
        _ if marks_by_packets(t0) => true,
        None => up.next().is_none() && own.delay.target_ns.is_none(),
        Some(_) if own.delay.target_ns.is_none() => false,
        Some(marks) => up.any(|stated| *stated == (marks.least_bytes, marks.most_bytes, marks.percent)),
    };
    found.push((!fits, "marks", "uplinks of its T0s mark data at other thresholds".to_owned()));
    found
}

/// Returns whether the marking thresholds of a switch count packets instead of bytes, as in P4 table entries.
fn marks_by_packets(switch: &StatedSwitch) -> bool {
    Os::ALL.into_iter().any(|os| os.keyword() == switch.os && os.takes_pipelines())
}

/// Checks a delay against its bounds.
fn faults(delay: &Delay, t0: &StatedSwitch, port: &StatedPort, (least, most): (u64, u64)) -> [Fault; 3] {
    let mbps = u64::from(port.speed_mbps).max(1);
    let rtt = delay.base_rtt_ns;
    let bytes = rtt.saturating_mul(mbps) / 8_000;
    let up: Vec<&StatedPort> = t0.ports.iter().filter(|port| !port.down).collect();
    let queues = |target: u64| {
        let mut marks = up.iter().flat_map(|port| port.marks.values()).peekable();
        let fits = |least: u64| (least.saturating_mul(8_000) / mbps).abs_diff(target - rtt) <= 1;
        marks_by_packets(t0) || marks.peek().is_none() || marks.any(|(least, ..)| fits(*least))
    };
    [
        (
            !(least..=most).contains(&rtt),
            "base_rtt_ns",
            format!("the round trip is {rtt} ns; expected {least} to {most} ns with these cables"),
        ),
        (
            delay.bandwidth_delay_bytes.abs_diff(bytes) > 1,
            "bandwidth_delay_bytes",
            format!(
                "{} bytes are in flight; expected {bytes} for {rtt} ns at {mbps} Mb/s",
                delay.bandwidth_delay_bytes
            ),
        ),
        (
            delay.target_ns.is_some_and(|target| target < rtt || !queues(target)),
            "target_ns",
            "`target_ns` is not the round trip plus the queue at which a T0 uplink starts to mark".to_owned(),
        ),
    ]
}

/// Lengths of the shortest and longest cable of each kind in metres, lowest tier first.
pub(crate) type Lengths = [Option<(u64, u64)>; 3];

/// Returns the lengths of the shortest and longest cable of each kind. Lengths in the manifest are included, because
/// the cable lists omit absent cables, which may be the longest.
pub(crate) fn lengths(cabling: &Cabling, stated: Option<&StatedValues>) -> Lengths {
    let stated = || stated.iter().flat_map(|stated| &stated.cables);
    [(Kind::NicT0, Form::NicT0), (Kind::T0T1, Form::T0T1), (Kind::T1T2, Form::T1T2)].map(|(kind, form)| {
        let listed = cabling.cables().filter(|cable| cable.kind == kind).map(|cable| u64::from(cable.meters));
        let all =
            listed.chain(stated().filter(|cable| cable.kind == form.keyword()).map(|cable| cable.meters));
        all.fold(None, |found: Option<(u64, u64)>, meters| {
            Some(found.map_or((meters, meters), |(least, most)| (least.min(meters), most.max(meters))))
        })
    })
}

/// Distance between two NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extent {
    /// On one T0.
    Group,
    /// On two T0s of a zone, with or without a tier above its T1s.
    Zone,
    /// In two zones.
    Zones,
}

impl Extent {
    /// Returns the greatest distance, given the numbers of zones and groups in the header of a table.
    fn of(header: &Header) -> Extent {
        Extent::with(header.zones, header.groups)
    }

    /// Returns the greatest distance in a fabric of `zones` and `groups`.
    pub(crate) fn with(zones: u16, groups: u16) -> Extent {
        match (zones, groups) {
            (0 | 1, 0 | 1) => Extent::Group,
            (0 | 1, _) => Extent::Zone,
            _ => Extent::Zones,
        }
    }
}

/// Returns the bounds of the round trip on the longest path. The lower bound is light in the shortest cable of each
/// kind, without devices. The upper bound is light in the longest cable of each kind, plus devices. The last argument
/// is the largest packet and the lowest port speed.
pub(crate) fn bounds(lengths: &Lengths, extent: Extent, (mtu, speed_mbps): (u16, u32)) -> (u64, u64) {
    let (mut least, mut most) = (0, 0);
    let within = [Extent::Group, Extent::Zone, Extent::Zones];
    for ((shortest, longest), _) in lengths
        .iter()
        .zip(within)
        .filter_map(|(lengths, needs)| Some(((*lengths)?, needs)))
        .filter(|(_, needs)| *needs <= extent)
    {
        // Lengths in the lists are rounded up to whole metres.
        least += 2 * shortest.saturating_sub(1);
        most += 2 * longest;
    }
    let packets = 6 * (u64::from(mtu) + 100) * 8_000 / u64::from(speed_mbps).max(1);
    (least * LIGHT_PER_KM / 1_000, most * LIGHT_PER_KM / 1_000 + DEVICES_MAX + 2 * packets)
}
