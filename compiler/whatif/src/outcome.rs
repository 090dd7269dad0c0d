//! Remaining capacity of a fabric: the result of this crate.
//!
//! In: nothing; these are the types. Invariants: integers, so that two outcomes can be compared; a share is a number of
//! [`Outcome::whole`]ths, which local, zone and far pairs have in common.

use closc_plan::PathKind;
use closc_topology::Nic;
use serde::{Serialize, Serializer};

use crate::distribution::Distribution;

/// Pairs of NICs that are equally far apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Apart {
    /// Distance.
    #[serde(serialize_with = "word")]
    pub kind: PathKind,
    /// Paths of each pair where nothing has failed and nothing is absent.
    pub planned: u64,
    /// Paths that are left.
    pub paths: Distribution,
    /// Mb/s that a pair gets while no other sends: every plane with a path gives what its NIC port carries.
    pub alone_mbps: Distribution,
}

/// Pairs of NICs that are among the worst, all between the same two groups.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worst {
    /// Remaining capacity, in [`Outcome::whole`]ths.
    pub share: u64,
    /// Paths that are left.
    pub paths: u64,
    /// Paths before.
    pub before: u64,
    /// Paths of such a pair where nothing has failed.
    pub planned: u64,
    /// One of the pairs.
    pub example: (Nic, Nic),
    /// Number of equal ones.
    pub pairs: u64,
}

/// Remaining capacity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// Pairs by how far they are apart, nearest first; only those that there are.
    pub apart: Vec<Apart>,
    /// Parts that make up the whole of a pair's paths.
    pub whole: u64,
    /// Planes, which each hold an equal part of the whole.
    pub planes: u64,
    /// Shares of all pairs, in parts of the whole. Paths count alike; whether the cables that are left have room is not asked.
    /// Where zones have slower NICs, pairs with one have no more than its part of the whole.
    pub share: Distribution,
    /// Pairs that have fewer paths than before.
    pub touched: u64,
    /// Pairs without a path.
    pub cut_off: u64,
    /// Pairs without a path that had one before.
    pub newly_cut_off: u64,
    /// The most that a pair lost against before, in parts of the whole.
    pub loss_max: u64,
    /// The most that a pair lost in one plane, in parts of the whole.
    pub plane_loss_max: u64,
    /// Total loss of all pairs, in parts of the whole.
    pub loss_sum: u128,
    /// The least bandwidth of a pair that sends alone, in Mb/s.
    pub alone_min_mbps: u64,
    /// NICs of the fabric.
    pub nics: u64,
    /// NICs without a path to any other, in order.
    pub nics_cut_off: Vec<Nic>,
    /// Nodes all of whose NICs are without a path.
    pub nodes_cut_off: u64,
    /// The worst pairs, worst first.
    pub worst: Vec<Worst>,
}

impl Outcome {
    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.share.pairs()
    }

    /// Returns parts of the whole as a part of 1.
    pub fn part(&self, share: u64) -> f64 {
        part(share, 1, self.whole)
    }

    /// Returns parts of the whole as a part of one plane.
    pub fn part_of_plane(&self, share: u64) -> f64 {
        part(share, self.planes, self.whole)
    }

    /// Returns what a pair lost on average, as a part of 1.
    pub fn loss_mean(&self) -> f64 {
        mean(self.loss_sum, self.whole, self.pairs())
    }
}

/// Returns so many times a share as a part of the whole.
pub(crate) fn part(share: u64, times: u64, whole: u64) -> f64 {
    share as f64 * times as f64 / whole as f64
}

/// Returns what each of some pairs has of a sum, as a part of the whole.
pub(crate) fn mean(sum: u128, whole: u64, pairs: u64) -> f64 {
    match pairs {
        0 => 0.0,
        pairs => sum as f64 / (whole as f64 * pairs as f64),
    }
}

/// Returns the word for how far apart two NICs are.
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
