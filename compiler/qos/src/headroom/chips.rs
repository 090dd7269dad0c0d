//! Published headroom of Broadcom, Marvell and Nexthop platforms, as linear functions of the cable length.
//!
//! Out: for each [`Chip`] the cell size, the values next to XOFF in SONiC's tables, and for each speed the constant and
//! slope of the line. Tables that do not follow a line are stored as points. Invariants: the line, rounded up to
//! [`Chip::step`], is not below any other published point, and the constant is the smallest for which this holds. The
//! compiler therefore never computes less than the vendor.
//!
//! The slope is the fill factor: bytes of buffer per byte on the cable. The worst case is 64-byte packets. With gap and
//! preamble, such a packet takes 84 bytes on the wire and a whole cell of buffer. The factor is 254 / 84 on Tomahawk 4
//! and 5, and 420 / 84 on Tomahawk 6. Other vendors assume larger packets; their factors are derived from their tables.
//! Source of all points: sonic-buildimage (at 086b03bd) `device/*/pg_profile_lookup.ini` of the platforms named below.

use crate::codes::DynamicThreshold;
use crate::units::{Bytes, Length, Speed};

/// A chip with published headroom; it has several variants if vendors use it differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chip {
    /// Broadcom Tomahawk (Arista 7060CX-32S).
    Tomahawk1,
    /// Broadcom Tomahawk 2 (common 7260 profile).
    Tomahawk2,
    /// Broadcom Tomahawk 3 (Dell Z9332F).
    Tomahawk3,
    /// Broadcom Tomahawk 4 (Dell Z9664F).
    Tomahawk4,
    /// Broadcom Tomahawk 5 (Micas M2-W6940, Dell Z9864F).
    Tomahawk5,
    /// Broadcom Tomahawk 5 with the hwsku 256x200G of the Arista 7060X6-64PE.
    Arista7060x6V256,
    /// Broadcom Tomahawk 5 with the hwsku O128S2 of the Arista 7060X6-64PE.
    Arista7060x6O128,
    /// Broadcom Tomahawk 5 with the hwsku O128 of the Arista 7060X6-64PE-B.
    Arista7060x6bO128,
    /// Broadcom Tomahawk 5 with the hwsku P32O64 of the Arista 7060X6-64PE-B.
    Arista7060x6bP32O64,
    /// Broadcom Tomahawk 6, computed for small packets, the worst case (Nexthop NH-4210).
    Tomahawk6,
    /// Broadcom Tomahawk 6, computed for larger packets (Nokia IXR7220-H6).
    Tomahawk6Nokia,
    /// Broadcom Jericho 2 (Arista 7800R3).
    Jericho2,
    /// Broadcom Qumran 3D (Arista 7280R4).
    Qumran3d,
    /// Broadcom Qumran 3D in Nexthop's configuration (NH-5010).
    Qumran3dNexthop,
    /// Marvell Teralynx 10 (d64p512t).
    Teralynx10,
}

/// The line of a chip at one speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChipRow {
    /// The speed.
    pub speed: Speed,
    /// Bytes at a cable length of zero.
    pub constant: Bytes,
    /// Bytes of buffer per byte on the cable, as numerator and denominator.
    pub fill: (u32, u32),
    /// Bytes below the limit of the pool at which the sender may resume.
    pub xon_offset: Bytes,
    /// The dynamic threshold of the published profile.
    pub threshold: DynamicThreshold,
    /// The length at which the line begins. Shorter cables have the value at this length.
    pub shortest: Length,
    /// Points of a lookup table that do not follow the line, in ascending order of length: metres and XOFF in bytes.
    /// Between two points, XOFF is interpolated. After the last point, the slope is that of the row.
    pub points: &'static [(u32, u64)],
}

impl ChipRow {
    /// Returns the row with a line that begins at a length.
    const fn starting_at(mut self, meters: u32) -> Self {
        self.shortest = Length::from_meters(meters);
        self
    }

    /// Returns the row with the points of a lookup table.
    const fn through(mut self, points: &'static [(u32, u64)]) -> Self {
        self.points = points;
        self
    }
}

const fn row(gbps: u32, constant: u64, fill: (u32, u32), xon_offset: u64, threshold: i8) -> ChipRow {
    ChipRow {
        speed: Speed::gbps(gbps),
        constant: Bytes(constant),
        fill,
        xon_offset: Bytes(xon_offset),
        threshold: DynamicThreshold::constant(threshold),
        shortest: Length::ZERO,
        points: &[],
    }
}

/// Factor 2.80, measured on the 5, 40 and 300 m rows of 50G and 100G.
const TOMAHAWK_1: [ChipRow; 2] = [row(50, 89_190, (28, 10), 2_288, 0), row(100, 163_611, (28, 10), 2_288, 0)];
/// Factor 1.275, measured on the 5, 40 and 300 m rows.
const TOMAHAWK_2: [ChipRow; 2] =
    [row(40, 29_010, (1_275, 1_000), 2_496, 0), row(100, 53_114, (1_275, 1_000), 2_496, 0)];
/// Factor 1.323, measured on the rows from 5 m to 2 km.
const TOMAHAWK_3: [ChipRow; 2] =
    [row(100, 67_554, (1_323, 1_000), 2_540, -2), row(400, 175_217, (1_323, 1_000), 2_540, -2)];
const TOMAHAWK_4: [ChipRow; 3] = [
    row(100, 126_892, (254, 84), 9_144, 0),
    row(200, 210_300, (254, 84), 9_144, 0),
    row(400, 363_704, (254, 84), 9_144, 0),
];
/// Micas and Dell. The dynamic threshold differs: -2 on Micas, 0 on Arista and Dell.
const TOMAHAWK_5: [ChipRow; 4] = [
    row(100, 144_926, (254, 84), 3_556, 0),
    row(200, 225_335, (254, 84), 3_556, 0),
    row(400, 385_391, (254, 84), 3_556, 0),
    row(800, 714_200, (254, 84), 3_556, 0),
];
/// Values in Arista's tables exceed the line, mostly for short cables: by 17 % at 200G and 40 m, and by 37 % at 400G.
const ARISTA_7060X6_V256: [ChipRow; 4] = {
    const POINTS: &[(u32, u64)] = &[(5, 300_990), (40, 300_990)];
    [TOMAHAWK_5[0].through(POINTS), TOMAHAWK_5[1].through(POINTS), TOMAHAWK_5[2], TOMAHAWK_5[3]]
};
const ARISTA_7060X6_O128: [ChipRow; 4] = [
    TOMAHAWK_5[0],
    TOMAHAWK_5[1],
    TOMAHAWK_5[2].through(&[(5, 612_140), (40, 612_140), (150, 612_140)]),
    TOMAHAWK_5[3],
];
/// The table has the same values for ports of 100G and 400G.
const ARISTA_7060X6B_O128: [ChipRow; 4] = {
    const POINTS: &[(u32, u64)] =
        &[(5, 445_770), (30, 445_770), (40, 445_770), (60, 475_136), (150, 611_328), (500, 1_136_396)];
    [TOMAHAWK_5[0].through(POINTS), TOMAHAWK_5[1], TOMAHAWK_5[2].through(POINTS), TOMAHAWK_5[3]]
};
const ARISTA_7060X6B_P32O64: [ChipRow; 4] = [
    TOMAHAWK_5[0],
    TOMAHAWK_5[1],
    TOMAHAWK_5[2].through(&[(5, 425_958), (30, 425_958), (300, 839_216), (500, 1_136_396)]),
    TOMAHAWK_5[3].through(&[(5, 724_662), (40, 833_536), (300, 1_621_536)]),
];
const TOMAHAWK_6: [ChipRow; 5] = [
    row(50, 160_771, (420, 84), 3_360, 0),
    row(100, 226_201, (420, 84), 3_360, 0),
    row(200, 362_521, (420, 84), 3_360, 0),
    row(400, 637_521, (420, 84), 3_360, 0),
    row(800, 1_223_821, (420, 84), 3_360, 0),
];
/// Factor 1.5, measured on the rows from 5 to 500 m.
const TOMAHAWK_6_NOKIA: [ChipRow; 4] = [
    row(100, 124_223, (15, 10), 4_200, 0),
    row(200, 259_366, (15, 10), 4_200, 0),
    row(400, 461_221, (15, 10), 4_200, 0),
    row(800, 789_961, (15, 10), 4_200, 0),
];
/// Factor 1.3298, measured between 2 and 120 km.
const JERICHO_2: [ChipRow; 2] =
    [row(100, 59_743, (13_298, 10_000), 363_506, -6), row(400, 115_065, (13_298, 10_000), 1_454_025, -5)];
/// Factor 1.3298, measured between 2 and 120 km. Up to 2 km, the table has a single value.
const QUMRAN_3D: [ChipRow; 3] = [
    row(100, 53_937, (13_298, 10_000), 363_506, -6).starting_at(2_000),
    row(400, 112_321, (13_298, 10_000), 1_454_025, -5).starting_at(2_000),
    row(800, 190_193, (13_298, 10_000), 2_908_050, -4).starting_at(2_000),
];
/// Factors are derived for each speed. At 800G, the table is computed differently and has a single value up to 50 m. At
/// 400G, the published points do not form a line: the point at 2 km is 1.3 % below ours.
const QUMRAN_3D_NEXTHOP: [ChipRow; 3] = [
    row(100, 179_370, (1_038, 1_000), 363_506, -6),
    row(400, 499_013, (1_036, 1_000), 1_454_025, -6),
    row(800, 181_600, (12_772, 10_000), 1_454_025, -6).starting_at(50),
];
/// Factor 1.024, measured on the rows from 1 to 300 m.
const TERALYNX_10: [ChipRow; 5] = [
    row(50, 23_681, (1_024, 1_000), 13_824, 1),
    row(100, 39_425, (1_024, 1_000), 13_824, 1),
    row(200, 68_865, (1_024, 1_000), 13_824, 1),
    row(400, 127_233, (1_024, 1_000), 13_824, 1),
    row(800, 244_225, (1_024, 1_000), 13_824, 1),
];

impl Chip {
    /// All chips.
    pub const ALL: [Self; 15] = [
        Self::Tomahawk1,
        Self::Tomahawk2,
        Self::Tomahawk3,
        Self::Tomahawk4,
        Self::Tomahawk5,
        Self::Arista7060x6V256,
        Self::Arista7060x6O128,
        Self::Arista7060x6bO128,
        Self::Arista7060x6bP32O64,
        Self::Tomahawk6,
        Self::Tomahawk6Nokia,
        Self::Jericho2,
        Self::Qumran3d,
        Self::Qumran3dNexthop,
        Self::Teralynx10,
    ];

    /// Returns whether the ASIC is Tomahawk 5.
    pub const fn is_tomahawk_5(self) -> bool {
        matches!(
            self,
            Self::Tomahawk5
                | Self::Arista7060x6V256
                | Self::Arista7060x6O128
                | Self::Arista7060x6bO128
                | Self::Arista7060x6bP32O64
        )
    }

    /// Returns the unit of the published values: the cell, or the vendor's rounding.
    pub const fn step(self) -> Bytes {
        Bytes(match self {
            Self::Tomahawk1 | Self::Tomahawk2 => 208,
            Self::Tomahawk3
            | Self::Tomahawk4
            | Self::Tomahawk5
            | Self::Arista7060x6V256
            | Self::Arista7060x6O128
            | Self::Arista7060x6bO128
            | Self::Arista7060x6bP32O64 => 254,
            Self::Tomahawk6 | Self::Tomahawk6Nokia => 420,
            Self::Jericho2 | Self::Qumran3d => 1_024,
            Self::Qumran3dNexthop => 1,
            Self::Teralynx10 => 128,
        })
    }

    /// Returns the guaranteed bytes of a lossless group (`size`).
    pub const fn size(self) -> Bytes {
        Bytes(match self {
            Self::Tomahawk1 | Self::Tomahawk2 => 1_248,
            Self::Tomahawk3 => 2_540,
            Self::Tomahawk4 => 9_144,
            Self::Tomahawk5
            | Self::Arista7060x6V256
            | Self::Arista7060x6O128
            | Self::Arista7060x6bO128
            | Self::Arista7060x6bP32O64 => 18_796,
            Self::Tomahawk6 => 4_620,
            Self::Tomahawk6Nokia => 8_400,
            Self::Jericho2 | Self::Qumran3d | Self::Qumran3dNexthop => 0,
            Self::Teralynx10 => 1_518,
        })
    }

    /// Returns the published XON.
    pub const fn xon(self) -> Bytes {
        Bytes(match self {
            Self::Tomahawk1 => 2_288,
            Self::Tomahawk2 => 1_248,
            Self::Tomahawk3 => 2_540,
            Self::Tomahawk4 => 9_144,
            Self::Jericho2 | Self::Qumran3d => 2_560,
            Self::Tomahawk5
            | Self::Arista7060x6V256
            | Self::Arista7060x6O128
            | Self::Arista7060x6bO128
            | Self::Arista7060x6bP32O64
            | Self::Tomahawk6
            | Self::Tomahawk6Nokia
            | Self::Qumran3dNexthop
            | Self::Teralynx10 => 0,
        })
    }

    /// Returns the lines in ascending order of speed.
    pub const fn rows(self) -> &'static [ChipRow] {
        match self {
            Self::Tomahawk1 => &TOMAHAWK_1,
            Self::Tomahawk2 => &TOMAHAWK_2,
            Self::Tomahawk3 => &TOMAHAWK_3,
            Self::Tomahawk4 => &TOMAHAWK_4,
            Self::Tomahawk5 => &TOMAHAWK_5,
            Self::Arista7060x6V256 => &ARISTA_7060X6_V256,
            Self::Arista7060x6O128 => &ARISTA_7060X6_O128,
            Self::Arista7060x6bO128 => &ARISTA_7060X6B_O128,
            Self::Arista7060x6bP32O64 => &ARISTA_7060X6B_P32O64,
            Self::Tomahawk6 => &TOMAHAWK_6,
            Self::Tomahawk6Nokia => &TOMAHAWK_6_NOKIA,
            Self::Jericho2 => &JERICHO_2,
            Self::Qumran3d => &QUMRAN_3D,
            Self::Qumran3dNexthop => &QUMRAN_3D_NEXTHOP,
            Self::Teralynx10 => &TERALYNX_10,
        }
    }

    /// Returns the line at a speed.
    pub fn row(self, speed: Speed) -> Option<&'static ChipRow> {
        self.rows().iter().find(|row| row.speed == speed)
    }

    /// Returns the source of the numbers.
    pub(super) const fn source(self) -> &'static str {
        match self {
            Self::Tomahawk1 => "sonic-buildimage pg_profile_lookup.ini, Arista-7060CX-32S",
            Self::Tomahawk2 => "sonic-buildimage pg_profile_lookup.ini, th2/7260",
            Self::Tomahawk3 => "sonic-buildimage pg_profile_lookup.ini, DellEMC-Z9332f",
            Self::Tomahawk4 => "sonic-buildimage pg_profile_lookup.ini, DellEMC-Z9664f",
            Self::Tomahawk5 => "sonic-buildimage pg_profile_lookup.ini, M2-W6940-128QC",
            Self::Arista7060x6V256 => "sonic-buildimage pg_profile_lookup.ini, Arista-7060X6-64PE-256x200G",
            Self::Arista7060x6O128 => "sonic-buildimage pg_profile_lookup.ini, Arista-7060X6-64PE-O128S2",
            Self::Arista7060x6bO128 => "sonic-buildimage pg_profile_lookup.ini, Arista-7060X6-64PE-B-O128",
            Self::Arista7060x6bP32O64 => {
                "sonic-buildimage pg_profile_lookup.ini, Arista-7060X6-64PE-B-P32O64"
            }
            Self::Tomahawk6 => "sonic-buildimage pg_profile_lookup.ini, NH-4210",
            Self::Tomahawk6Nokia => "sonic-buildimage pg_profile_lookup.ini, Nokia-IXR7220-H6",
            Self::Jericho2 => "sonic-buildimage pg_profile_lookup.ini, Arista-7800R3",
            Self::Qumran3d => "sonic-buildimage pg_profile_lookup.ini, Arista-7280R4",
            Self::Qumran3dNexthop => "sonic-buildimage pg_profile_lookup.ini, NH-5010",
            Self::Teralynx10 => "sonic-buildimage pg_profile_lookup.ini, Marvell d64p512t",
        }
    }
}
