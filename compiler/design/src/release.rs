//! The operating system release that the file of a design states.
//!
//! In: a design. Out: a [`StatedRelease`], or none if the default release is as good. Invariants: a stated
//! release has the hwskus of all switches. It has fewer forwarding faults than each earlier release with
//! these hwskus.

use std::fmt;

use closc_platform::{Fault, OutputFacts, Release, Releases};

use crate::design::{Design, Tier};

/// A release later than the default one, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedRelease<'d> {
    /// The release.
    pub release: Release,
    /// The reason.
    pub reason: ReleaseReason<'d>,
}

/// Reason why a file states a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseReason<'d> {
    /// Earlier releases do not have this hwsku.
    Hwsku(&'d str),
    /// Earlier releases have this fault.
    Fault(&'d Fault),
}

impl fmt::Display for ReleaseReason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReleaseReason::Hwsku(hwsku) => write!(f, "with hwsku {hwsku}"),
            ReleaseReason::Fault(fault) => {
                write!(f, "without the fault {}: an earlier release {}", fault.source, fault.effect)
            }
        }
    }
}

impl Design<'_> {
    /// Returns the release to state in the file: the first one with the hwskus of all switches and the fewest
    /// faults that affect forwarding. Returns `None` if that is the default release.
    pub fn stated_release(&self) -> Option<StatedRelease<'_>> {
        let releases = self.os.releases()?;
        let (hwsku, least) = self.hwsku_release(releases).unzip();
        let mut best: Option<(Release, Vec<&Fault>)> = None;
        let later = releases.from_default().filter(|release| least.is_none_or(|least| least <= *release));
        // A branch that is not yet a release is stated only if its hwskus are needed.
        for release in later.chain(least) {
            let faults = self.faults(release);
            if best.as_ref().is_none_or(|(_, fewest)| faults.len() < fewest.len()) {
                best = Some((release, faults));
            }
        }
        let (release, faults) = best?;
        if Some(release) == least {
            return hwsku.map(|hwsku| StatedRelease { release, reason: ReleaseReason::Hwsku(hwsku) });
        }
        let avoided = self.faults(releases.default).into_iter().find(|fault| !faults.contains(fault));
        let reason = avoided.filter(|_| release != releases.default).map(ReleaseReason::Fault);
        reason.map(|reason| StatedRelease { release, reason })
    }

    /// Returns whether parallel cables need a later release than the default one.
    pub fn needs_later_release(&self) -> bool {
        self.routing.is_source_routed()
            && self.has_parallel()
            && self.os.releases().is_some_and(|releases| Fault::drops_locators(self.os, releases.default))
    }

    /// If the default release lacks a hwsku, returns the first release with the hwskus of all switches, and
    /// the hwsku that requires it.
    fn hwsku_release(&self, releases: &Releases) -> Option<(&str, Release)> {
        let lacking = self.tiers().filter_map(|tier| {
            tier.platform.missing_hwsku((self.os, releases.default), tier.cages_in_use(self.os))
        });
        lacking.max_by_key(|(_, release)| *release)
    }

    /// Returns the faults of a release that affect forwarding on the switches of the design.
    fn faults(&self, release: Release) -> Vec<&'static Fault> {
        let mut found: Vec<&Fault> = Vec::new();
        for tier in self.tiers() {
            let output = self.output(tier);
            for fault in Fault::of_forwarding((self.os, release), tier.platform, &output) {
                if !found.contains(&fault) {
                    found.push(fault);
                }
            }
        }
        found
    }

    /// Returns the facts about the output for a tier that decide whether a forwarding fault matters.
    fn output(&self, tier: &Tier<'_>) -> OutputFacts {
        let ports = tier.down.count + tier.up.map_or(0, |up| up.count);
        OutputFacts {
            segments: self.routing.is_source_routed(),
            several_locators: self.routing.is_source_routed() && self.has_parallel(),
            static_routes: !self.routing.speaks_bgp(),
            bgp: self.routing.speaks_bgp(),
            hash_fields: !self.routing.is_source_routed() && self.has_t1(),
            marking: true,
            ports: ports.into(),
        }
    }
}
