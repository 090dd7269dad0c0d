//! Headroom as a linear function of the cable length.
//!
//! In: a [`Chip`] and a [`Request`]. Out: XOFF = constant + fill x bytes on the cable in both directions, rounded up to
//! [`Chip::step`]. If a lookup table does not follow a line, XOFF is from the table. Invariants: XOFF is not below any
//! published point. MTU and packet mix are included in the constant and cannot be varied.
//!
//! The delay of the cable is 5 ns per metre, as in the published tables: 1 m at 400G holds 500 B in both directions
//! together.

use super::chips::{Chip, ChipRow};
use super::error::HeadroomError;
use super::link::Request;
use super::{Headroom, Model, ceil_bytes, round_up};
use crate::explain::{Breakdown, ExactFraction, Unit, exact};

/// Delay in nanoseconds per metre.
const NANOSECONDS_PER_METER: u32 = 5;

/// Computes the headroom. Fails for speeds without published values.
pub(super) fn headroom(chip: Chip, request: &Request) -> Result<Headroom, HeadroomError> {
    let link = request.link();
    let row = chip.row(link.speed()).ok_or_else(|| HeadroomError::SpeedUnknown {
        model: Model::Chip(chip),
        speed: link.speed(),
        allowed: chip.rows().iter().map(|row| format!("`{}`", row.speed)).collect::<Vec<_>>().join(", "),
    })?;
    let source = chip.source();
    let mut terms = Breakdown::default();
    terms.push("speed", link.mbps(), Unit::MegabitsPerSecond, "port", "topology");
    terms.push("cable", link.meters(), Unit::Meters, "one way", "topology");
    let xoff = match row.points {
        [] => line_xoff(chip, row, request, &mut terms),
        points => table_xoff(chip, row, points, request, &mut terms),
    };
    let ChipRow { xon_offset, threshold, .. } = *row;
    terms.bytes("XON", exact(chip.xon().0, 1_u8), "published", source);
    terms.bytes("XON offset", exact(xon_offset.0, 1_u8), "published", source);
    terms.bytes("size", exact(chip.size().0, 1_u8), "guaranteed; XOFF comes on top", source);
    Ok(Headroom {
        model: Model::Chip(chip),
        xoff: ceil_bytes(xoff),
        xon: chip.xon(),
        size: chip.size(),
        pooled: ceil_bytes(xoff),
        xon_offset: Some(xon_offset),
        threshold: Some(threshold),
        terms,
    })
}

/// Returns the bytes that each metre of cable adds.
fn bytes_per_meter(row: &ChipRow) -> ExactFraction {
    let (numerator, denominator) = row.fill;
    exact(2 * NANOSECONDS_PER_METER, 1_u8)
        * exact(row.speed.mbps(), 8_000_u16)
        * exact(numerator, denominator)
}

/// Returns XOFF from the points of a lookup table.
fn table_xoff(
    chip: Chip,
    row: &ChipRow,
    points: &[(u32, u64)],
    request: &Request,
    terms: &mut Breakdown,
) -> ExactFraction {
    let meters = request.link().meters();
    let at = |(meters, xoff): (u32, u64)| (exact(meters, 1_u8), exact(xoff, 1_u8));
    let before = points.iter().rev().copied().map(at).find(|(known, _)| *known <= meters);
    let after = points.iter().copied().map(at).find(|(known, _)| *known >= meters);
    let step = chip.step().0;
    let (xoff, formula) = match (before, after) {
        (Some((known, xoff)), _) if known == meters => (xoff, format!("the row of {known} m")),
        (None, Some((known, xoff))) => (xoff, format!("the row of {known} m, the shortest")),
        (Some((near, less)), Some((far, more))) => {
            let xoff = less + (more - less) * (meters - near) / (far - near);
            (round_up(xoff, step), format!("between the rows of {near} m and {far} m, up to {step}"))
        }
        (Some((known, xoff)), None) => {
            let longer = (meters - known) * bytes_per_meter(row);
            let formula = format!("the row of {known} m, the longest, and the line behind it, up to {step}");
            (round_up(xoff + longer, step), formula)
        }
        (None, None) => unreachable!("a table has a point"),
    };
    terms.bytes("XOFF", xoff, formula, chip.source())
}

/// Returns XOFF on the line of a row.
fn line_xoff(chip: Chip, row: &ChipRow, request: &Request, terms: &mut Breakdown) -> ExactFraction {
    let link = request.link();
    let ChipRow { constant, fill: (numerator, denominator), shortest, .. } = *row;
    let source = chip.source();
    let length = link.meters().max(exact(shortest.millimeters(), 1_000_u16));
    let cable = terms.bytes(
        "bytes on the cable",
        exact(2 * NANOSECONDS_PER_METER, 1_u8) * length * link.mbps() / exact(8_000_u16, 1_u8),
        if length > link.meters() {
            format!("2 x {shortest}, the shortest published, x {NANOSECONDS_PER_METER} ns/m x speed / 8")
        } else {
            format!("2 x cable x {NANOSECONDS_PER_METER} ns/m x speed / 8")
        },
        "5 ns/m, both ways",
    );
    let why = if denominator == 84 {
        format!("cell {numerator} / (64 + 20) of a 64-byte packet on the wire")
    } else {
        "measured on the published table".to_owned()
    };
    let fill = terms.push("fill factor", exact(numerator, denominator), Unit::Ratio, why, source);
    let constant = terms.bytes(
        "platform constant",
        exact(constant.0, 1_u8),
        "smallest with which no published point is above the line",
        source,
    );
    let step = chip.step().0;
    terms.bytes(
        "XOFF",
        round_up(constant + cable * fill, step),
        format!("constant + bytes on the cable x fill, up to {step}"),
        source,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headroom::Link;
    use crate::profile::LosslessTraffic;
    use crate::units::{Bytes, Length, Speed};

    fn find(chip: Chip, gbps: u32, meters: u32) -> Headroom {
        let link = Link::new(Speed::gbps(gbps), Length::from_meters(meters), Bytes(9216), 4).unwrap();
        headroom(chip, &Request::new(link, LosslessTraffic::default(), false).unwrap()).unwrap()
    }

    /// Published points: chip, speed in Gb/s, then lengths in metres with XOFF in bytes.
    type Points = (Chip, u32, &'static [(u32, u64)]);

    /// From sonic-buildimage `pg_profile_lookup.ini` of the platforms that [`Chip`] names.
    const PUBLISHED: &[Points] = &[
        (Chip::Tomahawk1, 100, &[(5, 165_568), (40, 177_632), (300, 268_736)]),
        (Chip::Tomahawk2, 100, &[(5, 54_080), (40, 59_696), (300, 101_088)]),
        (
            Chip::Tomahawk3,
            100,
            &[(5, 68_580), (40, 74_422), (300, 117_348), (1000, 233_172), (2000, 398_526)],
        ),
        (
            Chip::Tomahawk3,
            400,
            &[(5, 178_562), (40, 201_930), (300, 373_888), (1000, 836_676), (2000, 1_498_092)],
        ),
        (Chip::Tomahawk4, 100, &[(5, 129_032), (40, 142_240), (300, 240_538)]),
        (Chip::Tomahawk4, 200, &[(5, 214_122), (40, 240_792), (300, 437_134)]),
        (Chip::Tomahawk4, 400, &[(5, 371_348), (40, 424_434), (300, 817_372)]),
        (Chip::Tomahawk5, 100, &[(5, 147_066), (40, 160_274), (300, 258_572)]),
        (Chip::Tomahawk5, 200, &[(5, 229_362), (40, 255_778), (300, 452_374)]),
        (
            Chip::Tomahawk5,
            400,
            &[
                (5, 393_192),
                (40, 445_770),
                (40, 446_024),
                (60, 475_136),
                (150, 611_328),
                (300, 839_216),
                (500, 1_136_396),
            ],
        ),
        (Chip::Tomahawk5, 800, &[(5, 724_662), (5, 729_488), (40, 833_536), (40, 835_406), (300, 1_621_536)]),
        (Chip::Arista7060x6V256, 100, &[(5, 300_990), (40, 300_990)]),
        (Chip::Arista7060x6V256, 200, &[(5, 300_990), (40, 300_990)]),
        (Chip::Arista7060x6O128, 400, &[(5, 612_140), (40, 612_140), (150, 612_140)]),
        (
            Chip::Arista7060x6bO128,
            400,
            &[(5, 445_770), (30, 445_770), (40, 445_770), (60, 475_136), (150, 611_328), (500, 1_136_396)],
        ),
        (Chip::Arista7060x6bO128, 100, &[(5, 445_770), (500, 1_136_396)]),
        (Chip::Arista7060x6bP32O64, 400, &[(5, 425_958), (30, 425_958), (300, 839_216), (500, 1_136_396)]),
        (Chip::Arista7060x6bP32O64, 800, &[(5, 724_662), (40, 833_536), (300, 1_621_536)]),
        (
            Chip::Tomahawk6,
            800,
            &[(5, 1_249_080), (30, 1_374_240), (40, 1_424_220), (300, 2_724_120), (500, 3_724_140)],
        ),
        (Chip::Tomahawk6, 400, &[(5, 650_160), (40, 737_940), (300, 1_387_680), (500, 1_887_900)]),
        (Chip::Tomahawk6, 100, &[(5, 229_740), (40, 251_580), (300, 414_120), (500, 538_860)]),
        (
            Chip::Tomahawk6Nokia,
            800,
            &[(5, 797_580), (30, 835_380), (40, 850_080), (300, 1_239_840), (500, 1_539_720)],
        ),
        (
            Chip::Tomahawk6Nokia,
            400,
            &[(5, 464_520), (30, 483_420), (40, 490_980), (300, 686_280), (500, 836_640)],
        ),
        (
            Chip::Jericho2,
            100,
            &[(300, 110_592), (1000, 225_280), (2000, 393_216), (80_000, 13_357_056), (120_000, 20_004_864)],
        ),
        (
            Chip::Jericho2,
            400,
            &[
                (300, 315_392),
                (1000, 778_240),
                (2000, 1_445_888),
                (80_000, 53_305_344),
                (120_000, 79_900_672),
            ],
        ),
        (Chip::Qumran3d, 100, &[(30, 385_024), (2000, 385_024), (80_000, 13_352_960), (120_000, 20_000_768)]),
        (
            Chip::Qumran3d,
            400,
            &[(30, 1_441_792), (2000, 1_441_792), (80_000, 53_305_344), (120_000, 79_900_672)],
        ),
        (
            Chip::Qumran3d,
            800,
            &[(30, 2_850_816), (2000, 2_850_816), (80_000, 106_573_824), (120_000, 159_764_480)],
        ),
        (
            Chip::Qumran3dNexthop,
            400,
            &[(30, 514_553), (300, 651_640), (2000, 1_514_785), (120_000, 62_653_744)],
        ),
        (
            Chip::Qumran3dNexthop,
            800,
            &[(30, 244_000), (50, 244_000), (300, 564_000), (2000, 2_736_000), (120_000, 153_440_000)],
        ),
        (Chip::Teralynx10, 400, &[(1, 127_360), (5, 129_920), (40, 147_072), (100, 178_560), (300, 280_960)]),
        (Chip::Teralynx10, 800, &[(1, 244_864), (5, 247_424), (40, 285_312), (100, 345_984), (300, 550_528)]),
    ];

    #[test]
    fn no_published_point_is_above_the_line_or_one_percent_below() {
        for (chip, gbps, points) in PUBLISHED {
            for (meters, published) in *points {
                let found = find(*chip, *gbps, *meters).xoff.0;
                let what = format!("{chip:?} {gbps}G {meters} m: {found}, published {published}");
                assert!(found >= *published, "{what}");
                // The points of NH-5010 at 400G do not form a line. All others do, within 1 %.
                let bound = if (*chip, *gbps) == (Chip::Qumran3dNexthop, 400) { 70 } else { 100 };
                assert!((found - published) * bound <= *published, "{what}");
            }
        }
    }

    #[test]
    fn the_worst_case_of_small_packets_reproduces_the_tables_exactly() {
        // Micas and Nexthop compute with cell / 84, so the line matches their rows exactly.
        for (chip, gbps, points) in PUBLISHED {
            let theirs = matches!(chip, Chip::Tomahawk4 | Chip::Tomahawk6)
                || (*chip == Chip::Tomahawk5 && matches!(gbps, 100 | 200));
            for (meters, published) in points.iter().filter(|_| theirs) {
                assert_eq!(find(*chip, *gbps, *meters).xoff, Bytes(*published), "{chip:?} {gbps} {meters}");
            }
        }
    }

    /// Arista's tables do not follow a line. If the hwsku of a port has a table, its values are used.
    #[test]
    fn tables_of_hwskus_are_used_as_they_are() {
        for (chip, gbps, points) in PUBLISHED {
            let table = chip.row(Speed::gbps(*gbps)).expect("a row").points;
            for (meters, published) in points.iter().filter(|_| !table.is_empty()) {
                assert_eq!(find(*chip, *gbps, *meters).xoff, Bytes(*published), "{chip:?} {gbps} {meters}");
            }
        }
        let of = |meters| find(Chip::Arista7060x6V256, 200, meters).xoff.0;
        assert_eq!((of(1), of(20)), (300_990, 300_990));
        // 250 B on each metre of cable, each in 254 / 84 bytes of buffer.
        assert!((300_990 + 60 * 250 * 3..300_990 + 61 * 250 * 254 / 84).contains(&of(100)), "{}", of(100));
        // Halfway between 30 m and 300 m.
        assert_eq!(find(Chip::Arista7060x6bP32O64, 400, 165).xoff, Bytes(632_714));
    }

    #[test]
    fn long_haul_on_jericho_class_is_the_published_one() {
        // One priority at 400G. The table has 53,305,344 and 79,900,672 B.
        for (meters, published, human) in [(80_000, 53_305_344, "53.3 MB"), (120_000, 79_900_672, "79.9 MB")]
        {
            let found = find(Chip::Jericho2, 400, meters).xoff;
            assert!(found.0.abs_diff(published) <= published / 10_000, "{found}, published {published}");
            assert_eq!(found.human(), human);
        }
    }

    #[test]
    fn slopes_are_the_measured_ones() {
        // Bytes of buffer per byte on the cable, in both directions at 5 ns per metre: 1 m at 400G is 500 B.
        for (chip, gbps, measured) in [
            (Chip::Tomahawk5, 400, 3.0),
            (Chip::Tomahawk5, 800, 3.02),
            (Chip::Tomahawk6, 800, 5.0),
            (Chip::Tomahawk3, 400, 1.32),
            (Chip::Jericho2, 400, 1.33),
            (Chip::Qumran3dNexthop, 800, 1.28),
            (Chip::Teralynx10, 400, 1.02),
        ] {
            let (near, far) = (find(chip, gbps, 1_000).xoff.0, find(chip, gbps, 101_000).xoff.0);
            let slope = (far - near) as f64 / (100_000.0 * f64::from(gbps) * 1.25);
            assert!((slope / measured - 1.0).abs() < 0.01, "{chip:?}: {slope}, measured {measured}");
        }
    }

    #[test]
    fn a_speed_without_a_table_is_refused() {
        let link = Link::new(Speed::gbps(25), Length::from_meters(5), Bytes(9216), 1).unwrap();
        let request = Request::new(link, LosslessTraffic::default(), false).unwrap();
        assert_eq!(
            headroom(Chip::Jericho2, &request).unwrap_err().to_string(),
            "headroom model `broadcom-jericho-2` has no numbers for 25G: it has `100G`, `400G`; \
             `ieee-802-1qbb` has a formula for other speeds"
        );
    }
}
