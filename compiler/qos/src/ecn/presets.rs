//! Published ECN thresholds.
//!
//! In: a preset, and the position of the port. Out: thresholds, and the speed for which they were published,
//! if they do not apply to all speeds. Invariants: each number occurs once, with its source. Numbers are not
//! scaled here. [`super::resolve`] scales those for a single speed.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fixed::FixedThresholds;
use crate::codes::Percent;
use crate::place::Place;
use crate::units::{Bytes, Speed};

/// Published thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPreset {
    /// SONiC's default, `AZURE_LOSSLESS`.
    SonicAzure,
    /// SONiC on Broadcom DNX (deep buffers).
    SonicDnx,
    /// SONiC's RDMA profiles for Tomahawk.
    SonicRdma,
    /// SONiC on Arista 7060X6 with lossless queues, published for 400G.
    #[serde(rename = "sonic-7060x6")]
    Sonic7060x6,
    /// SONiC's lossy AI SKUs on NVIDIA switches.
    SonicAi,
    /// SONiC's lossy AI SKUs on Tomahawk 5.
    #[serde(rename = "sonic-ai-th5")]
    SonicAiTh5,
    /// NVIDIA's RoCE mode.
    NvidiaRoce,
    /// The DCQCN configuration of the HPCC simulator, published for 25G.
    HpccDcqcn,
}

impl EcnPreset {
    /// All presets.
    pub const ALL: [Self; 8] = [
        Self::SonicAzure,
        Self::SonicDnx,
        Self::SonicRdma,
        Self::Sonic7060x6,
        Self::SonicAi,
        Self::SonicAiTh5,
        Self::NvidiaRoce,
        Self::HpccDcqcn,
    ];

    /// Returns the name in YAML.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SonicAzure => "sonic-azure",
            Self::SonicDnx => "sonic-dnx",
            Self::SonicRdma => "sonic-rdma",
            Self::Sonic7060x6 => "sonic-7060x6",
            Self::SonicAi => "sonic-ai",
            Self::SonicAiTh5 => "sonic-ai-th5",
            Self::NvidiaRoce => "nvidia-roce",
            Self::HpccDcqcn => "hpcc-dcqcn",
        }
    }

    /// Returns the numbers as published.
    pub const fn published_thresholds(self, place: Place) -> FixedThresholds {
        let (min, max, probability) = match self {
            // sonic-buildimage files/build_templates/qos_config.j2.
            Self::SonicAzure => (1_048_576, 2_097_152, 5),
            // sonic-buildimage device/arista: DNX line cards and 7260.
            Self::SonicDnx => (2_000_000, 10_000_000, 5),
            // sonic-buildimage device/common/profiles/th/*/RDMA-CENTRIC.
            Self::SonicRdma => (250_000, 2_097_152, 5),
            // sonic-buildimage device/arista 7060X6-64PE-B-O128, queues 3 and 4.
            Self::Sonic7060x6 => (131_072, 262_144, 5),
            // sonic-buildimage SN5600-C256S1 (100G), SN6600_LD-P128C2 (800G): one maximum for ToRs, one for the tiers
            // above.
            Self::SonicAi => match place {
                Place::LastHop | Place::Edge => (166_912, 282_624, 5),
                Place::Fabric => (166_912, 239_616, 5),
            },
            // sonic-buildimage 7060X6-64PE-B-C512S2 (100G), C448O16 (100G and 400G): one maximum for all ports.
            Self::SonicAiTh5 => (166_912, 282_624, 5),
            // docs.nvidia.com Onyx `show roce`: ecn absolute, min 150, max 1500 (KB), every packet above.
            Self::NvidiaRoce => (150_000, 1_500_000, 100),
            // alibaba-edu/High-Precision-Congestion-Control, DCQCN: 100 KB and 400 KB per 25G, 0.2.
            Self::HpccDcqcn => (100_000, 400_000, 20),
        };
        FixedThresholds { min: Bytes(min), max: Bytes(max), probability: Percent::constant(probability) }
    }

    /// Returns whether packets without ECN are dropped between the thresholds (SONiC: `wred_green_enable`).
    pub const fn drops(self) -> bool {
        match self {
            // sonic-buildimage SN5600-C256S1, SN6600_LD-P128C2 `qos.json.j2`: false for all colours.
            Self::SonicAi => false,
            Self::SonicAzure
            | Self::SonicDnx
            | Self::SonicRdma
            | Self::Sonic7060x6
            | Self::SonicAiTh5
            | Self::NvidiaRoce
            | Self::HpccDcqcn => true,
        }
    }

    /// Returns the speed for which the numbers were published; `None` if they apply to all speeds.
    pub const fn published_speed(self) -> Option<Speed> {
        match self {
            Self::Sonic7060x6 => Some(Speed::gbps(400)),
            Self::HpccDcqcn => Some(Speed::gbps(25)),
            Self::SonicAzure
            | Self::SonicDnx
            | Self::SonicRdma
            | Self::SonicAi
            | Self::SonicAiTh5
            | Self::NvidiaRoce => None,
        }
    }
}

impl fmt::Display for EcnPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
