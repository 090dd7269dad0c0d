//! `closc drift`: compares running switches with the compiled tree.

use anyhow::bail;
use closc_deploy::{CarrierOptions, DriftReport, SonicOptions, drift};
use closc_diagnostics::printable;

use crate::args::Args;
use crate::args::control::DriftArgs;
use crate::commands::control;
use crate::output::{self, Document, Outcome};

/// Comparison of live switches with a tree.
pub(crate) const DRIFT: Document<DriftReport> = Document::new("closc-drift/1");

/// Compares switches with a tree; exits with 2 if there are differences.
pub fn run(args: &Args, command: &DriftArgs) -> anyhow::Result<Outcome> {
    let site = control::inventory(&command.fleet)?;
    let sonic = SonicOptions { state: command.state, ..SonicOptions::default() };
    let fleet = control::fleet_with(&command.fleet, &site, sonic, CarrierOptions::default())?;
    if command.state && fleet.configured.is_empty() {
        bail!("`--state` needs switches that run SONiC, but the selection has none");
    }
    let (observer, bar) = control::observer(args, fleet.n_switches(), "comparing");
    let report = control::block_on(async { Ok(drift(&fleet, &command.fleet.options(), observer).await) })?;
    bar.finish_and_clear();
    control::warn_factory(&report.factory);
    let outcome = if report.is_incomplete() {
        Outcome::Failed
    } else if report.is_clean() {
        Outcome::Fine
    } else {
        Outcome::Differences
    };
    output::print_outcome(args, outcome, &DRIFT, &report, |report| printable::lines(&report.show()))
}
