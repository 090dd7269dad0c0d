//! Link bandwidths as FRR computes with them.
//!
//! In: what a filter sets, and the bandwidths that a switch has received. Out: what it announces, and the weights of its
//! ways. Invariants: widths and conversions are those of FRR's bgpd (`encode_lb_extcomm`, `route_set_ecommunity_lb`,
//! `ecommunity_replace_linkbw`, 8.4 to 10.5): bytes a second, cut to 32 bits where FRR cuts them, carried as a 32-bit
//! floating-point number (draft-ietf-idr-link-bandwidth). A sum that FRR gets wrong is wrong here, too, and the weights
//! with it, which the checks of shares then find.

use crate::model::bgp::Bandwidth;

/// The greatest weight that FRR 10 gives a way.
const WEIGHT_MAX: u64 = 255;

/// Returns what is announced where a filter sets a bandwidth, or leaves what the paths in use add up to.
pub(super) fn announced(set: Option<Bandwidth>, sum: Option<u64>) -> Option<u64> {
    // `as u32` cuts the upper bits away, as C does.
    let bytes = match set {
        Some(Bandwidth::Mbps(mbps)) => (u64::from(mbps) * 1_000_000 / 8) as u32,
        Some(Bandwidth::Sum) => match sum? as u32 {
            // FRR sets nothing then, and what is there is replaced as where no filter sets anything.
            0 => held(sum?),
            cut => cut,
        },
        None => held(sum?),
    };
    Some(u64::from(bytes as f32 as u32))
}

/// Without a filter FRR holds the sum to 32 bits.
fn held(sum: u64) -> u32 {
    u32::try_from(sum).unwrap_or(u32::MAX)
}

/// Weighs ways: by bandwidth, the greatest 255 and none 0, where every way has one; else alike.
pub(super) fn weights(bandwidths: &[Option<u64>]) -> Vec<u32> {
    let greatest = bandwidths.iter().flatten().copied().max().unwrap_or(0);
    let differ = bandwidths.iter().flatten().any(|bandwidth| *bandwidth != greatest);
    let all = bandwidths.iter().all(Option::is_some) && differ;
    let weight = |bandwidth: &Option<u64>| match bandwidth {
        Some(bandwidth) if all => (bandwidth * WEIGHT_MAX / greatest).max(1) as u32,
        _ => 1,
    };
    bandwidths.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_frr() {
        assert_eq!(weights(&[Some(250), Some(125)]), [255, 127]);
        assert_eq!(weights(&[Some(250), Some(250)]), [1, 1]);
        assert_eq!(weights(&[Some(250), None]), [1, 1], "one that says nothing makes all alike");
        assert_eq!(weights(&[Some(1), Some(1_000_000)]), [1, 255]);
    }

    /// Seven T1s with five uplinks each under T2s, one cable gone: FRR 10.5.4 gives the T1 that lacks it weight 255 and
    /// each whole one 5, because 35 times 1 Gb/s are more bytes a second than 32 bits hold.
    #[test]
    fn sums_are_cut_as_frr_cuts_them() {
        let paths = |unit: u32, cables: u64| {
            let each = announced(Some(Bandwidth::Mbps(unit)), None).unwrap();
            announced(Some(Bandwidth::Sum), Some(each * cables))
        };
        assert_eq!(weights(&[paths(1000, 28), paths(1000, 35)]), [255, 5]);
        assert_eq!(weights(&[paths(1, 28), paths(1, 35)]), [204, 255]);
        assert_eq!(paths(1, 34_359), Some(u64::from(4_294_875_000_u32 as f32 as u32)));
        assert!(paths(1, 34_360) < paths(1, 2), "one more begins anew");
        assert_eq!(announced(None, Some(1 << 40)), Some(u32::MAX.into()), "without a filter nothing is cut");
        assert_eq!(announced(Some(Bandwidth::Sum), None), None);
    }
}
