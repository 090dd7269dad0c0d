//! Reads the path table of a T0 group in both forms, and compares them.
//!
//! In: the JSON and the binary. Out: a [`Group`]. Invariants: the proof uses the binary form, because hosts do. The
//! JSON form adds names, and numbers in both forms must be equal.

use std::net::Ipv6Addr;
use std::num::NonZeroU16;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::path_table::{self as form, Document, DocumentError};
use closc_paths::{Choice, Header, Kind, PlaneAt, Reason, Scope, Table, TableDenial};
use ipnet::Ipv6Net;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::finding::{Findings, Violation};
use crate::model::cabling::Cabling;
use crate::model::group::{Group, GroupNic, GroupPlane, TrafficClass, destination, inner, length, list};
use crate::model::place::{Place, Target};
use crate::model::segment::{Layout, Usid};
use crate::read::error::ReadError;
use crate::read::value::parse;
use crate::rules::tables::FORMS;

/// Position of the length in a binary table.
const TOTAL: std::ops::Range<usize> = 8..12;

/// Position of the version.
const VERSION: usize = 4;

/// Reason why a table cannot be read: the file and the error.
pub(crate) struct TableError {
    /// Whether the file is the binary form.
    pub(crate) binary: bool,
    pub(crate) error: ReadError,
}

/// Destinations in the JSON form.
pub(crate) trait Destinations: DeserializeOwned {
    /// Compares the destinations and the probes with the binary form.
    fn compare(document: &Document<Self>, table: &Table<'_>, compare: &mut FormComparison<'_>);

    /// Returns the text without unused parts, if it has the usual form. The remaining contents are unchanged.
    fn shorter(_: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// Used to judge a table: destinations are compared.
impl Destinations for Vec<form::Destination> {
    fn compare(document: &Document, table: &Table<'_>, compare: &mut FormComparison<'_>) {
        compare.destinations(document, table);
        compare.probes(document, table);
    }
}

/// Used by callers that need only the group: destinations are skipped.
impl Destinations for IgnoredAny {
    fn compare(_: &Document<Self>, _: &Table<'_>, _: &mut FormComparison<'_>) {}

    /// Removes the destinations, which make up most of the text, because each table has one per T0 group.
    /// Returns `None` if they are not found.
    fn shorter(json: &[u8]) -> Option<Vec<u8>> {
        let (begin, end): (&[u8], &[u8]) = (b"\n  \"destinations\": [\n", b"\n  ],\n  \"denied\": [");
        let at = |(from, needle): (usize, &[u8])| json[from..].starts_with(needle).then_some(from);
        let lines = || json.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        let from = lines().find_map(|line| at((line, begin)))? + begin.len() - 1;
        let to = lines().rev().find_map(|line| at((line, end))).filter(|to| *to >= from)?;
        Some([&json[..from], &json[to..]].concat())
    }
}

/// Parses a table, in shortened form if possible. Errors refer to the complete text.
fn document<D: Destinations>(json: &[u8]) -> Result<Document<D>, DocumentError> {
    let shorter = D::shorter(json).and_then(|json| Document::parse(&json).ok());
    shorter.map_or_else(|| Document::parse(json), Ok)
}

/// Reads a table. Its fabric name must be that of the manifest.
pub(crate) fn read<D: Destinations>(
    paths: (&Utf8Path, &Utf8Path),
    json: &[u8],
    binary: Vec<u8>,
    fabric: &str,
    cabling: &Cabling,
    findings: &mut Findings,
) -> Result<Group, TableError> {
    let text = |error: ReadError| TableError { binary: false, error };
    let document = document::<D>(json).map_err(|error| match error {
        DocumentError::Parse(error) => text(error.into()),
        DocumentError::Format(_) => text(ReadError::new(error.to_string())),
    })?;
    if document.fabric != fabric {
        return Err(text(ReadError::new(format!("the table is for fabric `{}`", document.fabric))));
    }
    let opened = Table::open(&binary);
    let table =
        opened.map_err(|fault| TableError { binary: true, error: ReadError::new(fault.to_string()) })?;
    // The table contains its length (FORMAT.md); data after its end are invalid.
    let stated = binary.get(TOTAL).and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)));
    if stated.map(|stated| stated as usize) != Some(binary.len()) {
        let message = format!("the table ends before the file, which has {} bytes", binary.len());
        return Err(TableError { binary: true, error: ReadError::new(message) });
    }
    let [_, orders, denials] = sections(&binary);
    if orders + orders_len(table.header()) > denials {
        let message = "the orders of uplinks overlap the denials (FORMAT.md)".to_owned();
        return Err(TableError { binary: true, error: ReadError::new(message) });
    }
    // If the binary form does not name its fabric, the JSON form does.
    if let Some(other) = table.fabric().filter(|other| *other != fabric) {
        let message = format!("the table is for fabric `{}`", other.escape_default());
        return Err(TableError { binary: true, error: ReadError::new(message) });
    }
    if let Some(at) = filler(&binary, &table).find(|at| binary.get(*at).is_some_and(|byte| *byte != 0)) {
        let message = format!("byte {at} is not zero, but reserved (FORMAT.md)");
        return Err(TableError { binary: true, error: ReadError::new(message) });
    }
    let group =
        group(&document, *table.header(), cabling).map_err(|message| text(ReadError::new(message)))?;
    let mut group = Group { json: paths.0.to_owned(), binary: paths.1.to_owned(), ..group };
    compare(&document, &table, &group, findings);
    group.bytes = binary;
    Ok(group)
}

/// Returns the offsets of destinations, orders and denials.
fn sections(binary: &[u8]) -> [usize; 3] {
    [72, 76, 80].map(|at| {
        let bytes = binary.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes) as usize
    })
}

/// Returns the size of the orders: two bytes per uplink of each plane.
fn orders_len(header: &Header) -> usize {
    2 * usize::from(header.planes) * usize::from(header.t0_uplinks)
}

/// Returns the offsets of bytes that must be zero according to FORMAT.md. These are unused bytes of the
/// header, the end of each destination, the padding of the orders, and the bytes after the name of the
/// fabric.
fn filler(binary: &[u8], table: &Table<'_>) -> impl Iterator<Item = usize> {
    let header = table.header();
    let [destinations, orders, denials] = sections(binary);
    let records = usize::from(header.zones) * usize::from(header.groups);
    let written = orders + orders_len(header);
    let named = denials + 20 * table.denials().count() + table.fabric().map_or(0, |name| 1 + name.len());
    let rests = (0..records).flat_map(move |at| destinations + 24 * at + 17..destinations + 24 * (at + 1));
    // Byte 17 is the shift of the plane in a uSID, and zero if the plane is in the block. Version 3 adds fields up to
    // the end of the header, except byte 125, and version 4 adds byte 125.
    let unused: &[usize] = match (binary.get(VERSION), header.plane) {
        (Some(4), PlaneAt::Block) => &[17],
        (Some(4), PlaneAt::Usids { .. }) => &[],
        (Some(3), PlaneAt::Block) => &[17, 125],
        (Some(3), PlaneAt::Usids { .. }) => &[125],
        _ => &[124, 125, 126, 127],
    };
    unused.iter().copied().chain(rests).chain(written..denials).chain(named..binary.len())
}

fn group<D>(document: &Document<D>, header: Header, cabling: &Cabling) -> Result<Group, String> {
    let plane = |plane: &form::Plane| {
        Ok::<_, String>(GroupPlane {
            name: plane.t0.clone(),
            t0: cabling.switch_named(&plane.t0),
            mac: parse(&plane.t0_mac)?,
            usid: usid(&plane.t0_usid)?,
        })
    };
    let nic = |nic: &form::Nic| {
        let (node, number) = nic
            .name
            .rsplit_once("/nic")
            .and_then(|(node, number)| Some((node, number.parse().ok()?)))
            .ok_or_else(|| format!("`{}` is not the name of a NIC, `NODE/nicN`", nic.name))?;
        Ok::<_, String>(GroupNic {
            name: nic.name.clone(),
            node: cabling.node_named(node),
            number,
            downlink: nic.downlink.checked_sub(1).ok_or("downlinks are numbered from 1")?,
            address: nic.address.into(),
        })
    };
    let class = |class: &form::QosClass| TrafficClass {
        name: class.name.clone(),
        dscp: class.dscp.clone(),
        class: class.traffic_class,
        trim: class.trim,
    };
    let layout = Layout::new(document.segments, document.planes.len());
    if !layout.fits() {
        return Err("the fields of a uSID take more than 16 bits, the plane is in uSIDs and in the block, or the block is not a /32"
            .to_owned());
    }
    for (at, plane) in document.planes.iter().enumerate() {
        if usize::from(plane.number) != at || plane.nic_port != plane.number {
            return Err(format!(
                "plane {} and NIC port {} are at position {at}",
                plane.number, plane.nic_port
            ));
        }
    }
    Ok(Group {
        json: Utf8PathBuf::new(),
        binary: Utf8PathBuf::new(),
        bytes: Vec::new(),
        header,
        zone: document.zone,
        group: document.group.checked_sub(1).ok_or("groups are numbered from 1")?,
        layout,
        planes: document.planes.iter().map(plane).collect::<Result<_, _>>()?,
        nics: document.nics.iter().map(nic).collect::<Result<_, _>>()?,
        classes: document.qos.classes.iter().map(class).collect(),
        profile: document.qos.profile.clone(),
        trimmed_dscp: document.qos.trimmed.as_ref().map(|mark| (mark.fabric_dscp, mark.last_hop_dscp)),
        delay: document.delay,
        denied_names: document.denied.iter().map(|denied| denied.name.clone()).collect(),
    })
}

fn usid(text: &str) -> Result<Usid, String> {
    let fault = || format!("`{text}` is not a uSID of four hexadecimal digits");
    if text.len() != 4 {
        return Err(fault());
    }
    u16::from_str_radix(text, 16).map(Usid).map_err(|_| fault())
}

/// Compares both forms.
fn compare<D: Destinations>(
    document: &Document<D>,
    table: &Table<'_>,
    group: &Group,
    findings: &mut Findings,
) {
    let mut compare = FormComparison { group, findings };
    compare.numbers(document, table);
    compare.orders(document, table);
    compare.compare_denials(document, table);
    D::compare(document, table, &mut compare);
}

/// State of the comparison of both forms.
pub(crate) struct FormComparison<'a> {
    group: &'a Group,
    findings: &'a mut Findings,
}

impl FormComparison<'_> {
    /// Counts a comparison. The description and the place are computed only if it fails.
    fn equal<T: PartialEq + std::fmt::Debug>(
        &mut self,
        json: &T,
        binary: &T,
        about: impl FnOnce() -> (String, Target),
    ) {
        let group = self.group;
        self.findings.expect(json == binary, &FORMS, || {
            let (what, target) = about();
            let message = format!("{what} is {json:?} here, but {binary:?} in `{}`", group.binary);
            Violation::new(&FORMS, Place::of(group.json.clone(), target), message)
        });
    }

    fn numbers<D>(&mut self, document: &Document<D>, table: &Table<'_>) {
        let h = table.header();
        let (entropy, segments) = (&document.entropy, &document.segments);
        let bits = u16::from(h.uplink_bits) + u16::from(h.plane_bits) + u16::from(h.t1_uplink_bits);
        let pairs = [
            ("zone", document.zone, h.zone),
            ("group", document.group, h.group + 1),
            ("bits", entropy.bits.into(), bits),
            ("t0_uplink_bits", entropy.t0_uplink_bits.into(), h.uplink_bits.into()),
            ("plane_bits", entropy.plane_bits.into(), h.plane_bits.into()),
            ("t1_uplink_bits", entropy.t1_uplink_bits.into(), h.t1_uplink_bits.into()),
            ("t0_uplinks", entropy.t0_uplinks, h.t0_uplinks),
            ("t1_uplinks", entropy.t1_uplinks, h.t1_uplinks),
            ("t1_start", entropy.t1_start.unwrap_or(0), h.t1_start),
            ("active_per_plane", entropy.active_per_plane, h.active),
            ("backup_per_plane", entropy.backup_per_plane, h.backup),
            ("min_active", entropy.min_active, h.min_active),
            ("udp_port", entropy.udp_port, h.udp_port),
            ("parallel_t0_t1", segments.parallel_t0_t1, h.parallel0),
            ("parallel_t1_t2", segments.parallel_t1_t2.max(1), h.parallel1),
            ("usids_per_t1", segments.usids_per_t1, h.per_t1),
            ("t2_step", segments.t2_step.unwrap_or(h.t2_step), h.t2_step),
            ("t2_row", segments.t2_row.unwrap_or(h.t2_row), h.t2_row),
            ("payload_mtu", document.qos.payload_mtu, h.mtu),
            ("planes", document.planes.len() as u16, h.planes.into()),
            ("t2_rows", segments.t2_rows.map_or(0, NonZeroU16::get), h.t2_rows),
        ];
        for (name, json, binary) in pairs {
            self.equal(&json, &binary, || (format!("`{name}`"), vec![format!("\"{name}\":")].into()));
        }
        self.equal(&document.prefix, &group_prefix(h, h.zone, h.group), || {
            ("the own prefix".into(), vec!["\"prefix\":".to_owned()].into())
        });
        let layout = &self.group.layout;
        let shift = layout.plane_shift() as u8;
        let stated = if layout.in_block { PlaneAt::Block } else { PlaneAt::Usids { shift } };
        self.equal(&stated, &h.plane, || {
            ("the position of the plane".into(), vec!["\"plane_bits\":".to_owned()].into())
        });
        let tiers = [entropy.t1_start.is_some(), segments.t2_step.is_some(), segments.t2_row.is_some()];
        self.equal(&tiers, &[h.t1_uplinks > 0; 3], || {
            (
                "the presence of `t1_start`, `t2_step` and `t2_row`".into(),
                vec!["\"t1_uplinks\":".to_owned()].into(),
            )
        });
        let prefix = Ipv6Net::new(Ipv6Addr::from(h.pool), h.pool_len).ok();
        let inside = prefix.is_some_and(|pool| pool.contains(&document.prefix.network()));
        self.equal(&inside, &true, || {
            (
                "the flag that the group's prefix is in the pool of NIC addresses".into(),
                vec!["\"prefix\":".to_owned()].into(),
            )
        });
    }

    fn orders<D>(&mut self, document: &Document<D>, table: &Table<'_>) {
        for plane in &document.planes {
            let binary: Vec<u16> = table.order(plane.number).collect();
            self.equal(&plane.uplink_order, &binary, || {
                let plane = plane.number;
                let needles =
                    ["\"planes\":", &format!("\"plane\": {plane},"), "\"uplink_order\":"].map(str::to_owned);
                (format!("the order of uplinks in plane {plane}"), needles.to_vec().into())
            });
        }
    }

    fn destinations(&mut self, document: &Document, table: &Table<'_>) {
        let h = table.header();
        let places = (0..h.zones).flat_map(|zone| (0..h.groups).map(move |group| (zone, group)));
        let count = usize::from(h.zones) * usize::from(h.groups);
        self.equal(&document.destinations.len(), &count, || {
            ("the number of destinations".into(), vec!["\"destinations\":".to_owned()].into())
        });
        let group = self.group;
        for (entry, (zone, number)) in document.destinations.iter().zip(places) {
            let about = |what: &str| {
                (format!("{what} of group {}", number + 1), group.destination_place(zone, number).target)
            };
            let found = destination(table, zone, number, 0).map(|to| {
                let choice = Choice { plane: 0, t0_uplink: 0, t1_uplink: 0 };
                (keyword(to.kind), list(table, &to, choice).0.to_ipv6())
            });
            self.equal(&[entry.zone.unwrap_or(0), entry.group], &[zone, number + 1], || about("the place"));
            self.equal(&Some((entry.kind.as_str(), entry.template)), &found, || about("the template"));
            self.equal(&entry.prefix, &group_prefix(h, zone, number), || about("the prefix"));
        }
    }

    fn compare_denials<D>(&mut self, document: &Document<D>, table: &Table<'_>) {
        let json: Vec<Option<TableDenial>> = document.denied.iter().map(table_denial).collect();
        let binary: Vec<Option<TableDenial>> = table.denials().map(Some).collect();
        let list = || vec!["\"denied\":".to_owned()];
        self.equal(&json.len(), &binary.len(), || ("the number of denials".into(), list().into()));
        for (entry, (json, binary)) in document.denied.iter().zip(json.iter().zip(&binary)) {
            self.equal(json, binary, || {
                let needles = [list(), vec![format!("\"name\": \"{}\"", entry.name)]].concat();
                (format!("the denial of `{}`", entry.name), needles.into())
            });
        }
    }

    fn probes(&mut self, document: &Document, table: &Table<'_>) {
        let probes: Vec<(&str, Ipv6Addr)> =
            document.probes.iter().map(|probe| (probe.kind.as_str(), probe.template)).collect();
        let t2 = table.t2_probe(0, 0, 0, 0).map(|t2| ("t2", t2.into()));
        let two = [("t0", table.t0_probe(0, 0).into()), ("t1", table.t1_probe(0, 0, 0).into())];
        let binary: Vec<(&str, Ipv6Addr)> = two.into_iter().chain(t2).collect();
        self.equal(&probes, &binary, || ("the list of probes".into(), vec!["\"probes\":".to_owned()].into()));
    }
}

/// Returns the prefix of the NICs of a group.
fn group_prefix(header: &Header, zone: u16, group: u16) -> Ipv6Net {
    Ipv6Net::new_assert(inner(header, zone, group, 0).to_ipv6(), 64).trunc()
}

fn table_denial(entry: &form::DeniedElement) -> Option<TableDenial> {
    // Numbers in names start at 1, fields of entropy values at 0.
    let from_one = |value: Option<u16>| match value {
        Some(value) => value.checked_sub(1).map(Some),
        None => Some(None),
    };
    Some(TableDenial {
        plane: entry.plane,
        reason: match entry.reason.as_str() {
            "absent" => Reason::Absent,
            "drained" => Reason::Drained,
            _ => return None,
        },
        scope: Scope {
            source: from_one(entry.source_downlink)?,
            uplinks: entry.t0_uplinks,
            t1_uplinks: entry.t1_uplinks,
            zone: entry.zone,
            group: from_one(entry.group)?,
            downlink: from_one(entry.downlink)?,
        },
    })
}

fn keyword(kind: Kind) -> &'static str {
    match length(kind) {
        2 => "local",
        4 => "zone",
        _ => "far",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_the_destinations() {
        let text = b"{\n  \"nics\": [\n    1\n  ],\n  \"destinations\": [\n    {\n    }\n  ],\n  \"denied\": [\n  ]\n}\n";
        let short = IgnoredAny::shorter(text).expect("it is written so");
        assert_eq!(
            String::from_utf8_lossy(&short),
            "{\n  \"nics\": [\n    1\n  ],\n  \"destinations\": [\n  ],\n  \"denied\": [\n  ]\n}\n"
        );
        for other in [
            &b"{}"[..],
            b"",
            b"{\"destinations\":[],\"denied\":[]}",
            b"\n  ],\n  \"denied\": [\n  \"destinations\": [\n",
        ] {
            assert_eq!(IgnoredAny::shorter(other), None);
        }
    }
}
