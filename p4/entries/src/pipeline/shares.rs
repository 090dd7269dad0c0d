//! Shares of a route over several ports, in lowest terms.

use std::collections::BTreeMap;

/// Sums the shares of each port and divides them by the greatest common divisor; ports without a share are skipped.
pub(super) fn reduce_shares<K: Ord>(hops: impl Iterator<Item = (K, u64)>) -> Vec<(K, u64)> {
    let mut shares: BTreeMap<K, u64> = BTreeMap::new();
    for (port, share) in hops.filter(|(_, share)| *share > 0) {
        *shares.entry(port).or_default() += share;
    }
    let divisor = shares.values().copied().fold(0, gcd).max(1);
    shares.into_iter().map(|(port, share)| (port, share / divisor)).collect()
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_reduced() {
        assert_eq!([4, 8, 12].into_iter().fold(0, gcd), 4);
        assert_eq!([1, 8].into_iter().fold(0, gcd), 1);
        assert_eq!(std::iter::empty().fold(0, gcd), 0);
        assert_eq!(reduce_shares([(2, 4), (1, 6), (2, 2), (3, 0)].into_iter()), [(1, 1), (2, 1)]);
    }
}
