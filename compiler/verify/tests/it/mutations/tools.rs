//! Damage to the settings of NIC drivers and collective libraries.

use crate::base::Base::{Fixed, Tools};
use crate::common::damage::Damage::{All, Behind, Exchange, Gone, Lost, More, Swap, Text, Unset};
use crate::mutations::Mutation;

const SCRIPT: &str = "hosts/su001-n001/nic-qos.sh";
const SCRIPTS: &str = "hosts/*/nic-qos.sh";
const DELAY: &str = "hosts/su001-n001/delay.json";
const DELAYS: &str = "hosts/*/delay.json";
const NCCL: &str = "hosts/su001-n001/nccl.conf";
const NCCLS: &str = "hosts/*/nccl.conf";
const VCCL: &str = "hosts/su001-n001/vccl.conf";
const BACKUPS: &str = "hosts/su001-n001/backup-ports.json";
const TOPOLOGY: &str = "hosts/su001-n001/nccl-topology.xml";
const TOPOLOGIES: &str = "hosts/*/nccl-topology.xml";

const AGENT: &str = "hosts/su001-n001/closc/nic0.env";
const AGENTS: &str = "hosts/*.env";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const FILES: &[Mutation] = &[
    ("nothing is paused anywhere", Fixed, SCRIPTS, All("--pfc 0,0,0,1", "--pfc 0,0,0,0"), "V1306"),
    ("another priority is paused", Fixed, SCRIPT, Text("--pfc 0,0,0,1,0", "--pfc 0,0,0,0,1"), "V1306"),
    ("data has another priority everywhere", Fixed, SCRIPTS, All("set,26,3", "set,26,0"), "V1306"),
    ("a code point without priority", Fixed, SCRIPT, Lost("set,27,"), "V1306"),
    ("no buffer of its own", Fixed, SCRIPT, Text("--prio2buffer 0,0,0,1", "--prio2buffer 0,0,0,0"), "V1306"),
    ("two priorities share a class", Fixed, SCRIPT, Text("--prio_tc 0,1,2,3", "--prio_tc 0,1,2,2"), "V1306"),
    ("a weighted class before all others", Fixed, SCRIPTS, All("--tsa ets", "--tsa strict"), "V1306"),
    ("priorities of tags are believed", Fixed, SCRIPT, Text("--trust dscp", "--trust pcp"), "V0102"),
    ("the firmware decides", Fixed, SCRIPTS, All("-d os", "-d fw"), "V0102"),
    ("a script that nothing runs", Fixed, SCRIPT, Text("#!/bin/sh", "#!/bin/true"), "V0102"),
    ("a script that is only parsed", Fixed, SCRIPTS, Text("#!/bin/sh", "#!/bin/sh -n"), "V0102"),
    ("an unknown command", Fixed, SCRIPT, More("ethtool -A nic0p0 rx on tx on\n"), "V0102"),
    ("no pauses are set", Fixed, SCRIPT, Lost("--pfc"), "V0102"),
    ("a cable of another length", Fixed, SCRIPT, Text("port nic0p0 1 ", "port nic0p0 100 "), "V1306"),
    ("a port without quality of service", Fixed, SCRIPT, Lost("port nic0p1"), "V1306"),
    ("a port too many", Fixed, SCRIPT, More("port nic9p0 1\n"), "V1306"),
    ("connections with another mark", Fixed, SCRIPTS, All("-t 104", "-t 0"), "V1306"),
    ("notifications with another mark", Fixed, SCRIPTS, All("echo 48 >", "echo 0 >"), "V1306"),
    ("DCQCN off everywhere", Fixed, SCRIPTS, All("echo 1 >", "echo 0 >"), "V1306"),
    ("one node without a script", Fixed, SCRIPT, Gone, "V0104"),
    ("a lossy fabric pauses", Tools, SCRIPTS, All("--pfc 0", "--pfc 1"), "V1306"),
    ("a round trip that no cable has", Fixed, DELAY, Text("\"base_rtt_ns\": ", "\"base_rtt_ns\": 9"), "V1308"),
    ("less under way than the round trip holds", Fixed, DELAYS, All("\"bandwidth_delay_bytes\": ", "\"bandwidth_delay_bytes\": 1"), "V1308"),
    ("a target below every mark", Fixed, DELAY, Text("\"target_ns\": ", "\"target_ns\": 9"), "V1308"),
    ("marks of no queue everywhere", Fixed, DELAYS, All("\"least_bytes\": ", "\"least_bytes\": 1"), "V1308"),
    ("ports of another speed everywhere", Fixed, DELAYS, All("\"port_mbps\": ", "\"port_mbps\": 1"), "V1308"),
    ("the delay of another node", Fixed, DELAY, Text("su001-n001", "su001-n002"), "V1308"),
    ("a delay of an unknown form", Fixed, DELAY, Text("closc-node-delay/1", "closc-node-delay/9"), "V0102"),
    ("one node without a delay", Fixed, DELAY, Gone, "V0104"),
    ("a plane that NCCL does not use", Tools, NCCL, Text("nic0p0,nic0p1", "nic0p0"), "V1307"),
    ("ports in another order everywhere", Tools, NCCLS, All("nic0p0,nic0p1", "nic0p1,nic0p0"), "V1307"),
    ("data without a mark everywhere", Fixed, NCCLS, All("NCCL_IB_TC=104", "NCCL_IB_TC=0"), "V1307"),
    ("no mark", Fixed, NCCL, Lost("NCCL_IB_TC"), "V1307"),
    ("addresses of another pool", Tools, NCCL, Text("NCCL_IB_ADDR_RANGE=f", "NCCL_IB_ADDR_RANGE=e"), "V1307"),
    ("more queue pairs than stated", Tools, NCCLS, All("QPS_PER_CONNECTION=1", "QPS_PER_CONNECTION=64"), "V1307"),
    ("InfiniBand off", Tools, NCCL, More("NCCL_IB_DISABLE=1\n"), "V1307"),
    ("rails are crossed", Tools, NCCL, Text("NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=1"), "V1307"),
    ("a line that sets nothing", Tools, NCCL, More("NCCL_IB_DISABLE\n"), "V0102"),
    ("a port fails and no flow moves", Tools, VCCL, Text("FAULT_TOLERANCE=1", "FAULT_TOLERANCE=0"), "V1307"),
    ("retries without end", Tools, VCCL, Text("RETRY_CNT=7", "RETRY_CNT=70"), "V1307"),
    ("a port that does not exist takes over", Tools, BACKUPS, Behind("\"backup\"", "\"nic", "\"nic9"), "V1307"),
    ("a port of the same NIC takes over", Tools, BACKUPS, Swap(&["pairs", "0", "backup"], &["pairs", "1", "backup"]), "V1307"),
    ("a port without a backup", Tools, BACKUPS, Unset(&["pairs", "0"]), "V1307"),
    ("a port with two backups", Tools, BACKUPS, Swap(&["pairs", "0", "primary"], &["pairs", "1", "backup"]), "V1307"),
    ("a backup at another T0", Tools, BACKUPS, Behind("\"backup\"", "\"t0\": \"p", "\"t0\": \"q"), "V1307"),
    ("NICs of two power domains", Tools, BACKUPS, Text("\"power\": null", "\"power\": \"a\""), "V1307"),
    ("a transceiver that two NICs do not share", Tools, BACKUPS, Text("\"shares\": []", "\"shares\": [\"transceiver\"]"), "V1307"),
    ("backup ports of another node", Tools, BACKUPS, Text("\"node\": \"su001-n001\"", "\"node\": \"su001-n002\""), "V1307"),
    ("backup ports of an unknown format", Tools, BACKUPS, Text("backup-ports/1", "backup-ports/9"), "V0102"),
    ("one node without backup ports", Tools, BACKUPS, Gone, "V0104"),
    ("no node has backup ports", Tools, "hosts/*/backup-ports.json", Gone, "V0104"),
    ("a GPU beside the NIC of another", Tools, TOPOLOGY, Exchange("0000:18:00.0", "0000:3b:00.0"), "V1307"),
    ("a NIC that the node does not have", Tools, TOPOLOGIES, All("0000:18:00.0", "0000:19:00.0"), "V1307"),
    ("a PCI switch that may exist", Tools, TOPOLOGIES, All("ffff:ff:01.0", "0000:17:00.0"), "V1307"),
    ("links of another generation", Tools, TOPOLOGIES, All("16.0 GT/s", "32.0 GT/s"), "V1307"),
    ("a GPU twice", Tools, TOPOLOGIES, All("0000:3d:00.0", "0000:1a:00.0"), "V1307"),
    ("a GPU unlike on other nodes", Tools, TOPOLOGY, Text("0000:1a:00.0", "0000:1b:00.0"), "V1307"),
    ("another NUMA node", Tools, TOPOLOGY, Text("numaid=\"", "numaid=\"1"), "V1307"),
    ("a class that NCCL does not know", Tools, TOPOLOGY, Text("0x030200", "0x039900"), "V0103"),
    ("a topology without end", Tools, TOPOLOGY, Lost("</system>"), "V0102"),
    ("one node without a topology", Tools, TOPOLOGY, Gone, "V1307"),
    ("the table of another group", Tools, AGENT, Text("group-0001.bin", "group-0002.bin"), "V1309"),
    ("an agent of another NIC", Tools, AGENT, Text("NIC=fd00:c105:1:1::1", "NIC=fd00:c105:1:2::1"), "V1309"),
    ("ports of another NIC", Tools, AGENT, Text("PORTS=nic0p", "PORTS=nic1p"), "V1309"),
    ("an agent that marks data as nothing everywhere", Tools, AGENTS, All("DSCP_DATA=4", "DSCP_DATA=0"), "V1309"),
    ("acknowledgements without a mark", Tools, AGENT, Lost("DSCP_CONTROL="), "V1309"),
    ("an option that the fabric does not ask for", Tools, AGENT, More("DENY=nothing\n"), "V1309"),
    ("one NIC without its agent", Tools, AGENT, Gone, "V1309"),
];
