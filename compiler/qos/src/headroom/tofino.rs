//! SONiC's dynamic headroom for Tofino-2.
//!
//! In: a [`Request`]. Out: the numbers of sonic-swss `cfgmgr/buffer_headroom_barefoot.lua`. Invariants: headroom is
//! shared, so the size is only XON.
//!
//! The script differs from the Spectrum script in five ways. The bytes on the cable are divided by 8,192 instead of
//! 8,000. The percentage of small packets is not weighted by bytes. The worst-case factor is not rounded up. The peer's
//! response counts twice at 400G. The number of lanes does not matter.

use super::asic::TOFINO_CELL as CELL;
use super::link::Request;
use super::quanta::{BIT_TIMES_PER_QUANTUM, sonic_pause_quanta};
use super::spectrum::{cable, gearbox, small_packet_factor};
use super::{Headroom, Model, ceil_bytes, round_up};
use crate::explain::{Breakdown, ExactFraction, Unit, exact};

const SCRIPT: &str = "sonic-swss buffer_headroom_barefoot.lua";
const TABLE: &str = "sonic-buildimage barefoot asic_table.j2";

/// Bytes in the pipeline, in KB of 1,024 (`pipeline_latency`).
const PIPELINE_KIB: u64 = 68;

/// Computes the headroom.
pub(super) fn headroom(request: &Request) -> Headroom {
    let (link, traffic) = (request.link(), request.traffic());
    let mut terms = Breakdown::default();
    terms.bytes("cell", exact(CELL.0, 1_u8), "buffer allocation unit", TABLE);
    let (factor, formula) = small_packet_factor(CELL);
    let worst = terms.push("worst-case cell factor", factor, Unit::Ratio, formula, SCRIPT);
    let lossless_mtu = exact(traffic.mtu.0, 1_u8);
    terms.bytes("lossless MTU", lossless_mtu, "largest lossless packet", "profile: lossless_traffic.mtu");
    let (percent, hundred) = (exact(traffic.small_packets.get(), 1_u8), exact(100_u8, 1_u8));
    terms.push("small packets", percent, Unit::Percent, "of all packets", "profile: lossless_traffic");
    let occupancy = terms.push(
        "cell occupancy",
        (hundred - percent + percent * worst) / hundred,
        Unit::Ratio,
        "(100 - small + small x worst-case factor) / 100",
        SCRIPT,
    );
    terms.push("speed", link.mbps(), Unit::MegabitsPerSecond, "port", "topology");
    terms.push("cable", link.meters(), Unit::Meters, "one way", "topology");
    let mtu =
        terms.bytes("port MTU", exact(link.mtu().0, 1_u8), "a packet already on its way out", "topology");
    let cable = cable(&mut terms, link.meters(), link.mbps(), 8_192, SCRIPT);
    let gearbox = gearbox(&mut terms, request, SCRIPT);
    let mac_phy = terms.bytes("MAC and PHY", exact(8_u64 * 1024, 10_u8), "0.8 x 1024", TABLE);
    let peer = peer(&mut terms, request);
    let in_flight = terms.bytes(
        "bytes in flight",
        mtu + cable + gearbox + mac_phy + peer,
        "port MTU + cable + gearboxes + MAC and PHY + peer",
        SCRIPT,
    );
    let xoff = terms.bytes(
        "XOFF",
        round_up(lossless_mtu + in_flight * occupancy, 1024),
        "lossless MTU + bytes in flight x cell occupancy, up to 1024",
        SCRIPT,
    );
    let xon = exact(PIPELINE_KIB * 1024, 1_u8);
    let xon = terms.bytes("XON", xon, format!("pipeline, {PIPELINE_KIB} x 1024"), TABLE);
    terms.bytes("size", xon, "XON; XOFF comes from the shared headroom pool", SCRIPT);
    Headroom {
        model: Model::Tofino2,
        xoff: ceil_bytes(xoff),
        xon: ceil_bytes(xon),
        size: ceil_bytes(xon),
        pooled: ceil_bytes(xoff),
        xon_offset: None,
        threshold: None,
        terms,
    }
}

/// Returns the bytes that the far end sends until it reacts. The table in the script ends at 400G, where the bytes
/// count twice.
fn peer(terms: &mut Breakdown, request: &Request) -> ExactFraction {
    let speed = request.link().speed();
    match sonic_pause_quanta(speed).filter(|_| speed.mbps() <= 400_000) {
        Some(quanta) => {
            let twice = if speed.mbps() == 400_000 { 2 } else { 1 };
            let formula = format!("{quanta} pause quanta x 512 / 8 x {twice}");
            let value = exact(quanta * BIT_TIMES_PER_QUANTUM / 8 * twice, 1_u8);
            terms.bytes("peer response", value, formula, "IEEE 802.3 31B.3.7, twice at 400G")
        }
        None => terms.bytes("peer response", exact(9_u64 * 1024, 1_u8), "9 x 1024", TABLE),
    }
}
