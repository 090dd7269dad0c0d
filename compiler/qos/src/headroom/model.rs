//! Headroom formula of a platform, by name.
//!
//! In: the name in a platform file. Out: a [`Model`]. Invariants: names are stable, and [`Model::all`] lists them in a
//! fixed order.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::asic::{ClassicAsic, SpectrumAsic, TOFINO_CELL};
use super::chips::Chip;
use crate::units::Bytes;

/// An unknown name of a headroom formula.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no headroom model `{name}`: use one of {allowed}")]
pub struct UnknownModel {
    /// The name.
    pub name: String,
    /// The known models.
    pub allowed: String,
}

/// A headroom formula with its constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Model {
    /// The generic formula of IEEE 802.1Qbb.
    Ieee,
    /// SONiC's dynamic formula for NVIDIA Spectrum.
    Spectrum(SpectrumAsic),
    /// SONiC's dynamic formula for Tofino-2.
    Tofino2,
    /// The formula behind SONiC's older lookup tables for Spectrum.
    Classic(ClassicAsic),
    /// A linear function of the cable length, fitted to published tables.
    Chip(Chip),
}

impl Model {
    /// Returns all models in a fixed order.
    pub fn all() -> impl Iterator<Item = Self> {
        let spectrum = SpectrumAsic::ALL.into_iter().map(Self::Spectrum);
        let classic = ClassicAsic::ALL.into_iter().map(Self::Classic);
        let chips = Chip::ALL.into_iter().map(Self::Chip);
        [Self::Ieee].into_iter().chain(spectrum).chain([Self::Tofino2]).chain(classic).chain(chips)
    }

    /// Returns whether the ASIC is from NVIDIA. The virtual switch is not included, although it uses the same script.
    pub fn is_nvidia(self) -> bool {
        match self {
            Self::Spectrum(asic) => asic != SpectrumAsic::Vs,
            Self::Classic(_) => true,
            Self::Ieee | Self::Tofino2 | Self::Chip(_) => false,
        }
    }

    /// Returns whether packets wait in virtual output queues at ingress, as on Jericho and Qumran.
    pub fn has_virtual_queues(self) -> bool {
        match self {
            Self::Chip(chip) => match chip {
                Chip::Jericho2 | Chip::Qumran3d | Chip::Qumran3dNexthop => true,
                Chip::Tomahawk1
                | Chip::Tomahawk2
                | Chip::Tomahawk3
                | Chip::Tomahawk4
                | Chip::Tomahawk5
                | Chip::Arista7060x6V256
                | Chip::Arista7060x6O128
                | Chip::Arista7060x6bO128
                | Chip::Arista7060x6bP32O64
                | Chip::Tomahawk6
                | Chip::Tomahawk6Nokia
                | Chip::Teralynx10 => false,
            },
            Self::Ieee | Self::Spectrum(_) | Self::Tofino2 | Self::Classic(_) => false,
        }
    }

    /// Returns whether the ASIC clears the DSCP of packets whose traffic class is missing in the class-to-DSCP map of a
    /// port. Broadcom's SAI does so (opencomputeproject/SAI 2349).
    pub fn clears_unmapped_dscp(self) -> bool {
        match self {
            Self::Chip(chip) => chip != Chip::Teralynx10,
            Self::Ieee | Self::Spectrum(_) | Self::Tofino2 | Self::Classic(_) => false,
        }
    }

    /// Returns whether headroom depends on the packet sizes of lossless classes. Published values are for fixed packet
    /// sizes.
    pub fn reads_packets(self) -> bool {
        match self {
            Self::Ieee | Self::Spectrum(_) | Self::Tofino2 => true,
            Self::Classic(_) | Self::Chip(_) => false,
        }
    }

    /// Returns the name in platform files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ieee => "ieee-802-1qbb",
            Self::Spectrum(asic) => match asic {
                SpectrumAsic::Spectrum1 => "nvidia-spectrum-1",
                SpectrumAsic::Spectrum2 => "nvidia-spectrum-2",
                SpectrumAsic::Spectrum3 => "nvidia-spectrum-3",
                SpectrumAsic::Spectrum4 => "nvidia-spectrum-4",
                SpectrumAsic::Spectrum5 => "nvidia-spectrum-5",
                SpectrumAsic::Spectrum6 => "nvidia-spectrum-6",
                SpectrumAsic::Vs => "sonic-vs",
            },
            Self::Tofino2 => "intel-tofino-2",
            Self::Classic(asic) => match asic {
                ClassicAsic::Spectrum1 => "nvidia-spectrum-1-lookup",
                ClassicAsic::Spectrum2And3 => "nvidia-spectrum-2-lookup",
            },
            Self::Chip(chip) => match chip {
                Chip::Tomahawk1 => "broadcom-tomahawk-1",
                Chip::Tomahawk2 => "broadcom-tomahawk-2",
                Chip::Tomahawk3 => "broadcom-tomahawk-3",
                Chip::Tomahawk4 => "broadcom-tomahawk-4",
                Chip::Tomahawk5 => "broadcom-tomahawk-5",
                Chip::Arista7060x6V256 => "broadcom-tomahawk-5-7060x6-256x200g",
                Chip::Arista7060x6O128 => "broadcom-tomahawk-5-7060x6-o128",
                Chip::Arista7060x6bO128 => "broadcom-tomahawk-5-7060x6-b-o128",
                Chip::Arista7060x6bP32O64 => "broadcom-tomahawk-5-7060x6-b-p32o64",
                Chip::Tomahawk6 => "broadcom-tomahawk-6",
                Chip::Tomahawk6Nokia => "broadcom-tomahawk-6-nokia",
                Chip::Jericho2 => "broadcom-jericho-2",
                Chip::Qumran3d => "broadcom-qumran-3d",
                Chip::Qumran3dNexthop => "broadcom-qumran-3d-nexthop",
                Chip::Teralynx10 => "marvell-teralynx-10",
            },
        }
    }

    /// Returns the cell size of the model; `None` for the generic one.
    pub const fn cell(self) -> Option<Bytes> {
        match self {
            Self::Ieee => None,
            Self::Spectrum(asic) => Some(asic.cell()),
            Self::Tofino2 => Some(TOFINO_CELL),
            Self::Classic(asic) => Some(asic.cell()),
            Self::Chip(chip) => Some(chip.step()),
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Self, UnknownModel> {
        Self::all().find(|model| model.name() == name).ok_or_else(|| UnknownModel {
            name: name.to_owned(),
            allowed: Self::all().map(|model| format!("`{model}`")).collect::<Vec<_>>().join(", "),
        })
    }
}

impl TryFrom<String> for Model {
    type Error = UnknownModel;

    fn try_from(name: String) -> Result<Self, UnknownModel> {
        name.parse()
    }
}

impl From<Model> for String {
    fn from(model: Model) -> String {
        model.name().to_owned()
    }
}

impl JsonSchema for Model {
    fn schema_name() -> Cow<'static, str> {
        "HeadroomModel".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = Self::all().map(Self::name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}
