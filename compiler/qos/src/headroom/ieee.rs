//! The generic formula of IEEE 802.1Qbb, for any switch.
//!
//! In: a [`Request`], and the cell of the buffer if it is known. Out: headroom from the bounds of the standard.
//! Invariants: all terms are computed in bit times, as in the standard, and converted to bytes last.
//!
//! When a group pauses its sender, the pause frame may first wait for a frame of maximum size. It is then sent, and
//! passes both interfaces and the cable. The sender needs time to react, and finishes a frame of the lossless class.
//! All bytes on the cable still arrive. Sources: the derivation in the Cisco Press book on storage congestion, chapter
//! 7, and Cisco white paper c11-542809; response times IEEE 802.3 31B.3.7.

use super::error::HeadroomError;
use super::link::Request;
use super::quanta::{BIT_TIMES_PER_QUANTUM, interface_bit_times, pause_quanta};
use super::{Headroom, Model, ceil_bytes, round_up};
use crate::explain::{Breakdown, ExactFraction, Unit, exact};
use crate::units::Bytes;

const BOOK: &str = "IEEE 802.1Qbb, as in Cisco Press, congestion in storage networks, ch. 7";
/// Gap between frames, preamble and start of frame, in bit times.
const GAP: u32 = 96;
const PREAMBLE: u32 = 64;
/// A PFC frame, in bit times.
const PAUSE: u32 = 512;
/// Size of the smallest frame on the wire, in bytes.
const SMALLEST_ON_WIRE: u32 = 84;

/// Computes the headroom. `cell` is the allocation unit of the buffer; `None` if it is unknown.
pub(super) fn headroom(request: &Request, cell: Option<Bytes>) -> Result<Headroom, HeadroomError> {
    let link = request.link();
    let unknown =
        || HeadroomError::SpeedUnknown { model: Model::Ieee, speed: link.speed(), allowed: known_speeds() };
    let quanta = pause_quanta(link.speed()).ok_or_else(unknown)?;
    let (interface, published) = interface_bit_times(link.speed()).ok_or_else(unknown)?;
    let mut terms = Breakdown::default();
    terms.push("speed", link.mbps(), Unit::MegabitsPerSecond, "port", "topology");
    terms.push("cable", link.meters(), Unit::Meters, "one way", "topology");
    let mut bits = |name, value: ExactFraction, formula: String, source| {
        terms.push(name, value, Unit::BitTimes, formula, source)
    };
    let (mtu, lossless) = (link.mtu().0, request.traffic().mtu.0);
    let waiting = bits(
        "largest frame before the pause",
        exact(8 * mtu + u64::from(GAP + PREAMBLE), 1_u8),
        format!("8 x {mtu} + {GAP} (gap) + {PREAMBLE} (preamble)"),
        BOOK,
    );
    let pause = bits(
        "pause frame",
        exact(PAUSE + GAP + PREAMBLE, 1_u8),
        format!("{PAUSE} + {GAP} + {PREAMBLE}"),
        BOOK,
    );
    let interfaces = bits(
        "both interfaces",
        exact(2 * interface, 1_u8),
        format!("2 x {interface}"),
        if published { BOOK } else { "inferred: 1228.8 ns, the bound of 100G" },
    );
    // 5 ns/m x Mb/s = 1/200 bit per metre.
    let cable = bits(
        "cable there and back",
        link.meters() * link.mbps() * exact(2_u8, 200_u8),
        "2 x cable x 5 ns/m x speed".to_owned(),
        BOOK,
    );
    let response = bits(
        "response of the far end",
        exact(quanta * BIT_TIMES_PER_QUANTUM, 1_u8),
        format!("{quanta} pause quanta x {BIT_TIMES_PER_QUANTUM}"),
        "IEEE 802.3 31B.3.7",
    );
    let last = bits(
        "lossless frame already begun",
        exact(8 * lossless + u64::from(GAP + PREAMBLE), 1_u8),
        format!("8 x {lossless} + {GAP} + {PREAMBLE}"),
        BOOK,
    );
    let total = bits(
        "headroom on the wire",
        waiting + pause + interfaces + cable + response + last,
        "the sum of the above".to_owned(),
        BOOK,
    );
    Ok(finish(terms, total, request, cell))
}

/// Converts bit times to cells of buffer.
fn finish(mut terms: Breakdown, total: ExactFraction, request: &Request, cell: Option<Bytes>) -> Headroom {
    let wire = terms.bytes("bytes on the wire", total / exact(8_u8, 1_u8), "bit times / 8", BOOK);
    let (fill, formula, step) = match cell {
        Some(Bytes(cell)) if cell > u64::from(SMALLEST_ON_WIRE) => {
            let percent = exact(request.traffic().small_packets.get(), 100_u8);
            let one = exact(1_u8, 1_u8);
            let worst = exact(cell, SMALLEST_ON_WIRE);
            let formula = format!(
                "1 + small packets {} % x ({cell} / {SMALLEST_ON_WIRE} - 1)",
                request.traffic().small_packets
            );
            (one + percent * (worst - one), formula, cell)
        }
        Some(Bytes(cell)) => (exact(1_u8, 1_u8), "cell no larger than the smallest frame".to_owned(), cell),
        None => (exact(1_u8, 1_u8), "cell not known, none wasted".to_owned(), 1),
    };
    let fill = terms.push("fill factor", fill, Unit::Ratio, formula, "buffer cells against 64-byte packets");
    let xoff = terms.bytes(
        "XOFF",
        round_up(wire * fill, step),
        format!("bytes on the wire x fill factor, up to {step}"),
        BOOK,
    );
    let resume = terms.bytes(
        "XON offset",
        round_up(exact(request.link().mtu().0, 1_u8), step),
        format!("one MTU, up to {step}"),
        "as the Linux mlx5 driver: go on one packet below XOFF",
    );
    terms.bytes("size", xoff, "XOFF; all of it belongs to the group", BOOK);
    Headroom {
        model: Model::Ieee,
        xoff: ceil_bytes(xoff),
        xon: Bytes::ZERO,
        size: ceil_bytes(xoff),
        pooled: Bytes::ZERO,
        xon_offset: Some(ceil_bytes(resume)),
        threshold: None,
        terms,
    }
}

fn known_speeds() -> String {
    [10, 25, 40, 50, 100, 200, 400, 800].map(|gbps| format!("`{gbps}G`")).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::Percent;
    use crate::headroom::Link;
    use crate::profile::LosslessTraffic;
    use crate::units::{Length, Speed};

    fn find(gbps: u32, meters: u32, cell: Option<u64>, small: u8) -> Headroom {
        let link = Link::new(Speed::gbps(gbps), Length::from_meters(meters), Bytes(9216), 4).unwrap();
        let traffic = LosslessTraffic { mtu: Bytes(9216), small_packets: Percent::new(small).unwrap() };
        headroom(&Request::new(link, traffic, false).unwrap(), cell.map(Bytes)).unwrap()
    }

    fn value(headroom: &Headroom, name: &str) -> String {
        headroom.terms.term(name).unwrap().value.to_string()
    }

    #[test]
    fn terms_are_those_of_the_book() {
        let found = find(10, 1, None, 0);
        // 9216 B take 73,888 BT, a pause 672 BT, a metre of 10G 50 BT in each direction, and 60 quanta 30,720 BT.
        assert_eq!(value(&found, "largest frame before the pause"), "73888");
        assert_eq!(value(&found, "pause frame"), "672");
        assert_eq!(value(&found, "cable there and back"), "100");
        assert_eq!(value(&found, "both interfaces"), "16384");
        assert_eq!(value(&found, "response of the far end"), "30720");
        // 73888 + 672 + 16384 + 100 + 30720 + 73888 = 195,652 BT.
        assert_eq!(value(&found, "headroom on the wire"), "195652");
        assert_eq!(found.xoff, Bytes(24_457));
    }

    #[test]
    fn cells_and_small_packets_multiply() {
        let plain = find(400, 100, None, 0);
        let worst = find(400, 100, Some(254), 100);
        assert_eq!(worst.xoff.0 % 254, 0);
        let expected = plain.xoff.0 as f64 * 254.0 / 84.0;
        assert!((worst.xoff.0 as f64 / expected - 1.0).abs() < 0.001);
    }

    #[test]
    fn kilometers_do_not_truncate() {
        // 120 km of 800G: 2 x 120000 m x 5 ns x 100 B/ns = 120 MB for the cable alone.
        let found = find(800, 120_000, None, 0);
        assert_eq!(value(&found, "cable there and back"), "960000000");
        assert!(found.xoff > Bytes(120_000_000) && found.xoff < Bytes(120_500_000));
    }

    #[test]
    fn unknown_speeds_are_refused() {
        let link = Link::new(Speed::gbps(1600), Length::from_meters(1), Bytes(9216), 8).unwrap();
        let request = Request::new(link, LosslessTraffic::default(), false).unwrap();
        let error = headroom(&request, None).unwrap_err().to_string();
        assert!(error.starts_with("headroom model `ieee-802-1qbb` has no numbers for 1.6T"), "{error}");
    }
}
