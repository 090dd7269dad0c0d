//! Adapters with several NICs: slots, PCI functions and backup ports belong to the adapter, addresses to its NICs.

use std::collections::BTreeSet;

use closc_plan::{Plan, SharedComponent};
use closc_tests::shape::{Shape, plan};
use closc_topology::{Nic, Node, ZoneId};

/// Nodes with two adapters of two NICs, in this number of planes. The file states the NICs of an adapter.
fn fabric(planes: u8) -> Plan {
    let shape = Shape { planes, groups: 4, per_group: 4, rails: 2, ..Shape::SMALL };
    let text = shape.yaml().replace("\n  nics_per_adapter: 2", "");
    let more = "nics_per_node: 4\n  nics_per_adapter: 2\n  outputs: [nccl, networkd]\n  slots: [{ pci: \"0000:18:00.0\" }, \
                { pci: \"0000:3b:00.0\" }]";
    plan(&text.replace("nics_per_node: 2", more))
}

const NODE: Node = Node { zone: ZoneId(0), unit: 0, index: 0 };

#[test]
fn ports_are_functions_of_their_adapter() {
    for (planes, expected) in [
        (1, vec!["0000:18:00.0", "0000:18:00.1", "0000:3b:00.0", "0000:3b:00.1"]),
        (
            2,
            vec![
                "0000:18:00.0",
                "0000:18:00.1",
                "0000:18:00.2",
                "0000:18:00.3",
                "0000:3b:00.0",
                "0000:3b:00.1",
                "0000:3b:00.2",
                "0000:3b:00.3",
            ],
        ),
    ] {
        let plan = fabric(planes);
        let host = plan.host(NODE);
        let ports = host.nics.iter().flat_map(|nic| &nic.ports);
        let found: Vec<String> = ports.filter_map(|port| port.pci).map(|pci| pci.to_string()).collect();
        assert_eq!(found, expected, "{planes} planes");
    }
}

/// NICs of an adapter are on consecutive T0 groups, on the same downlink, and each has an address.
#[test]
fn nics_of_an_adapter_are_on_a_pair_of_t0s() {
    let plan = fabric(1);
    let topology = plan.topology();
    let mut addresses = BTreeSet::new();
    for node in plan.nodes() {
        for first in [0, 2] {
            let [one, other] = [first, first + 1].map(|number| topology.nic_of(node, number));
            assert_eq!((one.group % 2, other), (0, Nic { group: one.group + 1, ..one }));
            assert_eq!([topology.adapter(one), topology.adapter(other)], [one, one]);
            let name = topology.adapter_name(other);
            assert_eq!(name, format!("{}/adapter{}", topology.naming.node(node), first / 2));
            assert_eq!(topology.parse_adapter(&name), Some(one));
            addresses.extend([one, other].map(|nic| plan.addresses().nic(nic)));
        }
    }
    assert_eq!(addresses.len(), 16);
}

/// The backup of a port is on the other T0 and, because there is another adapter, on the other adapter.
#[test]
fn a_backup_port_is_on_another_adapter() {
    let plan = fabric(1);
    let pairs = plan.host(NODE).backups();
    assert_eq!(pairs.len(), 4);
    for pair in pairs {
        assert_ne!(pair.primary.nic / 2, pair.backup.nic / 2, "{pair:?}");
        assert_ne!(pair.primary.t0, pair.backup.t0, "{pair:?}");
        assert_eq!(pair.shares, BTreeSet::from([SharedComponent::Plane]));
    }
}
