//! Compact storage of the next hops of a route. There are millions of routes. Most have one next hop, and all switches
//! of a tier share the longest lists.
//!
//! In: next hops. Out: the same, as a slice. Invariants: a single next hop needs no allocation. Equal lists of
//! configurations are stored once.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashSet;

use super::NextHop;

/// Next hops of a route; empty if the route drops.
#[derive(Debug, Clone)]
pub(crate) enum NextHopSet {
    /// A single next hop.
    One([NextHop; 1]),
    /// Any number. Routes that share a list need not be related otherwise.
    Any(Arc<[NextHop]>),
    /// Next hops of several received routes that differ only in their prefixes.
    Alike(Arc<[NextHop]>),
}

impl Deref for NextHopSet {
    type Target = [NextHop];

    #[inline]
    fn deref(&self) -> &[NextHop] {
        match self {
            NextHopSet::One(one) => one,
            NextHopSet::Any(ways) | NextHopSet::Alike(ways) => ways,
        }
    }
}

impl PartialEq for NextHopSet {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for NextHopSet {}

impl From<Vec<NextHop>> for NextHopSet {
    fn from(ways: Vec<NextHop>) -> Self {
        match *ways {
            [one] => NextHopSet::One([one]),
            _ => NextHopSet::Any(ways.into()),
        }
    }
}

/// Interned lists of next hops. Switches of a tier have equal lists.
#[derive(Debug, Default)]
pub(crate) struct Lists(Mutex<HashSet<Arc<[NextHop]>>>);

impl Lists {
    /// Returns the shared copy of a list.
    pub(crate) fn keep(&self, ways: &[NextHop]) -> NextHopSet {
        if let [one] = ways {
            return NextHopSet::One([*one]);
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        NextHopSet::Any(Arc::clone(known.get_or_insert_with(ways, |ways| Arc::from(ways))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::switch::Gateway;

    #[test]
    fn what_comes_out_is_what_was_put_in() {
        assert!(size_of::<NextHopSet>() <= 24, "{}", size_of::<NextHopSet>());
        let hop = |at| NextHop { slot: Some(at), gateway: Gateway::Peer, weight: u32::from(at) };
        let lists = Lists::default();
        for count in 0..5 {
            let all: Vec<NextHop> = (0..count).map(hop).collect();
            let (own, kept, alike) =
                (NextHopSet::from(all.clone()), lists.keep(&all), NextHopSet::Alike(all.as_slice().into()));
            for ways in [&own, &kept, &alike] {
                assert_eq!(**ways, *all);
            }
            assert_eq!(matches!(own, NextHopSet::One(_)), count == 1);
            assert_eq!(kept.as_ptr() == lists.keep(&all).as_ptr(), count != 1, "a list is there once");
        }
    }
}
