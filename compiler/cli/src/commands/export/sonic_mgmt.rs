//! `closc export sonic-mgmt`: a testbed for the tests of the SONiC project.
//!
//! In: a fabric file, and the traffic generators of the site. Out: files below `ansible/`. Invariants: notes count
//! the cables that are not part of the testbed, and show the lines to add to files that testbeds share.

use anyhow::ensure;
use closc_diagnostics::figures::format_count;
use closc_exports::sonic_mgmt::Testbed;

use super::{list_below, stream};
use crate::args::Args;
use crate::args::export::integrations::SonicMgmtArgs;
use crate::input;
use crate::output::{self, Outcome};

/// Writes the files.
pub(super) fn run(args: &Args, command: &SonicMgmtArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let generators = &command.traffic_generator;
    for (at, generator) in generators.iter().enumerate() {
        let name = generator.name.as_str();
        let is_new = generators[..at].iter().all(|other| other.name != name);
        ensure!(is_new, "`--traffic-generator`: two have the name `{name}`");
        let is_switch = plan.switches().any(|switch| plan.switch_name(switch) == name);
        ensure!(!is_switch, "`--traffic-generator`: a switch of this fabric has the name `{name}`");
    }
    let inventory = command.inventory.as_deref().unwrap_or(plan.name());
    let testbed = Testbed::new(plan, inventory, generators)?;
    let files = stream(&command.out, &testbed.files())?;
    if !args.quiet {
        if generators.is_empty() {
            let cables = format_count(plan.fabric().counts().host_links, "cable");
            output::say(format!("note: {cables} of NICs omitted: no `--traffic-generator` is given"));
        }
        output::say(format!("note: add `- {inventory}` to `ansible/files/graph_groups.yml` of sonic-mgmt"));
    }
    list_below(args, &command.out, files)
}
