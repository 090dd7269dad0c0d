//! Output of a difference: lines with signs, impact, artefacts.
//!
//! In: nothing. Out: [`Report`] and its parts, the source of every view and of the JSON. Invariants: identical changes
//! are one line with a count; all names behind a count are included on request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::touched::Artefacts;

/// Format of saved reports.
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
    /// Kind of change.
    pub sign: Sign,
    /// Subject: a path in the fabric file, or a word such as `switches`.
    pub subject: String,
    /// Description of the change.
    pub text: String,
    /// Count.
    pub count: u64,
    /// Side effects, such as renumbering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Names of the elements. Without `--list`, only the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// The source, as given on the command line.
    pub source: String,
    /// Name of the fabric.
    pub fabric: String,
    /// BLAKE3 digest of the fabric's meaning, or of a tree's manifest.
    pub digest: String,
}

/// Rollout of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rollout {
    /// Whether no packet is lost: nothing in use changes, except for routes that gain next hops which already forward.
    pub hitless: bool,
    /// Action, with the reason.
    pub steps: Vec<String>,
}

/// Pairs of NICs whose paths change in the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pairs {
    /// Count.
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
    /// Names of one pair.
    pub example: (String, String),
    /// The change as a sentence.
    pub text: String,
}

/// Traffic impact of a difference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Impact {
    /// Planes in which anything changes.
    pub planes: Vec<u8>,
    /// Pairs that lose or gain paths, the worst first.
    pub pairs: Vec<Pairs>,
    /// Number of pairs that no longer have a path.
    pub cut_off: u64,
}

/// One step of a wave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaveStep {
    /// A word such as `deny-paths`.
    pub action: String,
    /// The step as a sentence.
    pub text: String,
    /// Approximate duration in seconds.
    pub seconds: u64,
}

/// One wave of a rollout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wave {
    /// The plane that it changes; absent if it changes all planes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<u8>,
    /// Effect, as a sentence.
    pub text: String,
    /// Switches and cables that carry no traffic during the wave.
    pub drained: Vec<String>,
    /// Those of them that are removed for good.
    pub gone: Vec<String>,
    /// New equipment that is not yet in use after the wave, if switches choose paths. For this wave, compile the file
    /// with these names in `exceptions.drained`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
    /// Switches that are configured.
    pub switches: Vec<String>,
    /// Whether `switches` may include some that do not change: they were found by rule, without comparing files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// Actions, in order.
    pub steps: Vec<WaveStep>,
    /// Steps that undo the wave.
    pub back: Vec<WaveStep>,
    /// Approximate duration in seconds.
    pub seconds: u64,
}

/// The complete report of a difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Format of the report.
    pub format: String,
    /// The side before.
    pub old: Side,
    /// The side after.
    pub new: Side,
    /// The changes.
    pub changes: Vec<Line>,
    /// Their impact on traffic.
    pub impact: Impact,
    /// Rollout; absent unless plans were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Rollout>,
    /// Waves of the rollout, on request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waves: Vec<Wave>,
    /// Reason why `waves` is empty, if every order exceeds the permitted loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_waves: Option<String>,
    /// Changed switches by plane and tier; empty unless plans were compared and a switch changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<TouchedTier>,
    /// Artefacts that may change.
    pub artefacts: Vec<Artefacts>,
    /// Text differences, on request.
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
    /// Switches whose artefacts may change.
    pub changed: u64,
}

/// Options for the contents of a report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Include every name behind a count.
    pub list: bool,
}

impl Report {
    /// Tells whether both sides are equal.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}
