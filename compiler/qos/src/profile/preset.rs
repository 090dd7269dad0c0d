//! The built-in profiles, by name.
//!
//! In: a name. Out: the [`Draft`] of the profile, from its file in `presets/`. Invariants: every preset passes the
//! rules, and [`Preset::ALL`] lists them in a fixed order.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ProfileError;
use super::presets;
use super::{Draft, Profile};

/// A built-in profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// No PFC; packet trimming with two code points; ECN except at the last hop (MRC).
    LossyTrim,
    /// RoCE with PFC and ECN; thresholds are computed for the fabric.
    Lossless,
    /// SONiC's default behaviour.
    SonicAzure,
    /// Settings of NVIDIA's RoCE mode.
    NvidiaRoce,
    /// Settings of Juniper's DCQCN configlet.
    JuniperDcqcn,
    /// PFC without DCQCN, and a separate class for clear-to-send messages (Meta).
    MetaRoce,
    /// Six lossy data queues, as on NVIDIA's newest AI SKUs in SONiC.
    SonicAiLossy,
    /// Six lossy data queues, with the buffers of an AI SKU on Tomahawk 5.
    SonicAiLossyTh5,
    /// One class for all packets, without PFC, ECN or trimming: deliberately no QoS.
    None,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 9] = [
        Self::LossyTrim,
        Self::Lossless,
        Self::SonicAzure,
        Self::NvidiaRoce,
        Self::JuniperDcqcn,
        Self::MetaRoce,
        Self::SonicAiLossy,
        Self::SonicAiLossyTh5,
        Self::None,
    ];

    /// Returns the name in YAML.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LossyTrim => "lossy-trim",
            Self::Lossless => "lossless",
            Self::SonicAzure => "sonic-azure",
            Self::NvidiaRoce => "nvidia-roce",
            Self::JuniperDcqcn => "juniper-dcqcn",
            Self::MetaRoce => "meta-roce",
            Self::SonicAiLossy => "sonic-ai-lossy",
            Self::SonicAiLossyTh5 => "sonic-ai-lossy-th5",
            Self::None => "none",
        }
    }

    /// Returns all names for messages.
    pub(super) fn names() -> String {
        Self::ALL.map(|preset| format!("`{preset}`")).join(", ")
    }

    /// Returns the preset as plain data, for use as a base.
    pub fn draft(self) -> Draft {
        match self {
            Self::LossyTrim => presets::lossy_trim::draft(),
            Self::Lossless => presets::lossless::draft(),
            Self::SonicAzure => presets::sonic_azure::draft(),
            Self::NvidiaRoce => presets::nvidia_roce::draft(),
            Self::JuniperDcqcn => presets::juniper_dcqcn::draft(),
            Self::MetaRoce => presets::meta_roce::draft(),
            Self::SonicAiLossy => presets::sonic_ai_lossy::draft(),
            Self::SonicAiLossyTh5 => presets::sonic_ai_lossy_th5::draft(),
            Self::None => presets::none::draft(),
        }
    }

    /// Returns the checked profile of the preset.
    pub fn profile(self) -> Profile {
        Profile::new(self.draft()).expect("every preset is tested to pass the rules")
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = ProfileError;

    fn from_str(name: &str) -> Result<Self, ProfileError> {
        let found = Self::ALL.into_iter().find(|preset| preset.name() == name);
        found.ok_or_else(|| ProfileError::UnknownPreset { name: name.to_owned(), allowed: Self::names() })
    }
}
