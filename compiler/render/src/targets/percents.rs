//! Weights of queues as percents of a port.

/// Converts weights to whole percents that add up to 100, none of them 0.
pub(super) fn percents(weights: &[u32]) -> Vec<u32> {
    let sum: u32 = weights.iter().sum::<u32>().max(1);
    let mut shares: Vec<u32> = weights.iter().map(|weight| (100 * weight / sum).max(1)).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse((100 * weights[*at] % sum, weights[*at])));
    for at in order.iter().cycle().take(100) {
        if shares.iter().sum::<u32>() < 100 {
            shares[*at] += 1;
        }
    }
    while shares.iter().sum::<u32>() > 100 {
        let Some(largest) = shares.iter_mut().max() else { break };
        *largest -= 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::percents;

    #[test]
    fn shares_are_whole_percents() {
        assert_eq!(percents(&[10, 90]), [10, 90]);
        assert_eq!(percents(&[14, 14, 14, 15, 15, 14, 14]), [14, 14, 14, 15, 15, 14, 14]);
        assert_eq!(percents(&[1, 1, 1]).iter().sum::<u32>(), 100);
        assert_eq!(percents(&[100, 1, 100, 100]).iter().sum::<u32>(), 100);
        assert!(percents(&[100, 1, 100, 100]).contains(&1));
        assert_eq!(percents(&[5]), [100]);
        assert_eq!(percents(&[]), Vec::<u32>::new());
    }
}
