//! The formula behind the older lookup tables of Spectrum switches.
//!
//! In: an ASIC and a [`Request`]. Out: the rows of sonic-buildimage `device/mellanox/*/pg_profile_lookup.ini` for
//! ACS-MSN2700, ACS-MSN3700 and ACS-MSN4700, exactly or within one step of 1,024 bytes. Invariants: MTU and packet
//! sizes are those of the tables, whatever the topology.

use super::asic::ClassicAsic;
use super::link::Request;
use super::spectrum::{cable, small_packet_factor};
use super::{Headroom, Model, ceil_bytes, round_up};
use crate::explain::{Breakdown, Unit, exact};
use crate::units::Bytes;

const SOURCE: &str = "sonic-buildimage pg_profile_lookup.ini (ACS-MSN2700, 3700, 4700)";
const PIPELINE_KIB: u64 = 19;
const PORT_MTU: u32 = 9100;
const LOSSLESS_MTU: u32 = 1500;

/// Computes the row of the table.
pub(super) fn headroom(asic: ClassicAsic, request: &Request) -> Headroom {
    let link = request.link();
    let mut terms = Breakdown::default();
    let (factor, formula) = small_packet_factor(asic.cell());
    let worst = terms.push("worst-case cell factor", factor, Unit::Ratio, formula, SOURCE);
    terms.push("speed", link.mbps(), Unit::MegabitsPerSecond, "port", "topology");
    terms.push("cable", link.meters(), Unit::Meters, "one way", "topology");
    let mtu = terms.bytes("port MTU", exact(PORT_MTU, 1_u8), "fixed in the tables", SOURCE);
    let cable = cable(&mut terms, link.meters(), link.mbps(), 8_000, SOURCE);
    let mac_phy = terms.bytes("MAC and PHY", exact(8_u64 * 1024, 10_u8), "0.8 x 1024", SOURCE);
    let peer = terms.bytes("peer response", exact(38_u64 * 1024, 10_u8), "3.8 x 1024 at any speed", SOURCE);
    let in_flight = mtu + cable + mac_phy + peer;
    terms.bytes("bytes in flight", in_flight, "port MTU + cable + MAC and PHY + peer", SOURCE);
    let lossless_mtu = terms.bytes("lossless MTU", exact(LOSSLESS_MTU, 1_u8), "fixed in the tables", SOURCE);
    let xoff = terms.bytes(
        "XOFF",
        round_up(lossless_mtu + in_flight * worst, 1024),
        "lossless MTU + bytes in flight x worst-case factor, up to 1024",
        SOURCE,
    );
    let eight = link.lanes() == 8;
    let (kib, extra) = if eight { (2 * PIPELINE_KIB - 1, 9216_u32) } else { (PIPELINE_KIB, 0) };
    let why = if eight { "(2 x 19 - 1) x 1024 on a port of 8 lanes" } else { "19 x 1024" };
    let xon = terms.bytes("XON", exact(kib * 1024, 1_u8), why, SOURCE);
    let formula = if eight { "XOFF + XON + 9216 on a port of 8 lanes" } else { "XOFF + XON" };
    let size = terms.bytes("size", xoff + xon + exact(extra, 1_u8), formula, SOURCE);
    Headroom {
        model: Model::Classic(asic),
        xoff: ceil_bytes(xoff),
        xon: ceil_bytes(xon),
        size: ceil_bytes(size),
        pooled: Bytes::ZERO,
        xon_offset: None,
        threshold: None,
        terms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headroom::Link;
    use crate::profile::LosslessTraffic;
    use crate::units::{Length, Speed};

    fn find(asic: ClassicAsic, gbps: u32, meters: u32) -> Headroom {
        let lanes = if gbps == 400 { 8 } else { 4 };
        let link = Link::new(Speed::gbps(gbps), Length::from_meters(meters), Bytes(9100), lanes).unwrap();
        headroom(asic, &Request::new(link, LosslessTraffic::default(), false).unwrap())
    }

    /// Compares a table at 5, 40 and 300 m, and returns the number of exact rows. All others are within 1,024.
    fn exact_rows(asic: ClassicAsic, rows: &[(u32, [u64; 3])]) -> usize {
        let mut exact = 0;
        for (gbps, published) in rows {
            for (meters, published) in [5, 40, 300].into_iter().zip(published) {
                let found = find(asic, *gbps, meters).xoff.0;
                assert!(found.abs_diff(*published) <= 1024, "{gbps}G {meters} m: {found}, not {published}");
                exact += usize::from(found == *published);
            }
        }
        exact
    }

    #[test]
    fn msn2700_rows_come_out() {
        let rows = [
            (10, [29_696, 29_696, 36_864]),
            (25, [29_696, 31_744, 48_128]),
            (40, [29_696, 32_768, 59_392]),
            (50, [29_696, 33_792, 66_560]),
            (100, [30_720, 38_912, 104_448]),
        ];
        assert_eq!(exact_rows(ClassicAsic::Spectrum1, &rows), 12);
        assert_eq!(find(ClassicAsic::Spectrum1, 100, 5).xon, Bytes(19_456));
    }

    #[test]
    fn msn3700_and_msn4700_rows_come_out() {
        let rows = [
            (10, [32_768, 33_792, 40_960]),
            (25, [32_768, 35_840, 54_272]),
            (40, [33_792, 37_888, 66_560]),
            (50, [33_792, 38_912, 75_776]),
            (100, [33_792, 44_032, 117_760]),
            (200, [35_840, 55_296, 203_776]),
        ];
        assert_eq!(exact_rows(ClassicAsic::Spectrum2And3, &rows), 12);
        let faster = [(400, [38_912, 77_824, 373_760])];
        assert_eq!(exact_rows(ClassicAsic::Spectrum2And3, &faster), 2);
        for (meters, size) in [(5, 86_016), (300, 420_864)] {
            let found = find(ClassicAsic::Spectrum2And3, 400, meters);
            assert_eq!((found.xon, found.size), (Bytes(37_888), Bytes(size)));
        }
    }
}
