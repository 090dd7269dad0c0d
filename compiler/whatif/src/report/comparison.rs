//! One design compared with another.

use closc_plan::Plan;
use schemars::JsonSchema;
use serde::Serialize;

use super::Cost;
use crate::design::{Design, Figure, ratio};
use crate::element::{Elements, Kind};

/// A figure of both designs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Name of the figure.
    pub what: &'static str,
    /// Value of the first design.
    pub ours: u64,
    /// Value of the second design.
    pub theirs: u64,
    /// The first value divided by the second, as a fraction. Values are per NIC if the figure grows with the number of
    /// NICs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<(u64, u64)>,
    /// Whether the figure grows with the number of NICs.
    pub per_nic: bool,
}

/// Greatest impact of a single failure of a kind, in both designs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Blast {
    /// The kind.
    pub kind: Kind,
    /// Impact in the first design.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours: Option<Cost>,
    /// Impact in the second design.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theirs: Option<Cost>,
}

/// One design compared with another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The first fabric.
    pub ours: String,
    /// The second fabric.
    pub theirs: String,
    /// Figures of both designs.
    pub figures: Vec<Row>,
    /// Greatest impact of a single failure, by kind.
    pub failures: Vec<Blast>,
}

impl Comparison {
    /// Compares two designs.
    pub fn new(ours: (&Plan, &Design), theirs: (&Plan, &Design)) -> Comparison {
        let row = |(a, b): (&Figure, &Figure)| Row {
            what: a.what,
            ours: a.value,
            theirs: b.value,
            ratio: ratio(*a, ours.1.nics, *b, theirs.1.nics),
            per_nic: a.per_nic,
        };
        let cost = |(plan, design): (&Plan, &Design), kind: Kind| {
            let found = design.failures.iter().find(|(other, _)| *other == kind)?;
            let pairs = found.1.outcome.pairs();
            Some(Cost::new(Elements::of(plan.fabric()), &found.1, pairs).round(pairs))
        };
        let failures = Kind::ALL.into_iter().filter_map(|kind| {
            let (ours, theirs) = (cost(ours, kind), cost(theirs, kind));
            (ours.is_some() || theirs.is_some()).then_some(Blast { kind, ours, theirs })
        });
        Comparison {
            ours: ours.0.topology().name.to_string(),
            theirs: theirs.0.topology().name.to_string(),
            figures: ours.1.figures.iter().zip(&theirs.1.figures).map(row).collect(),
            failures: failures.collect(),
        }
    }
}
