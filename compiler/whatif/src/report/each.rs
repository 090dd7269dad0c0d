//! The answer to every failure of some kinds, or to those of a part of a fabric, and the answer of the whole from its parts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cost, Failed};
use crate::each::Class;
use crate::element::{Element, Elements, Kind};

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
    /// Earlier failures.
    pub given: Failed,
    /// Simultaneous failures.
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

/// Question, besides kinds.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// BLAKE3 of the fabric and of everything that was asked.
    pub question: String,
    /// Which part failed.
    pub part: Option<PartOf>,
    /// Earlier failures.
    pub given: &'a [Element],
    /// Simultaneous failures.
    pub together: usize,
    /// Whether no kind was asked for.
    pub overview: bool,
}

/// Why answers are not parts of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoWhole {
    /// An answer is not that of a shard.
    #[error("`{0}` is not an answer for a shard: write each with `closc whatif --shard I/N --format json`")]
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
    /// An answer cannot be one.
    #[error("`{name}`: `{field}`: {why}: it was changed, or written by another version")]
    Unsound {
        /// The answer.
        name: String,
        /// The field.
        field: &'static str,
        /// The error.
        why: String,
    },
    /// No shard has anything that fails.
    #[error("`{fabric}` has nothing of this kind, or too little to fail {together} at a time")]
    Nothing {
        /// The fabric.
        fabric: String,
        /// Simultaneous failures.
        together: usize,
    },
}

impl Each {
    /// Puts the answer together.
    pub fn new(elements: Elements<'_>, asked: Asked<'_>, pairs: u64, classes: &[Class]) -> Each {
        let costs = classes.iter().map(|class| Cost::new(elements, class, pairs));
        // Shards are put together by what costs follow from.
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

    /// Puts the answers for all shards together, each with its name: every failure is in exactly one of them, and costs what
    /// it costs the whole fabric, so equal costs are added.
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
            // Without a question each kind is answered for itself.
            let place =
                |cost: &Cost| cost.kinds.first().and_then(|kind| Kind::ALL.iter().position(|of| of == kind));
            whole.classes.sort_by_key(place);
        }
        whole.classes = whole.classes.into_iter().map(|cost| cost.rounded(whole.pairs)).collect();
        Ok(Each { part: None, ..whole })
    }

    /// Refuses an answer of a shard that cannot be one.
    fn sound(&self, name: &str, (index, of): (u32, u32)) -> Result<(), NoWhole> {
        let refuse = |field, why: String| Err(NoWhole::Unsound { name: name.to_owned(), field, why });
        if index >= of {
            return refuse("shard", format!("there is no shard {index} of {of}"));
        }
        for cost in &self.classes {
            let Some(exact) = &cost.exact else {
                return refuse("exact", "a class says not what its cost follows from".to_owned());
            };
            if exact.whole == 0 || exact.planes == 0 {
                return refuse("exact", "a class is of nothing".to_owned());
            }
            if cost.failures == 0 || exact.loss_max > exact.whole || cost.pairs_cut_off > self.pairs {
                return refuse("classes", "a class costs more than there is, or has no failure".to_owned());
            }
        }
        Ok(())
    }
}
