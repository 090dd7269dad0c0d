//! V13: nodes, where the tree describes them.

use closc_diagnostics::Rule;

/// Ways to first segments.
pub(crate) static FIRST: Rule = Rule {
    code: "V1301",
    title: "a node does not reach its T0s",
    what: "For every port of a NIC there is exactly one route, to the uSID of the T0 at the other end of the \
           cable, over that port and with that T0 as next hop; there is a blackhole for the block and no other \
           route.",
    why: "The first uSID chooses the plane; a route over another port sends the packets of one plane into \
          another, where they die.",
    example: "route replace fcbb:bbbb:1801::/48 via ... dev nic0p2",
    fix: "Compile again.",
};

/// Segments of NICs.
pub(crate) static DECAPSULATION: Rule = Rule {
    code: "V1302",
    title: "a node decapsulates the wrong segments",
    what: "A node decapsulates exactly the uSIDs of its NICs, one for each port with a cable, into the table \
           of local addresses, and it has the inner addresses of its NICs and sends from one of them.",
    why: "What is not decapsulated is dropped after it has crossed the whole fabric.",
    example: "route replace fcbb:bbbb:8003::/48 encap seg6local action End.DT6 table 254",
    fix: "Compile again.",
};

/// Routes to other nodes.
pub(crate) static SPRAY: Rule = Rule {
    code: "V1303",
    title: "a node sends over a path that its table does not have",
    what: "Every path in `routes.batch` is one that the path table of the sending NIC's group gives for the \
           destination and does not deny, is there once, with the weight of its active entropy values, and goes \
           out by the port of its plane; all planes have the same total weight apart from planes without a path; \
           every NIC elsewhere is led to, from all nodes or from none.",
    why: "Hosts that spray otherwise than the tables say load planes unequally, or lose packets.",
    example: "nexthop replace id 7 encap seg6 ... segs fcbb:bbbb:1:4009:2:8001:: ... with four uplinks",
    fix: "Compile again.",
};

/// Ports of nodes in files of their own tools.
pub(crate) static NETWORK: Rule = Rule {
    code: "V1304",
    title: "a node's files for netplan or systemd-networkd do not fit its cables",
    what: "Every port with a cable is described, and no other; it has the largest packet of the T0's port, the MAC address \
           that the T0 expects where it expects one, the other address of the T0's /127, the address of its NIC, and no \
           others; nobody changes it by DHCP or router advertisements. Names that go by slot are those of ports with a cable.",
    why: "The node is set up by these files: a wrong one takes a plane away from a NIC, or all of them.",
    example: "mtu: 1500",
    fix: "Compile again.",
};

/// Tables and rules of nodes.
pub(crate) static TABLES: Rule = Rule {
    code: "V1305",
    title: "tables and rules of a node do not fit its ports",
    what: "Where switches choose the way, every port has a table of its own, whose routes use the T0 at the other end of its \
           cable; rules ask it for packets from the port's address, from the NIC's, and in files of systemd-networkd of \
           sockets that are bound to the port, before the main table is asked. What no table leads to is dropped. Where hosts \
           write the path there are no tables.",
    why: "Packets from one plane's address would leave by another port, or by the site's default route.",
    example: "- {from: \"2001:db8:1000:1::1/128\", table: 1001, priority: 9000}, with table 1001 of another NIC",
    fix: "Compile again.",
};

/// Quality of service of NICs.
pub(crate) static NIC_QOS: Rule = Rule {
    code: "V1306",
    title: "NICs of a node have other classes than the switches",
    what: "`nic-qos.sh` gives every port with a cable, and no other, the length of its cable; every code point the priority of \
           its class, pauses and receive buffers where switches pause, shares in the ratio of the switches' weights, and the \
           marks of data and of congestion notifications that the fabric states.",
    why: "A NIC that pauses another priority than its switch, or marks data as another class, loses packets that the fabric \
          was built not to lose.",
    example: "mlnx_qos -i \"$1\" --pfc 0,0,0,0,0,0,0,0 with a lossless class",
    fix: "Compile again.",
};

/// Collective libraries.
pub(crate) static LIBRARY: Rule = Rule {
    code: "V1307",
    title: "NCCL of a node is not given what the fabric states",
    what: "`nccl.conf` and `vccl.conf` name exactly the ports with a cable in the order of NICs and planes, the pool of NIC \
           addresses, the marks of data and clear-to-send messages, the queue pairs of a connection and how rails are met, and \
           set nothing else.",
    why: "A device that is missing leaves a plane empty; a mark that switches do not know puts data into another class.",
    example: "NCCL_IB_TC=0",
    fix: "Compile again.",
};

/// Delays of nodes.
pub(crate) static NODE_DELAY: Rule = Rule {
    code: "V1308",
    title: "a node is given a delay that does not fit its cables",
    what: "`delay.json` states a round trip that light in the cable lists and the devices of the longest path allow, the bytes \
           that are under way in it at the speed of the node's ports, and a target that is the round trip and a queue at which an \
           uplink of its T0s begins to mark; its marks are those of such an uplink.",
    why: "Senders that aim at another delay keep queues where switches mark, or leave long cables empty.",
    example: "\"base_rtt_ns\": 10000, with a cable of 80 km between two buildings",
    fix: "Compile again.",
};

/// Agents of NICs.
pub(crate) static AGENT: Rule = Rule {
    code: "V1309",
    title: "the agent of a NIC is started with settings that do not fit the path tables",
    what: "`closc/nicN.env` of every NIC that a path table lists names that table, the NIC's address and its ports, and marks data, \
           retransmissions, acknowledgements and packets that were trimmed at the last hop as the classes of the table do. It sets \
           nothing else but `COOKIE`, `FABRIC`, `METRICS` and `XDP`, which are the site's.",
    why: "An agent with another table sends over paths that are not there, and one with another mark sends data in a class that \
          switches drop instead of trim.",
    example: "DSCP_DATA=0",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] =
    &[&FIRST, &DECAPSULATION, &SPRAY, &NETWORK, &TABLES, &NIC_QOS, &LIBRARY, &NODE_DELAY, &AGENT];
