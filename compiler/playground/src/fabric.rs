//! The fabric that a text describes: findings, counts, names, drawings.
//!
//! In: a reading or a plan. Out: values that become JSON, and SVG. Invariants: the length of name lists is
//! limited.

use closc_artefacts::Counts;
use closc_compile::front::Reading;
use closc_diagnostics::show::json::{self, JsonDiagnostic};
use closc_diagnostics::show::text::{self, Colour};
use closc_plan::Plan;
use closc_report::{Form, Subject, draw};
use closc_topology::PlaneId;
use serde::Serialize;

use crate::device;

/// Maximum number of switches, and of nodes, in the selection list. The user types the names of others.
const NAMES_MAX: usize = 2000;

/// Findings of a text, and its fabric if the text is valid.
#[derive(Serialize)]
pub(crate) struct CheckReport<'a> {
    findings: Vec<JsonDiagnostic<'a>>,
    /// The findings as shown on a terminal.
    shown: String,
    fabric: Option<FabricSummary>,
}

/// A valid fabric.
#[derive(Serialize)]
struct FabricSummary {
    name: String,
    routing: &'static str,
    counts: Counts,
    planes: u8,
    /// The first switches and nodes.
    names: Vec<String>,
}

/// Returns the findings and the fabric of a text.
pub(crate) fn check(reading: &Reading) -> CheckReport<'_> {
    let Reading { plan, diagnostics, sources } = reading;
    CheckReport {
        findings: json::all(diagnostics, sources),
        shown: text::all(diagnostics, sources, Colour::Plain),
        fabric: plan.as_ref().map(describe),
    }
}

fn describe(plan: &Plan) -> FabricSummary {
    let topology = plan.topology();
    let switches = plan.switches().map(|switch| plan.switch_name(switch).to_string());
    let nodes = plan.nodes().map(|node| plan.node_name(node).to_string());
    FabricSummary {
        name: plan.name().to_owned(),
        routing: topology.routing.keyword(),
        counts: plan.fabric().counts(),
        planes: topology.planes,
        names: switches.take(NAMES_MAX).chain(nodes.take(NAMES_MAX)).collect(),
    }
}

/// Draws the fabric, a plane (`plane 0`) or a switch as SVG.
pub(crate) fn drawing(plan: &Plan, subject: &str) -> Result<String, String> {
    let subject = match subject.strip_prefix("plane ") {
        None if subject.is_empty() => Subject::Fabric,
        None => Subject::Switch(device::switch(plan, subject)?),
        Some(number) => {
            let number = number.parse().ok().filter(|number| *number < plan.topology().planes);
            Subject::Plane(PlaneId(
                number.ok_or_else(|| format!("`{subject}` is not a plane of this fabric"))?,
            ))
        }
    };
    Ok(draw(plan, subject, Form::Svg))
}
