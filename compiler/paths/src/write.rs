//! The writer, which encodes header, templates, orders and denials.
//!
//! In: the numbers of a group. Out: the bytes of a table. Invariants: every written table can be opened, and
//! the same input results in the same bytes.

use alloc::string::String;
use alloc::vec::Vec;

use crate::checksum::crc32;
use crate::choice::Kind;
use crate::denied::{self, Reason, TableDenial};
use crate::layout as at;
use crate::table::{DEFAULT_ZONE_BITS, Header, PlaneAt};

/// Contents of a table, except the numbers of the header.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// For every zone and group in order: its distance (`None` if unknown), and the outer address for plane 0,
    /// uplink 0 and downlink 0.
    pub destinations: Vec<(Option<Kind>, u128)>,
    /// For every plane: the order of its uplinks.
    pub orders: Vec<Vec<u16>>,
    /// Unusable elements.
    pub denied: Vec<TableDenial>,
    /// Name of the fabric, truncated to 255 bytes. If it is empty, the table does not contain a name.
    pub fabric: String,
    /// Address of the probe to the T0 and back, for plane 0 and downlink 0.
    pub t0_probe: u128,
    /// Address of the probe to the first T1 and back, for plane 0 and downlink 0.
    pub t1_probe: u128,
}

/// Returns the bytes of a table.
pub fn write(header: &Header, body: &Body) -> Vec<u8> {
    let destinations = at::HEADER;
    let orders = destinations + body.destinations.len() * at::DESTINATION;
    let denied = (orders + body.orders.iter().map(Vec::len).sum::<usize>() * 2).next_multiple_of(4);
    let name = &body.fabric[..body.fabric.floor_char_boundary(at::NAME_MAX)];
    let fabric = denied + body.denied.len() * at::DENIED;
    let total = if name.is_empty() { fabric } else { (fabric + 1 + name.len()).next_multiple_of(4) };
    let mut out = Vec::with_capacity(total);
    out.resize(at::HEADER, 0);
    write_header(&mut out, header);
    for (field, value) in [
        (at::AT_TOTAL, total),
        (at::AT_DESTINATIONS, destinations),
        (at::AT_ORDERS, orders),
        (at::AT_DENIED, denied),
        (at::AT_DENIED_COUNT, body.denied.len()),
    ] {
        put(&mut out, field, &(value as u32).to_le_bytes());
    }
    put(&mut out, at::AT_T0_PROBE, &body.t0_probe.to_be_bytes());
    put(&mut out, at::AT_T1_PROBE, &body.t1_probe.to_be_bytes());
    for (kind, template) in &body.destinations {
        out.extend_from_slice(&template.to_be_bytes());
        out.extend_from_slice(&[kind_code(*kind), 0, 0, 0, 0, 0, 0, 0]);
    }
    for uplink in body.orders.iter().flatten() {
        out.extend_from_slice(&uplink.to_le_bytes());
    }
    out.resize(denied, 0);
    for record in &body.denied {
        out.extend_from_slice(&encode_denial(record));
    }
    if !name.is_empty() {
        out.push(name.len() as u8);
        out.extend_from_slice(name.as_bytes());
        out.resize(total, 0);
    }
    let crc = crc32(&out[at::CHECKED_FROM..]);
    put(&mut out, at::AT_CRC, &crc.to_le_bytes());
    out
}

fn write_header(out: &mut [u8], h: &Header) {
    put(out, 0, &at::MAGIC);
    let (plane_in, shift) = match h.plane {
        PlaneAt::Usids { shift } => (at::IN_USIDS, shift),
        PlaneAt::Block => (at::IN_BLOCK, 0),
    };
    put(out, at::AT_VERSION, &h.version().to_le_bytes());
    put(out, at::AT_HEADER_LEN, &(at::HEADER as u16).to_le_bytes());
    put(out, at::AT_POOL, &h.pool.to_be_bytes());
    let zone_bits = if h.zone_bits == DEFAULT_ZONE_BITS { 0 } else { h.zone_bits };
    for (field, value) in [
        (at::AT_PLANES, h.planes),
        (at::AT_PLANE_SHIFT, shift),
        (at::AT_UPLINK_BITS, h.uplink_bits),
        (at::AT_PLANE_BITS, h.plane_bits),
        (at::AT_T1_UPLINK_BITS, h.t1_uplink_bits),
        (at::AT_POOL_LEN, h.pool_len),
        (at::AT_PLANE_IN, plane_in),
        (at::AT_ZONE_BITS, zone_bits),
    ] {
        put(out, field, &[value]);
    }
    for (field, value) in [
        (at::AT_PARALLEL0, h.parallel0),
        (at::AT_PARALLEL1, h.parallel1),
        (at::AT_PER_T1, h.per_t1),
        (at::AT_T0_UPLINKS, h.t0_uplinks),
        (at::AT_T1_UPLINKS, h.t1_uplinks),
        (at::AT_T2_STEP, h.t2_step),
        (at::AT_T2_ROW, h.t2_row),
        (at::AT_ZONE, h.zone),
        (at::AT_GROUP, h.group),
        (at::AT_ZONES, h.zones),
        (at::AT_GROUPS, h.groups),
        (at::AT_NICS, h.nics),
        (at::AT_ACTIVE, h.active),
        (at::AT_BACKUP, h.backup),
        (at::AT_MIN_ACTIVE, h.min_active),
        (at::AT_UDP_PORT, h.udp_port),
        (at::AT_MTU, h.mtu),
        (at::AT_T1_START, h.t1_start),
        (at::AT_T2_USID, h.t2_usid),
        (at::AT_T2_ROWS, h.t2_rows),
    ] {
        put(out, field, &value.to_le_bytes());
    }
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    out[at..at + bytes.len()].copy_from_slice(bytes);
}

fn kind_code(kind: Option<Kind>) -> u8 {
    match kind {
        None => 0,
        Some(Kind::Local) => 1,
        Some(Kind::Zone) => 2,
        Some(Kind::Far) => 3,
    }
}

fn encode_denial(record: &TableDenial) -> [u8; at::DENIED] {
    let s = record.scope;
    let (up, t1) = (s.uplinks.unwrap_or_default(), s.t1_uplinks.unwrap_or_default());
    let flags = [
        (s.source.is_some(), denied::SOURCE),
        (s.uplinks.is_some(), denied::UPLINKS),
        (s.t1_uplinks.is_some(), denied::T1_UPLINKS),
        (s.zone.is_some(), denied::ZONE),
        (s.group.is_some(), denied::GROUP),
        (s.downlink.is_some(), denied::DOWNLINK),
    ];
    let flags = flags.into_iter().filter(|(set, _)| *set).fold(0, |sum, (_, flag)| sum | flag);
    let mut out = [0; at::DENIED];
    out[0] = record.plane;
    out[1] = match record.reason {
        Reason::Absent => 0,
        Reason::Drained => 1,
    };
    let fields = [
        flags,
        s.source.unwrap_or(0),
        up.0,
        up.1,
        t1.0,
        t1.1,
        s.zone.unwrap_or(0),
        s.group.unwrap_or(0),
        s.downlink.unwrap_or(0),
    ];
    for (n, field) in fields.into_iter().enumerate() {
        out[2 + n * 2..4 + n * 2].copy_from_slice(&field.to_le_bytes());
    }
    out
}
