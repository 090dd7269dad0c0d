//! W0804: a setting affects only node files that are not generated.

mod classes;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};

use crate::choice::HostOutput;
use crate::draft::Draft;
use crate::field;

/// A setting affects only node files that are not generated.
pub(crate) static RULE: Rule = Rule {
    code: "W0804",
    title: "a setting for node files that are not generated",
    condition: "A setting for node files needs its file in `hosts.outputs`. `hosts.slots` needs `networkd` or \
           `nccl`. `gpu`, `numa` and `power` of a slot and `ecmp.qps_per_connection` need `nccl`. `numa` \
           also needs `gpu`. `role` of a class, and `priority` of a class without pauses, need `nic` or \
           `nccl` if these files depend on them. `outputs: []` means that only `closc export host` writes \
           node files.",
    impact: "Interface names are in files for systemd-networkd. GPUs, backup ports and queue pairs are in files \
           for NCCL. Marks and priorities of senders are in files for NIC drivers and NCCL, while switches \
           use code points and traffic classes. Without these files, the setting has no effect.",
    example: "hosts: { slots: [{ pci: \"0000:18:00.0\" }, { pci: \"0000:19:00.0\" }, { pci: \"0000:1a:00.0\" }, { pci: \
              \"0000:1b:00.0\" }] }",
    fix: "Add the file to `hosts.outputs`, set `outputs: []` if you use `closc export host`, or remove the \
           setting.",
};

/// Checks that the files of nodes that a setting affects are generated.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let hosts = &draft.doc.hosts;
    let outputs: Vec<HostOutput> = hosts.outputs.iter().flatten().map(|output| output.value).collect();
    // An empty list shows that this is intended.
    if hosts.outputs.as_ref().is_some_and(Vec::is_empty) {
        return;
    }
    classes::check(draft, &outputs, out);
    let mut warn = |what: &str, at: Span, missing: &str, wanted: &str| {
        out.push(
            Diagnostic::warning(&RULE, format!("{what} has no effect on the tree: {missing}"))
                .at(at, "")
                .note("`closc export host` writes such files for single nodes")
                .help(format!(
                    "add {wanted} to `hosts.outputs`, set it to `[]` to export such files only, or remove the setting"
                )),
        );
    };
    let (networkd, nccl) = (outputs.contains(&HostOutput::Networkd), outputs.contains(&HostOutput::Nccl));
    let no_nccl = "`hosts.outputs` has no `nccl`";
    if draft.states(field!("ecmp.qps_per_connection")) && !draft.routing.is_source_routed() && !nccl {
        let at = draft.at(field!("ecmp.qps_per_connection"));
        warn("`ecmp.qps_per_connection`", at, no_nccl, "`nccl`");
    }
    let Some(slots) = &hosts.slots else { return };
    if !networkd && !nccl {
        let missing = "`hosts.outputs` has neither `networkd` nor `nccl`";
        warn("`hosts.slots`", draft.at(field!("hosts.slots")), missing, "`networkd` or `nccl`");
        return;
    }
    if nccl {
        let alone = slots.iter().filter(|slot| slot.gpu.is_none()).find_map(|slot| slot.numa);
        if let Some(numa) = alone {
            out.push(
                Diagnostic::warning(&RULE, "`numa` of a slot has no effect without a `gpu`")
                    .at(numa.span, "")
                    .note("NCCL finds the NUMA nodes of NICs that are not paired with a GPU by itself")
                    .help("write which `gpu` uses the NIC, or remove `numa`"),
            );
        }
        return;
    }
    let gpu = slots.iter().find_map(|slot| slot.gpu.map(|gpu| gpu.span));
    let numa = slots.iter().find_map(|slot| slot.numa.map(|numa| numa.span));
    let power = slots.iter().find_map(|slot| slot.power.as_ref().map(|power| power.span));
    for (key, stated) in [("gpu", gpu), ("numa", numa), ("power", power)] {
        if let Some(at) = stated {
            warn(&format!("`{key}` of `hosts.slots`"), at, no_nccl, "`nccl`");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    fn hosts(more: &str, slot: &str) -> String {
        let slots: Vec<String> = ["18", "19", "1a", "1b"]
            .iter()
            .map(|bus| format!("{{ pci: \"0000:{bus}:00.0\"{slot} }}"))
            .collect();
        format!("hosts: {{ {more}slots: [{}] }}", slots.join(", "))
    }

    #[test]
    fn what_only_files_of_nodes_hold_needs_them() {
        for (outputs, slot, is_used) in [
            ("", "", false),
            ("outputs: [netplan], ", "", false),
            ("outputs: [], ", ", power: a", true),
            ("outputs: [networkd], ", "", true),
            ("outputs: [networkd], ", ", power: a", false),
            ("outputs: [nccl], ", ", power: a", true),
            ("outputs: [nccl], ", ", numa: 1", false),
        ] {
            let found = codes(&hosts(outputs, slot));
            assert_eq!(!found.contains(&"W0804"), is_used, "{outputs}{slot}: {found:?}");
        }
        assert_eq!(
            message(&hosts("", ""), "W0804"),
            "`hosts.slots` has no effect on the tree: `hosts.outputs` has neither `networkd` nor `nccl`"
        );
        for routing in ["ecmp-static", "bgp-unnumbered"] {
            let fragment = format!("{{ routing: {routing}, ecmp: {{ qps_per_connection: 4 }} }}");
            assert_eq!(
                message(&fragment, "W0804"),
                "`ecmp.qps_per_connection` has no effect on the tree: `hosts.outputs` has no `nccl`"
            );
        }
    }
}
