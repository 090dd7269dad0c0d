//! V11: quality of service.

use closc_diagnostics::Rule;

/// Switches and hosts mean the same by a code point.
pub(crate) static CLASSES: Rule = Rule {
    code: "V1101",
    title: "switches and hosts disagree on a code point",
    what: "Every port maps all 64 code points to traffic classes, all ports alike, and every code point of a \
           class in the path tables to the class that the tables state.",
    why: "Packets that a host marks as data would wait in the queue of something else, from one switch on.",
    example: "\"DSCP_TO_TC_MAP\": { \"lossy-trim\": { \"4\": \"0\" } } on one switch",
    fix: "Compile again: switches and hosts are rendered from one profile.",
};

/// Pauses are everywhere or nowhere.
pub(crate) static PAUSES: Rule = Rule {
    code: "V1102",
    title: "a pause where there must be none, or none where there must be one",
    what: "All ports pause the same priorities; a class that is trimmed is not paused; a priority that is \
           paused has a group with headroom, and no other group has any.",
    why: "In a lossy fabric one port with PFC spreads congestion backwards; in a lossless one a port without \
          it loses packets.",
    example: "\"PORT_QOS_MAP\": { \"Ethernet0\": { \"pfc_enable\": \"3\" } } in a fabric that trims",
    fix: "Compile again; whether classes are paused is set in the profile.",
};

/// Trimming tells where it happened.
pub(crate) static TRIMMING: Rule = Rule {
    code: "V1103",
    title: "trimming is not as the hosts expect",
    what: "Classes that the path tables call trimmed are trimmed on every port and no others are; packets \
           trimmed at a port to a NIC get one code point, those trimmed elsewhere another, both as the path \
           tables say, and both belong to a class that is not trimmed.",
    why: "By the code point a NIC tells congestion in the fabric from an incast at its own port, and reacts \
          differently.",
    example: "\"TC_TO_DSCP_MAP\": { \"last-hop\": { \"8\": \"12\" } }",
    fix: "Compile again; the code points are set in the profile.",
};

/// Marks stop before the last hop.
pub(crate) static MARKS: Rule = Rule {
    code: "V1104",
    title: "packets are marked where they must not be, or not where they must",
    what: "In a fabric that trims, no queue of a port to a NIC marks packets unless the manifest states that it does \
           (`ecn_last_hop`), and every other port marks the same classes, among them all that are trimmed; the threshold \
           where marking starts is below the one where it is certain.",
    why: "Congestion at the last hop is the receiver's business: marked there, senders would leave good paths.",
    example: "\"QUEUE\": { \"Ethernet0|1\": { \"wred_profile\": \"q1-last-hop-100000\" } } on a T0",
    fix: "Compile again; where packets are marked is set in the profile.",
};

/// Ports that are alike are given the same.
pub(crate) static ALIKE: Rule = Rule {
    code: "V1105",
    title: "two ports that are alike have different settings",
    what: "Ports of the same place on the path, hardware, speed, packet size and cable length have the same \
           queues, schedulers, thresholds, buffers and maps, on all switches.",
    why: "A port with other weights or buffers loses packets, and is hard to find.",
    example: "one QUEUE row with another scheduler",
    fix: "Compile again; a template overlay may not change single ports.",
};

/// Quality of service is as stated.
pub(crate) static STATED: Rule = Rule {
    code: "V1106",
    title: "quality of service is not as the fabric states",
    what: "Code points, schedulers, thresholds of buffers, pauses, watchdogs, marks and trimming of every kind of port are those of the profile that the manifest states; pools are as large as the stated buffer leaves them with the cables of the switch, and marking thresholds that are shares of a pool are the same shares of it. What is not stated is not there: no other code points are written, nothing else is dropped early, no other watchdog acts.",
    why: "What all switches say alike is not right for that: with marks off everywhere no sender slows down.",
    example: "\"ecn\": \"ecn_none\" in every WRED_PROFILE",
    fix: "Compile again.",
};

/// Losses are counted.
pub(crate) static COUNTERS: Rule = Rule {
    code: "V1107",
    title: "counters that tell of losses are off",
    what: "Every switch whose language says so counts what its ports, queues and buffers drop, mark and trim.",
    why: "What is not counted is not seen, and a slow fabric has no explanation.",
    example: "no FLEX_COUNTER_TABLE",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&CLASSES, &PAUSES, &TRIMMING, &MARKS, &ALIKE, &STATED, &COUNTERS];
