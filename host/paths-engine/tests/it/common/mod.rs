//! Small tables for tests.
#![allow(dead_code, reason = "each test file uses some of it")]

use closc_paths::write::{Body, write};
use closc_paths::{Header, Kind, PlaneAt, TableDenial};

/// Relevant parts of a table.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) planes: u8,
    pub(crate) active: u16,
    pub(crate) backup: u16,
    pub(crate) min_active: u16,
    pub(crate) denied: Vec<TableDenial>,
}

impl Default for Shape {
    fn default() -> Self {
        Shape { planes: 4, active: 2, backup: 2, min_active: 4, denied: Vec::new() }
    }
}

pub(crate) const POOL: u128 = 0xfd00_c105_0001 << 80;

/// Returns the address of a NIC, both numbers from 0.
pub(crate) fn nic(group: u16, downlink: u16) -> [u8; 16] {
    (POOL | u128::from(group + 1) << 64 | u128::from(downlink + 1)).to_be_bytes()
}

/// Returns a table with two groups of two NICs and one uplink per entropy value.
pub(crate) fn table(shape: &Shape) -> Vec<u8> {
    table_of(shape, 2, 2)
}

/// Returns the table of the first group of a fabric with `groups` groups of `nics` NICs.
pub(crate) fn table_of(shape: &Shape, groups: u16, nics: u16) -> Vec<u8> {
    let uplinks = shape.active + shape.backup;
    let header = Header {
        planes: shape.planes,
        plane: PlaneAt::Usids { shift: 11 },
        uplink_bits: 11,
        plane_bits: 3,
        t1_uplink_bits: 0,
        pool_len: 48,
        pool: POOL,
        parallel0: 1,
        parallel1: 1,
        per_t1: 1,
        t0_uplinks: uplinks,
        t1_uplinks: 0,
        t2_step: 0,
        t2_row: 0,
        t2_rows: 0,
        zone_bits: 4,
        zone: 0,
        group: 0,
        zones: 1,
        groups,
        nics,
        active: shape.active,
        backup: shape.backup,
        min_active: shape.min_active,
        udp_port: 4791,
        mtu: 9000,
        t1_start: 0,
        t2_usid: 0,
    };
    let block = 0xfcbb_bbbb_u128 << 96;
    let others = (2..=u128::from(groups))
        .map(|group| (Some(Kind::Zone), block | (0x0001_4001_0000_8001 | group << 16) << 32));
    let body = Body {
        destinations: [(Some(Kind::Local), block | 0x0001_8001 << 64)].into_iter().chain(others).collect(),
        orders: vec![(0..uplinks).collect(); usize::from(shape.planes)],
        denied: shape.denied.clone(),
        fabric: String::new(),
        t0_probe: block | 0x0001_8001 << 64,
        t1_probe: block | 0x0001_4001_0001_8001 << 32,
    };
    write(&header, &body)
}
