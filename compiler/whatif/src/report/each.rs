//! The answer to every failure of some kinds.

use serde::Serialize;

use super::{Cost, Failed};
use crate::each::Class;
use crate::element::{Element, Elements};

/// The answer to every failure of some kinds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Each {
    /// The fabric.
    pub fabric: String,
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

impl Each {
    /// Puts the answer together.
    pub fn new(
        elements: Elements<'_>,
        given: &[Element],
        together: usize,
        overview: bool,
        classes: &[Class],
    ) -> Each {
        Each {
            fabric: elements.fabric.topology().name.to_string(),
            given: Failed::new(elements, given),
            together,
            overview,
            pairs: classes.first().map_or(0, |class| class.outcome.pairs()),
            classes: classes.iter().map(|class| Cost::new(elements, class)).collect(),
        }
    }
}
