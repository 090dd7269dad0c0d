//! The proof of a tree that is compiled in memory.
//!
//! In: a plan. Out: the output of `closc verify`. Invariants: a fabric is rejected if verifying its tree in a
//! browser would take too long. The error contains the number of cables.

use closc_plan::Plan;
use closc_platform::{Catalogue, Hardware};
use closc_verify::Options;
use serde::Serialize;

/// Maximum number of cables of a fabric that is verified here. The tree of such a fabric has about 30 MB.
const CABLES_MAX: u64 = 8192;

#[derive(Debug, Serialize)]
pub(crate) struct Verdict {
    holds: bool,
    text: String,
}

/// Compiles a plan into memory and verifies the result.
pub(crate) fn verify(plan: &Plan) -> Result<Verdict, String> {
    let counts = plan.fabric().counts();
    let cables = counts.host_links + counts.fabric_links;
    if cables > CABLES_MAX {
        return Err(format!(
            "{cables} cables are more than the {CABLES_MAX} that this page verifies; run `closc compile` and `closc verify`"
        ));
    }
    let tree = closc_compile::compile_in_memory(plan).map_err(|error| error.to_string())?;
    let hardware = Hardware::by_hwsku(Catalogue::builtin().iter());
    let options = Options { hardware, pipelines: closc_compile::pipeline_digests(), ..Options::default() };
    let report = closc_verify::verify(&tree, &options).map_err(|error| error.to_string())?;
    Ok(Verdict { holds: report.holds(), text: report.text() })
}
