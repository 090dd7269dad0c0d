//! V13: nodes, where the tree describes them.

use closc_diagnostics::Rule;

/// Routes to first segments.
pub(crate) static FIRST: Rule = Rule {
    code: "V1301",
    title: "a node does not reach its T0s",
    condition: "Every port of a NIC has exactly one route, to the uSID of the T0 at the other end of its cable. \
           The route uses that port, with that T0 as next hop. The only other route is the blackhole of the \
           block.",
    impact: "The first uSID selects the plane. With a route over another port, the packets of one plane enter \
           another plane and are dropped there.",
    example: "route replace fcbb:bbbb:1801::/48 via ... dev nic0p2",
    fix: "Restore the route in the edited file, or in the template that writes it. If the T0, its segment or \
           its cable changed, compile the complete fabric, so that nodes follow.",
};

/// Segments of NICs.
pub(crate) static DECAPSULATION: Rule = Rule {
    code: "V1302",
    title: "a node decapsulates the wrong segments",
    condition: "A node decapsulates exactly the uSIDs of its NICs, one per port with a cable, into the table of \
           local addresses. It has the inner addresses of its NICs, and sends from one of them.",
    impact: "Packets that are not decapsulated cross the whole fabric and are then dropped.",
    example: "route replace fcbb:bbbb:8003::/48 encap seg6local action End.DT6 table 254",
    fix: "After a change of `hosts`, compile the complete fabric, because nodes decapsulate the segments of \
           the path tables. Undo an edit of `ip.batch` or of its template.",
};

/// Routes to other nodes.
pub(crate) static SPRAY: Rule = Rule {
    code: "V1303",
    title: "a node sends over a path that its table does not have",
    condition: "Every path in `routes.batch` is a path of the table of the sending NIC's group, for that \
           destination, and not denied. It occurs once, with the weight of its active entropy values, and \
           uses the port of its plane. Routes have the MTU of the table. All planes that have a path have \
           the same total weight. Either all nodes have routes to every NIC elsewhere, or none has.",
    impact: "Hosts that spray differently from their tables load planes unequally or lose packets.",
    example: "nexthop replace id 7 encap seg6 ... segs fcbb:bbbb:1:4009:2:8001:: ... with four uplinks",
    fix: "After a drain or a change of `exceptions`, compile the complete fabric, because older routes use \
           denied paths. Undo an edit of a path, weight or port in `routes.batch`.",
};

/// Ports in files of netplan and systemd-networkd.
pub(crate) static NETWORK: Rule = Rule {
    code: "V1304",
    title: "netplan or systemd-networkd files do not match the cables",
    condition: "Exactly the ports with a cable are described. Each has the MTU of the T0's port, and the MAC \
           address that the T0 expects (if any). Its only addresses are the other one of the T0's /127 and \
           that of its NIC. DHCP and router advertisements are off. Names are assigned by PCI address, and \
           only to ports with a cable.",
    impact: "These files configure the node. A wrong one disconnects a NIC from one plane or all of them.",
    example: "mtu: 1500",
    fix: "Set names with `hosts.slots` and the packet size with `mtu.link` in the fabric file, and compile \
           again. Undo an edit or a template that adds DHCP, addresses or ports.",
};

/// Routing tables and rules of nodes.
pub(crate) static TABLES: Rule = Rule {
    code: "V1305",
    title: "routing tables and rules of a node do not match its ports",
    condition: "If switches choose the path, every port has its own routing table, with routes over the T0 at the \
           other end of its cable. Rules select this table for packets from the address of the port or of \
           its NIC, before the main table. Rules of systemd-networkd also select it for sockets that are \
           bound to the port. Packets without a route in their table are dropped. If hosts choose the path, \
           all routes are in the main table.",
    impact: "Otherwise, packets from the address of one plane leave through another port, or over the site's \
           default route.",
    example: "- {from: \"2001:db8:1000:1::1/128\", table: 1001, priority: 9000}, with table 1001 of another NIC",
    fix: "Restore the table, rule or priority in the edited file, or in the template that writes it. After a \
           change of `routing`, compile the complete fabric, because nodes need other tables.",
};

/// QoS settings of NICs.
pub(crate) static NIC_QOS: Rule = Rule {
    code: "V1306",
    title: "NIC classes differ from those of the switches",
    condition: "`nic-qos.sh` configures exactly the ports with a cable. Each gets the length of its cable, the \
           priority of every code point, and shares in the ratio of the switches' weights. If switches \
           pause, PFC is enabled on it, and receive buffers are set. Data and congestion \
           notifications have the marks of the fabric file.",
    impact: "A NIC that pauses a priority other than its switch does, or marks data as another class, loses \
           packets that must not be lost.",
    example: "mlnx_qos -i \"$1\" --pfc 0,0,0,0,0,0,0,0 with a lossless class",
    fix: "Set classes with `qos` and lengths with `cables` in the fabric file, and compile the complete \
           fabric. Undo an edit of `nic-qos.sh` or of its template.",
};

/// Collective libraries.
pub(crate) static LIBRARY: Rule = Rule {
    code: "V1307",
    title: "NCCL settings of a node differ from the fabric file",
    condition: "`nccl.conf` and `vccl.conf` list exactly the ports with a cable, in the order of NICs and planes. \
           They have exactly the variables that closc writes. These include the pool of NIC addresses, the \
           marks of data and clear-to-send messages, queue pairs of a connection, and use of rails. \
           `backup-ports.json` gives every port a backup, of another adapter and plane where there is one. \
           `nccl-topology.xml` has the NICs of the slots, each below a PCI switch with its GPU and links of \
           their speed.",
    impact: "A missing device leaves a plane empty. An unknown mark puts data into another class.",
    example: "NCCL_IB_TC=0",
    fix: "Set variables of a job in its environment instead of `nccl.conf` or `vccl.conf`. Marks follow from \
           `qos` and ports from the cable lists: compile the complete fabric after a change.",
};

/// Delays of nodes.
pub(crate) static NODE_DELAY: Rule = Rule {
    code: "V1308",
    title: "a delay of a node does not match its cables",
    condition: "The round trip in `delay.json` is possible with the cables of the lists and the devices of the \
           longest path. The bytes in flight are that time at the speed of the node's ports. The target is \
           the round trip plus a queue at which an uplink of its T0s starts to mark. The marks are those of \
           such an uplink.",
    impact: "With another target, senders keep queues at the marking threshold or leave long cables empty.",
    example: "\"base_rtt_ns\": 10000, with a cable of 80 km between two buildings",
    fix: "Set lengths with `cables` or `exceptions.cables` and marking thresholds with `qos`, and compile \
           the complete fabric. Replace a `delay.json` that was edited or copied from another node.",
};

/// Agents of NICs.
pub(crate) static AGENT: Rule = Rule {
    code: "V1309",
    title: "agent settings of a NIC do not match the path tables",
    condition: "Every NIC of a path table has a `closc/nicN.env` with that table, the address of the NIC and its \
           ports. The marks of data, retransmissions, acknowledgements and packets trimmed at the last hop \
           are those of the table's classes. Other settings are limited to `COOKIE`, `FABRIC`, `METRICS` and \
           `XDP`, which belong to the site.",
    impact: "An agent with another table sends over paths that do not exist. With another mark, switches drop \
           its data instead of trimming it.",
    example: "DSCP_DATA=0",
    fix: "Change only `COOKIE`, `FABRIC`, `METRICS` and `XDP` in `closc/nicN.env`. Compile again to discard \
           other edits, or to replace the file of another NIC or of an earlier compilation.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] =
    &[&FIRST, &DECAPSULATION, &SPRAY, &NETWORK, &TABLES, &NIC_QOS, &LIBRARY, &NODE_DELAY, &AGENT];
