//! SONiC's dynamic headroom for NVIDIA Spectrum (and its virtual switch).
//!
//! In: an ASIC and a [`Request`]. Out: the numbers of SONiC's `buffermgrd`. Invariants: results equal those of
//! sonic-swss `cfgmgr/buffer_headroom_mellanox.lua` (at e6b0c5b5), which uses doubles; fractions are exact here.
//!
//! After the pause is sent, more bytes still arrive. These are one MTU that the sender was sending, and the bytes on
//! the cable in both directions, in gearboxes, in MAC and PHY, and in a tile. The sender also continues to send until
//! it reacts. Small packets use buffer cells inefficiently, so the sum is multiplied by the cell occupancy. One
//! lossless packet is added, and the result is rounded up to 1,024 bytes.

use super::asic::SpectrumAsic;
use super::link::Request;
use super::quanta::{BIT_TIMES_PER_QUANTUM, sonic_pause_quanta};
use super::{Headroom, LIGHT_METERS_PER_SECOND, Model, ceil_bytes, round_up};
use crate::explain::{Breakdown, ExactFraction, Unit, exact};
use crate::units::Bytes;

/// Source of the formula.
const SCRIPT: &str = "sonic-swss buffer_headroom_mellanox.lua";
/// Source of the ASIC constants.
const TABLE: &str = "sonic-buildimage asic_table.j2";
/// The smallest packet.
pub(super) const SMALL_PACKET: u32 = 64;

/// Constants of a port. They are separate, so that tests can reproduce other tables.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constants {
    pub(super) asic: SpectrumAsic,
    pub(super) quanta: Option<u32>,
    pub(super) accounting_bytes: Bytes,
}

/// Computes the headroom.
pub(super) fn headroom(asic: SpectrumAsic, request: &Request) -> Headroom {
    let quanta = sonic_pause_quanta(request.link().speed());
    with_constants(Constants { asic, quanta, accounting_bytes: asic.accounting_bytes() }, request)
}

/// Computes the headroom with given constants.
pub(super) fn with_constants(constants: Constants, request: &Request) -> Headroom {
    let Constants { asic, quanta, accounting_bytes: accounting } = constants;
    let (link, traffic) = (request.link(), request.traffic());
    let mut terms = Breakdown::default();
    let worst = worst_case(&mut terms, asic.cell());
    let occupancy = occupancy(&mut terms, request, worst);
    let in_flight = in_flight(&mut terms, asic, quanta, request);

    let lossless_mtu = exact(traffic.mtu.0, 1_u8);
    let base = terms.bytes(
        "XOFF from the formula",
        round_up(lossless_mtu + in_flight * occupancy, 1024),
        "lossless MTU + bytes in flight x cell occupancy, up to 1024",
        SCRIPT,
    );
    let mut xoff = base;
    if accounting > Bytes::ZERO {
        xoff += terms.bytes(
            "packet buffer accounting",
            exact(accounting.0, 1_u8),
            "18 x 1024 on Spectrum-6",
            SCRIPT,
        );
    }
    if !request.shared_headroom() && traffic.small_packets.get() != 100 {
        xoff += compensation(&mut terms, xoff, lossless_mtu + in_flight * worst);
    }
    terms.bytes("XOFF", xoff, "the sum of the above", SCRIPT);

    let pipeline = terms.bytes(
        "pipeline",
        exact(asic.pipeline_kib() * 1024, 1_u8),
        format!("{} x 1024", asic.pipeline_kib()),
        TABLE,
    );
    let eight = link.lanes() == 8;
    let (factor, extra) = if eight { (2_u8, link.mtu()) } else { (1, Bytes::ZERO) };
    let why = if eight { "2 x pipeline on a port of 8 lanes" } else { "pipeline" };
    let xon = terms.bytes("XON", round_up(pipeline * exact(factor, 1_u8), 1024), why, SCRIPT);
    let (size, formula) = if request.shared_headroom() {
        (xon, "XON; XOFF comes from the shared headroom pool")
    } else if eight {
        (xoff + xon + exact(extra.0, 1_u8), "XOFF + XON + port MTU on a port of 8 lanes, up to 1024")
    } else {
        (xoff + xon, "XOFF + XON, up to 1024")
    };
    let size = terms.bytes("size", round_up(size, 1024), formula, SCRIPT);
    let outside = xoff + xon;
    Headroom {
        model: Model::Spectrum(asic),
        xoff: ceil_bytes(xoff),
        xon: ceil_bytes(xon),
        size: ceil_bytes(size),
        pooled: if outside > size { ceil_bytes(outside - size) } else { Bytes::ZERO },
        xon_offset: None,
        threshold: None,
        terms,
    }
}

/// Returns the most bytes of cells that a byte of a packet can need, not rounded, and the formula. The worst
/// packet has 64 bytes, or one byte more than a small cell.
pub(super) fn small_packet_factor(cell: Bytes) -> (ExactFraction, String) {
    if cell.0 > 2 * u64::from(SMALL_PACKET) {
        (exact(cell.0, SMALL_PACKET), format!("{} / {SMALL_PACKET}", cell.0))
    } else {
        (exact(2 * cell.0, 1 + cell.0), format!("2 x {0} / (1 + {0})", cell.0))
    }
}

fn worst_case(terms: &mut Breakdown, cell: Bytes) -> ExactFraction {
    terms.bytes("cell", exact(cell.0, 1_u8), "buffer allocation unit", TABLE);
    let (factor, formula) = small_packet_factor(cell);
    terms.push("worst-case cell factor", factor.ceil(), Unit::Ratio, format!("{formula}, rounded up"), SCRIPT)
}

/// Weights the worst-case factor by the share of bytes in small packets, as in the script.
fn occupancy(terms: &mut Breakdown, request: &Request, worst: ExactFraction) -> ExactFraction {
    let traffic = request.traffic();
    let (percent, mtu) = (exact(traffic.small_packets.get(), 1_u8), exact(traffic.mtu.0, 1_u8));
    let hundred = exact(100_u8, 1_u8);
    terms.bytes("lossless MTU", mtu, "largest lossless packet", "profile: lossless_traffic.mtu");
    terms.push("small packets", percent, Unit::Percent, "of all packets", "profile: lossless_traffic");
    let small = exact(SMALL_PACKET, 1_u8);
    let mean = (percent * small + (hundred - percent) * mtu) / hundred;
    let by_bytes = terms.push(
        "small packets by bytes",
        hundred * small / mean,
        Unit::Percent,
        "100 x 64 / mean packet size",
        SCRIPT,
    );
    terms.push(
        "cell occupancy",
        (hundred - by_bytes + by_bytes * worst) / hundred,
        Unit::Ratio,
        "(100 - small by bytes + small by bytes x worst-case factor) / 100",
        SCRIPT,
    )
}

/// Sums the bytes that arrive after the pause was sent.
fn in_flight(
    terms: &mut Breakdown,
    asic: SpectrumAsic,
    quanta: Option<u32>,
    request: &Request,
) -> ExactFraction {
    let link = request.link();
    let (meters, mbps) = (link.meters(), link.mbps());
    terms.push("speed", mbps, Unit::MegabitsPerSecond, "port", "topology");
    terms.push("cable", meters, Unit::Meters, "one way", "topology");
    let mtu =
        terms.bytes("port MTU", exact(link.mtu().0, 1_u8), "a packet already on its way out", "topology");
    let cable = cable(terms, meters, mbps, 8_000, SCRIPT);
    let gearbox = gearbox(terms, request, SCRIPT);
    let mac_phy = terms.bytes("MAC and PHY", SpectrumAsic::mac_phy(), "0.8 x 1024", TABLE);
    let peer = match quanta {
        Some(quanta) => terms.bytes(
            "peer response",
            exact(quanta * BIT_TIMES_PER_QUANTUM / 8, 1_u8),
            format!("{quanta} pause quanta x 512 / 8"),
            "IEEE 802.3 31B.3.7",
        ),
        None => terms.bytes("peer response", SpectrumAsic::peer_response(), "3.8 x 1024", TABLE),
    };
    let mut sum = mtu + cable + gearbox + mac_phy + peer;
    let mut formula = "port MTU + cable + gearboxes + MAC and PHY + peer".to_owned();
    if asic.has_tile() {
        let tile = mbps / exact(1000_u16, 1_u8) * exact(120_u8, 8_u8);
        sum += terms.bytes("tile", tile, "120 ns at the speed of the port", SCRIPT);
        formula.push_str(" + tile");
    }
    terms.bytes("bytes in flight", sum, formula, SCRIPT)
}

/// Returns the bytes on the cable in both directions. The divisor is 8,000 for Spectrum, and 8,192 in the script for
/// Tofino.
pub(super) fn cable(
    terms: &mut Breakdown,
    meters: ExactFraction,
    mbps: ExactFraction,
    divisor: u32,
    source: &'static str,
) -> ExactFraction {
    let value = meters * mbps * exact(2_000_000_000_u64, LIGHT_METERS_PER_SECOND) / exact(divisor, 1_u8);
    let formula = format!("2 x cable x speed x 10^9 / {LIGHT_METERS_PER_SECOND} m/s / {divisor}");
    terms.bytes("bytes on the cable", value, formula, source)
}

/// Returns the bytes in the gearboxes of both ends.
pub(super) fn gearbox(terms: &mut Breakdown, request: &Request, source: &'static str) -> ExactFraction {
    let link = request.link();
    let delay = exact(link.gearbox_delay().0, 1_u8);
    let value = exact(2_u8, 1_u8) * link.mbps() * delay / exact(8192_u16, 1_u8);
    let formula = format!("2 x speed x {} ns / 8192", link.gearbox_delay().0);
    terms.bytes("bytes in gearboxes", value, formula, source)
}

/// Returns SONiC's compensation: 2048 bytes if the packet mix needs over 2048 bytes less than the worst case,
/// otherwise 0.
fn compensation(terms: &mut Breakdown, xoff: ExactFraction, worst: ExactFraction) -> ExactFraction {
    let worst = terms.bytes(
        "XOFF if all packets were small",
        round_up(worst, 1024),
        "lossless MTU + bytes in flight x worst-case factor, up to 1024",
        SCRIPT,
    );
    let step = exact(2048_u16, 1_u8);
    let added = if xoff + step < worst { step } else { exact(0_u8, 1_u8) };
    terms.bytes(
        "small packet compensation",
        added,
        "2048 if that much still is below the worst case, without shared headroom",
        SCRIPT,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::Percent;
    use crate::headroom::Link;
    use crate::profile::LosslessTraffic;
    use crate::units::{Length, Nanoseconds, Speed};

    fn request(mbps: u32, meters: u32, lanes: u8, mtu: u64, small: u8, shared: bool) -> Request {
        let speed = Speed::from_mbps(mbps).unwrap();
        let link = Link::new(speed, Length::from_meters(meters), Bytes(9100), lanes).unwrap();
        let traffic = LosslessTraffic { mtu: Bytes(mtu), small_packets: Percent::new(small).unwrap() };
        Request::new(link, traffic, shared).unwrap()
    }

    /// Counts exact rows, and checks that the others differ by at most one step of 1,024.
    fn exact_rows(rows: &[(u32, u32, u64)], xoff: impl Fn(u32, u32) -> Bytes) -> usize {
        rows.iter()
            .filter(|(mbps, meters, published)| {
                let found = xoff(*mbps, *meters).0;
                assert!(found.abs_diff(*published) <= 1024, "{mbps} {meters}: {found}, not {published}");
                found == *published
            })
            .count()
    }

    #[test]
    fn shared_headroom_leaves_only_xon_in_the_size() {
        let alone = headroom(SpectrumAsic::Spectrum4, &request(400_000, 40, 4, 1024, 50, false));
        let shared = headroom(SpectrumAsic::Spectrum4, &request(400_000, 40, 4, 1024, 50, true));
        assert_eq!((alone.size, alone.pooled), (Bytes(139_264), Bytes::ZERO));
        // This is without the compensation of 2,048 bytes, which is added only to unshared headroom.
        assert_eq!((shared.size, shared.xon), (Bytes(19_456), Bytes(19_456)));
        assert_eq!((shared.xoff, shared.pooled), (Bytes(117_760), Bytes(117_760)));
    }

    #[test]
    fn gearboxes_of_both_ends_count() {
        // SN3800: 400 ns. 2 x 100000 x 400 / 8192 = 9765.6 B.
        let link = Link::new(Speed::gbps(100), Length::from_meters(40), Bytes(9100), 4).unwrap();
        let slow = link.with_gearbox(Nanoseconds(400)).unwrap();
        let traffic = LosslessTraffic::default();
        let xoff = |link| headroom(SpectrumAsic::Spectrum2, &Request::new(link, traffic, false).unwrap());
        let (fast, slow) = (xoff(link), xoff(slow));
        assert_eq!(slow.terms.term("bytes in gearboxes").unwrap().value.to_string(), "9765.625");
        assert!(slow.xoff > fast.xoff);
    }

    #[test]
    fn sn5600_table_comes_out() {
        // sonic-buildimage ACS-SN5600 pg_profile_lookup.ini: lossless MTU 1500, and all packets small. 22 of 24 rows
        // are exact.
        const ROWS: &[(u32, u32, u64)] = &[
            (10_000, 5, 45_056),
            (25_000, 5, 48_128),
            (40_000, 5, 57_344),
            (50_000, 5, 63_488),
            (100_000, 5, 113_664),
            (200_000, 5, 131_072),
            (400_000, 5, 231_424),
            (800_000, 5, 257_024),
            (10_000, 40, 46_080),
            (25_000, 40, 52_224),
            (40_000, 40, 62_464),
            (50_000, 40, 69_632),
            (100_000, 40, 126_976),
            (200_000, 40, 157_696),
            (400_000, 40, 283_648),
            (800_000, 40, 362_496),
            (10_000, 300, 56_320),
            (25_000, 300, 76_800),
            (40_000, 300, 101_376),
            (50_000, 300, 118_784),
            (100_000, 300, 225_280),
            (200_000, 300, 355_328),
            (400_000, 300, 677_888),
            (800_000, 300, 1_150_976),
        ];
        let lanes = |mbps| if mbps == 800_000 { 8 } else { 4 };
        let find = |mbps, meters| {
            headroom(SpectrumAsic::Spectrum4, &request(mbps, meters, lanes(mbps), 1500, 100, false))
        };
        assert_eq!(exact_rows(ROWS, |mbps, meters| find(mbps, meters).xoff), 22);
        for (meters, size) in [(5, 304_128), (40, 410_624), (300, 1_198_080)] {
            // The table seems to add the size before XOFF is rounded: one step of difference.
            let found = find(800_000, meters);
            assert_eq!(found.xon, Bytes(38_912));
            assert!(found.size.0.abs_diff(size) <= 1024, "{meters} m: {}, not {size}", found.size);
        }
        assert_eq!(find(100_000, 5).xon, Bytes(19_456));
    }

    #[test]
    fn sn5640_table_comes_out() {
        // Mellanox-SN5640-C512S2, shared headroom: lossless MTU 4096, and half of the packets small.
        const ROWS: &[(u32, u32, u64)] = &[
            (100_000, 5, 44_032),
            (200_000, 5, 50_176),
            (400_000, 5, 86_016),
            (100_000, 30, 48_128),
            (200_000, 30, 57_344),
            (400_000, 30, 99_328),
            (100_000, 40, 49_152),
            (200_000, 40, 60_416),
            (400_000, 40, 104_448),
            (100_000, 250, 76_800),
            (200_000, 250, 116_736),
            (400_000, 250, 217_088),
            (100_000, 300, 83_968),
            (200_000, 300, 130_048),
            (400_000, 300, 243_712),
            (100_000, 1000, 177_152),
            (200_000, 1000, 317_440),
            (400_000, 1000, 619_520),
        ];
        let find =
            |mbps, meters| headroom(SpectrumAsic::Spectrum5, &request(mbps, meters, 4, 4096, 50, true));
        assert_eq!(exact_rows(ROWS, |mbps, meters| find(mbps, meters).xoff), 14);
        // With shared headroom, the size of a group is its XON, the 19 KB of the pipeline.
        assert_eq!(find(400_000, 5).size, Bytes(19_456));
    }

    #[test]
    fn sn6600_table_comes_out_with_the_constants_of_its_time() {
        // ACS-SN6600_LD: as above, without the 18 KB of accounting, and with twice the quanta at 800G.
        const ROWS: &[(u32, u32, u64)] = &[
            (100_000, 5, 44_032),
            (200_000, 5, 48_128),
            (400_000, 5, 81_920),
            (800_000, 5, 147_456),
            (100_000, 40, 48_128),
            (200_000, 40, 58_368),
            (400_000, 40, 101_376),
            (800_000, 40, 186_368),
            (100_000, 300, 84_992),
            (200_000, 300, 130_048),
            (400_000, 300, 244_736),
            (800_000, 300, 473_088),
        ];
        let find = |mbps, meters| {
            let quanta = if mbps == 800_000 {
                Some(1810)
            } else {
                sonic_pause_quanta(Speed::from_mbps(mbps).unwrap())
            };
            let constants =
                Constants { asic: SpectrumAsic::Spectrum6, quanta, accounting_bytes: Bytes::ZERO };
            with_constants(constants, &request(mbps, meters, 4, 4096, 50, true))
        };
        assert_eq!(exact_rows(ROWS, |mbps, meters| find(mbps, meters).xoff), 9);
        // XON in the table is the pipeline of 42 KB.
        assert_eq!(find(400_000, 5).xon, Bytes(43_008));
    }
}
