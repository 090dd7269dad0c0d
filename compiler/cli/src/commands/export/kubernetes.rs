//! `closc export kubernetes`: Kubernetes objects that allocate the NICs of all nodes to pods, with the addresses of the
//! plan.

use anyhow::bail;
use closc_render::kubernetes::{self, Options};

use crate::args::Args;
use crate::args::export::KubernetesArgs;
use crate::input;
use crate::output::Outcome;

pub(super) fn run(args: &Args, command: &KubernetesArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    if command.agent_image.is_some() && !plan.is_source_routed() {
        bail!("agents need path tables, which only `routing: srv6-static` has: omit `--agent-image`");
    }
    let options = Options {
        operator_namespace: command.operator_namespace.clone(),
        namespace: command.namespace.clone(),
        release: command.release.clone(),
        agent_image: command.agent_image.clone(),
        dra: command.dra.map(Into::into),
    };
    let cluster = plan.cluster();
    let mut artefacts = kubernetes::cluster(&cluster, &options);
    for nic in &cluster.nics {
        artefacts.push(kubernetes::nic_pool(&cluster, &options, nic, plan.nic_allocations(nic.number)));
        for port in &nic.ports {
            let nodes = plan.port_allocations(nic.number, port.plane);
            artefacts.push(kubernetes::port_pool(&cluster, &options, port, nodes));
        }
    }
    super::write(args, &command.out, &artefacts)
}
