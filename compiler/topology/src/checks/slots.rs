//! E0320: the number of slots differs from the number of NICs, or two NICs have the same slot.

use std::collections::{BTreeMap, BTreeSet};

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};

use crate::checks::words::count;
use crate::document::SlotDoc;
use crate::draft::Draft;
use crate::field;
use crate::pci::PciAddress;

/// The number of slots differs from the number of NICs, or two NICs have the same slot.
pub(crate) static RULE: Rule = Rule {
    code: "E0320",
    title: "the slots do not match the NICs",
    condition: "`hosts.slots` has one entry per NIC of a node, or per adapter. Every port and GPU has its own PCI address. The \
           port of plane k is k functions above that of plane 0, on the same bus. The pairs of slots and \
           GPUs fit NCCL's topology file.",
    impact: "Interfaces are named by their PCI address, so every NIC needs its own. NCCL exits at start if its \
           topology file, with its own additions, has more than 256 elements.",
    example: "hosts: { slots: [{ pci: \"0000:18:00.0\" }] }",
    fix: "Write one entry for each NIC, in the order of the rails.",
};

/// Maximum number of elements that NCCL holds: those of a topology file plus those that it detects (NCCL 2.21 to
/// 2.30, `src/graph/topo.h`: `NCCL_TOPO_XML_MAX_NODES`).
const NCCL_ELEMENTS: u64 = 256;

/// Maximum number of RDMA devices of a node that NCCL uses (the same releases, `src/transport/net_ib`:
/// `MAX_IB_DEVS`).
pub(crate) const NCCL_DEVICES: u64 = 32;

/// Counts the slots and compares their addresses.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(slots) = &draft.doc.hosts.slots else { return };
    let noun = if draft.nics_per_adapter > 1 { "adapter" } else { "NIC" };
    let adapters = draft.nics_per_node / draft.nics_per_adapter.max(1);
    if slots.len() as u64 != adapters {
        let found = count(slots.len() as u64, "slot");
        out.push(
            Diagnostic::error(&RULE, format!("{found} for {} of a node", count(adapters, noun)))
                .at(draft.at(field!("hosts.slots")), found)
                .and(draft.at(field!("hosts.nics_per_node")), count(draft.nics_per_node, "NIC"))
                .help(format!("write one slot for each {noun}, in the order of the rails")),
        );
        return;
    }
    let mut seen: BTreeMap<PciAddress, Span> = BTreeMap::new();
    for slot in slots {
        let functions = u8::try_from(draft.adapter_ports()).unwrap_or(u8::MAX);
        let ports = (0..functions).map(|port| slot.pci.value.function(port).map(|at| (at, slot.pci.span)));
        let gpu = slot.gpu.map(|gpu| Some((gpu.value, gpu.span)));
        for found in ports.chain(gpu) {
            let Some((address, span)) = found else {
                out.push(
                    Diagnostic::error(
                        &RULE,
                        format!(
                            "`{}` does not have a function for every {}",
                            slot.pci.value,
                            port_noun(draft)
                        ),
                    )
                    .at(slot.pci.span, format!("{functions} functions from here do not fit on the bus")),
                );
                break;
            };
            if let Some(first) = seen.insert(address, span) {
                out.push(
                    Diagnostic::error(&RULE, format!("two devices of a node are at `{address}`"))
                        .at(span, "again here")
                        .and(first, "first here")
                        .note(function_order(draft)),
                );
                break;
            }
        }
    }
    elements(draft, slots, out);
}

fn port_noun(draft: &Draft<'_>) -> &'static str {
    if draft.nics_per_adapter > 1 { "port" } else { "plane" }
}

/// Returns the order of the functions of a slot.
fn function_order(draft: &Draft<'_>) -> &'static str {
    if draft.nics_per_adapter > 1 {
        "the functions of an adapter are those of its NICs in order, and within a NIC those of its planes"
    } else {
        "the port of plane k is k functions above that of plane 0"
    }
}

/// Counts the elements that NCCL has to hold: those of the file, and the NICs, ports and GPU that it adds for
/// a process.
fn elements(draft: &Draft<'_>, slots: &[SlotDoc], out: &mut Diagnostics) {
    let paired: Vec<&SlotDoc> = slots.iter().filter(|slot| slot.gpu.is_some()).collect();
    let Some(first) = paired.first() else { return };
    let numa: BTreeSet<u8> = paired.iter().map(|slot| slot.numa.map_or(0, |numa| numa.value)).collect();
    let gpus: BTreeSet<PciAddress> = paired.iter().filter_map(|slot| Some(slot.gpu?.value)).collect();
    let (numa, gpus) = (numa.len() as u64, gpus.len() as u64);
    let (nics, ports) = (slots.len() as u64, (slots.len() as u64 * draft.adapter_ports()).min(NCCL_DEVICES));
    let needed = 1 + numa + 2 * gpus + 2 * nics + ports + 1;
    if needed <= NCCL_ELEMENTS {
        return;
    }
    let message = format!("NCCL needs {needed} elements for a node, but has room for {NCCL_ELEMENTS}");
    out.push(
        Diagnostic::error(&RULE, message)
            .at(first.pci.span, "paired with a GPU from here on")
            .note(format!(
                "1 + {} + 2 x {} and switches + 2 x {} + {} + the GPU of a process",
                count(numa, "NUMA node"),
                count(gpus, "GPU"),
                count(nics, "NIC"),
                count(ports, "RDMA device")
            ))
            .help("remove `gpu` from the slots: NCCL then detects GPUs itself"),
    );
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
        assert_eq!(message(&end, "E0320"), "`0000:18:1f.7` does not have a function for every plane");
    }
    /// 1 + 1 + 2 x 55 + 2 x 55 + 32 + 1 is 255. One more NIC needs four elements.
    #[test]
    fn nccl_has_room_for_what_is_paired() {
        let slots = |nics: u8| {
            let slot = |nic: u8| format!("{{ pci: \"0000:{nic:02x}:00.0\", gpu: \"0001:{nic:02x}:00.0\" }}");
            let list: Vec<String> = (0..nics).map(slot).collect();
            format!(
                "hosts: {{ outputs: [nccl], groups: 8, per_group: 112, nics_per_node: {nics}, slots: [{}] }}",
                list.join(", ")
            )
        };
        assert!(!codes(&slots(55)).contains(&"E0320"), "{:?}", codes(&slots(55)));
        assert_eq!(message(&slots(56), "E0320"), "NCCL needs 259 elements for a node, but has room for 256");
    }
}
