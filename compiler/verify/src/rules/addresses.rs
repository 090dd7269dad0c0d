//! V04: addresses are where they belong, and only once.

use closc_diagnostics::Rule;

/// One device, one address.
pub(crate) static UNIQUE: Rule = Rule {
    code: "V0401",
    title: "an address is there twice",
    what: "No two switches share a loopback, a management address or a MAC address, and no two cables share a \
           prefix; every switch has at least one loopback, of full length, where its language has any.",
    why: "Two devices that answer for one address are reached by turns.",
    example: "\"LOOPBACK_INTERFACE\": { \"Loopback0|2001:db8:3000::1/128\": {} } on two switches",
    fix: "Compile again; if pools overlap, `closc check` says so.",
};

/// Management leads out.
pub(crate) static MANAGEMENT: Rule = Rule {
    code: "V0402",
    title: "a management address without a way",
    what: "A management address has the gateway that the manifest states. The gateway is in the same subnet and is not a switch's own \
           address, and either all switches of one language have a management address or none has.",
    why: "A switch that cannot be reached is not repaired.",
    example: "\"MGMT_INTERFACE\": { \"eth0|10.64.0.1/14\": { \"gwaddr\": \"10.64.0.1\" } }",
    fix: "Compile again; the gateway is set in `addresses.management_gateway`.",
};

/// Addresses of devices are not segments.
pub(crate) static BLOCK: Rule = Rule {
    code: "V0403",
    title: "an address inside the block of segments",
    what: "No port, loopback or NIC has an address inside the block.",
    why: "A connected route inside the block is longer than the blackhole, and catches packets meant to die.",
    example: "2001:db8:2000:: as block and as pool of link addresses",
    fix: "Compile again; if pools overlap, `closc check` says so.",
};

/// Addresses say where a switch is.
pub(crate) static PLACE: Rule = Rule {
    code: "V0404",
    title: "an address is not the device's own",
    what: "The loopback, the management address, the MAC address, the router id and the addresses of cables of a switch are \
           in the pools that the manifest states, at its tier and in its plane, and all of them are of one number in one zone that there is; \
           a T0 and a T1 that a cable joins are of one zone; a management address that is listed is the one that is stated for \
           the switch.",
    why: "Addresses are functions of position. One that is another device's, a NIC's or nobody's is a device that is looked \
          for in vain: telemetry, pings and management end elsewhere.",
    example: "\"Loopback0|2001:db8:1000:1::1/128\" on a T1, which is the address of a NIC",
    fix: "Compile again.",
};

/// Statements of switches about each other.
pub(crate) static PEER: Rule = Rule {
    code: "V0405",
    title: "a switch is wrong about a neighbour",
    what: "Loopback and management address that a switch states of another one, and hardware and type where both are of one \
           language, are those which that one has (`DEVICE_NEIGHBOR_METADATA` of SONiC).",
    why: "What monitors neighbours goes by these rows, and looks at another device.",
    example: "\"p0-t1-001\": { \"lo_addr_v6\": \"2001:db8:3000::1\" }, with another loopback on p0-t1-001",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&UNIQUE, &MANAGEMENT, &BLOCK, &PLACE, &PEER];
