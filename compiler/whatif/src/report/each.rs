//! Report on every failure of given kinds, for a fabric or a part of it. Merges the reports on all shards of
//! a fabric.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cost, FailedElements};
use crate::each::Class;
use crate::element::{Element, Elements, Kind};

/// Report on every failure of given kinds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EachReport {
    /// The fabric.
    pub fabric: String,
    /// BLAKE3 of the fabric and of all parameters except the part; equal in the reports of all shards.
    pub question: String,
    /// The part of the fabric whose elements fail; absent for the complete fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<FabricPart>,
    /// Earlier failures.
    pub given: FailedElements,
    /// Number of simultaneous failures.
    pub together: usize,
    /// Whether this is an overview, because no kind was given.
    pub overview: bool,
    /// Unordered pairs of NICs.
    pub pairs: u64,
    /// Failures by impact, the greatest first. In an overview they are grouped by kind.
    pub classes: Vec<Cost>,
}

/// The part of a fabric whose elements fail. The impact is counted over the complete fabric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FabricPart {
    /// Index and number of shards, if the part is a shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<(u32, u32)>,
    /// The part as given on the command line.
    pub selection: String,
}

/// Parameters of the report, except kinds.
#[derive(Debug, Clone)]
pub struct EachQuestion<'a> {
    /// BLAKE3 of the fabric and of all parameters except the part.
    pub question: String,
    /// The part whose elements fail.
    pub part: Option<FabricPart>,
    /// Earlier failures.
    pub earlier_failures: &'a [Element],
    /// Number of simultaneous failures.
    pub together: usize,
    /// Whether no kind was given.
    pub overview: bool,
}

/// Reason why reports on shards cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// A report is not a report on a shard.
    #[error(
        "`{0}` is not the report of a shard; expected the output of `closc whatif --shard I/N --format json`"
    )]
    NoShard(String),
    /// Two reports have different parameters.
    #[error(
        "`{one}` and `{other}` have different parameters; expected the same fabric file, options and number of shards"
    )]
    Other {
        /// The first report.
        one: String,
        /// The other report.
        other: String,
    },
    /// Two reports are for the same shard.
    #[error("shard {index}/{of} is in `{one}` and in `{other}`")]
    Twice {
        /// Index of the shard.
        index: u32,
        /// The number of shards.
        of: u32,
        /// The first report.
        one: String,
        /// The other report.
        other: String,
    },
    /// A shard is missing.
    #[error("shard {index}/{of} is missing; expected a report for each of the {of} shards")]
    Missing {
        /// Index of the shard.
        index: u32,
        /// The number of shards.
        of: u32,
    },
    /// A value of a report is impossible.
    #[error(
        "`{field}` of `{name}` is invalid: {reason}; expected an unmodified report of this version of closc"
    )]
    Unsound {
        /// The report.
        name: String,
        /// The field.
        field: &'static str,
        /// The error.
        reason: String,
    },
    /// The fabric has fewer elements of these kinds than fail together.
    #[error("`{fabric}` has too few elements of these kinds; expected at least {together}")]
    Nothing {
        /// The fabric.
        fabric: String,
        /// Number of simultaneous failures.
        together: usize,
    },
}

impl EachReport {
    /// Creates the report.
    pub fn new(elements: Elements<'_>, asked: EachQuestion<'_>, pairs: u64, classes: &[Class]) -> EachReport {
        let costs = classes.iter().map(|class| Cost::new(elements, class, pairs));
        // Only reports on shards keep the exact integers, which a merge needs.
        let is_shard = asked.part.as_ref().is_some_and(|part| part.shard.is_some());
        EachReport {
            classes: if is_shard { costs.collect() } else { costs.map(|cost| cost.round(pairs)).collect() },
            fabric: elements.fabric.topology().name.to_string(),
            question: asked.question,
            part: asked.part,
            given: FailedElements::new(elements, asked.earlier_failures),
            together: asked.together,
            overview: asked.overview,
            pairs,
        }
    }

    /// Merges the reports on all shards, each with its name. Every failure is in exactly one report, with its
    /// impact on the complete fabric. So counts of failures with equal impact can be added.
    pub fn merge(answers: Vec<(String, EachReport)>) -> Result<EachReport, MergeError> {
        let mut known: BTreeMap<u32, (String, EachReport)> = BTreeMap::new();
        let mut first: Option<(String, EachReport, u32)> = None;
        for (name, each) in answers {
            let shard = each.part.as_ref().and_then(|part| part.shard);
            let Some((index, of)) = shard else { return Err(MergeError::NoShard(name)) };
            each.check_values(&name, (index, of))?;
            match &first {
                Some((one, other, n)) if other.question != each.question || *n != of => {
                    return Err(MergeError::Other { one: one.clone(), other: name });
                }
                Some(_) => {}
                None => first = Some((name.clone(), EachReport { classes: Vec::new(), ..each.clone() }, of)),
            }
            if let Some((one, _)) = known.get(&index) {
                return Err(MergeError::Twice { index, of, one: one.clone(), other: name });
            }
            known.insert(index, (name, each));
        }
        let Some((_, mut whole, of)) = first else { return Err(MergeError::NoShard("-".to_owned())) };
        if let Some(index) = (0..of).find(|index| !known.contains_key(index)) {
            return Err(MergeError::Missing { index, of });
        }
        for (name, each) in known.into_values() {
            for cost in each.classes {
                let Some(other) = whole.classes.iter_mut().find(|other| other.is_alike(&cost)) else {
                    whole.classes.push(cost);
                    continue;
                };
                let why = || "the total does not fit in 128 bits".to_owned();
                let unsound = || MergeError::Unsound { name: name.clone(), field: "failures", reason: why() };
                other.add(cost).ok_or_else(unsound)?;
            }
        }
        if whole.classes.is_empty() {
            return Err(MergeError::Nothing { fabric: whole.fabric, together: whole.together });
        }
        whole.classes.sort_by(Cost::order);
        if whole.overview {
            // In an overview, classes are grouped by kind, the greatest impact of each kind first.
            let place =
                |cost: &Cost| cost.kinds.first().and_then(|kind| Kind::ALL.iter().position(|of| of == kind));
            whole.classes.sort_by_key(place);
        }
        whole.classes = whole.classes.into_iter().map(|cost| cost.round(whole.pairs)).collect();
        Ok(EachReport { part: None, ..whole })
    }

    /// Rejects a report on a shard with impossible values.
    fn check_values(&self, name: &str, (index, of): (u32, u32)) -> Result<(), MergeError> {
        let refuse =
            |field, why: String| Err(MergeError::Unsound { name: name.to_owned(), field, reason: why });
        if index >= of {
            return refuse("shard", format!("shard {index} of {of} is out of range"));
        }
        for cost in &self.classes {
            let Some(exact) = &cost.exact else {
                return refuse("exact", "it is missing in a class".to_owned());
            };
            if exact.whole == 0 || exact.planes == 0 {
                return refuse("exact", "`whole` or `planes` of a class is 0".to_owned());
            }
            if cost.failures == 0 || exact.loss_max > exact.whole || cost.pairs_cut_off > self.pairs {
                return refuse("classes", "a class has 0 failures or an impossible loss".to_owned());
            }
        }
        Ok(())
    }
}
