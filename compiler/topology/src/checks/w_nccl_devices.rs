//! W0806: NCCL uses fewer RDMA devices than a node has.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::slots::NCCL_DEVICES;
use crate::checks::words::count;
use crate::choice::HostOutput;
use crate::draft::Draft;
use crate::field;

/// NCCL uses fewer RDMA devices than a node has.
pub(crate) static RULE: Rule = Rule {
    code: "W0806",
    title: "a node has more RDMA devices than NCCL uses",
    condition: "With `nccl` in `hosts.outputs`, a node has at most 32 NIC ports, each of which is an RDMA device.",
    impact: "NCCL 2.21 to 2.30 uses the first 32 devices that it finds and the first 32 names of `NCCL_IB_HCA`. \
           It does not report the rest. Jobs would use only part of the node's bandwidth.",
    example: "hosts: { nics_per_node: 32, outputs: [nccl] }",
    fix: "Configure the driver to present the ports of a NIC as one device and write `NCCL_IB_HCA` for it, \
           or remove `nccl` from `hosts.outputs`.",
};

/// Counts the devices of a node.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let outputs = draft.doc.hosts.outputs.iter().flatten();
    let Some(nccl) = outputs.into_iter().find(|output| output.value == HostOutput::Nccl) else { return };
    let devices = draft.nics_per_node * draft.planes;
    if devices <= NCCL_DEVICES {
        return;
    }
    out.push(
        Diagnostic::warning(
            &RULE,
            format!("a node has {devices} RDMA devices, but NCCL uses only the first {NCCL_DEVICES}"),
        )
        .at(nccl.span, "")
        .and(draft.at(field!("hosts.nics_per_node")), count(draft.nics_per_node, "NIC"))
        .and(draft.at(field!("planes")), count(draft.planes, "port") + " each")
        .help("configure the driver to present the ports of a NIC as one device, or remove `nccl` from `hosts.outputs`"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn devices_end_at_thirty_two() {
        let said = "a node has 64 RDMA devices, but NCCL uses only the first 32";
        assert_eq!(message(RULE.example, "W0806"), said);
        let fits = RULE.example.replace("nics_per_node: 32", "nics_per_node: 16");
        assert!(!codes(&fits).contains(&"W0806"));
        assert!(!codes(&RULE.example.replace("[nccl]", "[nic]")).contains(&"W0806"));
    }
}
