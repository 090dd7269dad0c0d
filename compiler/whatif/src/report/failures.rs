//! Failing elements, counted and named.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NAMES_MAX;
use crate::element::{Element, Elements, Kind};

/// Failing elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedElements {
    /// Number of elements.
    pub count: usize,
    /// Number of each kind.
    pub kinds: Vec<(Kind, usize)>,
    /// The first 64 names.
    pub names: Vec<String>,
}

impl FailedElements {
    /// Counts and names failing elements.
    pub fn new(elements: Elements<'_>, failed: &[Element]) -> FailedElements {
        let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
        for element in failed {
            *kinds.entry(element.kind()).or_default() += 1;
        }
        let names = failed.iter().take(NAMES_MAX).map(|element| elements.name(*element)).collect();
        FailedElements { count: failed.len(), kinds: kinds.into_iter().collect(), names }
    }
}
