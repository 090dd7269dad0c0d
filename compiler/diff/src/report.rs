//! Output of a comparison: lines with signs, impact, artefacts.
//!
//! Plain data: [`Report`] and its parts, which every view and the JSON contain. Invariants: identical changes
//! are one line with a count. The counted names are included on request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::touched_artefacts::Artefacts;

/// Name and version of the format of saved reports.
pub const FORMAT: &str = "closc-diff/1";

/// Change of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// It is added.
    Add,
    /// It changes.
    Change,
    /// It is removed.
    Remove,
}

impl Sign {
    /// Returns `+`, `~` or `-`.
    pub fn symbol(self) -> char {
        match self {
            Sign::Add => '+',
            Sign::Change => '~',
            Sign::Remove => '-',
        }
    }
}

/// One change, or several identical ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// Whether it is added, changed or removed.
    pub sign: Sign,
    /// Subject: a path in the fabric file, or a word such as `switches`.
    pub subject: String,
    /// Description of the change.
    pub text: String,
    /// Number of identical changes.
    pub count: u64,
    /// A side effect of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Names of the elements; only the first ones unless the list is requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Its source, as given on the command line.
    pub source: String,
    /// Name of the fabric.
    pub fabric: String,
    /// BLAKE3 digest of the fabric's meaning, or of a tree's manifest.
    pub digest: String,
}

/// Rollout of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rollout {
    /// Whether the rollout causes no packet loss: elements in use do not change, except for routes that gain
    /// working next hops.
    pub hitless: bool,
    /// Steps as sentences with their reasons.
    pub steps: Vec<String>,
}

/// Pairs of NICs whose paths change in the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pairs {
    /// Number of pairs.
    pub pairs: u64,
    /// `local`, `zone` or `far`.
    pub kind: String,
    /// Paths before.
    pub paths_old: Option<u64>,
    /// Paths after.
    pub paths_new: Option<u64>,
    /// Bandwidth before, in Gb/s.
    pub gbps_old: Option<f64>,
    /// Bandwidth after, in Gb/s.
    pub gbps_new: Option<f64>,
    /// Planes in which the number of paths differs.
    pub planes: Vec<u8>,
    /// Names of the NICs of one such pair.
    pub example: (String, String),
    /// The change as a sentence.
    pub text: String,
}

/// Traffic impact of a difference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Impact {
    /// Planes with a changed element.
    pub planes: Vec<u8>,
    /// Pairs that lose or gain paths, the worst first.
    pub pairs: Vec<Pairs>,
    /// Pairs that no longer have a path.
    pub cut_off: u64,
}

/// One step of a wave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaveStep {
    /// A keyword such as `deny-paths`.
    pub action: String,
    /// The step as a sentence.
    pub text: String,
    /// Approximate duration in seconds.
    pub seconds: u64,
}

/// One wave of a rollout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wave {
    /// The plane that changes; absent if the wave concerns all planes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<u8>,
    /// Effect of the wave on traffic, as a sentence.
    pub text: String,
    /// Switches and cables that carry no traffic during the wave.
    pub drained: Vec<String>,
    /// Switches and cables of `drained` that are removed permanently.
    pub gone: Vec<String>,
    /// New equipment that is still unused after the wave, if switches choose the path. The configuration of
    /// switches treats it as drained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
    /// Switches that are configured.
    pub switches: Vec<String>,
    /// Whether `switches` may list switches that do not change, because they were found by rule without
    /// comparing files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// Actions, in order.
    pub steps: Vec<WaveStep>,
    /// Steps that undo the wave.
    pub back: Vec<WaveStep>,
    /// Approximate duration in seconds.
    pub seconds: u64,
}

/// A comparison of two fabrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Name and version of the format.
    pub format: String,
    /// The side before.
    pub old: Side,
    /// The side after.
    pub new: Side,
    /// The changes.
    pub changes: Vec<Line>,
    /// Their impact on traffic.
    pub impact: Impact,
    /// Rollout; absent if only files were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Rollout>,
    /// The rollout order, if it was requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waves: Vec<Wave>,
    /// Reason why no order exists: every order would take more than the allowed share of bandwidth from a
    /// pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_waves: Option<String>,
    /// Changed switches, tier by tier of each plane; empty if only files were compared or no switch changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<TouchedTier>,
    /// Artefacts that may change.
    pub artefacts: Vec<Artefacts>,
    /// Text differences, if they were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
}

/// Changed switches of a tier and plane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TouchedTier {
    /// The plane.
    pub plane: u8,
    /// `t0`, `t1` or `t2`.
    pub tier: String,
    /// Switches before.
    pub old: u64,
    /// Switches after.
    pub new: u64,
    /// Added switches.
    pub added: u64,
    /// Removed switches.
    pub removed: u64,
    /// Switches of both sides whose artefacts change; an upper bound if there are too many to compare.
    pub changed: u64,
}

/// Contents of a report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether all counted names are included.
    pub list: bool,
}

impl Report {
    /// Returns whether both sides mean the same.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}
