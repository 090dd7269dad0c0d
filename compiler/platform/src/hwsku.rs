//! Selects the SONiC hwsku of a switch by the cages in use.
//!
//! In: [`SplitCages`] of a switch. Out: the name of a hwsku. Invariants: a hwsku fits only if it splits every cage in
//! use like the switch does.

use std::collections::BTreeSet;

use crate::{Breakout, CageSet, Os, Panel, Platform};

/// Cages that are split in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitCages {
    /// Breakout of each cage.
    pub breakout: Breakout,
    /// The cages, from 0.
    pub cages: CageSet,
}

impl Platform {
    /// Returns whether a SONiC hwsku has these breakouts in these cages, or accepts any breakout.
    pub fn has_hwsku(&self, used: impl IntoIterator<Item = SplitCages>) -> bool {
        let used: Vec<SplitCages> = used.into_iter().collect();
        self.sonic.as_ref().is_some_and(|sonic| sonic.any_breakout) || self.fitting_hwsku(&used).is_some()
    }

    /// Returns SONiC's hwsku for a switch with these cages in use. If none fits, returns the default hwsku; `None` if
    /// the platform does not support SONiC.
    pub fn hwsku(&self, used: impl IntoIterator<Item = SplitCages>) -> Option<&str> {
        let sonic = self.sonic.as_ref()?;
        let used: Vec<SplitCages> = used.into_iter().collect();
        Some(self.fitting_hwsku(&used).unwrap_or(&sonic.hwsku))
    }

    /// Returns the names of hwskus with exactly these breakouts, on any cages.
    pub fn hwskus_with(&self, breakouts: impl IntoIterator<Item = Breakout>) -> impl Iterator<Item = &str> {
        let key = self.hwsku_key(breakouts);
        let all = self.sonic.iter().flat_map(|sonic| &sonic.hwskus);
        all.filter(move |(these, _)| *these == key).map(|(_, name)| name.as_str())
    }

    /// Returns all cages, split in one way; `None` if the panel has more cages than a set can contain.
    pub fn all_cages(&self, breakout: Breakout) -> Option<SplitCages> {
        let cages = CageSet::run(0, self.panel.cages)?;
        Some(SplitCages { breakout, cages })
    }

    /// Returns the cages of a switch with these breakouts for its downlinks and uplinks. Under SONiC, a hwsku with both
    /// breakouts determines the cages of each. Returns `None` if the sides have the same breakout, if no hwsku has
    /// both, or if the catalogue lists no cages because each supports both.
    pub fn hwsku_cages(&self, os: Os, down: Breakout, up: Option<Breakout>) -> Option<[SplitCages; 2]> {
        let up = up.filter(|up| *up != down && os.has_hwskus())?;
        let sonic = self.sonic.as_ref()?;
        let key = self.hwsku_key([down, up]);
        let (_, name) = sonic.hwskus.iter().find(|(these, _)| *these == key)?;
        let of = |breakout| Some(SplitCages { breakout, cages: self.cages_of(name, breakout)? });
        Some([of(down)?, of(up)?])
    }

    /// Returns the cages of a switch for these downlinks and uplinks, as input for [`Platform::hwsku`].
    pub fn cages_for(&self, os: Os, down: Breakout, up: Option<Breakout>) -> Vec<SplitCages> {
        match self.hwsku_cages(os, down, up) {
            Some(cages) => cages.to_vec(),
            None => std::iter::once(down).chain(up).filter_map(|split| self.all_cages(split)).collect(),
        }
    }

    /// Returns a hwsku with these breakouts in these cages, preferably one without other breakouts.
    fn fitting_hwsku(&self, used: &[SplitCages]) -> Option<&str> {
        let sonic = self.sonic.as_ref()?;
        let key = self.hwsku_key(used.iter().map(|of| of.breakout));
        let has_cages = |name: &str| {
            used.iter().all(|of| {
                let own = self.cages_of(name, of.breakout);
                own.is_none_or(|own| of.cages.is_subset(&own))
            })
        };
        let mut exact = sonic.hwskus.iter().filter(|(these, name)| *these == key && has_cages(name));
        if let Some((_, name)) = exact.next() {
            return Some(name);
        }
        // The default hwsku has the default breakout, unless it is listed with others.
        let is_listed = sonic.hwskus.iter().any(|(_, name)| *name == sonic.hwsku);
        let default = BTreeSet::from([self.panel.default_breakout]);
        if key == default && !is_listed && has_cages(&sonic.hwsku) {
            return Some(&sonic.hwsku);
        }
        // A hwsku with additional ports also fits: these ports stay unused. Hwskus that split cages into unequal ports
        // are excluded, because such cages have fewer ports of each kind.
        let is_equal = |of: &Breakout| of.share.is_none() || self.panel.is_partial(*of);
        let has_more = |these: &BTreeSet<Breakout>| key.is_subset(these) && these.iter().all(is_equal);
        let is_stated = |name: &String| sonic.cages.contains_key(name);
        let mut larger = sonic
            .hwskus
            .iter()
            .filter(|(these, name)| !key.is_empty() && has_more(these) && is_stated(name) && has_cages(name));
        larger.next().filter(|_| !sonic.any_breakout).map(|(_, name)| name.as_str())
    }

    /// Returns the cages in which a hwsku has this breakout, if the catalogue states them.
    fn cages_of(&self, hwsku: &str, breakout: Breakout) -> Option<CageSet> {
        let breakout = breakout.for_hwsku(self.panel.lanes, &self.panel.partial);
        let stated = self.sonic.as_ref()?.cages.get(hwsku)?;
        stated.iter().find(|(of, _)| *of == breakout).map(|(_, cages)| *cages)
    }

    /// Returns the set of breakouts that identifies a hwsku.
    fn hwsku_key(&self, breakouts: impl IntoIterator<Item = Breakout>) -> BTreeSet<Breakout> {
        let Panel { lanes, partial, .. } = &self.panel;
        breakouts.into_iter().map(|breakout| breakout.for_hwsku(*lanes, partial)).collect()
    }
}
