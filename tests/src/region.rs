//! Small fabrics whose zones differ in NIC speeds, ports, cables, groups and NICs, in sites, with and without
//! a T2 tier.
//!
//! In: random numbers. Out: fabric files for every routing mode. Invariants: every file is valid; even a
//! single zone may have a T2 tier.

use std::fmt::Write as _;

use closc_artefacts::Routing;
use proptest::prelude::*;

/// Speeds of a port, in Gb/s.
const SPEEDS: [u32; 4] = [10, 100, 200, 400];

/// Lengths of a cable.
const LENGTHS: [&str; 5] = ["1m", "3m", "40m", "2km", "80km"];

/// The numbers of a zone. Those of the first zone are the defaults of the fabric.
#[derive(Debug, Clone, Copy)]
struct Zone {
    groups: u16,
    per_group: u16,
    /// Speed of NIC ports, as an index in [`SPEEDS`].
    port: usize,
    /// Speed of fabric links, as an index in [`SPEEDS`].
    fabric: usize,
    /// Length of the cables to the T2s, as an index in [`LENGTHS`].
    length: usize,
}

/// The numbers of a fabric.
#[derive(Debug, Clone)]
pub struct Region {
    planes: u8,
    lanes: u8,
    t1: u16,
    parallel: u16,
    zones: Vec<Zone>,
    /// The T2 tier, if any: T2s per T1, parallel cables to each, and rows, with 0 for none.
    t2: Option<(u16, u16, u16)>,
    /// Lengths of NIC-T0 and T0-T1 cables, as indices in [`LENGTHS`].
    lengths: [usize; 2],
    top: usize,
    sites: bool,
    in_blocks: bool,
    /// The absent NIC port, if any.
    absent: Option<[u16; 3]>,
    routing: Routing,
}

/// Makes small fabrics whose zones differ.
pub fn region() -> impl Strategy<Value = Region> {
    let speeds = 0..SPEEDS.len();
    let zone = (1..=3u16, 1..=3u16, speeds.clone(), speeds.clone(), 0..LENGTHS.len()).prop_map(
        |(groups, per_group, port, fabric, length)| Zone { groups, per_group, port, fabric, length },
    );
    let rows = prop_oneof![Just(0_u16), Just(1), Just(2), Just(4), Just(8)];
    let t2 = prop::option::weighted(0.8, (1..=2u16, 1..=2u16, rows));
    let numbers = (1..=3u8, 1..=4u8, 1..=3u16, 1..=2u16);
    let lengths = [0..LENGTHS.len(), 0..LENGTHS.len()];
    let rest = (
        lengths,
        speeds,
        any::<[bool; 2]>(),
        prop::option::of(any::<[u16; 3]>()),
        crate::shape::any_routing(),
    );
    (numbers, prop::collection::vec(zone, 1..=4), t2, rest).prop_map(
        |(
            (planes, lanes, t1, parallel),
            mut zones,
            t2,
            (lengths, top, [sites, in_blocks], absent, routing),
        )| {
            if t2.is_none() {
                zones.truncate(1);
            }
            // If there are fewer rows than T1s, the number of rows divides that of T1s.
            let rows = |rows: u16| if rows > 0 && rows < t1 && !t1.is_multiple_of(rows) { t1 } else { rows };
            let t2 = t2.map(|(steps, parallel, number)| (steps, parallel, rows(number)));
            Region { planes, lanes, t1, parallel, zones, t2, lengths, top, sites, in_blocks, absent, routing }
        },
    )
}

impl Region {
    /// Returns the routing mode.
    pub fn routing(&self) -> Routing {
        self.routing
    }

    /// Returns the number of planes.
    pub fn planes(&self) -> u8 {
        self.planes
    }

    /// Returns the fabric file, for Linux, or for FRR if the routing mode uses BGP; with files for nodes if
    /// `nodes` is set.
    pub fn yaml(&self, nodes: bool) -> String {
        let first = self.zones[0];
        let mut text = format!(
            "fabric: region\nplanes: {}\nrouting: {}\nqos: none\n",
            self.planes,
            self.routing.keyword()
        );
        let most = |number: fn(&Zone) -> u16| self.zones.iter().map(number).max().unwrap_or(1);
        let (groups, per_group) = (most(|zone| zone.groups), most(|zone| zone.per_group));
        let nic = |zone: &Zone| {
            let speed = SPEEDS[zone.port] * u32::from(self.planes);
            format!("{{ speed: {speed}G, lanes: {} }}", self.lanes.min(4) * self.planes)
        };
        let _ = writeln!(
            text,
            "hosts:\n  groups: {groups}\n  per_group: {per_group}\n  nic: {}\n  groups_by_zone: {{ {} }}\n  per_group_by_zone: \
             {{ {} }}\n  nic_by_zone: {{ {} }}{}",
            nic(&first),
            self.by_zone(|zone| (zone.groups < groups).then(|| zone.groups.to_string())),
            self.by_zone(|zone| (zone.per_group < per_group).then(|| zone.per_group.to_string())),
            self.by_zone(|zone| (zone.port != first.port).then(|| nic(zone))),
            if nodes { "\n  os: linux\n  outputs: [nic]" } else { "" },
        );
        self.tiers(&mut text);
        self.cables(&mut text);
        if self.sites && self.zones.len() > 1 {
            let far: Vec<String> = (1..self.zones.len()).map(|zone| zone.to_string()).collect();
            let _ = writeln!(
                text,
                "sites:\n  - {{ name: near, zones: [0] }}\n  - {{ name: far, zones: [{}] }}",
                far.join(", ")
            );
        }
        if self.in_blocks {
            text.push_str("srv6: { plan: plane-in-block }\n");
        }
        if let Some([plane, group, downlink]) = self.absent.filter(|_| self.planes > 1) {
            let name = if self.t2.is_some() { "z0-" } else { "" };
            let (group, downlink) = (group % first.groups + 1, downlink % first.per_group + 1);
            let _ = writeln!(
                text,
                "exceptions: {{ absent: [{name}su{group:03}-n{downlink:03}/nic0.p{}] }}",
                plane % u16::from(self.planes)
            );
        }
        text
    }

    fn tiers(&self, text: &mut String) {
        let first = self.zones[0];
        let system = if self.routing == Routing::BgpUnnumbered { "frr" } else { "linux" };
        let split = |speed: usize| format!("1x{}G", SPEEDS[speed]);
        let own = |zone: &Zone| (zone.port != first.port || zone.fabric != first.fabric).then_some(*zone);
        let t0 = self.by_zone(|zone| {
            let zone = own(zone)?;
            Some(format!(
                "{{ down: {{ breakout: {} }}, up: {{ breakout: {} }} }}",
                split(zone.port),
                split(zone.fabric)
            ))
        });
        let _ = writeln!(
            text,
            "tiers:\n  t0: {{ platform: linux, os: {system}, parallel: {}, down: {{ breakout: {} }}, up: {{ count: {}, breakout: \
             {} }}, by_zone: {{ {t0} }} }}",
            self.parallel,
            split(first.port),
            self.t1 * self.parallel,
            split(first.fabric),
        );
        let up = self.t2.map_or_else(String::new, |(steps, parallel, _)| {
            format!(
                ", parallel: {parallel}, up: {{ count: {}, breakout: {} }}",
                steps * parallel,
                split(self.top)
            )
        });
        let t1 = self.by_zone(|zone| {
            let zone = own(zone)?;
            Some(format!(
                "{{ down: {{ breakout: {} }}, up: {{ breakout: {} }} }}",
                split(zone.fabric),
                split(self.top)
            ))
        });
        let _ = writeln!(
            text,
            "  t1: {{ platform: linux, os: {system}, down: {{ breakout: {} }}{up}, by_zone: {{ {t1} }} }}",
            split(first.fabric)
        );
        if let Some((_, parallel, rows)) = self.t2 {
            let wiring = if rows > 0 { format!(", wiring: rows, rows: {rows}") } else { String::new() };
            // In rows shared by T1s a T2 has a cable from each of them.
            let ports = self.t1 * parallel;
            let _ = writeln!(
                text,
                "  t2: {{ platform: linux, os: {system}, ports_per_zone: {ports}, down: {{ breakout: {} }}{wiring} }}\nzones: {}",
                split(self.top),
                self.zones.len()
            );
        }
    }

    fn cables(&self, text: &mut String) {
        let cable = |length: usize| format!("{{ length: {}, medium: virtual }}", LENGTHS[length]);
        let [nic, fabric] = self.lengths.map(cable);
        let _ = writeln!(text, "cables:\n  nic-t0: {nic}\n  t0-t1: {fabric}");
        if self.t2.is_some() {
            let first = self.zones[0].length;
            let own = self.by_zone(|zone| (zone.length != first).then(|| cable(zone.length)));
            let _ = writeln!(text, "  t1-t2: {}\n  by_zone: {{ {own} }}", cable(first));
        }
    }

    /// Returns the values of zones that have their own, each preceded by the number of its zone.
    fn by_zone(&self, own: impl Fn(&Zone) -> Option<String>) -> String {
        let zones =
            self.zones.iter().enumerate().filter_map(|(at, zone)| Some(format!("{at}: {}", own(zone)?)));
        zones.collect::<Vec<String>>().join(", ")
    }
}
