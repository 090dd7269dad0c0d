//! Certainty and source of facts about a switch.
//!
//! In: `limits.provenance` and `sonic.facts` of a catalogue file. Out: a [`Provenance`] for a number, a [`Claim`] for a
//! feature. Invariants: each contains its source, or the reason for the assumption if the fact is not published.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Breakout, Os, Platform, Release, SplitCages};

/// Source of a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The number is published by a vendor, a standard or a public repository.
    Published(String),
    /// The number was read from a switch.
    Measured(String),
    /// The number is not published. The value is conservative, and the text gives the reason.
    Assumed(String),
}

impl Provenance {
    /// Returns the keyword and the source.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Provenance::Published(source) => ("published", source),
            Provenance::Measured(source) => ("measured", source),
            Provenance::Assumed(source) => ("assumed", source),
        }
    }
}

/// Whether a hwsku has a feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The hwsku has the feature, according to a vendor or a public repository.
    Published(String),
    /// The hwsku has the feature, as read from a switch.
    Measured(String),
    /// The ASIC has the feature, but SONiC's support on this hwsku is not published.
    Assumed(String),
    /// The hwsku lacks the feature, according to the setting or report in the text.
    Lacking(String),
}

impl Claim {
    /// Returns the keyword and the source.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Claim::Published(source) => ("published", source),
            Claim::Measured(source) => ("measured", source),
            Claim::Assumed(source) => ("assumed", source),
            Claim::Lacking(source) => ("lacking", source),
        }
    }
}

/// A feature in which hwskus of the same hardware differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkuFeature {
    /// SRv6 uN segments.
    Segments,
    /// Packet trimming.
    Trimming,
}

/// Certainty that a switch has a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureSupport<'a> {
    /// The platform lists the feature, and the facts of the hwsku in use confirm it or do not mention it.
    Has,
    /// The platform lists the feature, but support on the hwsku in use is not published. Contains the hwsku and the
    /// reason.
    Assumed(&'a str, &'a str),
    /// The hwsku in use lacks the feature. Contains the hwsku and the reason.
    Lacking(&'a str, &'a str),
    /// The platform does not list the feature.
    Missing,
}

impl Platform {
    /// Returns the certainty that a switch has a feature, under an operating system and with these cages in use.
    pub fn feature_support(
        &self,
        feature: SkuFeature,
        os: Os,
        used: impl IntoIterator<Item = SplitCages>,
    ) -> FeatureSupport<'_> {
        let on_asic =
            || self.buffer.as_ref().is_none_or(|buffer| os.forwards_segments_on(&buffer.headroom_model));
        let listed = match feature {
            SkuFeature::Segments => self.features.un && on_asic(),
            SkuFeature::Trimming => self.features.trimming,
        };
        let hwsku = if os.has_hwskus() { self.hwsku(used) } else { None };
        let facts = hwsku.and_then(|hwsku| Some((hwsku, self.sonic.as_ref()?.facts.get(hwsku)?)));
        let claim = facts.and_then(|(hwsku, facts)| {
            let claim = match feature {
                SkuFeature::Segments => &facts.un,
                SkuFeature::Trimming => &facts.trimming,
            };
            Some((hwsku, claim.as_ref()?))
        });
        match claim {
            Some((hwsku, Claim::Lacking(reason))) => FeatureSupport::Lacking(hwsku, reason),
            _ if !listed => FeatureSupport::Missing,
            Some((hwsku, Claim::Assumed(reason))) => FeatureSupport::Assumed(hwsku, reason),
            Some((_, Claim::Published(_) | Claim::Measured(_))) | None => FeatureSupport::Has,
        }
    }

    /// Returns SONiC's name of the platform, if `release` is older than the first release that supports the platform.
    pub fn missing_in(&self, os: Os, release: Release) -> Option<&str> {
        let sonic = self.sonic.as_ref().filter(|_| os.has_hwskus())?;
        (release < sonic.since?).then_some(&*sonic.platform)
    }

    /// Returns the hwsku in use and the first release that has it, if `release` is older.
    pub fn missing_hwsku(
        &self,
        (os, release): (Os, Release),
        used: impl IntoIterator<Item = SplitCages>,
    ) -> Option<(&str, Release)> {
        let hwsku = if os.has_hwskus() { self.hwsku(used) } else { None }?;
        let since = self.sonic.as_ref()?.facts.get(hwsku)?.since?;
        (release < since).then_some((hwsku, since))
    }

    /// Returns the breakouts with which a switch has a feature, if this is known and not only assumed. They are in the
    /// order of `Panel::breakouts`.
    pub fn breakouts_with(&self, feature: SkuFeature, os: Os) -> impl Iterator<Item = Breakout> + '_ {
        let all = |breakout: &Breakout| self.all_cages(*breakout);
        let has = move |breakout: &Breakout| {
            self.feature_support(feature, os, all(breakout)) == FeatureSupport::Has
        };
        let known = move |breakout: &Breakout| !os.has_hwskus() || self.has_hwsku(all(breakout));
        self.panel.breakouts.iter().copied().filter(has).filter(known)
    }
}
