//! Maximum number of members of an ECMP group, which depends on the hwsku.
//!
//! In: `limits` and `sonic.facts` of a catalogue file. Out: [`GroupWidth`]. Invariants: values of the hwsku in use take
//! precedence over those of the platform.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Limit, Os, Platform, Provenance, Release, SplitCages};

/// Maximum number of members of an ECMP group with a hwsku.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcmpWidth {
    /// Maximum number of members.
    pub members: u32,
    /// Source of the number.
    pub source: Provenance,
    /// The first SONiC release with this number, if older ones do not publish it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Release>,
}

/// Maximum number of members if neither `sai.profile` nor a vendor publishes it: the minimum of SONiC's hwskus with at
/// least 12.8 Tb/s.
const UNPUBLISHED: u32 = 64;

/// Reason why this number is assumed.
const UNPUBLISHED_REASON: &str =
    "sai.profile of this release has no SAI_NUM_ECMP_MEMBERS; the least of SONiC's hwskus has 64";

/// Sizes of ECMP groups whose members have equal shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupWidth<'a> {
    /// Every size up to this number.
    pub members: u32,
    /// Larger sizes. Any other size above `members` is rounded up to one of these, so members then have unequal shares.
    pub larger: Option<&'a BTreeSet<u32>>,
    /// Reason why `members` is assumed, if it is neither published nor measured.
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

    /// Returns the maximum size to configure, for groups that need up to this number of members: a larger size only if
    /// `members` does not suffice.
    pub fn max_width(&self, needed: u32) -> u32 {
        let larger = self.larger.filter(|_| needed > self.members);
        larger.and_then(|larger| larger.range(needed..).next()).copied().unwrap_or(self.members)
    }
}

impl Platform {
    /// Returns the sizes of ECMP groups under an operating system and its release, with these cages in use.
    pub fn group_width(
        &self,
        (os, release): (Os, Option<Release>),
        used: impl IntoIterator<Item = SplitCages>,
    ) -> GroupWidth<'_> {
        let mut facts = self.sonic.iter().flat_map(|sonic| sonic.facts.values());
        let differs = os.has_hwskus() && facts.any(|facts| facts.ecmp_width.is_some());
        self.group_width_of(if differs { self.hwsku(used) } else { None }, release)
    }

    /// Returns the sizes of ECMP groups of a hwsku, or of the hardware under other operating systems.
    pub fn group_width_of(&self, hwsku: Option<&str>, release: Option<Release>) -> GroupWidth<'_> {
        let facts = hwsku.and_then(|hwsku| self.sonic.as_ref()?.facts.get(hwsku));
        match facts.and_then(|facts| facts.ecmp_width.as_ref()) {
            Some(EcmpWidth { since: Some(since), .. }) if release.is_some_and(|release| release < *since) => {
                GroupWidth { members: UNPUBLISHED, larger: None, assumption: Some(UNPUBLISHED_REASON) }
            }
            Some(EcmpWidth { members, source, since: _ }) => {
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
