//! V03: both ends of a cable match.

use closc_diagnostics::Rule;

/// Both ends have addresses in the same prefix.
pub(crate) static HALVES: Rule = Rule {
    code: "V0301",
    title: "the addresses of a cable do not match",
    condition: "Each end of a cable has exactly one address, a /127 (IPv4: /31). The two addresses are the two \
           halves of one prefix. P4 targets have no addresses. With `bgp-unnumbered`, cables between \
           switches have none.",
    impact: "The next hop of a route is the other half. Without it the next hop is never resolved.",
    example: "\"INTERFACE\": { \"Ethernet256|2001:db8:2000:1300:1:2:0:a/126\": {} }",
    fix: "Restore the addresses in the edited file, or in the template that writes interfaces. If the two \
           ends are from different compilations, compile the complete fabric again. With `bgp-unnumbered`, \
           remove addresses from cables between switches.",
};

/// Both ends have equal link settings.
pub(crate) static WIRE: Rule = Rule {
    code: "V0302",
    title: "two ends of a cable differ in speed, packet size, error correction or auto-negotiation",
    condition: "Speed, MTU and forward error correction are equal at both ends of a cable. Both ends of a copper cable \
           negotiate and train the link, or both force the speed. Without a setting, EOS and SONiC force it, except for \
           SONiC on NVIDIA's ASICs. Cumulus Linux negotiates from 5.14. The manifest states the \
           default of each hardware and release.",
    impact: "With different speeds or codes the link stays down. A smaller MTU drops only large packets, which \
           looks like a fault of the application.",
    example: "\"PORT\": { \"Ethernet256\": { \"mtu\": \"1500\" } }",
    fix: "Set the MTU with `mtu.link`, and the speed with the breakouts in `tiers`, so that both ends \
           change. Undo an edit or a template that changes one end, and compile again. For auto-negotiation, see W0601.",
};

/// Buffers are sized for the cable.
pub(crate) static LENGTH: Rule = Rule {
    code: "V0303",
    title: "the configured cable length differs from the cable list",
    condition: "`CABLE_LENGTH` of a port is the length in the cable list, rounded up to whole metres. A switch \
           has this setting for all of its ports or for none.",
    impact: "Headroom is computed from the length. With a longer cable it overflows, and a lossless class loses \
           packets.",
    example: "\"CABLE_LENGTH\": { \"AZURE\": { \"Ethernet256\": \"5m\" } } for a cable of 30 m",
    fix: "Set the length in `cables` or `exceptions.cables` and compile again, so that list, `CABLE_LENGTH` \
           and headroom follow. Undo an edit of only one of them.",
};

/// Static neighbours.
pub(crate) static NEIGHBOUR: Rule = Rule {
    code: "V0304",
    title: "a static neighbour is missing or wrong",
    condition: "For each cable whose neighbour a device does not resolve, it has exactly one static neighbour. \
           This has the IP and MAC address of the other end. There is none where BGP finds the neighbour, or \
           where the other switch uses its manufacturer's MAC address.",
    impact: "After a restart no switch sends first, so nothing else resolves the next hop. A static route with \
           an unresolved next hop drops every packet. With a wrong MAC address the other end discards them.",
    example: "\"NEIGH\": { \"Ethernet256|2001:db8:2000:1300:1:2:0:b\": { \"neigh\": \"02:c1:13:00:00:09\" } }",
    fix: "Restore the neighbour or the MAC address that was edited, or the template that writes neighbours. \
           With static neighbours, a replaced switch takes the MAC address of its position, so its \
           neighbours do not change.",
};

/// Ports match the manifest.
pub(crate) static PROFILE: Rule = Rule {
    code: "V0305",
    title: "a port differs from the fabric file",
    condition: "The hardware of every switch is the one that the manifest states for its tier. Speed, lanes \
           and MTU of every port with a cable are those that it states for tier and side. Lanes of 25G and \
           faster have Reed-Solomon error correction (IEEE 802.3 clauses 91 and 119), except for \
           100GBASE-LR4 and -ER4 (clause 88).",
    impact: "Agreement between all switches is not sufficient: packets of 9,000 bytes do not pass ports of \
           1,500.",
    example: "\"mtu\": \"1500\" on every port",
    fix: "Set hardware, speed and MTU in the fabric file (`tiers`, `exceptions.devices`, `mtu.link`) and \
           compile the complete fabric. If a few switches differ, undo their edits; if a complete tier \
           differs, correct the template that writes ports.",
};

/// Isolated cables.
pub(crate) static ISOLATION: Rule = Rule {
    code: "V0306",
    title: "the isolated ports differ from the cable list",
    condition: "If the fabric file has `exceptions.isolated`, every SONiC switch has the access list \
           `LINK_ISOLATION_TABLE`. Its two rules forward ICMPv6 and drop every other IPv6 packet. Its ports are \
           exactly those of the cables that the cable list states as isolated.",
    impact: "A superfluous port drops the traffic of a cable that hosts use. If a port is missing, a host \
           that still sends over a faulty cable reaches the fabric.",
    example: "\"ACL_TABLE\": { \"LINK_ISOLATION_TABLE\": { \"ports\": [\"Ethernet256\"] } } for a cable with state `up`",
    fix: "Name the cable in `exceptions.isolated`, or remove it there, and compile again. Hosts leave it with \
           the same file. Undo edits of the list itself.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&HALVES, &WIRE, &LENGTH, &NEIGHBOUR, &PROFILE, &ISOLATION];
