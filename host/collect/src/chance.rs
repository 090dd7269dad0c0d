//! Probabilities, and the evidence that losses are not due to chance.

/// Loss rate of a good path.
pub(crate) const BACKGROUND: f64 = 0.000_1;

/// Returns the probability that at least `lost` of `n` probes are lost if each is lost with probability
/// `share`. Returns 1 if `lost` is at most the expected number.
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

/// Returns the evidence that an element that lost `lost` of `sent` probes no longer does, from later probes.
///
/// This is the logarithm of a Bayes factor. Hypothesis 1: the loss rate is one of those of good paths, all equally
/// likely. Hypothesis 2: it is a fault's rate. How likely each rate is follows from the earlier probes. If the fault
/// persists, the factor ever exceeds n with a probability of at most 1 / n (Ville's inequality).
///
/// This bound holds for any choice of good rates. Those within the range of the fault's rates are omitted, because they
/// can never win, and would only delay the result. The lowest one always remains.
pub(crate) fn evidence_of_recovery(lost: u64, sent: u64, later_lost: u64, later_sent: u64) -> f64 {
    let share = lost.max(1) as f64 / sent.max(1) as f64;
    let lowest = share * FAULTY_FACTORS[0];
    let good = GOOD_RATES.into_iter().enumerate().filter(|(at, rate)| *at == 0 || *rate < lowest);
    let good = good.map(|(_, rate)| (0.0, ln_poisson(later_lost, later_sent, rate)));
    let faulty = FAULTY_FACTORS.map(|factor| {
        let rate = share * factor;
        (ln_poisson(lost, sent, rate), ln_poisson(later_lost, later_sent, rate))
    });
    ln_mean(good) - ln_mean(faulty.into_iter())
}

/// Loss rates of good paths: by chance, and beside busy machines, which answer some probes late.
const GOOD_RATES: [f64; 4] = [BACKGROUND, 2.0 * BACKGROUND, 4.0 * BACKGROUND, 8.0 * BACKGROUND];
/// Possible rates of a fault, as multiples of the share of its losses so far, in ascending order.
///
/// If the rate is a third of that share, the expected number is 8 / 3 where eight losses were observed. Eight
/// or more then have a probability of 0.7 % (Poisson). For more observed losses it is lower.
const FAULTY_FACTORS: [f64; 7] = [1.0 / 3.0, 0.45, 0.6, 0.8, 1.0, 1.4, 2.0];

/// Number of losses from which a rate is estimated, so that it is in the range of [`FAULTY_FACTORS`].
pub(crate) const ESTIMATE_LOSSES: u64 = 8;

/// Returns the logarithm of the probability of a number of losses, except for a term that does not depend on the rate.
fn ln_poisson(lost: u64, sent: u64, rate: f64) -> f64 {
    lost as f64 * rate.ln() - sent as f64 * rate
}

/// Returns the logarithm of the likelihood ratio of two rates: a given one, and that of a good path, beside a busy machine
/// or not.
pub(crate) fn rate_ratio(lost: u64, sent: u64, rate: f64) -> f64 {
    let good = GOOD_RATES.map(|rate| ln_poisson(lost, sent, rate));
    ln_poisson(lost, sent, rate) - good.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the logarithm of a weighted mean. Weights and values are logarithms.
fn ln_mean(items: impl Iterator<Item = (f64, f64)>) -> f64 {
    let items: Vec<(f64, f64)> = items.collect();
    let ln_sum = |values: &mut dyn Iterator<Item = f64>| {
        let values: Vec<f64> = values.collect();
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most + values.iter().map(|one| (one - most).exp()).sum::<f64>().ln()
    };
    ln_sum(&mut items.iter().map(|(weight, value)| weight + value))
        - ln_sum(&mut items.iter().map(|(weight, _)| *weight))
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

    #[test]
    fn recovery_is_sure_after_enough_good_probes() {
        let wanted = 1e6_f64.ln();
        // 20 losses of 1,000: as many good probes are not enough, 1,500 are.
        assert!(evidence_of_recovery(20, 1_000, 0, 500) < wanted);
        assert!(evidence_of_recovery(20, 1_000, 0, 1_500) > wanted);
        // The fewer losses, the less is known about the rate.
        assert!(evidence_of_recovery(4, 200, 0, 1_000) < evidence_of_recovery(40, 2_000, 0, 1_000));
        // A good path beside a busy machine recovers too, a fault that lasts does not.
        assert!(evidence_of_recovery(20, 1_000, 2, 4_000) > wanted);
        assert!(evidence_of_recovery(20, 1_000, 80, 4_000) < 0.0);
        // Rates close to those of good paths need a long time, but not for ever.
        assert!(evidence_of_recovery(10, 2_000, 10, 20_000) > wanted);
    }

    /// A fault that lasts, tested after every probe. The test restarts whenever recovery is refuted.
    #[test]
    fn a_fault_that_lasts_is_rarely_cleared() {
        let mut state = 11_u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let (mut starts, mut cleared) = (0, 0);
        let (mut lost, mut sent) = (0, 0);
        for _ in 0..400_000 {
            sent += 1;
            lost += u64::from(below(50) == 0);
            let sure = evidence_of_recovery(20, 1_000, lost, sent);
            if sure >= 100_f64.ln() {
                cleared += 1;
            }
            if sure >= 100_f64.ln() || sure <= 0.0 && lost > 0 {
                (lost, sent, starts) = (0, 0, starts + 1);
            }
        }
        // At most one of a hundred starts.
        assert!(starts > 2_000 && cleared * 100 <= starts, "{cleared} of {starts}");
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
