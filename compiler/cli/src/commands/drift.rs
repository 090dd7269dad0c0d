//! `closc drift`: how live switches differ from the compiled tree.

use closc_deploy::drift;
use closc_diagnostics::printable;

use crate::args::Args;
use crate::args::control::FleetArgs;
use crate::commands::control;
use crate::output::{self, Outcome};

/// Compares; exits with 2 where something differs.
pub fn run(args: &Args, command: &FleetArgs) -> anyhow::Result<Outcome> {
    let site = control::inventory(command)?;
    let fleet = control::fleet(command, &site)?;
    let (observer, bar) = control::observer(args, fleet.n_switches(), "comparing");
    let report = control::block_on(async { Ok(drift(&fleet, &command.options(), observer).await) })?;
    bar.finish_and_clear();
    let outcome = if report.is_incomplete() {
        Outcome::Failed
    } else if report.is_clean() {
        Outcome::Fine
    } else {
        Outcome::Differences
    };
    output::judged(args, outcome, "closc-drift/1", &report, |report| printable::lines(&report.show()))
}
