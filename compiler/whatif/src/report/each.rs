//! The answer to every failure of some kinds, or to those of a part of a fabric, and the answer of the whole from its parts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cost, Failed};
use crate::each::Class;
use crate::element::{Element, Elements};

/// The answer to every failure of some kinds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Each {
    /// The fabric.
    pub fabric: String,
    /// BLAKE3 of the fabric and of everything that was asked: parts of one answer have the same.
    pub question: String,
    /// Which part of the fabric failed; absent where all of it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartOf>,
    /// What has failed before.
    pub given: Failed,
    /// How many fail at a time.
    pub together: usize,
    /// Whether no kind was asked for.
    pub overview: bool,
    /// Ordered pairs of NICs.
    pub pairs: u64,
    /// Failures by what they cost, the most costly first.
    pub classes: Vec<Cost>,
}

/// Which part of a fabric failed. What it costs is counted over the whole fabric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartOf {
    /// Index and number of shards, where the part is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<(u32, u32)>,
    /// The part in words of the command line.
    pub selection: String,
}

/// What was asked, besides kinds.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// BLAKE3 of the fabric and of everything that was asked.
    pub question: String,
    /// Which part failed.
    pub part: Option<PartOf>,
    /// What has failed before.
    pub given: &'a [Element],
    /// How many fail at a time.
    pub together: usize,
    /// Whether no kind was asked for.
    pub overview: bool,
}

/// Why answers are no parts of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoWhole {
    /// An answer is not that of a shard.
    #[error("`{0}` is no answer for a shard: write each with `closc whatif --shard I/N --format json`")]
    NoShard(String),
    /// Two answers are to other questions.
    #[error(
        "`{one}` and `{other}` answer different questions: ask the same of one fabric file, with `--shard` alone changed"
    )]
    Other {
        /// An answer.
        one: String,
        /// Another.
        other: String,
    },
    /// Two answers are of one shard.
    #[error("shard {index}/{of} is in `{one}` and in `{other}`")]
    Twice {
        /// Its index.
        index: u32,
        /// The number of shards.
        of: u32,
        /// An answer.
        one: String,
        /// Another.
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
}

impl Each {
    /// Puts the answer together.
    pub fn new(elements: Elements<'_>, asked: Asked<'_>, pairs: u64, classes: &[Class]) -> Each {
        Each {
            fabric: elements.fabric.topology().name.to_string(),
            question: asked.question,
            part: asked.part,
            given: Failed::new(elements, asked.given),
            together: asked.together,
            overview: asked.overview,
            pairs,
            classes: classes.iter().map(|class| Cost::new(elements, class)).collect(),
        }
    }

    /// Puts the answers for all shards together, each with its name: every failure is in exactly one of them, and costs what
    /// it costs the whole fabric, so equal costs are added.
    pub fn merge(answers: Vec<(String, Each)>) -> Result<Each, NoWhole> {
        let mut known: BTreeMap<u32, (String, Each)> = BTreeMap::new();
        let mut first: Option<(String, Each, u32)> = None;
        for (name, each) in answers {
            let shard = each.part.as_ref().and_then(|part| part.shard);
            let Some((index, of)) = shard else { return Err(NoWhole::NoShard(name)) };
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
        for cost in known.into_values().flat_map(|(_, each)| each.classes) {
            match whole.classes.iter_mut().find(|other| other.is_alike(&cost)) {
                Some(other) => other.failures += cost.failures,
                None => whole.classes.push(cost),
            }
        }
        // As one answer has them. What is alike in cost stays in the order of shards, which is that of elements.
        whole.classes.sort_by(|a, b| {
            let cost = |cost: &Cost| (cost.pairs_cut_off, cost.loss_max, cost.loss_mean);
            let order = cost(b).partial_cmp(&cost(a)).unwrap_or(std::cmp::Ordering::Equal);
            order.then_with(|| a.kinds.cmp(&b.kinds))
        });
        Ok(Each { part: None, ..whole })
    }
}
