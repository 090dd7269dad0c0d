//! Remaining capacity of a fabric: the result of this crate.
//!
//! Invariants: values are integers, so that outcomes can be compared. A share is a numerator over
//! [`Outcome::denominator`], which is the common denominator of local, zone and far pairs.

use closc_plan::PathKind;
use closc_topology::Nic;
use serde::{Serialize, Serializer};

use crate::adapters::AdapterPairs;
use crate::distribution::Distribution;

/// Pairs of NICs at the same distance.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DistanceClass {
    /// Distance.
    #[serde(serialize_with = "word")]
    pub kind: PathKind,
    /// Paths of each pair without failures, in the planes that exist.
    pub planned: u64,
    /// Remaining paths.
    pub paths: Distribution,
    /// Bandwidth in Mb/s of a pair while no other pair sends. Every plane contributes the capacity of its NIC port, or
    /// of its remaining paths, or of the T0 uplinks that they use, if one of these is lower.
    pub alone_mbps: Distribution,
}

/// A class of equivalent pairs of NICs among the worst pairs. Their NICs have the same losses, and so do the
/// groups of these NICs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorstPairs {
    /// Remaining paths as a fraction of the planned paths, in parts of [`Outcome::denominator`].
    pub share: u64,
    /// Remaining paths.
    pub paths: u64,
    /// Paths before.
    pub before: u64,
    /// Paths of such a pair without failures, in the planes that exist.
    pub planned_paths: u64,
    /// One of the pairs.
    pub example: (Nic, Nic),
    /// Number of equivalent pairs.
    pub pairs: u64,
}

/// Remaining capacity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// Pairs by distance, nearest first; distances without pairs are omitted.
    pub distances: Vec<DistanceClass>,
    /// Denominator of shares. It equals the share of a pair of the fastest NICs that has all of its planned
    /// paths.
    pub denominator: u64,
    /// Number of planes that exist. Each counts as an equal part of the bandwidth.
    pub planes: u64,
    /// Shares of all pairs, in parts of [`Outcome::denominator`]. Every path counts the same, regardless of
    /// the load on its cables. The share is multiplied by the ratio of the pair's slower NIC to the fastest
    /// NIC of the fabric.
    pub share: Distribution,
    /// Remaining paths of each pair: its usable paths divided by its planned ones, whatever the rate of its NICs.
    pub path_share: Distribution,
    /// Pairs that have fewer paths than before.
    pub affected_pairs: u64,
    /// Pairs without a path.
    pub cut_off: u64,
    /// Pairs without a path that had one before.
    pub newly_cut_off: u64,
    /// The largest loss of a pair, in parts of [`Outcome::denominator`].
    pub loss_max: u64,
    /// The largest loss of a pair in one plane, in parts of [`Outcome::denominator`].
    pub plane_loss_max: u64,
    /// Total loss of all pairs, in parts of [`Outcome::denominator`].
    pub loss_sum: u128,
    /// The lowest bandwidth in Mb/s of a pair that sends alone.
    pub solo_min_mbps: u64,
    /// Number of NICs of the fabric.
    pub nics: u64,
    /// NICs without a path to any other NIC, in order.
    pub nics_cut_off: Vec<Nic>,
    /// Pairs of adapters, if they have several NICs.
    pub adapter_pairs: Option<AdapterPairs>,
    /// Nodes none of whose NICs has a path.
    pub nodes_cut_off: u64,
    /// The worst pairs, worst first.
    pub worst: Vec<WorstPairs>,
}

impl Outcome {
    /// Returns the number of pairs of NICs.
    pub fn pairs(&self) -> u64 {
        self.share.pairs()
    }

    /// Converts parts of [`Outcome::denominator`] to a fraction of 1.
    pub fn part(&self, share: u64) -> f64 {
        part(share, 1, self.denominator)
    }

    /// Converts parts of [`Outcome::denominator`] to a fraction of one plane.
    pub fn part_of_plane(&self, share: u64) -> f64 {
        part(share, self.planes, self.denominator)
    }

    /// Returns the mean loss of a pair, as a fraction of 1.
    pub fn loss_mean(&self) -> f64 {
        mean(self.loss_sum, self.denominator, self.pairs())
    }
}

/// Multiplies a share by `times` and converts it to a fraction of `whole`.
pub(crate) fn part(share: u64, times: u64, whole: u64) -> f64 {
    share as f64 * times as f64 / whole as f64
}

/// Returns the mean of a sum over pairs, as a fraction of `whole`.
pub(crate) fn mean(sum: u128, whole: u64, pairs: u64) -> f64 {
    match pairs {
        0 => 0.0,
        pairs => sum as f64 / (whole as f64 * pairs as f64),
    }
}

/// Returns the keyword for the distance between two NICs.
pub fn kind_word(kind: PathKind) -> &'static str {
    match kind {
        PathKind::Local => "local",
        PathKind::Zone => "zone",
        PathKind::Far => "far",
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn word<S: Serializer>(kind: &PathKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind_word(*kind))
}
