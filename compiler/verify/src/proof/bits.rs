//! A row of bits: one for each uplink, downlink, or pair of uplinks.

/// A row of bits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Bits(Box<[u64]>);

impl Bits {
    /// Makes a row of zeros.
    pub(crate) fn new(len: usize) -> Self {
        Bits(vec![0; len.div_ceil(64)].into())
    }

    /// Sets a bit.
    pub(crate) fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    /// Returns a bit; beyond the row it is zero.
    pub(crate) fn get(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// Returns how many bits are set.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns how many bits are set in both rows.
    pub(crate) fn count_both(&self, other: &Bits) -> u64 {
        self.0.iter().zip(&other.0).map(|(a, b)| u64::from((a & b).count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted() {
        let (mut a, mut b) = (Bits::new(130), Bits::new(130));
        for at in [0, 63, 64, 129] {
            a.set(at);
        }
        b.set(64);
        assert_eq!((a.count(), a.count_both(&b)), (4, 1));
        assert!(a.get(129) && !a.get(128) && !a.get(1000));
    }
}
