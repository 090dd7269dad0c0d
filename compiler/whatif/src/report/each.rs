//! Report on every failure of some kinds, for a fabric or for a part of it. Merges the reports on all shards of a
//! fabric.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cost, Failed};
use crate::each::Class;
use crate::element::{Element, Elements, Kind};

/// Report on every failure of some kinds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Each {
    /// The fabric.
    pub fabric: String,
    /// BLAKE3 of the fabric and of all parameters; equal in the reports of all shards.
    pub question: String,
    /// The part of the fabric that failed; absent for the complete fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartOf>,
    /// Earlier failures.
    pub given: Failed,
    /// Simultaneous failures.
    pub together: usize,
    /// Whether no kind was given.
    pub overview: bool,
    /// Unordered pairs of NICs.
    pub pairs: u64,
    /// Failures by impact, the greatest first.
    pub classes: Vec<Cost>,
}

/// The part of a fabric that failed. The impact is counted over the complete fabric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartOf {
    /// Index and number of shards, if the part is a shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<(u32, u32)>,
    /// The part as given on the command line.
    pub selection: String,
}

/// Parameters of the report, without kinds.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// BLAKE3 of the fabric and of all parameters.
    pub question: String,
    /// The part that failed.
    pub part: Option<PartOf>,
    /// Earlier failures.
    pub given: &'a [Element],
    /// Simultaneous failures.
    pub together: usize,
    /// Whether no kind was given.
    pub overview: bool,
}

/// Why reports of shards cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoWhole {
    /// A report is not that of a shard.
    #[error("`{0}` is not an answer for a shard: write each with `closc whatif --shard I/N --format json`")]
    NoShard(String),
    /// Two reports have different parameters.
    #[error(
        "`{one}` and `{other}` answer different questions: ask the same of one fabric file, with `--shard` alone changed"
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
        /// Its index.
        index: u32,
        /// The number of shards.
        of: u32,
        /// The first report.
        one: String,
        /// The other report.
        other: String,
    },
    /// A shard is missing.
    #[error("no answer is of shard {index}/{of}")]
    Missing {
        /// Its index.
        index: u32,
        /// The number of shards.
        of: u32,
    },
    /// The values of a report are impossible.
    #[error("`{name}`: `{field}`: {why}: it was changed, or written by another version")]
    Unsound {
        /// The report.
        name: String,
        /// The field.
        field: &'static str,
        /// The error.
        why: String,
    },
    /// No shard contains a failure.
    #[error("`{fabric}` has nothing of this kind, or too little to fail {together} at a time")]
    Nothing {
        /// The fabric.
        fabric: String,
        /// Simultaneous failures.
        together: usize,
    },
}

impl Each {
    /// Makes the report.
    pub fn new(elements: Elements<'_>, asked: Asked<'_>, pairs: u64, classes: &[Class]) -> Each {
        let costs = classes.iter().map(|class| Cost::new(elements, class, pairs));
        // Reports on shards contain the integers for merging.
        let is_shard = asked.part.as_ref().is_some_and(|part| part.shard.is_some());
        Each {
            classes: if is_shard { costs.collect() } else { costs.map(|cost| cost.rounded(pairs)).collect() },
            fabric: elements.fabric.topology().name.to_string(),
            question: asked.question,
            part: asked.part,
            given: Failed::new(elements, asked.given),
            together: asked.together,
            overview: asked.overview,
            pairs,
        }
    }

    /// Merges the reports on all shards, each with its name. Every failure is in exactly one shard, with its impact on
    /// the complete fabric, so failures of equal impact are added.
    pub fn merge(answers: Vec<(String, Each)>) -> Result<Each, NoWhole> {
        let mut known: BTreeMap<u32, (String, Each)> = BTreeMap::new();
        let mut first: Option<(String, Each, u32)> = None;
        for (name, each) in answers {
            let shard = each.part.as_ref().and_then(|part| part.shard);
            let Some((index, of)) = shard else { return Err(NoWhole::NoShard(name)) };
            each.sound(&name, (index, of))?;
            match &first {
                Some((one, other, n)) if other.question != each.question || *n != of => {
                    return Err(NoWhole::Other { one: one.clone(), other: name });
                }
                Some(_) => {}
                None => first = Some((name.clone(), Each { classes: Vec::new(), ..each.clone() }, of)),
            }
            if let Some((one, _)) = known.get(&index) {
                return Err(NoWhole::Twice { index, of, one: one.clone(), other: name });
            }
            known.insert(index, (name, each));
        }
        let Some((_, mut whole, of)) = first else { return Err(NoWhole::NoShard("-".to_owned())) };
        if let Some(index) = (0..of).find(|index| !known.contains_key(index)) {
            return Err(NoWhole::Missing { index, of });
        }
        for (name, each) in known.into_values() {
            for cost in each.classes {
                let Some(other) = whole.classes.iter_mut().find(|other| other.is_alike(&cost)) else {
                    whole.classes.push(cost);
                    continue;
                };
                let why = || "more failures than can be counted".to_owned();
                let unsound = || NoWhole::Unsound { name: name.clone(), field: "failures", why: why() };
                other.add(cost).ok_or_else(unsound)?;
            }
        }
        if whole.classes.is_empty() {
            return Err(NoWhole::Nothing { fabric: whole.fabric, together: whole.together });
        }
        whole.classes.sort_by(Cost::order);
        if whole.overview {
            // If no kind was given, each kind is reported separately.
            let place =
                |cost: &Cost| cost.kinds.first().and_then(|kind| Kind::ALL.iter().position(|of| of == kind));
            whole.classes.sort_by_key(place);
        }
        whole.classes = whole.classes.into_iter().map(|cost| cost.rounded(whole.pairs)).collect();
        Ok(Each { part: None, ..whole })
    }

    /// Rejects a report on a shard with impossible values.
    fn sound(&self, name: &str, (index, of): (u32, u32)) -> Result<(), NoWhole> {
        let refuse = |field, why: String| Err(NoWhole::Unsound { name: name.to_owned(), field, why });
        if index >= of {
            return refuse("shard", format!("there is no shard {index} of {of}"));
        }
        for cost in &self.classes {
            let Some(exact) = &cost.exact else {
                return refuse("exact", "a class lacks the integers of its cost".to_owned());
            };
            if exact.whole == 0 || exact.planes == 0 {
                return refuse("exact", "a class is of nothing".to_owned());
            }
            if cost.failures == 0 || exact.loss_max > exact.whole || cost.pairs_cut_off > self.pairs {
                return refuse("classes", "a class loses more than there is, or has no failure".to_owned());
            }
        }
        Ok(())
    }
}
