//! `closc export l8k`: the topology file of NVIDIA's k8s-launch-kit.
//!
//! In: a fabric file. Out: `topology.json`. Invariants: the notes contain the settings for use with the file, and
//! name the nodes that the tool rejects or numbers differently.

use closc_diagnostics::figures::format_count;
use closc_exports::l8k::{self, LaunchKit};
use closc_plan::Plan;

use super::{list_below, stream};
use crate::args::Args;
use crate::args::export::nvidia::LaunchKitArgs;
use crate::input;
use crate::output::{self, Outcome};

/// Maximum number of NIC ports in a note.
const SHOWN: usize = 3;

/// Writes the file.
pub(super) fn run(args: &Args, command: &LaunchKitArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let family = command.ip_version.map_or_else(|| l8k::address_family(plan), Into::into);
    let kit = LaunchKit::new(plan, family)?;
    let files = stream(&command.out, &[kit.file()])?;
    if !args.quiet {
        let scheme = if l8k::has_pods(plan) { "3-tier" } else { "2-tier" };
        let planes = plan.planes().count();
        let mode = if planes == 1 { "none" } else { "swplb" };
        output::say(format!(
            "note: use it with `l8k generate --topology-file {} --topology-scheme {scheme} --ip-version {} \
             --multiplane-mode {mode} --number-of-planes {planes}`",
            command.out.join("topology.json"),
            family.config_keyword(),
        ));
        say_gaps(plan);
        if let Some(node) = l8k::renumbered_node(plan) {
            output::say(format!(
                "note: k8s-launch-kit numbers the nodes of a unit without gaps: adding the absent nodes before `{node}` \
                 changes its addresses"
            ));
        }
        output::say(
            "note: k8s-launch-kit computes addresses of its own, which the switches of this fabric file do not have; \
             `closc export kubernetes` writes pools that match the switches",
        );
    }
    list_below(args, &command.out, files)
}

/// Reports the NIC ports without a cable.
pub(super) fn say_gaps(plan: &Plan) {
    let (count, names) = l8k::uncabled_ports(plan, SHOWN);
    if count > 0 {
        let rest = if count > names.len() as u64 { ", ..." } else { "" };
        output::say(format!(
            "note: {} without a cable: {}{rest}; k8s-launch-kit rejects these nodes as workers if it needs the port",
            format_count(count, "NIC port"),
            names.join(", ")
        ));
    }
}
