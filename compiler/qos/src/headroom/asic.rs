//! ASICs with constants in SONiC.
//!
//! Out: [`SpectrumAsic`] with one variant per generation, [`ClassicAsic`], and the cell of Tofino-2.
//! Invariants: the numbers of [`SpectrumAsic`] are those of sonic-buildimage
//! `platform/mellanox/asic_table.j2`, including its `vs` row.

use crate::explain::{ExactFraction, exact};
use crate::units::Bytes;

/// An ASIC for which SONiC computes headroom with its Mellanox script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpectrumAsic {
    /// Spectrum (SN2000).
    Spectrum1,
    /// Spectrum-2 (SN3000).
    Spectrum2,
    /// Spectrum-3 (SN4000).
    Spectrum3,
    /// Spectrum-4 (SN5400, SN5600, SN5610N).
    Spectrum4,
    /// Spectrum-5 (SN5640).
    Spectrum5,
    /// Spectrum-6 (SN6600, SN6810).
    Spectrum6,
    /// SONiC's virtual switch, which uses the same script.
    Vs,
}

impl SpectrumAsic {
    /// All ASICs.
    pub const ALL: [Self; 7] = [
        Self::Spectrum1,
        Self::Spectrum2,
        Self::Spectrum3,
        Self::Spectrum4,
        Self::Spectrum5,
        Self::Spectrum6,
        Self::Vs,
    ];

    /// Returns the allocation unit of the buffer (`cell_size`).
    pub const fn cell(self) -> Bytes {
        Bytes(match self {
            Self::Spectrum1 => 96,
            Self::Spectrum2 | Self::Spectrum3 => 144,
            Self::Spectrum4 | Self::Spectrum5 => 192,
            Self::Spectrum6 => 256,
            Self::Vs => 128,
        })
    }

    /// Returns the bytes in the pipeline, in KB of 1,024 (`pipeline_latency`).
    pub const fn pipeline_kib(self) -> u64 {
        match self {
            Self::Spectrum1 | Self::Spectrum2 | Self::Spectrum3 | Self::Spectrum4 | Self::Spectrum5 => 19,
            Self::Spectrum6 => 42,
            Self::Vs => 18,
        }
    }

    /// Returns the bytes in MAC and PHY (`mac_phy_delay`, 0.8 KB in every row).
    pub(super) fn mac_phy() -> ExactFraction {
        exact(8_u64 * 1024, 10_u8)
    }

    /// Returns the bytes that the far end still sends, for speeds without pause quanta (`peer_response_time`, 3.8 KB in
    /// every row).
    pub(super) fn peer_response() -> ExactFraction {
        exact(38_u64 * 1024, 10_u8)
    }

    /// Returns whether a tile between port and buffer also holds bytes (120 ns, Spectrum-4 and -5).
    pub const fn has_tile(self) -> bool {
        match self {
            Self::Spectrum4 | Self::Spectrum5 => true,
            Self::Spectrum1 | Self::Spectrum2 | Self::Spectrum3 | Self::Spectrum6 | Self::Vs => false,
        }
    }

    /// Returns the bytes for packet-buffer accounting that are added to the formula (18 KB on Spectrum-6).
    pub const fn accounting_bytes(self) -> Bytes {
        Bytes(match self {
            Self::Spectrum6 => 18 * 1024,
            Self::Spectrum1
            | Self::Spectrum2
            | Self::Spectrum3
            | Self::Spectrum4
            | Self::Spectrum5
            | Self::Vs => 0,
        })
    }

    /// Returns the cells of shared headroom reserved for a port (`port_reserved_shp`), and the maximum for a
    /// port (`port_max_shp`); `None` for the virtual switch.
    pub const fn port_shared_cells(self) -> Option<(u64, u64)> {
        match self {
            Self::Spectrum1 | Self::Spectrum2 | Self::Spectrum3 | Self::Spectrum4 => Some((20, 8_192)),
            Self::Spectrum5 | Self::Spectrum6 => Some((20, 6_144)),
            Self::Vs => None,
        }
    }
}

/// An ASIC with a lookup table of the old formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClassicAsic {
    /// Spectrum (MSN2700), cells of 96 bytes.
    Spectrum1,
    /// Spectrum-2 and -3 (MSN3700, MSN4700), cells of 144 bytes.
    Spectrum2And3,
}

impl ClassicAsic {
    /// All ASICs.
    pub const ALL: [Self; 2] = [Self::Spectrum1, Self::Spectrum2And3];

    /// Returns the allocation unit.
    pub const fn cell(self) -> Bytes {
        match self {
            Self::Spectrum1 => Bytes(96),
            Self::Spectrum2And3 => Bytes(144),
        }
    }
}

/// The allocation unit of Tofino-2 (`cell_size` of sonic-buildimage barefoot `asic_table.j2`).
pub(super) const TOFINO_CELL: Bytes = Bytes(176);
