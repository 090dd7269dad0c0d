//! The memory of a switch, and the reservations before any lossless class.
//!
//! In: size and cell from the platform, and for Spectrum also the ports. Out: a [`Memory`]. Invariants: each
//! reservation has a name, a formula and a source.

use std::borrow::Cow;

use serde::Serialize;

use crate::headroom::SpectrumAsic;
use crate::units::Bytes;

/// The packet buffer of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Total size.
    pub total: Bytes,
    /// The allocation unit.
    pub cell: Bytes,
    /// Reserved amounts.
    pub reserved: Vec<Reservation>,
    /// Headroom that is already reserved for ports, and is therefore not needed in the shared pool.
    pub private_headroom: Bytes,
}

/// Reserved bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reservation {
    /// Purpose.
    pub name: Cow<'static, str>,
    /// Size.
    pub bytes: Bytes,
    /// Derivation.
    pub formula: String,
    /// Source.
    pub source: Cow<'static, str>,
}

/// The ports of a Spectrum switch, as SONiC's pool script counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpectrumPorts {
    /// Ports that are up.
    pub up: u32,
    /// Ports that are up and have eight lanes.
    pub up_eight_lanes: u32,
    /// Ports with a lossless class, including those without a cable.
    pub lossless: u32,
    /// Ports with a lossless class and a cable, whose headroom is counted.
    pub lossless_cabled: u32,
    /// Lossy priority groups on all ports.
    pub lossy_groups: u32,
    /// Lossy priority groups on ports with eight lanes.
    pub lossy_groups_eight_lanes: u32,
}

const SCRIPT: &str = "sonic-swss buffer_pool_mellanox.lua";
const KIB: u64 = 1024;

impl Memory {
    /// Creates a memory without reservations.
    pub fn new(total: Bytes, cell: Bytes) -> Self {
        Self { total, cell, reserved: Vec::new(), private_headroom: Bytes::ZERO }
    }

    /// Creates the memory of a Spectrum switch, with the reservations of SONiC's `buffer_pool_mellanox.lua` (at
    /// e6b0c5b5). `shared` states whether ports share a headroom pool.
    pub fn spectrum(asic: SpectrumAsic, total: Bytes, ports: SpectrumPorts, shared: bool) -> Self {
        let mut memory = Self::new(total, asic.cell());
        let pipeline = asic.pipeline_kib();
        // A port of eight lanes has two buffer units: 2 x pipeline - 1.
        let wide = 2 * pipeline - 1;
        let groups = |all: u32, eight: u32| {
            (u64::from(all.saturating_sub(eight)) * pipeline + u64::from(eight) * wide) * KIB
        };
        let formula = |all: u32, eight: u32| {
            format!("({} x {pipeline} + {eight} x {wide}) x {KIB}", all.saturating_sub(eight))
        };
        let SpectrumPorts {
            up,
            up_eight_lanes,
            lossless,
            lossless_cabled,
            lossy_groups,
            lossy_groups_eight_lanes,
        } = ports;
        memory.reserve(
            "lossy groups",
            groups(lossy_groups, lossy_groups_eight_lanes),
            formula(lossy_groups, lossy_groups_eight_lanes),
        );
        memory.reserve("management groups", groups(up, up_eight_lanes), formula(up, up_eight_lanes));
        let newest = asic == SpectrumAsic::Spectrum6;
        let mirror = if newest { 0 } else { 10 };
        memory.reserve("egress mirror", u64::from(up) * mirror * KIB, format!("{up} x {mirror} x {KIB}"));
        memory.reserve("management pool", 256 * KIB, format!("256 x {KIB}"));
        if newest {
            memory.reserve("modification descriptors", 32 * KIB * KIB, format!("32 x {KIB} x {KIB}"));
        }
        if shared {
            let private = u64::from(lossless) * 10 * KIB;
            memory.reserve("private headroom", private, format!("{lossless} x 10 x {KIB}"));
            // A port without a cable neither takes bytes from the pool nor contributes any.
            memory.private_headroom = Bytes(u64::from(lossless_cabled) * 10 * KIB);
        }
        memory
    }

    fn reserve(&mut self, name: &'static str, bytes: u64, formula: String) {
        self.reserved.push(Reservation {
            name: name.into(),
            bytes: Bytes(bytes),
            formula,
            source: SCRIPT.into(),
        });
    }

    /// Returns the sum of all reservations.
    pub fn reserved_sum(&self) -> Bytes {
        self.reserved.iter().map(|reservation| reservation.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserved_bytes(memory: &Memory, name: &str) -> Option<u64> {
        memory.reserved.iter().find(|reservation| reservation.name == name).map(|found| found.bytes.0)
    }

    #[test]
    fn spectrum_reserves_what_the_script_does() {
        let ports = SpectrumPorts {
            up: 64,
            up_eight_lanes: 64,
            lossless: 64,
            lossless_cabled: 12,
            lossy_groups: 64,
            lossy_groups_eight_lanes: 64,
        };
        let memory = Memory::spectrum(SpectrumAsic::Spectrum4, Bytes(160_000_000), ports, true);
        assert_eq!(reserved_bytes(&memory, "lossy groups"), Some(64 * 37 * 1024));
        assert_eq!(reserved_bytes(&memory, "management groups"), Some(64 * 37 * 1024));
        assert_eq!(reserved_bytes(&memory, "egress mirror"), Some(64 * 10 * 1024));
        assert_eq!(reserved_bytes(&memory, "management pool"), Some(256 * 1024));
        assert_eq!(reserved_bytes(&memory, "private headroom"), Some(64 * 10 * 1024));
        assert_eq!(reserved_bytes(&memory, "modification descriptors"), None);
        // Only ports with a cable count towards the sum of headroom.
        assert_eq!(memory.private_headroom, Bytes(122_880));
    }

    #[test]
    fn spectrum_6_keeps_descriptors_and_no_mirror() {
        let ports = SpectrumPorts { up: 128, ..SpectrumPorts::default() };
        let memory = Memory::spectrum(SpectrumAsic::Spectrum6, Bytes(300_000_000), ports, false);
        assert_eq!(reserved_bytes(&memory, "egress mirror"), Some(0));
        assert_eq!(reserved_bytes(&memory, "modification descriptors"), Some(33_554_432));
        assert_eq!(reserved_bytes(&memory, "management groups"), Some(128 * 42 * 1024));
        assert_eq!(reserved_bytes(&memory, "private headroom"), None);
    }
}
