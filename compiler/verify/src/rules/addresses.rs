//! V04: addresses are unique, and match the position of their device.

use closc_diagnostics::Rule;

/// Addresses are unique.
pub(crate) static UNIQUE: Rule = Rule {
    code: "V0401",
    title: "a duplicate address",
    condition: "No two switches share a loopback, a management address or a MAC address, and no two cables share \
           a prefix. Every switch has at least one loopback of full length, if its language has loopbacks.",
    impact: "If two devices have one address, packets reach one or the other at random.",
    example: "\"LOOPBACK_INTERFACE\": { \"Loopback0|2001:db8:3000::1/128\": {} } on two switches",
    fix: "The file was edited, or copied from the other switch: compile again. A template that writes a \
           fixed address has to use the value of its view instead.",
};

/// Management addresses have a usable gateway.
pub(crate) static MANAGEMENT: Rule = Rule {
    code: "V0402",
    title: "a management address without a usable gateway",
    condition: "A management address has the gateway that the manifest states. The gateway is in the same subnet \
           and is not the address of a switch. Either all switches of a language have a management address, \
           or none has.",
    impact: "A switch that cannot be reached cannot be repaired.",
    example: "\"MGMT_INTERFACE\": { \"eth0|10.64.0.1/14\": { \"gwaddr\": \"10.64.0.1\" } }",
    fix: "Set the gateway with `addresses.management_gateway`, or in `addresses.management_list` for single \
           switches, and compile again. An edit of the switch file alone does not change the manifest.",
};

/// Device addresses are not segments.
pub(crate) static BLOCK: Rule = Rule {
    code: "V0403",
    title: "an address inside the block of segments",
    condition: "No port, loopback or NIC has an address inside the block of segments.",
    impact: "A connected route inside the block is more specific than the blackhole. It captures packets that \
           must be dropped.",
    example: "2001:db8:2000:: as block and as pool of link addresses",
    fix: "Remove the address from the edited file, path table or template. If the range is needed, move \
           `srv6.block` or the pool in the fabric file. `closc check` reports overlaps (E0503).",
};

/// Addresses match the position.
pub(crate) static PLACE: Rule = Rule {
    code: "V0404",
    title: "an address belongs to another device",
    condition: "The addresses of a switch are in the pools of the manifest, at its tier and in its plane. These \
           are its loopback, management address, MAC address, router id and cable addresses. All of them \
           encode the same index, in one existing zone. A T0 and a T1 that share a cable are in one zone. A \
           listed management address is the one in the manifest.",
    impact: "Addresses are functions of position. With an unassigned address, or that of another device or a \
           NIC, telemetry, pings and management reach the wrong place.",
    example: "\"Loopback0|2001:db8:1000:1::1/128\" on a T1, which is the address of a NIC",
    fix: "If one switch is reported, its file was edited or copied from another switch: compile again. If \
           many are reported, files of compilations with different `addresses` are mixed: compile the \
           complete fabric into an empty folder.",
};

/// Values about neighbours are correct.
pub(crate) static PEER: Rule = Rule {
    code: "V0405",
    title: "a switch has wrong data about a neighbour",
    condition: "Loopback and management address that a switch lists for a neighbour are those of the neighbour. \
           Hardware and type agree too, if both run the same system (`DEVICE_NEIGHBOR_METADATA` of SONiC).",
    impact: "Monitoring that uses these rows watches another device.",
    example: "\"p0-t1-001\": { \"lo_addr_v6\": \"2001:db8:3000::1\" }, with another loopback on p0-t1-001",
    fix: "Compile again if `DEVICE_NEIGHBOR_METADATA`, or the file of the neighbour, was edited. If the \
           neighbour has other hardware in `exceptions.devices`, compile the complete fabric, because \
           adjacent switches list it too.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&UNIQUE, &MANAGEMENT, &BLOCK, &PLACE, &PEER];
