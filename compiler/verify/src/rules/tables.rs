//! V07: path tables.

use closc_diagnostics::Rule;

/// Both forms are equal.
pub(crate) static FORMS: Rule = Rule {
    code: "V0701",
    title: "the two forms of a path table differ",
    condition: "Every number that is in the JSON form and in the binary form of a path table is the same in both.",
    impact: "Hosts use the binary form, and operators read the JSON form.",
    example: "\"t0_uplinks\": 256 in group-0001.json and 255 in group-0001.bin",
    fix: "Compile again to discard the edit of one form, or to replace a corrupt `.bin` file. Hosts ignore \
           the JSON form, so an edit of it has no effect on them.",
};

/// All tables describe the same fabric.
pub(crate) static HEADER: Rule = Rule {
    code: "V0702",
    title: "path tables disagree about the fabric",
    condition: "All path tables have the same block, widths, trimmed classes, and numbers of planes, groups, \
           uplinks and parallel cables. Tables of a zone have the same delays. Each group has exactly one \
           table, with the number of the group in its name.",
    impact: "Hosts of two groups would compute different addresses for the same path.",
    example: "\"index_bits\": 10 in one of the tables",
    fix: "Compile the path tables of all groups again, from one fabric file. V0101 reports a table that was \
           edited; any other is from another fabric or compilation, or was renamed.",
};

/// Templates produce the intended path.
pub(crate) static TEMPLATE: Rule = Rule {
    code: "V0703",
    title: "a path template names another path",
    condition: "The uSIDs of a template name the sender's T0, the first T1, the destination's T0 and its first \
           downlink, all in plane 0. Between zones, the first T2 and the T1 of the other zone follow the \
           first T1. No bits are set after them.",
    impact: "Every packet to that group takes a wrong path or is dropped.",
    example: "\"template\": \"fcbb:bbbb:1:4001:3:8001::\" for group 2",
    fix: "Compile again: the destinations or the segments of this table were edited, or the file is corrupt. \
           If V0101 does not report the table, report a bug in closc.",
};

/// Additions to a template do not overflow their fields.
pub(crate) static FIELDS: Rule = Rule {
    code: "V0704",
    title: "a path address is wrong",
    condition: "For every plane, uplink and downlink, a table produces an address with the uSIDs of the layout. \
           All are in 0x0001-0xDFFF and have equal plane bits. The last one is that of a NIC, and zeros \
           follow.",
    impact: "An addition that overflows its field selects another switch. Hardware drops a list that ends in \
           the uSID of a switch (Tomahawk 5).",
    example: "\"plane_bits\": 2 with eight planes",
    fix: "Set widths with `srv6.widths` in the fabric file, where `closc check` tests that planes, zones and \
           indexes fit (E0401 to E0403). Compile again to discard an edit of the table.",
};

/// NICs in tables match those in the cable lists.
pub(crate) static NICS: Rule = Rule {
    code: "V0705",
    title: "the list of NICs is wrong",
    condition: "The inner address of a NIC belongs to its own group and downlink, and no two NICs share a \
           downlink. Its T0s are the switches at its cables. Every cable to a NIC belongs to a NIC of the \
           list.",
    impact: "Packets for one NIC would be delivered to another.",
    example: "\"downlink\": 3 for the NIC with address 2001:db8:1000:1::2",
    fix: "Undo the edit of the path table or of the NIC's row in the cable list, whichever V0101 reports. \
           After a change of `hosts`, compile the complete fabric, so that both agree.",
};

/// Probes return to their sender.
pub(crate) static PROBES: Rule = Rule {
    code: "V0706",
    title: "a probe does not return",
    condition: "A T0 probe crosses the T0 and returns to the sender. A T1 probe crosses T0 and T1, a T2 probe T0, \
           T1 and T2. Both return over the same cables.",
    impact: "Probes identify the faulty cable. A probe that never returns reports a fault that does not exist.",
    example: "{ \"kind\": \"t1\", \"template\": \"fcbb:bbbb:1:4001:2:8001::\" } in the table of group 1",
    fix: "Compile again: the probes, or the segments of the same table, were edited or are corrupt. Probes \
           cannot be set in the fabric file.",
};

/// Tables match their T0s.
pub(crate) static OWN: Rule = Rule {
    code: "V0707",
    title: "a table has wrong data about a T0",
    condition: "The MAC address and the uSID that a table contains for the T0 of a plane are those of that \
           switch.",
    impact: "Hosts send to this MAC address and start every list with this uSID.",
    example: "\"t0_usid\": \"0002\" for p0-t0-001, whose segment is fcbb:bbbb:1::/48",
    fix: "If V0404 or V0502 reports the T0, correct the switch first. Otherwise the table was edited or is \
           from another compilation: compile the complete fabric again.",
};

/// Delays match the cables.
pub(crate) static DELAY: Rule = Rule {
    code: "V0708",
    title: "a delay that is impossible with these cables",
    condition: "The round trip in a path table is not shorter than light needs in the shortest cable of each \
           kind. It is not longer than with the longest cables, switches and NICs, without queues, at the \
           speed of the slowest port. The kinds are those of the longest path, without T2 cables in a single \
           zone. Lengths are those of the lists and the manifest. The bytes in flight are exactly that time \
           at the speed of a NIC port of the zone. The target is the round trip plus the queue at which a T0 \
           uplink starts to mark.",
    impact: "Congestion control starts from these numbers. A target that is too short leaves cables idle. One \
           that is too long fills queues until packets are trimmed or dropped.",
    example: "\"base_rtt_ns\": 100",
    fix: "Set lengths in `cables` or `exceptions.cables`, not in lists or tables, and compile the complete \
           fabric. Tables from before the change keep the delays of the old lengths.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&FORMS, &HEADER, &TEMPLATE, &FIELDS, &NICS, &PROBES, &OWN, &DELAY];
