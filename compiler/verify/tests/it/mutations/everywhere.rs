//! Damage that is the same on all switches, or that comparison with peers cannot find. The manifest and standards
//! reveal it.

use crate::base::Base::{Bgp, ChosenLinux, ChosenTools, Frr, Linux, Lossless, P4, Sonic, Tofino, Tools};
use crate::common::damage::Damage::{All, Gone, Lost, More, Set, Text, Unset};
use crate::mutations::Mutation;

const T0: &str = "switches/p0-t0-001/config_db.json";
const SWITCHES: &str = "switches/*/config_db.json";
const TABLES: &str = "path-tables/*.json";
const CONF: &str = "switches/*/frr.conf";
const LISTS: &str = "cables/*.csv";
const SYSCTLS: &str = "hosts/*/sysctl.conf";
const DAEMONS: &str = "switches/p0-t0-001/daemons";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const SONIC: &[Mutation] = &[
    ("a lone port of small packets", Sonic, T0, Set(&["PORT", "Ethernet0", "mtu"], "\"1500\""), "V0305"),
    ("a lone port of another speed", Sonic, T0, Set(&["PORT", "Ethernet0", "speed"], "\"50000\""), "V0305"),
    ("a lone port without correction", Sonic, T0, Set(&["PORT", "Ethernet0", "fec"], "\"none\""), "V0305"),
    ("a lone port that says no MTU", Sonic, T0, Unset(&["PORT", "Ethernet0", "mtu"]), "V0305"),
    ("a lone port that says no correction", Sonic, T0, Unset(&["PORT", "Ethernet0", "fec"]), "V0305"),
    ("another correction", Sonic, T0, Set(&["PORT", "Ethernet256", "fec"], "\"fc\""), "V0305"),
    ("autonegotiation", Sonic, T0, Set(&["PORT", "Ethernet0", "autoneg"], "\"on\""), "V0302"),
    ("autonegotiation over optical cables", Sonic, T0, Set(&["PORT", "Ethernet256", "autoneg"], "\"on\""), "V0302"),
    ("advertised speeds", Sonic, T0, Set(&["PORT", "Ethernet0", "adv_speeds"], "\"40000\""), "V0105"),
    ("asymmetric pauses", Sonic, T0, Set(&["PORT", "Ethernet0", "pfc_asym"], "\"on\""), "V0105"),
    ("another tag", Sonic, T0, Set(&["PORT", "Ethernet0", "tpid"], "\"0x9100\""), "V0105"),
    ("an inner port", Sonic, T0, Set(&["PORT", "Ethernet0", "role"], "\"Int\""), "V0105"),
    ("a switched port", Sonic, T0, Set(&["PORT", "Ethernet0", "mode"], "\"trunk\""), "V0105"),
    ("another cage", Sonic, T0, Set(&["PORT", "Ethernet0", "index"], "\"2\""), "V0206"),
    ("another alias", Sonic, T0, Set(&["PORT", "Ethernet0", "alias"], "\"etp9\""), "V0206"),
    ("another part of a cage", Sonic, T0, Set(&["PORT", "Ethernet0", "subport"], "\"2\""), "V0206"),
    ("hardware of another breakout", Sonic, T0, Set(&["DEVICE_METADATA", "localhost", "hwsku"], "\"Arista-7060X6-64PE-B-C448O16\""), "V0305"),
    ("another box", Sonic, T0, Set(&["DEVICE_METADATA", "localhost", "platform"], "\"x86_64-nvidia_sn5600-r0\""), "V0305"),
    ("no FRR everywhere", Sonic, SWITCHES, Set(&["FEATURE"], r#"{"bgp":{"state":"disabled"}}"#), "V0105"),
    ("no orchagent", Sonic, T0, Set(&["FEATURE"], r#"{"swss":{"state":"always_disabled","auto_restart":"enabled"}}"#), "V0105"),
    ("no database", Sonic, T0, Set(&["FEATURE"], r#"{"database":{"state":"disabled"}}"#), "V0105"),
    ("no optics everywhere", Sonic, SWITCHES, Set(&["FEATURE"], r#"{"pmon":{"state":"disabled"}}"#), "V0105"),
    ("FRR under a condition", Sonic, T0, Set(&["FEATURE"], r#"{"bgp":{"state":"{% if x %}disabled{% else %}enabled{% endif %}"}}"#), "V0105"),
    ("line cards everywhere", Sonic, SWITCHES, Set(&["DEVICE_METADATA", "localhost", "switch_type"], "\"voq\""), "V0105"),
    ("one of two ToRs everywhere", Lossless, SWITCHES, Set(&["DEVICE_METADATA", "localhost", "subtype"], "\"DualToR\""), "V0105"),
    ("small packets everywhere", Sonic, SWITCHES, All("\"mtu\": \"9216\"", "\"mtu\": \"1500\""), "V0305"),
    ("no correction anywhere", Sonic, SWITCHES, All("\"fec\": \"rs\"", "\"fec\": \"none\""), "V0305"),
    ("marks off everywhere", Sonic, SWITCHES, All("ecn_all", "ecn_none"), "V1106"),
    ("no schedulers anywhere", Sonic, SWITCHES, Unset(&["SCHEDULER"]), "V0103"),
    ("no queues anywhere", Sonic, SWITCHES, Unset(&["QUEUE"]), "V1106"),
    ("thresholds of 100 MB everywhere", Sonic, SWITCHES, All("_max_threshold\": \"", "_max_threshold\": \"100"), "V1106"),
    ("small shares of the buffer everywhere", Sonic, SWITCHES, All("\"dynamic_th\": \"3\"", "\"dynamic_th\": \"-8\""), "V1106"),
    ("pools of 1 MB everywhere", Sonic, SWITCHES, Set(&["BUFFER_POOL", "ingress_lossy_pool", "size"], "\"1048576\""), "V1106"),
    ("no class in any path table", Sonic, TABLES, Set(&["qos", "classes"], "[]"), "V1101"),
    ("another profile in all path tables", Sonic, TABLES, Set(&["qos", "profile"], "\"other\""), "V1101"),
    ("no counters", Sonic, T0, Unset(&["FLEX_COUNTER_TABLE"]), "V1107"),
    ("counters that wait", Sonic, T0, Set(&["FLEX_COUNTER_TABLE", "PORT", "FLEX_COUNTER_DELAY_STATUS"], "\"true\""), "V1107"),
    ("counters once in a month everywhere", Sonic, SWITCHES, Set(&["FLEX_COUNTER_TABLE", "PORT", "POLL_INTERVAL"], "\"2592000000\""), "V0105"),
    ("an interval that is none", Sonic, T0, Set(&["FLEX_COUNTER_TABLE", "PORT", "POLL_INTERVAL"], "\"often\""), "V0105"),
    ("counters that SONiC does not have", Sonic, T0, Set(&["FLEX_COUNTER_TABLE", "PORTS"], r#"{"FLEX_COUNTER_STATUS":"enable"}"#), "V0103"),
    ("a number of BGP without BGP", Sonic, T0, Set(&["DEVICE_METADATA", "localhost", "bgp_asn"], "\"65000\""), "V0105"),
    ("no counters anywhere", Sonic, SWITCHES, Unset(&["FLEX_COUNTER_TABLE"]), "V1107"),
    ("no watchdog anywhere", Lossless, SWITCHES, Unset(&["PFC_WD"]), "V1106"),
    ("no pauses anywhere", Lossless, SWITCHES, All("\"pfc_enable\"", "\"pfcwd_sw_enable\""), "V1106"),
    ("an access list of forwarded packets", Sonic, T0, Set(&["ACL_TABLE"], r#"{"DATA":{"type":"L3V6","stage":"ingress","ports":["Ethernet0"]}}"#), "V0103"),
    ("a route that leaves the VRF", Sonic, T0, Set(&["STATIC_ROUTE", "default|fcbb:bbbb:4001::/48", "nexthop-vrf"], "\"Vrf_red\""), "V0102"),
];

#[rustfmt::skip] // A table: one row per line.
pub(crate) const OTHERS: &[Mutation] = &[
    ("zebra does not tell the kernel", Frr, DAEMONS, Text("zebra_options=\"", "zebra_options=\"-n "), "V0105"),
    ("no peer can connect to bgpd", Bgp, "switches/z0-p0-t0-001/daemons", Text("bgpd_options=\"", "bgpd_options=\"-p 0 "), "V0105"),
    ("sessions carry IPv4", Bgp, "switches/z0-p0-t0-001/frr.conf", Lost("no bgp default ipv4-unicast"), "V1801"),
    ("sessions carry IPv4 everywhere", Bgp, CONF, Lost("no bgp default ipv4-unicast"), "V1801"),
    ("slow keepalives everywhere", Bgp, CONF, All("timers bgp 3 9", "timers bgp 60 180"), "V1815"),
    ("a slow BFD everywhere", Bgp, CONF, All("transmit-interval 300", "transmit-interval 3000"), "V1815"),
    ("a BFD that waits for ten packets everywhere", Bgp, CONF, All("detect-multiplier 3", "detect-multiplier 10"), "V1815"),
    ("attempts that wait everywhere", Bgp, CONF, All("timers connect 10", "timers connect 120"), "V1815"),
    ("announcements that wait everywhere", Bgp, CONF, All("advertisement-interval 0", "advertisement-interval 30"), "V1815"),
    ("restarts that are forgotten late everywhere", Bgp, CONF, All("stalepath-time 240", "stalepath-time 3600"), "V1815"),
    ("sessions that rest for long everywhere", Bgp, CONF, All("restart 5", "restart 600"), "V1815"),
    ("small packets everywhere", Linux, "switches/*/ip.batch", All("mtu 9216", "mtu 1500"), "V0305"),
    ("marks of twice the probability everywhere", Tofino, "switches/*/tna.txtpb", All("value: \"\\027\\023\"", "value: \"\\056\\047\""), "V1106"),
    ("swapped cables stay unseen", P4, "p4/fabric.p4info.txtpb", More("# gutted\n"), "V0108"),
    ("no program", P4, "p4/fabric.bmv2.json", Gone, "V0108"),
    ("a gutted program", P4, "p4/fabric.bmv2.json", Text("{", "{ "), "V0108"),
    ("devices for CAN on all switches", ChosenLinux, "switches/*/devices.batch", All("type bridge", "type vcan"), "V0105"),
    ("devices for CAN on all nodes", ChosenLinux, "hosts/*/devices.batch", All("type bridge", "type vcan"), "V0105"),
    ("weights of routes everywhere", ChosenTools, "hosts/*/netplan.yaml", All("metric: 1024", "metric: 1024, weight: 20"), "V0103"),
    ("copper of 60 m", Linux, "cables/plane-0.csv", Text("1m,virtual", "60m,dac"), "V0207"),
    ("an unknown medium", Linux, "cables/plane-0.csv", Text(",virtual,", ",smf,"), "V0207"),
    ("glass in the place of copper everywhere", Sonic, LISTS, All("m,dac,", "m,aoc,"), "V0208"),
    ("slower glass everywhere", Lossless, LISTS, All(",dac,", ",acc,"), "V0208"),
    ("shorter cables everywhere", Linux, LISTS, All(",2m,", ",1m,"), "V0208"),
    ("cables that the manifest does not state", Linux, "manifest.json", Unset(&["profile", "cables"]), "V0208"),
    ("no IPv6 on any node", Tools, SYSCTLS, All("disable_ipv6 = 0", "disable_ipv6 = 1"), "V0105"),
    ("nodes that forward", Tools, SYSCTLS, All("forwarding = 0", "forwarding = 1"), "V0105"),
    ("ports of nodes that take router advertisements", Tools, SYSCTLS, All("p0.accept_ra = 0", "p0.accept_ra = 2"), "V0105"),
    ("ports of nodes that do not say so", Tools, SYSCTLS, Lost("nic0p0.accept_ra"), "V0105"),
    ("addresses of nodes that go with a port", Tools, SYSCTLS, Lost("all.keep_addr_on_down"), "V0105"),
    ("an unknown setting of nodes", Tools, SYSCTLS, More("net.ipv6.conf.all.seg6_enabled = 1\n"), "V0105"),
    ("no settings of nodes", Tools, SYSCTLS, Gone, "V0104"),
    ("settings of a node are another's", Linux, "hosts/su001-n001/sysctl.conf", Text("all.forwarding = 0", "all.forwarding = 1"), "V0105"),
];
