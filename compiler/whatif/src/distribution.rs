//! Distribution of values over all pairs.
//!
//! In: counts by value. Out: minimum, quantiles, mean. Invariants: all values are exact, neither sampled nor
//! rounded.

use serde::Serialize;

/// Distribution of values over pairs.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Distribution {
    /// Each value with the number of pairs that have it, smallest value first. Every count is at least 1.
    counts: Vec<(u64, u64)>,
}

impl FromIterator<(u64, u64)> for Distribution {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(counts: I) -> Self {
        Distribution::new(counts)
    }
}

impl Distribution {
    /// Creates a distribution from values in ascending order, each with its number of pairs.
    pub(crate) fn new(counts: impl IntoIterator<Item = (u64, u64)>) -> Self {
        Distribution { counts: counts.into_iter().filter(|(_, pairs)| *pairs > 0).collect() }
    }

    /// Returns each value with the number of pairs that have it, smallest value first.
    pub fn counts(&self) -> &[(u64, u64)] {
        &self.counts
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.counts.iter().map(|(_, pairs)| pairs).sum()
    }

    /// Returns the smallest value; 0 without pairs.
    pub fn minimum(&self) -> u64 {
        self.counts.first().map_or(0, |(value, _)| *value)
    }

    /// Returns the largest value; 0 without pairs.
    pub fn maximum(&self) -> u64 {
        self.counts.last().map_or(0, |(value, _)| *value)
    }

    /// Returns the smallest value such that at least `thousandths` / 1000 of the pairs have this value or a smaller
    /// one.
    pub fn quantile(&self, thousandths: u64) -> u64 {
        let wanted = (u128::from(self.pairs()) * u128::from(thousandths)).div_ceil(1000).max(1);
        let mut seen = 0;
        for (value, pairs) in &self.counts {
            seen += u128::from(*pairs);
            if seen >= wanted {
                return *value;
            }
        }
        self.maximum()
    }

    /// Returns the median.
    pub fn median(&self) -> u64 {
        self.quantile(500)
    }

    /// Returns the mean; 0 without pairs.
    pub fn mean(&self) -> f64 {
        let sum: u128 =
            self.counts.iter().map(|(value, pairs)| u128::from(*value) * u128::from(*pairs)).sum();
        match self.pairs() {
            0 => 0.0,
            pairs => sum as f64 / pairs as f64,
        }
    }

    /// Returns the number of pairs that have the value.
    pub fn at(&self, value: u64) -> u64 {
        self.counts.binary_search_by_key(&value, |(value, _)| *value).map_or(0, |at| self.counts[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occur() {
        let found = Distribution::new([(0, 1), (7, 98), (8, 0), (9, 1)]);
        assert_eq!((found.pairs(), found.minimum(), found.maximum(), found.median()), (100, 0, 9, 7));
        assert_eq!((found.quantile(10), found.quantile(11), found.quantile(990)), (0, 7, 7));
        assert_eq!((found.quantile(991), found.quantile(0), found.at(8), found.at(7)), (9, 0, 0, 98));
        assert!((found.mean() - 6.95).abs() < 1e-12);
        assert_eq!(Distribution::default().median(), 0);
    }
}
