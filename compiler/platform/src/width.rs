//! Members of an ECMP group, which depend on the hwsku.
//!
//! In: `limits` and `sonic.facts` of a catalogue file. Out: [`GroupWidth`]. Invariants: the hwsku in use decides, then the
//! platform.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Breakout, Limit, Os, Platform, Provenance};

/// Members of an ECMP group of a hwsku.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcmpWidth {
    /// Their maximum number.
    pub members: u32,
    /// Where the number comes from.
    pub source: Provenance,
}

/// Sizes of ECMP groups whose members get equal shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupWidth<'a> {
    /// Groups of each size up to this one.
    pub members: u32,
    /// Larger sizes. A group of another size is rounded up to one of these, so that some members get more.
    pub larger: Option<&'a BTreeSet<u32>>,
    /// Why `members` is assumed, if it is neither published nor measured.
    pub assumption: Option<&'a str>,
}

impl GroupWidth<'_> {
    /// Returns whether a group can have this number of members, with equal shares.
    pub fn accepts(&self, members: u64) -> bool {
        let exact = |larger: &BTreeSet<u32>| larger.iter().any(|size| u64::from(*size) == members);
        members <= self.members.into() || self.larger.is_some_and(exact)
    }

    /// Returns the size of the largest group.
    pub fn largest(&self) -> u32 {
        self.larger.and_then(|larger| larger.last()).copied().unwrap_or(0).max(self.members)
    }

    /// Returns the maximum for groups of up to this number of members.
    pub fn most(&self, needed: u32) -> u32 {
        let larger = self.larger.filter(|_| needed > self.members);
        larger.and_then(|larger| larger.range(needed..).next()).copied().unwrap_or(self.members)
    }
}

impl Platform {
    /// Returns the sizes of ECMP groups under an operating system and with these breakouts in use.
    pub fn group_width(&self, os: Os, breakouts: impl IntoIterator<Item = Breakout>) -> GroupWidth<'_> {
        let mut facts = self.sonic.iter().flat_map(|sonic| sonic.facts.values());
        let differs = os.has_hwskus() && facts.any(|facts| facts.ecmp_width.is_some());
        self.group_width_of(if differs { self.hwsku(breakouts) } else { None })
    }

    /// Returns the sizes of ECMP groups of a hwsku, or of the hardware with other operating systems.
    pub fn group_width_of(&self, hwsku: Option<&str>) -> GroupWidth<'_> {
        let facts = hwsku.and_then(|hwsku| self.sonic.as_ref()?.facts.get(hwsku));
        match facts.and_then(|facts| facts.ecmp_width.as_ref()) {
            Some(EcmpWidth { members, source }) => {
                let assumption = match source {
                    Provenance::Assumed(reason) => Some(reason.as_str()),
                    Provenance::Published(_) | Provenance::Measured(_) => None,
                };
                GroupWidth { members: *members, larger: None, assumption }
            }
            None => GroupWidth {
                members: self.limits.ecmp_width,
                larger: Some(&self.limits.ecmp_sizes).filter(|sizes| !sizes.is_empty()),
                assumption: self.limits.assumption(Limit::EcmpWidth),
            },
        }
    }
}
