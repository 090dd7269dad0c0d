//! V0708 and V1308: delays of path tables and of nodes, against the cable lists and what the manifest states of ports.
//!
//! In: path tables, and files of nodes. Out: violations. Invariants: light in fibre and the lengths of the lists bound a round trip; what is in
//! flight and what senders aim at follow from it exactly.

use std::collections::BTreeMap;

use closc_artefacts::path_table::Delay;
use closc_artefacts::paths::{DELAY as DELAY_FILE, HOSTS};

use crate::check::profile::{self, own};
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cabling, Kind, Party};
use crate::model::fabric::Fabric;
use crate::model::group::Group;
use crate::model::place::Place;
use crate::model::segment::Tier;
use crate::model::stated::{Stated, StatedPort, StatedSwitch};
use crate::model::tools::NodeTools;
use crate::rules::hosts::NODE_DELAY;
use crate::rules::tables::DELAY;

/// Nanoseconds that light takes for 1,000 m of fibre, there and back: a refractive index of 1.515.
const LIGHT_PER_KM: u64 = 2 * 5_051;

/// The most that five switches and two NICs without queues take there and back: cut-through switches of today take about a
/// microsecond, NICs less.
const DEVICES_MAX: u64 = 2 * (5 * 2_000 + 2 * 2_000);

/// Checks the delays that the tables of each zone state alike.
pub(crate) fn check(fabric: &Fabric, stated: Option<&Stated>, findings: &mut Findings) {
    let Some(stated) = stated.filter(|_| fabric.judged_groups().next().is_some()) else { return };
    let mut zones: BTreeMap<u16, &Group> = BTreeMap::new();
    for group in &fabric.groups {
        zones.entry(group.zone).or_insert(group);
    }
    for group in zones.into_values() {
        zone(fabric, stated, group, findings);
    }
}

/// Returns what is stated of the T0s of a group; where they are not read, of all T0s if all are alike.
fn stated_t0<'s>(fabric: &Fabric, stated: &'s Stated, group: &Group) -> Option<&'s StatedSwitch> {
    let mut there = group.planes.iter().filter_map(|plane| Some((plane.t0?, fabric.switch(plane.t0?)?)));
    let own = there.find_map(|switch| own(fabric, stated, switch, Tier::T0));
    let mut t0s = stated.switches.iter().filter(|switch| switch.tier == "t0");
    own.or_else(|| t0s.next().filter(|_| t0s.next().is_none()))
}

fn zone(fabric: &Fabric, stated: &Stated, group: &Group, findings: &mut Findings) {
    let Some(delay) = &group.delay else { return };
    let Some(t0) = stated_t0(fabric, stated, group) else { return };
    let Some(port) = t0.ports.iter().find(|port| port.down) else { return };
    // The longest path may be in any plane.
    let bounds = if fabric.slice.is_whole() {
        bounds(&lengths(&fabric.cabling), fabric.groups.len() > 1, (port.mtu, port.speed_mbps))
    } else {
        (0, u64::MAX)
    };
    for (is_wrong, field, message) in faults(delay, t0, port, bounds) {
        findings.expect(!is_wrong, &DELAY, || {
            let message = format!("`{}`: {message}", group.name());
            Violation::new(&DELAY, group.place(&["\"delay\":", &format!("\"{field}\"")]), message)
        });
    }
}

/// Checks the delays that nodes are given.
pub(crate) fn nodes(fabric: &Fabric, stated: Option<&Stated>, tools: &[NodeTools], findings: &mut Findings) {
    let Some(stated) = stated.filter(|_| tools.iter().any(|tools| tools.delay.is_some())) else { return };
    let lengths = lengths(&fabric.cabling);
    for (tools, own) in tools.iter().filter_map(|tools| Some((tools, tools.delay.as_ref()?))) {
        let name = fabric.cabling.nodes[tools.node.0 as usize].as_str();
        let t0s = fabric.cabling.at_node(tools.node).iter().filter_map(|plug| {
            let Party::Switch(t0) = fabric.cabling.cable(plug.cable).upper.party else { return None };
            profile::own(fabric, stated, (t0, fabric.switch(t0)?), Tier::T0)
        });
        let Some(t0) = t0s.min_by_key(|t0| t0.hardware.as_str()) else { continue };
        let Some(port) = t0.ports.iter().find(|port| port.down) else { continue };
        let [_, between, _] = &lengths;
        let leaves_t0 = between.is_some();
        // Where a fabric has one T0 group its longest path may end there.
        let (_, most) = bounds(&lengths, leaves_t0, (port.mtu, port.speed_mbps));
        let mut wrong = |is_wrong: bool, field: &str, message: &str| {
            findings.expect(!is_wrong, &NODE_DELAY, || {
                let place = Place::text(format!("{HOSTS}/{name}/{DELAY_FILE}"), vec![format!("\"{field}\"")]);
                Violation::new(&NODE_DELAY, place, format!("`{name}`: {message}"))
            });
        };
        let (least, _) = bounds(&lengths, false, (port.mtu, port.speed_mbps));
        for (is_wrong, field, message) in faults(&own.delay, t0, port, (least, most)) {
            wrong(is_wrong, field, &message);
        }
        wrong(own.node != name, "node", "it is the file of another node");
        let speed =
            format!("its ports have {} Mb/s at their T0s, and not {}", port.speed_mbps, own.port_mbps);
        wrong(own.port_mbps != port.speed_mbps, "port_mbps", &speed);
        // Entries of a pipeline mark at a number of packets.
        let up = || t0.ports.iter().filter(|port| !port.down).flat_map(|port| port.marks.values());
        let fits = match own.marks {
            None => t0.os == "p4" || up().next().is_none() || own.delay.target_ns.is_none(),
            Some(marks) => up().any(|stated| *stated == (marks.least_bytes, marks.most_bytes, marks.percent)),
        };
        wrong(!fits, "marks", "no queue of an uplink of its T0s is marked so");
    }
}

/// Compares a delay with what bounds it: whether it is wrong, in which field, and why.
fn faults(
    delay: &Delay,
    t0: &StatedSwitch,
    port: &StatedPort,
    (least, most): (u64, u64),
) -> [(bool, &'static str, String); 3] {
    let mbps = u64::from(port.speed_mbps).max(1);
    let rtt = delay.base_rtt_ns;
    let bytes = rtt.saturating_mul(mbps) / 8_000;
    let up: Vec<&StatedPort> = t0.ports.iter().filter(|port| !port.down).collect();
    let queues = |target: u64| {
        let mut marks = up.iter().flat_map(|port| port.marks.values()).peekable();
        let fits = |least: u64| (least.saturating_mul(8_000) / mbps).abs_diff(target - rtt) <= 1;
        // Entries of a pipeline mark at a number of packets.
        t0.os == "p4" || marks.peek().is_none() || marks.any(|(least, ..)| fits(*least))
    };
    [
        (
            !(least..=most).contains(&rtt),
            "base_rtt_ns",
            format!("a round trip takes {rtt} ns, and {least} to {most} with these cables"),
        ),
        (
            delay.bandwidth_delay_bytes.abs_diff(bytes) > 1,
            "bandwidth_delay_bytes",
            format!(
                "{} bytes are in flight, and {bytes} in {rtt} ns at {mbps} Mb/s",
                delay.bandwidth_delay_bytes
            ),
        ),
        (
            delay.target_ns.is_some_and(|target| target < rtt || !queues(target)),
            "target_ns",
            "senders aim at a delay that is not a round trip and a queue at which a T0 uplink starts to mark"
                .to_owned(),
        ),
    ]
}

/// The shortest and the longest cable of each kind, in metres, from below.
pub(crate) type Lengths = [Option<(u64, u64)>; 3];

/// Returns the shortest and the longest cable of each kind.
pub(crate) fn lengths(cabling: &Cabling) -> Lengths {
    [Kind::NicT0, Kind::T0T1, Kind::T1T2].map(|kind| {
        let meters =
            cabling.cables.iter().filter(|cable| cable.kind == kind).map(|cable| u64::from(cable.meters));
        meters.fold(None, |found: Option<(u64, u64)>, meters| {
            Some(found.map_or((meters, meters), |(least, most)| (least.min(meters), most.max(meters))))
        })
    })
}

/// The least and the most that the longest path takes there and back: light in the shortest and in the longest cables of
/// each kind, without and with devices. `port` is the packet size and the speed of a port to a NIC.
pub(crate) fn bounds(lengths: &Lengths, leaves_t0: bool, (mtu, speed_mbps): (u16, u32)) -> (u64, u64) {
    let (mut least, mut most) = (0, 0);
    for (tier, lengths) in lengths.iter().enumerate() {
        let Some((shortest, longest)) = lengths.filter(|_| leaves_t0 || tier == 0) else {
            continue;
        };
        // Lists have whole metres, rounded up.
        least += 2 * shortest.saturating_sub(1);
        most += 2 * longest;
    }
    let packets = 6 * (u64::from(mtu) + 100) * 8_000 / u64::from(speed_mbps).max(1);
    (least * LIGHT_PER_KM / 1_000, most * LIGHT_PER_KM / 1_000 + DEVICES_MAX + 2 * packets)
}
