//! V02: the cable lists, and whether devices say the same.

use std::collections::HashSet;

use closc_diagnostics::Rule;

use crate::check::lanes::LANES;
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cabling, NodeId, Party, Plug};

/// Rows can be right.
pub(crate) static ROWS: Rule = Rule {
    code: "V0201",
    title: "a cable that cannot be",
    what: "Every row of a cable list is of the list's plane, of a known kind and state, has a length, and joins \
           devices of the tiers that its kind joins; a switch is in one plane and one tier.",
    why: "Installers plug what the list says; the proof follows the same list from port to port.",
    example: "3,t0-t1,p3-t0-001,Ethernet256,p4-t1-001,Ethernet0,30m,dr4,up",
    fix: "Compile again.",
};

/// A port has one cable.
pub(crate) static ONCE: Rule = Rule {
    code: "V0202",
    title: "a port with two cables",
    what: "No port of a device is in two rows.",
    why: "Only one of the two cables can be plugged.",
    example: "two rows with the lower end p3-t0-001,Ethernet256",
    fix: "Compile again.",
};

/// Devices expect what is plugged.
pub(crate) static PEER: Rule = Rule {
    code: "V0203",
    title: "a device expects another neighbour than the cable list has",
    what: "Device and port that a switch is told to expect at the other end of a port are those of the cable \
           list, in its neighbour table and in the port's description.",
    why: "Cabling is checked by comparing LLDP with these tables: a wrong one sends people to the wrong rack.",
    example: "\"DEVICE_NEIGHBOR\": { \"Ethernet256\": { \"name\": \"p3-t1-002\", \"port\": \"Ethernet0\" } }",
    fix: "Compile again.",
};

/// Ports with a cable are on, others are off.
pub(crate) static POWER: Rule = Rule {
    code: "V0204",
    title: "a port is on without a cable, or off with one",
    what: "Every port with a cable in the list is set up and switched on; every other port is off and has \
           neither address nor neighbour.",
    why: "A port that is off drops its share of the packets; one that is on without a plan forwards what \
          nobody proved.",
    example: "\"PORT\": { \"Ethernet256\": { \"admin_status\": \"down\" } }",
    fix: "Compile again.",
};

/// Ports check what comes in as fits what is plugged.
pub(crate) static ROLE: Rule = Rule {
    code: "V0205",
    title: "a port admits other packets than its neighbour sends",
    what: "Where switches check what comes in: a port with a NIC is a NIC port and takes exactly the NIC's own \
           inner address, and outer addresses of its node only; other ports are fabric ports.",
    why: "Whoever writes the destination address owns the path: a NIC on a fabric port could send anywhere, \
          and a switch on a NIC port could send nothing.",
    example: "ingress.port_role  ingress_port=255 -> nic_port() for the port to a T1",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(crate) const RULES: &[&Rule] = &[&ROWS, &ONCE, &PEER, &POWER, &ROLE, &LANES];

/// Checks that no port is in two rows.
pub(crate) fn check(cabling: &Cabling, findings: &mut Findings) {
    for switch in cabling.switch_ids() {
        once(cabling, Party::Switch(switch), cabling.at_switch(switch), findings);
    }
    for node in 0..cabling.nodes.len() as u32 {
        once(cabling, Party::Node(NodeId(node)), cabling.at_node(NodeId(node)), findings);
    }
}

fn once(cabling: &Cabling, party: Party, plugs: &[Plug], findings: &mut Findings) {
    findings.checked(&ONCE, plugs.len() as u64);
    let mut seen = HashSet::with_capacity(plugs.len());
    for plug in plugs {
        let (own, _) = cabling.cable(plug.cable).ends(plug.side);
        if !seen.insert(own.port) {
            let message = format!(
                "port `{}` of `{}` has two cables",
                cabling.names.text(own.port),
                cabling.party(party)
            );
            findings.broken(Violation::new(&ONCE, cabling.place(plug.cable), message));
        }
    }
}
