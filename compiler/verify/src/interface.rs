//! Values that parts of a fabric must have in common, or must not have in common.
//!
//! In: the fabric of a part. Out: [`Interface`]. Invariants: its size grows only with switches without cables and,
//! where switches choose the path, with T0 groups. Values that must be unique in the fabric are covered by ranges. If
//! ranges of two parts overlap, a value may be used twice. Every rule is judged either inside a part or from these
//! values alone. `alike` contains the common values of rules that compare with the majority. `once` contains the values
//! that no two switches or cables may share, and `nics` the addresses of NICs, which are the same in every plane.

pub(crate) mod nics;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::IpAddr;

use closc_artefacts::Address;
use serde::{Deserialize, Serialize};

use crate::bind::nics::NicCables;
use crate::check::bgp::speakers;
use crate::check::delay::{self, Lengths};
use crate::finding::digest;
use crate::model::fabric::Fabric;
use crate::model::segment::Tier;
use crate::model::stated::StatedValues;
use crate::model::switch::Switch;
use crate::proof::chosen::network::Network;
use crate::proof::planes;
use nics::Nics;

/// Maximum number of ranges per kind of value, not counting those of switches without cables. In all address plans,
/// planes, tiers and zones are separate ranges.
const RUNS: usize = 1024;

/// Kinds of values that must be unique.
pub(crate) const KINDS: [&str; 7] = [
    "loopback",
    "MAC address",
    "management address",
    "autonomous system",
    "autonomous system of a T0",
    "router id",
    "prefix of a cable",
];

/// Parses a hexadecimal number in a summary, which was validated before.
pub(crate) fn number(text: &str) -> u128 {
    u128::from_str_radix(text, 16).unwrap_or_default()
}

/// Returns whether a text is a hexadecimal number in canonical form.
pub(crate) fn is_number(text: &str) -> bool {
    u128::from_str_radix(text, 16).is_ok_and(|number| format!("{number:x}") == text)
}

/// Values that parts must have in common, or must not have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Interface {
    /// For each kind of unique value: ranges, as hexadecimal numbers.
    pub(crate) once: BTreeMap<String, Vec<[String; 2]>>,
    /// Gateways of the management network.
    pub(crate) gateways: Vec<String>,
    /// For each rule and kind of object: a digest of the value that most objects have in this part, and that all must
    /// have.
    pub(crate) alike: BTreeMap<String, String>,
    /// The cables of each plane, in a form that is the same for equal planes.
    pub(crate) planes: Vec<PlaneCables>,
    /// Lengths of the shortest and longest cable of each kind.
    pub(crate) lengths: Lengths,
    /// Round-trip delays of path tables.
    pub(crate) delay: Option<StatedDelay>,
    /// Values of path tables about the fabric, and sums of the digests of tables.
    pub(crate) tables: Option<Tables>,
    /// The addresses of the NICs of each plane, where switches choose the path.
    pub(crate) nics: BTreeMap<u8, Nics>,
    /// Number of cable ends from which NICs send.
    pub(crate) senders: u64,
}

/// The cables of a plane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaneCables {
    pub(crate) plane: u8,
    /// Number of cables.
    pub(crate) cables: u64,
    /// A digest of the ends that the cables connect.
    pub(crate) digest: String,
    /// Whether path tables declare an absence in the plane.
    pub(crate) declares: bool,
}

/// Round-trip delays of path tables, and the port properties that determine their bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatedDelay {
    /// Minimum and maximum of the base round-trip delay in the judged tables.
    pub(crate) base_rtt_ns: [u64; 2],
    /// Largest MTU of a port.
    pub(crate) mtu: u16,
    /// Lowest speed of a port.
    pub(crate) speed_mbps: u32,
}

/// Values of path tables about the fabric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tables {
    /// Number of zones.
    pub(crate) zones: u16,
    /// Number of groups in a zone.
    pub(crate) groups: u16,
    /// A digest of all values that are the same in every table.
    pub(crate) header: String,
    /// The sum of the digests of all tables, if planes were proved with them.
    pub(crate) all: Option<String>,
    /// The sum of the digests of the judged tables.
    pub(crate) judged: String,
}

impl Interface {
    /// Collects the values that other parts need.
    pub(crate) fn of(
        fabric: &Fabric,
        (nics, sums): (&NicCables, Option<TableSums>),
        stated: Option<&StatedValues>,
        (network, alike): (Option<&Network<'_>>, BTreeMap<String, String>),
    ) -> Interface {
        Interface {
            once: unique_values(fabric),
            gateways: gateways(fabric),
            alike,
            planes: cables(fabric, nics),
            lengths: delay::lengths(&fabric.cabling, stated),
            delay: stated_delay(fabric, stated),
            tables: sums.and_then(|sums| tables(fabric, sums)),
            nics: network.map(addresses).unwrap_or_default(),
            senders: network.map_or(0, senders),
        }
    }
}

/// Sums of the digests of tables: of all tables, if planes were proved with them, and of the judged ones. The sums of
/// parts are added.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TableSums {
    pub(crate) all: Option<u128>,
    pub(crate) judged_sum: u128,
}

fn tables(fabric: &Fabric, sums: TableSums) -> Option<Tables> {
    let first = crate::model::group::common(&fabric.groups)?;
    let h = *first.table().header();
    // Fields that differ between groups are zeroed.
    let alike = closc_paths::Header { zone: 0, group: 0, t1_start: 0, ..h };
    let classes = (&first.classes, &first.profile, first.trimmed_dscp);
    Some(Tables {
        zones: h.zones,
        groups: h.groups,
        // Delays differ between zones; merging checks their bounds.
        header: digest(&(alike, first.layout, classes)),
        all: sums.all.map(|sum| format!("{sum:x}")),
        judged: format!("{:x}", sums.judged_sum),
    })
}

/// Returns the values that must be unique in the fabric.
fn unique_values(fabric: &Fabric) -> BTreeMap<String, Vec<[String; 2]>> {
    let mut values: BTreeMap<&str, Values> = BTreeMap::new();
    let mut add = |kind, placed, value| {
        let values = values.entry(kind).or_default();
        if placed { &mut values.placed_values } else { &mut values.lone }.push(value);
    };
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let placed = switch.place().is_some();
        switch.loopbacks.iter().for_each(|net| add("loopback", placed, u128::from(net.addr())));
        if let Some(mac) = switch.mac.or_else(|| switch.ends.get(0).and_then(|end| end.mac)) {
            add("MAC address", placed, mac.0.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte)));
        }
        switch.management.iter().for_each(|(net, _)| add("management address", placed, bits(net.addr())));
    }
    for (id, speaker) in speakers(fabric) {
        let place = fabric.switch(id).and_then(Switch::place);
        // As in a complete fabric, switches of one plane and tier share a number. A switch without cables may share its
        // number with any switch except a T0.
        if place.is_some() {
            add("autonomous system", true, speaker.asn.into());
        }
        if place.is_none_or(|(tier, _)| tier == Tier::T0) {
            add("autonomous system of a T0", place.is_some(), speaker.asn.into());
        }
        speaker.router_id.into_iter().for_each(|id| add("router id", place.is_some(), u32::from(id).into()));
    }
    for cable in fabric.cabling.cables() {
        let address = [cable.upper, cable.lower]
            .into_iter()
            .find_map(|end| fabric.end_state(end).and_then(|state| state.address));
        if let Some(address) = address {
            add("prefix of a cable", true, u128::from(address) >> 1);
        }
    }
    values.into_iter().map(|(kind, values)| (kind.to_owned(), values.runs())).collect()
}

/// Values of a kind. Switches without cables are judged in one part, whatever their plane, so their values (`lone`) may
/// be between values of other parts.
#[derive(Default)]
struct Values {
    placed_values: Vec<u128>,
    lone: Vec<u128>,
}

impl Values {
    /// Returns ranges that contain all values. The ranges of `lone` contain no other values.
    fn runs(self) -> Vec<[String; 2]> {
        let mut all = runs(self.placed_values, RUNS);
        all.extend(runs(self.lone, usize::MAX));
        all
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => address.into(),
    }
}

/// Returns at most `most` ranges that contain all values, split at the widest gaps.
fn runs(mut values: Vec<u128>, most: usize) -> Vec<[String; 2]> {
    values.sort_unstable();
    let gaps = values.windows(2).zip(1..).map(|(pair, at)| (pair[1] - pair[0], at)).filter(|gap| gap.0 > 1);
    let mut widest: BinaryHeap<Reverse<(u128, usize)>> = BinaryHeap::new();
    for gap in gaps {
        widest.push(Reverse(gap));
        if widest.len() == most {
            widest.pop();
        }
    }
    let mut cuts: Vec<usize> = widest.into_iter().map(|Reverse((_, at))| at).collect();
    cuts.sort_unstable();
    cuts.push(values.len());
    let mut first = 0;
    let mut found = Vec::new();
    for end in cuts {
        if first < end {
            found.push([values[first], values[end - 1]].map(|value| format!("{value:x}")));
        }
        first = end;
    }
    found
}

fn gateways(fabric: &Fabric) -> Vec<String> {
    let switches = fabric.switches.iter().flatten();
    let all = switches.flat_map(|switch| switch.management.iter().filter_map(|(_, gateway)| *gateway));
    let mut all: Vec<u128> = all.map(bits).collect();
    all.sort_unstable();
    all.dedup();
    all.truncate(RUNS);
    all.into_iter().map(|gateway| format!("{gateway:x}")).collect()
}

/// Returns the cables of each plane, if hosts choose the path.
fn cables(fabric: &Fabric, nics: &NicCables) -> Vec<PlaneCables> {
    let Some(layout) = &fabric.layout else { return Vec::new() };
    let of_plane = |plane: u8| {
        let cables = planes::shapes(fabric, layout, &nics.usids, plane);
        let mut hasher = blake3::Hasher::new();
        for ((kind, upper, lower), _) in &cables {
            hasher.update(&[*kind as u8]).update(&upper.0.to_be_bytes()).update(&lower.0.to_be_bytes());
        }
        let digest = hasher.finalize().to_hex()[..32].to_owned();
        let declares = planes::declares(fabric, plane);
        (!cables.is_empty()).then_some(PlaneCables { plane, cables: cables.len() as u64, digest, declares })
    };
    let mut all: Vec<u8> = fabric.cabling.planes().collect();
    all.sort_unstable();
    all.into_iter().filter_map(of_plane).collect()
}

fn stated_delay(fabric: &Fabric, stated: Option<&StatedValues>) -> Option<StatedDelay> {
    let all = || fabric.judged_groups().filter_map(|group| Some(group.delay.as_ref()?.base_rtt_ns));
    let base_rtt_ns = [all().min()?, all().max()?];
    let (mtu, speed_mbps) = delay::largest_mtu_and_lowest_speed(stated?);
    Some(StatedDelay { base_rtt_ns, mtu, speed_mbps })
}

/// Returns the addresses of the NICs of each plane.
fn addresses(network: &Network<'_>) -> BTreeMap<u8, Nics> {
    let fabric = network.fabric;
    let mut planes: BTreeMap<u8, Vec<(String, Address)>> = BTreeMap::new();
    for (number, nic) in (0..).zip(&network.destinations.nics) {
        let Some(address) = nic.address else { continue };
        let name = network.destinations.name(fabric, number);
        let mut last = None;
        for plane in nic.cables.iter().map(|id| fabric.cabling.cable(*id).plane) {
            if last.replace(plane) != Some(plane) {
                planes.entry(plane).or_default().push((name.clone(), address));
            }
        }
    }
    planes.into_iter().map(|(plane, nics)| (plane, Nics::of(nics.into_iter()))).collect()
}

/// Returns the number of cable ends from which NICs send, over all planes.
fn senders(network: &Network<'_>) -> u64 {
    network.fabric.cabling.switch_ids().map(|id| network.senders(id).count() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_every_value_and_are_few() {
        let runs = |values: &[u128]| super::runs(values.to_vec(), RUNS);
        assert_eq!(runs(&[]), Vec::<[String; 2]>::new());
        assert_eq!(runs(&[7, 1, 2, 3]), [["1", "3"], ["7", "7"]].map(|run| run.map(str::to_owned)));
        let many: Vec<u128> = (0..5000).map(|at| at * at).collect();
        let found = super::runs(many.clone(), RUNS);
        assert_eq!(found.len(), RUNS);
        let number = |text: &String| u128::from_str_radix(text, 16).unwrap();
        let held = |value: &u128| found.iter().any(|[a, b]| (number(a)..=number(b)).contains(value));
        assert!(many.iter().all(held));
    }
}
