//! Identity of agents: which source reports for a NIC.
//!
//! In: NICs that sources claim, and sources that an operator bound to NICs. Out: whether a claim counts. Invariants: a
//! bound NIC has one source, regardless of other claims. If several sources claim an unbound NIC, all of them are
//! ignored, because an impostor cannot be recognised. A source has one claim at a time.

use std::collections::{BTreeMap, BTreeSet};

use closc_topology::Nic;

/// Why a claim is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// The source is bound to another NIC.
    Bound(Nic),
    /// The NIC is bound to another source.
    Owned(u32),
    /// Another source also claims the NIC.
    Contested(u32),
}

/// Claims of all sources.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    /// Bindings in both directions.
    bound: BTreeMap<u32, Nic>,
    owners: BTreeMap<Nic, u32>,
    /// Per NIC, the sources that claim it, with the time of their last claim.
    claims: BTreeMap<Nic, BTreeMap<u32, u64>>,
    claimed_nics: BTreeMap<u32, Nic>,
    /// NICs that several sources have claimed, possibly in the past.
    contested_nics: BTreeSet<Nic>,
}

impl Identities {
    /// Binds a source to a NIC.
    pub(crate) fn bind(&mut self, source: u32, nic: Nic) {
        self.bound.insert(source, nic);
        self.owners.insert(nic, source);
    }

    /// Returns the NIC that a source is bound to.
    pub(crate) fn bound_nic(&self, source: u32) -> Option<Nic> {
        self.bound.get(&source).copied()
    }

    /// Handles the claim of a source. A claim expires unless it is repeated within `fresh_ms`.
    pub(crate) fn claim(
        &mut self,
        source: u32,
        nic: Nic,
        now_ms: u64,
        fresh_ms: u64,
    ) -> Result<(), Conflict> {
        if let Some(own) = self.bound.get(&source).filter(|own| **own != nic) {
            return Err(Conflict::Bound(*own));
        }
        if let Some(owner) = self.owners.get(&nic) {
            return if *owner == source { Ok(()) } else { Err(Conflict::Owned(*owner)) };
        }
        if self.claimed_nics.get(&source).is_some_and(|before| *before != nic) {
            self.withdraw(source);
        }
        self.claimed_nics.insert(source, nic);
        let claims = self.claims.entry(nic).or_default();
        claims.insert(source, now_ms);
        claims.retain(|_, seen_ms| now_ms.saturating_sub(*seen_ms) <= fresh_ms);
        if let Some(other) = claims.keys().find(|other| **other != source) {
            self.contested_nics.insert(nic);
            return Err(Conflict::Contested(*other));
        }
        self.contested_nics.remove(&nic);
        Ok(())
    }

    /// Ends the claim of a source that does not answer.
    pub(crate) fn withdraw(&mut self, source: u32) {
        let Some(nic) = self.claimed_nics.remove(&source) else { return };
        let Some(claims) = self.claims.get_mut(&nic) else { return };
        claims.remove(&source);
        if claims.len() < 2 {
            self.contested_nics.remove(&nic);
        }
        if claims.is_empty() {
            self.claims.remove(&nic);
        }
    }

    /// Returns the NICs that several sources claim, with those sources.
    pub(crate) fn contested_nics(&self, now_ms: u64, fresh_ms: u64) -> Vec<(Nic, Vec<u32>)> {
        let fresh = |nic: &Nic| {
            let claims = self.claims.get(nic)?;
            let fresh = claims.iter().filter(|(_, seen_ms)| now_ms.saturating_sub(**seen_ms) <= fresh_ms);
            let sources: Vec<u32> = fresh.map(|(source, _)| *source).collect();
            (sources.len() > 1).then_some((*nic, sources))
        };
        self.contested_nics.iter().filter_map(fresh).collect()
    }
}

#[cfg(test)]
mod tests {
    use closc_topology::ZoneId;

    use super::*;

    fn nic(downlink: u16) -> Nic {
        Nic { zone: ZoneId(0), group: 0, downlink }
    }

    #[test]
    fn two_claims_of_a_nic_count_for_none() {
        let mut all = Identities::default();
        assert_eq!(all.claim(1, nic(0), 0, 100), Ok(()));
        assert_eq!(all.claim(2, nic(0), 10, 100), Err(Conflict::Contested(1)));
        assert_eq!(all.claim(1, nic(0), 20, 100), Err(Conflict::Contested(2)));
        assert_eq!(all.contested_nics(20, 100), [(nic(0), vec![1, 2])]);
        assert_eq!(all.contested_nics(200, 100), []);
        // The other source claims another NIC, then does not answer, then is silent for a long time.
        assert_eq!(all.claim(2, nic(1), 30, 100), Ok(()));
        assert_eq!(all.claim(1, nic(0), 40, 100), Ok(()));
        assert_eq!(all.claim(3, nic(0), 50, 100), Err(Conflict::Contested(1)));
        all.withdraw(3);
        assert_eq!((all.contested_nics(50, 100), all.claim(1, nic(0), 60, 100)), (Vec::new(), Ok(())));
        assert_eq!(all.claim(4, nic(0), 161, 100), Ok(()));
    }

    #[test]
    fn a_binding_decides() {
        let mut all = Identities::default();
        all.bind(1, nic(0));
        assert_eq!(all.claim(2, nic(0), 0, 100), Err(Conflict::Owned(1)));
        assert_eq!(all.claim(1, nic(1), 0, 100), Err(Conflict::Bound(nic(0))));
        assert_eq!(all.claim(1, nic(0), 0, 100), Ok(()));
        assert_eq!(all.contested_nics(0, 100), []);
    }
}
