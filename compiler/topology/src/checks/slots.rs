//! E0320: the slots are not one for each NIC, or two NICs are in one.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};

use crate::checks::words::count;
use crate::draft::Draft;
use crate::field;
use crate::pci::PciAddress;

/// The slots are not one for each NIC, or two NICs are in one.
pub(crate) static RULE: Rule = Rule {
    code: "E0320",
    title: "the slots do not go with the NICs",
    what: "`hosts.slots` has one entry for each NIC of a node, every port and GPU has a PCI address of its own, \
           and the bus has a function for every plane.",
    why: "Interfaces are named by their PCI address; a NIC without one, or two of one, could not be distinguished.",
    example: "hosts: { slots: [{ pci: \"0000:18:00.0\" }] }",
    fix: "Write one entry for each NIC, in the order of the rails.",
};

/// Counts the slots and compares their addresses.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(slots) = &draft.doc.hosts.slots else { return };
    if slots.len() as u64 != draft.nics_per_node {
        let found = count(slots.len() as u64, "slot");
        out.push(
            Diagnostic::error(&RULE, format!("{found} for {} of a node", count(draft.nics_per_node, "NIC")))
                .at(draft.at(field!("hosts.slots")), found)
                .and(draft.at(field!("hosts.nics_per_node")), count(draft.nics_per_node, "NIC"))
                .help("write one slot for each NIC, in the order of the rails"),
        );
        return;
    }
    let mut seen: BTreeMap<PciAddress, Span> = BTreeMap::new();
    for slot in slots {
        let planes = u8::try_from(draft.planes).unwrap_or(u8::MAX);
        let ports = (0..planes).map(|plane| slot.pci.value.function(plane).map(|at| (at, slot.pci.span)));
        let gpu = slot.gpu.map(|gpu| Some((gpu.value, gpu.span)));
        for found in ports.chain(gpu) {
            let Some((address, span)) = found else {
                out.push(
                    Diagnostic::error(&RULE, format!("`{}` has no function for every plane", slot.pci.value))
                        .at(slot.pci.span, format!("{planes} functions from here leave the bus")),
                );
                break;
            };
            if let Some(first) = seen.insert(address, span) {
                out.push(
                    Diagnostic::error(&RULE, format!("two devices of a node are at `{address}`"))
                        .at(span, "again here")
                        .and(first, "first here")
                        .note("the port of plane k is k functions behind that of plane 0"),
                );
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    fn slots(pci: [&str; 4]) -> String {
        let list: Vec<String> = pci.iter().map(|pci| format!("{{ pci: \"{pci}\" }}")).collect();
        format!("hosts: {{ outputs: [networkd], slots: [{}] }}", list.join(", "))
    }

    #[test]
    fn every_nic_has_its_slot() {
        let fine = slots(["0000:18:00.0", "0000:19:00.0", "0000:1a:00.0", "0000:1b:00.0"]);
        assert_eq!(codes(&fine), Vec::<&str>::new());
        let one = "hosts: { slots: [{ pci: \"0000:18:00.0\" }] }";
        assert_eq!(message(one, "E0320"), "1 slot for 4 NICs of a node");
        let twice = slots(["0000:18:00.0", "0000:18:00.1", "0000:1a:00.0", "0000:1b:00.0"]);
        assert_eq!(message(&twice, "E0320"), "two devices of a node are at `0000:18:00.1`");
        let end = slots(["0000:18:1f.7", "0000:19:00.0", "0000:1a:00.0", "0000:1b:00.0"]);
        assert_eq!(message(&end, "E0320"), "`0000:18:1f.7` has no function for every plane");
    }
}
