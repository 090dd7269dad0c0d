//! Makers of ASICs.
//!
//! In: SONiC's name of a family of ASICs. Out: a [`Maker`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maker of an ASIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Maker {
    /// Broadcom.
    Broadcom,
    /// NVIDIA.
    Nvidia,
    /// Marvell.
    Marvell,
    /// Intel.
    Intel,
}

impl Maker {
    /// Returns the maker for the contents of SONiC's file `platform_asic`, for example `broadcom-dnx`.
    pub fn of_platform_asic(text: &str) -> Option<Self> {
        match text.trim().split('-').next().unwrap_or_default() {
            "broadcom" => Some(Maker::Broadcom),
            "mellanox" => Some(Maker::Nvidia),
            "marvell" => Some(Maker::Marvell),
            "barefoot" => Some(Maker::Intel),
            _ => None,
        }
    }

    /// Returns the display name.
    pub fn name(self) -> &'static str {
        match self {
            Maker::Broadcom => "Broadcom",
            Maker::Nvidia => "NVIDIA",
            Maker::Marvell => "Marvell",
            Maker::Intel => "Intel",
        }
    }

    /// Returns the keyword in platform files.
    pub fn keyword(self) -> &'static str {
        match self {
            Maker::Broadcom => "broadcom",
            Maker::Nvidia => "nvidia",
            Maker::Marvell => "marvell",
            Maker::Intel => "intel",
        }
    }
}
