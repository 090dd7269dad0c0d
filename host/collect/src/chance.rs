//! How likely losses are chance.

/// Loss of a good path that is not worth a word.
pub(crate) const BACKGROUND: f64 = 0.000_1;

/// How likely at least `lost` of `n` are lost if each is with probability `share`.
pub(crate) fn at_least(lost: u64, n: u64, share: f64) -> f64 {
    if lost == 0 || share >= 1.0 {
        return 1.0;
    }
    if lost > n || share <= 0.0 {
        return 0.0;
    }
    if lost as f64 <= n as f64 * share {
        // Not more than is to be expected; how likely exactly is of no interest.
        return 1.0;
    }
    // Above the mean every term is smaller than the one before by at least a fixed factor.
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

/// How likely losses are chance, or belong to what lies before, of which `lost_before` of `n_before` were lost.
pub(crate) fn unexplained(lost: u64, n: u64, lost_before: u64, n_before: u64) -> f64 {
    let chance = at_least(lost, n, BACKGROUND);
    if lost_before == 0 || n_before == 0 {
        return chance;
    }
    // If both lose the same share, each loss is of this one with the probability of its share of the probes.
    let alike = at_least(lost, lost + lost_before, n as f64 / (n + n_before) as f64);
    chance.max(alike)
}

fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// Stirling's series (DLMF 5.11.1), whose error is below 1e-9 from 10 on.
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
    fn losses_before_explain_losses_behind() {
        assert!(unexplained(10, 1000, 0, 1000) < 1e-10);
        assert!(unexplained(10, 1000, 10, 1000) > 0.3);
        assert!(unexplained(60, 1000, 10, 1000) < 1e-6);
    }
}
