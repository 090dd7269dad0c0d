//! `closc export mrc`: explicit entropy value profiles for the controllers of MRC NICs.
//!
//! In: a fabric file, sending nodes, receivers, device limits. Out: a file for each sending NIC. Invariants: a NIC
//! does not get a profile to itself. The number of values beyond the device limits is reported.

use anyhow::bail;
use closc_plan::Plan;
use closc_render::mrc::{self, End, Limits, Sender};
use closc_render::{Artefact, path_table};
use closc_topology::{Nic, Node};

use crate::args::Args;
use crate::args::export::MrcArgs;
use crate::output::Outcome;
use crate::{input, names};

pub(super) fn run(args: &Args, command: &MrcArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    input::needs_source_routing("`closc export mrc`", plan)?;
    let limits = Limits {
        values: command.max_values.unwrap_or(u32::MAX),
        align: command.align,
        all_values: command.max_all_values.unwrap_or(u32::MAX),
        profiles: command.max_profiles.unwrap_or(u32::MAX),
    };
    let mut artefacts: Vec<Artefact> = Vec::new();
    for name in &command.nodes {
        let node = names::node(plan, name)?;
        for number in 0..plan.topology().hosts.nics_per_node {
            let nic = plan.topology().nic_of(node, number);
            if plan.fabric().has_nic(nic) {
                artefacts.push(profiles(plan, node, number, nic, command, limits)?);
            }
        }
    }
    super::write(args, &command.out, &artefacts)
}

fn profiles(
    plan: &Plan,
    node: Node,
    number: u8,
    nic: Nic,
    command: &MrcArgs,
    limits: Limits,
) -> anyhow::Result<Artefact> {
    let topology = plan.topology();
    let mut receivers: Vec<Nic> = Vec::new();
    for name in &command.to {
        let to = names::nic(plan, name, number)?;
        if to != nic && !receivers.contains(&to) {
            receivers.push(to);
        }
    }
    let to: Vec<End> = receivers.into_iter().map(|to| end(plan, to)).collect();
    if to.is_empty() {
        bail!(
            "`{}` would send only to itself: name another receiver with `--to`",
            topology.naming.nic(node, number)
        );
    }
    let [_, binary] = path_table::render(&plan.path_table(nic.zone, nic.group));
    let interfaces = plan.nic_interfaces(number);
    let sender = Sender {
        end: end(plan, nic),
        node: topology.naming.node(node).to_string(),
        number,
        downlink: nic.downlink,
        interfaces: interfaces.map(|name| name.to_string()).collect(),
        planes: plan.planes().count() as u8,
    };
    Ok(mrc::render(&binary.bytes, &sender, &to, limits)?)
}

fn end(plan: &Plan, nic: Nic) -> End {
    let (node, number) = plan.topology().node_of(nic);
    End { nic: plan.topology().naming.nic(node, number), address: plan.addresses().nic(nic).to_ipv6() }
}
