//! Computes with link bandwidths as FRR does.
//!
//! In: the bandwidth that a filter sets, and the bandwidths that a switch received. Out: the announced bandwidth, and
//! the weights of its next hops. Invariants: widths and conversions are those of FRR's bgpd (`encode_lb_extcomm`,
//! `route_set_ecommunity_lb`, `ecommunity_replace_linkbw`, 8.4 to 10.5). Bandwidths are in bytes per second and
//! truncated to 32 bits where FRR truncates them. They are sent as 32-bit floating-point numbers
//! (draft-ietf-idr-link-bandwidth). A sum that overflows in FRR also overflows here, and the checks of shares then
//! report the wrong weights.

use crate::model::bgp::Bandwidth;

/// Maximum weight of a next hop in FRR 10.
const WEIGHT_MAX: u64 = 255;

/// Returns the announced bandwidth, if a filter sets one or passes on the sum of the paths in use.
pub(super) fn announced_bandwidth(set: Option<Bandwidth>, sum: Option<u64>) -> Option<u64> {
    // `as u32` truncates the upper bits, as in C.
    let bytes = match set {
        Some(Bandwidth::Mbps(mbps)) => (u64::from(mbps) * 1_000_000 / 8) as u32,
        Some(Bandwidth::Sum) => match sum? as u32 {
            // In this case FRR sets no bandwidth, and handles the received value as if there were no filter.
            0 => saturate(sum?),
            cut => cut,
        },
        None => saturate(sum?),
    };
    Some(u64::from(bytes as f32 as u32))
}

/// Limits a sum to 32 bits, as FRR does without a filter.
fn saturate(sum: u64) -> u32 {
    u32::try_from(sum).unwrap_or(u32::MAX)
}

/// Computes weights. If every next hop has a bandwidth, weights are proportional: 255 for the greatest, and at least 1.
/// Otherwise they are equal.
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

    /// Seven T1s with five uplinks each, except that one T1 lacks a cable. FRR 10.5.4 assigns weight 255 to
    /// this T1, and 5 to the others. The reason is an overflow: 35 Gb/s in bytes per second exceed 32 bits.
    #[test]
    fn sums_are_cut_as_frr_cuts_them() {
        let paths = |unit: u32, cables: u64| {
            let each = announced_bandwidth(Some(Bandwidth::Mbps(unit)), None).unwrap();
            announced_bandwidth(Some(Bandwidth::Sum), Some(each * cables))
        };
        assert_eq!(weights(&[paths(1000, 28), paths(1000, 35)]), [255, 5]);
        assert_eq!(weights(&[paths(1, 28), paths(1, 35)]), [204, 255]);
        assert_eq!(paths(1, 34_359), Some(u64::from(4_294_875_000_u32 as f32 as u32)));
        assert!(paths(1, 34_360) < paths(1, 2), "one more begins anew");
        assert_eq!(
            announced_bandwidth(None, Some(1 << 40)),
            Some(u32::MAX.into()),
            "without a filter nothing is cut"
        );
        assert_eq!(announced_bandwidth(Some(Bandwidth::Sum), None), None);
    }
}
