//! Parser value sets.

/// Match of one part of a key in a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SetMatch {
    /// Equal under a mask.
    Masked {
        /// The value.
        value: u128,
        /// The mask.
        mask: u128,
    },
    /// A range, inclusive.
    Range {
        /// Minimum.
        low: u128,
        /// Maximum.
        high: u128,
    },
}

impl SetMatch {
    fn holds(&self, key: u128) -> bool {
        match self {
            Self::Masked { value, mask } => key & mask == value & mask,
            Self::Range { low, high } => (low..=high).contains(&&key),
        }
    }
}

/// A value set: it contains a key if every part matches in the same member.
#[derive(Debug, Default)]
pub(crate) struct ValueSet {
    members: Vec<Vec<SetMatch>>,
}

impl ValueSet {
    /// Replaces the members.
    pub(crate) fn set(&mut self, members: Vec<Vec<SetMatch>>) {
        self.members = members;
    }

    /// Returns the members.
    pub(crate) fn members(&self) -> &[Vec<SetMatch>] {
        &self.members
    }

    /// Returns whether the set contains a key, part by part.
    pub(crate) fn contains(&self, key: &[u128]) -> bool {
        self.members
            .iter()
            .any(|member| member.len() == key.len() && member.iter().zip(key).all(|(m, k)| m.holds(*k)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_must_match_one_member() {
        let mut set = ValueSet::default();
        assert!(!set.contains(&[1, 2]));
        set.set(vec![vec![SetMatch::Masked { value: 1, mask: 0xff }, SetMatch::Range { low: 2, high: 4 }]]);
        assert!(set.contains(&[1, 2]) && set.contains(&[0x101, 4]));
        assert!(!set.contains(&[1, 5]) && !set.contains(&[2, 2]) && !set.contains(&[1]));
    }
}
