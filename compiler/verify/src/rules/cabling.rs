//! V02: cable lists, and whether devices are configured for their cables.

use closc_diagnostics::Rule;

/// Rows are possible.
pub(crate) static ROWS: Rule = Rule {
    code: "V0201",
    title: "an impossible cable",
    condition: "Every row of a cable list has the plane of its list, a known kind and state, and a length. It \
           connects devices of the tiers that its kind connects. A switch is in one plane and one tier. A \
           NIC port is in the plane of its name.",
    impact: "Installers connect cables by this list, and the proof follows it from port to port.",
    example: "3,t0-t1,p3-t0-001,Ethernet256,p4-t1-001,Ethernet0,30m,dr4,up",
    fix: "Compile again to discard the edit of the list, or if `manifest.json` lacks the folder of a switch. \
           Declare missing and different cables in `exceptions` of the fabric file. The list contains the \
           plan; `closc cables check` finds cables that are plugged elsewhere.",
};

/// A port has one cable.
pub(crate) static ONCE: Rule = Rule {
    code: "V0202",
    title: "a port with two cables",
    condition: "No port of a device is in two rows.",
    impact: "Only one of the two cables can be connected.",
    example: "two rows with the lower end p3-t0-001,Ethernet256",
    fix: "Remove the row that was added or copied, or compile again. An extra cable needs ports of its own: \
           raise `up`, `down` or `parallel` in `tiers`.",
};

/// Expected neighbours are those of the cable list.
pub(crate) static PEER: Rule = Rule {
    code: "V0203",
    title: "a switch expects a neighbour other than in the cable list",
    condition: "A switch expects the same device and port behind each port as the cable list has. This holds for \
           its neighbour table and for the description of the port.",
    impact: "Cabling is checked by comparing LLDP with these tables. A wrong entry sends technicians to the \
           wrong rack.",
    example: "\"DEVICE_NEIGHBOR\": { \"Ethernet256\": { \"name\": \"p3-t1-002\", \"port\": \"Ethernet0\" } }",
    fix: "Restore the description or `DEVICE_NEIGHBOR` entry that was changed by hand or by a template. If \
           the list was edited to follow a moved cable, undo that and run `closc cables check`.",
};

/// Ports with a cable are enabled, all others are disabled.
pub(crate) static POWER: Rule = Rule {
    code: "V0204",
    title: "a port is on without a cable, or off with one",
    condition: "Every port with a cable in the list is configured and on. Every other port is off and has neither \
           address nor neighbour.",
    impact: "A port that is off drops its share of the packets. A port that is on without a cable forwards \
           packets that are not in the proof.",
    example: "\"PORT\": { \"Ethernet256\": { \"admin_status\": \"down\" } }",
    fix: "To shut a port, declare its cable in `exceptions.absent` of the fabric file and compile again. If \
           only the list or only the device was edited, undo that edit, or correct the template that writes \
           ports.",
};

/// Ingress filters match the cable.
pub(crate) static ROLE: Rule = Rule {
    code: "V0205",
    title: "a port accepts packets other than those of its neighbour",
    condition: "This applies to switches that check received packets. A port with a NIC is a NIC port. It \
           accepts only the NIC's own address as inner source, and only addresses of the NIC's node as outer \
           source. All other ports are fabric ports.",
    impact: "The destination address determines the path. A NIC on a fabric port could send anywhere, and a \
           switch on a NIC port could send nothing.",
    example: "ingress.port_role  ingress_port=255 -> nic_port() for the port to a T1",
    fix: "Undo the edit of the entries, the cable list or the path table, whichever V0101 reports. If they \
           are from different compilations, compile the complete fabric again.",
};

/// Port names have fixed lanes.
pub(crate) static LANES: Rule = Rule {
    code: "V0206",
    title: "a port has lanes that differ from other switches",
    condition: "No two ports of a switch share a serial lane. Ports with the same name and number of lanes have \
           the same lanes, alias and cage on all switches of the same hardware. If the catalogue has the \
           hardware, it has these ports and lanes.",
    impact: "Names are on cable labels, and lanes lead to cages. If lanes are exchanged, the tables are correct \
           and packets leave through another cage.",
    example: "\"Ethernet0\": { \"lanes\": \"18\" } and \"Ethernet1\": { \"lanes\": \"17\" }, exchanged",
    fix: "For a platform of the site, correct the lanes in its file and pass the same `--platforms` to \
           `compile` and `verify`. Otherwise `PORT` was edited, or the catalogue has changed since the tree \
           was compiled: compile again.",
};

/// Cables are within the reach of their medium.
pub(crate) static REACH: Rule = Rule {
    code: "V0207",
    title: "a cable is longer than its medium carries",
    condition: "Every cable has a known medium, and is within its reach at the speed of the ports.",
    impact: "The link does not come up or loses packets, and the wrong cable is ordered.",
    example: "p0 nic-t0 row with length 60m and medium dac",
    fix: "Undo the edit of the row. If the cable really has this length, set a medium that reaches it in \
           `cables` or `exceptions.cables` and compile again. `closc check` tests the reach (E0602).",
};

/// Cables are those of the fabric file.
pub(crate) static STATED: Rule = Rule {
    code: "V0208",
    title: "length or medium of a cable differs from the fabric file",
    condition: "Every cable has a length and a medium that the manifest states for its kind.",
    impact: "Cables are ordered and laid by this list. Copper instead of fibre fits no transceiver. Headroom \
           and delays are computed for the lengths in the fabric file.",
    example: "3,nic-t0,su001-n001,nic0p3,p3-t0-001,Ethernet0,3m,aoc,up with `nic-t0: { length: 3m, medium: dac }`",
    fix: "Set length and medium in `cables`, or in `exceptions.cables` for one cable, and compile again. An \
           edit of the list alone leaves headroom and delays unchanged.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&ROWS, &ONCE, &PEER, &POWER, &ROLE, &LANES, &REACH, &STATED];
