//! V02: cable lists, and what devices say of their cables.

use closc_diagnostics::Rule;

/// Rows can be right.
pub(crate) static ROWS: Rule = Rule {
    code: "V0201",
    title: "a cable that cannot be",
    what: "Every row of a cable list is of the list's plane, of a known kind and state, has a length, and joins \
           devices of the tiers that its kind joins; a switch is in one plane and one tier, and a port of a NIC in the plane that \
           it is named after.",
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
    what: "Device and port that a switch expects at the other end of a port are those of the cable \
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
    title: "a port accepts other packets than its neighbour sends",
    what: "Where switches check what comes in: a port with a NIC is a NIC port and takes exactly the NIC's own \
           inner address, and outer addresses of its node only; other ports are fabric ports.",
    why: "Whoever writes the destination address owns the path: a NIC on a fabric port could send anywhere, \
          and a switch on a NIC port could send nothing.",
    example: "ingress.port_role  ingress_port=255 -> nic_port() for the port to a T1",
    fix: "Compile again.",
};

/// Names stand for lanes.
pub(crate) static LANES: Rule = Rule {
    code: "V0206",
    title: "a port stands for other lanes than on other switches",
    what: "No two ports of a switch share a serial lane, and a port of one name and as many lanes has the same lanes, alias and cage on all \
           switches of the same hardware.",
    why: "Names are printed on cables and lanes lead to cages: with lanes exchanged, the tables are right and \
          packets leave by another cage.",
    example: "\"Ethernet0\": { \"lanes\": \"18\" } and \"Ethernet1\": { \"lanes\": \"17\" }, the other way round",
    fix: "Compile again; lanes are facts of the platform.",
};

/// Media reach.
pub(crate) static REACH: Rule = Rule {
    code: "V0207",
    title: "a cable that is longer than its medium carries",
    what: "Every cable has a known medium and is at most as long as that carries at the speed of its ports.",
    why: "The link does not come up, or loses packets: the wrong cable was written down, and will be bought.",
    example: "p0 nic-t0 row with length 60m and medium dac",
    fix: "Correct length or medium in the fabric file.",
};

/// Cables are those that the fabric states.
pub(crate) static STATED: Rule = Rule {
    code: "V0208",
    title: "a cable that the fabric does not state",
    what: "Every cable has a length and a medium that the manifest states for its kind.",
    why: "Whoever orders and lays cables goes by the list: copper in the place of glass fits no transceiver, and headroom and \
          delays are computed for the lengths that the fabric file has.",
    example: "3,nic-t0,su001-n001,nic0p3,p3-t0-001,Ethernet0,3m,aoc,up with `nic-t0: { length: 3m, medium: dac }`",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&ROWS, &ONCE, &PEER, &POWER, &ROLE, &LANES, &REACH, &STATED];
