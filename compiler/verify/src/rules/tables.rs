//! V07: path tables.

use closc_diagnostics::Rule;

/// Both forms say the same.
pub(crate) static FORMS: Rule = Rule {
    code: "V0701",
    title: "the two forms of a path table differ",
    what: "Every number that the JSON and the binary of a path table both have is the same in both.",
    why: "Hosts use the binary and people read the JSON.",
    example: "\"t0_uplinks\": 256 in group-0001.json and 255 in group-0001.bin",
    fix: "Compile again.",
};

/// Tables agree on the fabric.
pub(crate) static HEADER: Rule = Rule {
    code: "V0702",
    title: "path tables do not agree on the fabric",
    what: "All path tables state the same block, widths, numbers of planes, groups, uplinks and parallel \
           cables, and the same delays; each group has exactly one table, and it is named by its group.",
    why: "Hosts of two groups would compute different addresses for the same path.",
    example: "\"index_bits\": 10 in one of the tables",
    fix: "Compile again.",
};

/// A template names the path.
pub(crate) static TEMPLATE: Rule = Rule {
    code: "V0703",
    title: "a path template names another path",
    what: "The uSIDs of a template are those of the own T0, the first T1 (and T2 and T1 of the other zone), \
           the destination's T0 and its first downlink, in plane 0, and nothing behind them.",
    why: "Every packet to that group takes the wrong way or dies.",
    example: "\"template\": \"fcbb:bbbb:1:4001:3:8001::\" for group 2",
    fix: "Compile again.",
};

/// Additions stay in their fields.
pub(crate) static FIELDS: Rule = Rule {
    code: "V0704",
    title: "a path address comes out wrong",
    what: "For every plane, uplink and downlink the address that a table gives has the uSIDs that the layout \
           gives: all in 0x0001-0xDFFF, equal plane bits in all of them, the last one a NIC's, zeros behind.",
    why: "An addition that overflows its field names another switch; a list that ends in a switch's own uSID \
          is dropped by hardware (Tomahawk 5).",
    example: "\"plane_bits\": 2 with eight planes",
    fix: "Compile again; widths are set in `srv6.widths`.",
};

/// NICs are what tables say.
pub(crate) static NICS: Rule = Rule {
    code: "V0705",
    title: "the list of NICs is wrong",
    what: "A NIC's inner address leads to its own group and downlink, no two NICs share a downlink, the T0s \
           are the switches that its cables lead to, and every cable to a NIC belongs to a listed one.",
    why: "Packets for one NIC would be delivered to another.",
    example: "\"downlink\": 3 for the NIC with address 2001:db8:1000:1::2",
    fix: "Compile again.",
};

/// Probes come back.
pub(crate) static PROBES: Rule = Rule {
    code: "V0706",
    title: "a probe does not come back",
    what: "The list of a T0 probe goes over the T0 back to the sender, that of a T1 probe over T0 and T1, that of a \
           T2 probe over T0, T1 and T2 and back by the same cables.",
    why: "Probes tell which cable is at fault; one that never returns reports a fault that is not there.",
    example: "{ \"kind\": \"t1\", \"template\": \"fcbb:bbbb:1:4001:2:8001::\" } in the table of group 1",
    fix: "Compile again.",
};

/// The T0s are as the table says.
pub(crate) static OWN: Rule = Rule {
    code: "V0707",
    title: "a table is wrong about a T0",
    what: "The MAC address and the uSID that a table states for the T0 of a plane are those of that switch.",
    why: "Hosts send to this MAC address, and begin every list with this uSID.",
    example: "\"t0_usid\": \"0002\" for p0-t0-001, whose segment is fcbb:bbbb:1::/48",
    fix: "Compile again.",
};

/// Delays.
pub(crate) static DELAY: Rule = Rule {
    code: "V0708",
    title: "a delay that the cables do not have",
    what: "The round trip in path tables is not shorter than light takes through the shortest cables of each kind, nor longer \
           than through the longest with switches and NICs without queues, at the speed of the slowest port; kinds of cable are \
           those that the longest path is of, so none to T2s where there is one zone, in the lengths that the lists and the \
           manifest state; what is in flight meanwhile is exactly that time at the speed of a NIC port of the zone; and the target \
           is the round trip and the queue at which a T0 uplink starts to mark.",
    why: "Congestion control starts from these numbers: a target that is too short leaves cables idle, one that is too long \
          fills queues until packets are trimmed or dropped.",
    example: "\"base_rtt_ns\": 100",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&FORMS, &HEADER, &TEMPLATE, &FIELDS, &NICS, &PROBES, &OWN, &DELAY];
