//! Probabilities, and the evidence that losses are not due to chance.

/// Loss rate of a good path.
pub(crate) const BACKGROUND: f64 = 0.000_1;

/// Returns the probability that at least `lost` of `n` probes are lost if each is lost with probability `share`.
pub(crate) fn at_least(lost: u64, n: u64, share: f64) -> f64 {
    if lost == 0 || share >= 1.0 {
        return 1.0;
    }
    if lost > n || share <= 0.0 {
        return 0.0;
    }
    if lost as f64 <= n as f64 * share {
        // No more than expected; the exact probability is not needed.
        return 1.0;
    }
    // Above the mean, terms decrease, so the sum ends when they become negligible.
    let mut term =
        (ln_choose(n, lost) + lost as f64 * share.ln() + (n - lost) as f64 * (-share).ln_1p()).exp();
    let mut sum = 0.0;
    for k in lost..=n {
        sum += term;
        term *= (n - k) as f64 / (k + 1) as f64 * share / (1.0 - share);
        if term < sum * 1e-12 {
            break;
        }
    }
    f64::min(sum, 1.0)
}

/// Trials of which each is a hit with the same probability, if only chance acts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trials {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) chance: f64,
}

/// Factors by which the odds of a hit may exceed those of chance. All are equally likely.
const ODDS: [f64; 6] = [3.0, 10.0, 30.0, 100.0, 1_000.0, 10_000.0];

/// Returns the logarithm of the likelihood ratio of two hypotheses: hits are more frequent than by chance, or chance
/// alone acts.
///
/// The first hit is not counted, because it caused the test. The result is the logarithm of a test martingale. If
/// chance alone acts, it ever exceeds `ln(n)` with a probability of at most 1 / n (Ville's inequality). This holds for
/// any number of inspections.
pub(crate) fn evidence(trials: &[Trials]) -> f64 {
    let ln = ODDS.map(|odds| {
        let mut first: f64 = 0.0;
        let sum: f64 = trials
            .iter()
            .map(|Trials { hits, misses, chance }| {
                let more = odds * chance / (odds * chance + 1.0 - chance);
                let hit = (more / chance).ln();
                first = if *hits > 0 { first.max(hit) } else { first };
                *hits as f64 * hit + *misses as f64 * ((1.0 - more) / (1.0 - chance)).ln()
            })
            .sum();
        sum - first
    });
    let most = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + (ln.iter().map(|one| (one - most).exp()).sum::<f64>() / ODDS.len() as f64).ln()
}

/// Returns the evidence that the loss rate is above a share.
pub(crate) fn evidence_above(lost: u64, sent: u64, share: f64) -> f64 {
    evidence(&[Trials { hits: lost, misses: sent.saturating_sub(lost), chance: share }])
}

/// Returns the combined evidence of two tests of the same hypothesis: their mean, which is a test martingale again.
pub(crate) fn mean(one: f64, other: f64) -> f64 {
    let most = one.max(other);
    most + f64::midpoint((one - most).exp(), (other - most).exp()).ln()
}

fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// Stirling's series (DLMF 5.11.1), whose error is below 1e-9 for n of at least 10.
fn ln_factorial(n: u64) -> f64 {
    if n < 10 {
        return (1..=n).map(|k| (k as f64).ln()).sum();
    }
    let x = n as f64;
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    x * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI * x).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_binomial_distribution() {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
        assert!(near(at_least(3, 3, 0.5), 0.125));
        assert!(near(at_least(9, 10, 0.5), 11.0 / 1024.0));
        // 1 - 0.9999^64 - 64 * 0.0001 * 0.9999^63
        assert!(near(at_least(2, 64, 0.0001), 2.007_686e-5), "{}", at_least(2, 64, 0.0001));
        assert!(at_least(2000, 100_000, 0.01) < 1e-100);
        assert!(near(at_least(1, 1, 0.25), 0.25) && near(at_least(5, 5, 0.5), 1.0 / 32.0));
        assert!((at_least(0, 10, 0.5) - 1.0).abs() < 1e-12 && at_least(11, 10, 0.5) < 1e-12);
    }

    #[test]
    fn losses_elsewhere_explain_losses_here() {
        // The cable is one of five paths, all probed equally often.
        let of_five = |hits, misses| evidence(&[Trials { hits, misses, chance: 0.2 }]);
        let needed = (160.0_f64 / 0.01).ln();
        assert!(of_five(7, 0) < needed && of_five(8, 0) > needed, "{} {}", of_five(7, 0), of_five(8, 0));
        assert!(of_five(10, 40) < 0.0 && of_five(1, 0) < 1e-9 && of_five(0, 0).abs() < 1e-9);
        // The evidence of two probers adds up.
        let two = evidence(&[Trials { hits: 4, misses: 0, chance: 0.2 }; 2]);
        assert!((two - of_five(8, 0)).abs() < 1e-9);
        let above = |lost| evidence_above(lost, lost * 200, BACKGROUND);
        assert!(above(4) < needed && above(6) > needed, "{} {}", above(4), above(6));
        assert!(
            (mean(2.0, 2.0) - 2.0).abs() < 1e-12 && (mean(50.0, 0.0) - (50.0 - 2.0_f64.ln())).abs() < 1e-9
        );
    }

    /// Chance alone, tested after every loss, over a thousand losses.
    #[test]
    fn who_looks_again_and_again_is_not_deceived_more_often() {
        let mut state = 7_u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let mut deceived = [0; 2];
        for _ in 0..2_000 {
            let (mut trials, mut most) = (Trials { hits: 1, misses: 0, chance: 0.2 }, 0.0_f64);
            for _ in 0..1_000 {
                if below(5) == 0 {
                    trials.hits += 1;
                } else {
                    trials.misses += 1;
                }
                most = most.max(evidence(&[trials]));
            }
            for (limit, count) in [10.0_f64, 100.0].into_iter().zip(&mut deceived) {
                *count += u32::from(most >= limit.ln());
            }
        }
        // At most 200 and 20 are expected. Some must occur, or the test would prove nothing.
        assert!((20..=200).contains(&deceived[0]) && (1..=20).contains(&deceived[1]), "{deceived:?}");
    }
}
