//! V11: quality of service.

use closc_diagnostics::Rule;

/// Switches and hosts agree on code points.
pub(crate) static CLASSES: Rule = Rule {
    code: "V1101",
    title: "switches and hosts disagree on a code point",
    condition: "Every port maps all 64 code points to traffic classes, equally on all ports. The code points of a \
           class in the path tables are mapped to the class in the tables.",
    impact: "From that switch on, packets that a host marks as data wait in the queue of another class.",
    example: "\"DSCP_TO_TC_MAP\": { \"lossy-trim\": { \"4\": \"0\" } } on one switch",
    fix: "Set code points with `qos.classes` in the fabric file and compile the complete fabric, so that \
           switches and hosts change together. Undo an edit of a map, or a template that writes it.",
};

/// PFC is enabled on all ports or on none.
pub(crate) static PAUSES: Rule = Rule {
    code: "V1102",
    title: "a port pauses the wrong priorities",
    condition: "All ports pause the same priorities. A class that is trimmed is not paused. A paused priority has \
           a priority group with headroom, and no other priority group has headroom.",
    impact: "In a lossy fabric, one port with PFC spreads congestion backwards. In a lossless fabric, a port \
           without PFC loses packets.",
    example: "\"PORT_QOS_MAP\": { \"Ethernet0\": { \"pfc_enable\": \"1\" } } where class 1 is trimmed",
    fix: "Set `pfc` of classes with `qos` in the fabric file and compile again. Undo an edit or a template \
           that changes pauses of single ports.",
};

/// The code point of a trimmed packet indicates where it was trimmed.
pub(crate) static TRIMMING: Rule = Rule {
    code: "V1103",
    title: "trimming differs from the path tables",
    condition: "Exactly the classes that the path tables list as trimmed are trimmed on every port. Packets \
           trimmed at a port to a NIC get one code point, and packets trimmed elsewhere another. Both are \
           those of the path tables, and belong to a class that is not trimmed.",
    impact: "The code point shows a NIC whether the fabric or its own port is congested (incast). It reacts \
           differently to the two.",
    example: "\"TC_TO_DSCP_MAP\": { \"last-hop\": { \"8\": \"12\" } }",
    fix: "Set `qos.trimming`, and `trim` of classes, in the fabric file and compile the complete fabric. \
           Path tables contain the same code points, so undo an edit of only one side.",
};

/// Ports to NICs mark only if the manifest states so.
pub(crate) static MARKS: Rule = Rule {
    code: "V1104",
    title: "ECN marking at the wrong ports",
    condition: "In a fabric that trims, a port to a NIC marks packets only if the manifest states so \
           (`ecn_last_hop`). Every other port marks the same classes, including all that are trimmed. The \
           threshold where marking starts is below the one where it is certain.",
    impact: "Congestion at the last hop concerns the receiver. If it is marked there, senders abandon good \
           paths.",
    example: "\"QUEUE\": { \"Ethernet0|1\": { \"wred_profile\": \"q1-last-hop-100000\" } } on a T0",
    fix: "Set `qos.ecn_last_hop`, and `ecn` of classes, in the fabric file and compile again. Undo an edit \
           or a template that adds or removes marking on some ports.",
};

/// Equal ports have equal settings.
pub(crate) static ALIKE: Rule = Rule {
    code: "V1105",
    title: "equal ports have different settings",
    condition: "Ports with the same position on the path, hardware, speed, packet size and cable length have \
           equal settings on all switches. These are queues, schedulers, thresholds, buffers and maps. Times of \
           the PFC watchdog follow the slowest port of a switch, and are equal on equal switches.",
    impact: "A port with other weights or buffers loses packets, and is hard to find.",
    example: "one QUEUE row with another scheduler",
    fix: "Undo the edit of the port, or the condition in a template that singles it out. If complete \
           switches differ, they are from another compilation: compile the complete fabric again.",
};

/// QoS settings match the manifest.
pub(crate) static STATED: Rule = Rule {
    code: "V1106",
    title: "quality of service differs from the fabric file",
    condition: "Code points, schedulers, buffer thresholds, pauses, watchdogs, marks and trimming of every kind \
           of port are those of the profile in the manifest. Pools have the size that follows from the \
           stated buffer and the cables of the switch. A marking threshold that the profile defines as a \
           share of a pool is that share of it. Other code points, early drops and watchdogs are not \
           configured.",
    impact: "Agreement between all switches is not sufficient: if marking is off everywhere, no sender slows \
           down.",
    example: "\"ecn\": \"ecn_none\" in every WRED_PROFILE",
    fix: "Change `qos` in the fabric file and compile the complete fabric. If switches were changed by hand \
           or by a template, undo that, because the manifest keeps the stated values.",
};

/// Losses are counted.
pub(crate) static COUNTERS: Rule = Rule {
    code: "V1107",
    title: "loss counters are off",
    condition: "Every switch counts the packets that its ports, queues and buffers drop, mark and trim, if its \
           language can configure that.",
    impact: "Without counters, a slow fabric cannot be diagnosed.",
    example: "no FLEX_COUNTER_TABLE",
    fix: "Restore the rows of `FLEX_COUNTER_TABLE` in the edited `config_db.json`. If V0101 does not report \
           the file, an earlier version of closc may have compiled it without this counter: compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&CLASSES, &PAUSES, &TRIMMING, &MARKS, &ALIKE, &STATED, &COUNTERS];
