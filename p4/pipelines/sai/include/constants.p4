// Ids of the interface, the role of its tables, sizes, and protocol numbers, each defined only here.

#ifndef SAI_CONSTANTS_P4
#define SAI_CONSTANTS_P4

// Ids of the public P4Info of PINS (sonic-net/sonic-pins, middleblock.p4info.pb.txt, version 5.0.0).
#define NEIGHBOR_TABLE_ID 0x02000040
#define ROUTER_INTERFACE_TABLE_ID 0x02000041
#define NEXTHOP_TABLE_ID 0x02000042
#define WCMP_GROUP_TABLE_ID 0x02000043
#define IPV4_TABLE_ID 0x02000044
#define IPV6_TABLE_ID 0x02000045
#define L3_ADMIT_TABLE_ID 0x02000047
#define VRF_TABLE_ID 0x0200004A
#define NO_ACTION_ID 0x01798B9E
#define SET_DST_MAC_ID 0x01000001
#define SET_PORT_AND_SRC_MAC_ID 0x01000002
#define SET_WCMP_GROUP_ID_ID 0x01000004
#define SET_NEXTHOP_ID_ID 0x01000005
#define DROP_ID 0x01000006
#define ADMIT_TO_L3_ID 0x01000008
#define SET_IP_NEXTHOP_ID 0x01000014
#define UNICAST_SET_PORT_AND_SRC_MAC_ID 0x01000030
#define WCMP_GROUP_SELECTOR_ID 0x11DC4EC8

// P4Runtime role that writes the tables.
#define CONTROLLER "sdn_controller"

// Entries that such hardware guarantees, by the same P4Info.
#define NEIGHBORS 4096
#define ROUTER_INTERFACES 4096
#define NEXTHOPS 4096
#define WCMP_GROUPS 3968
// Maximum sum of weights over all groups, and in one group.
#define WCMP_WEIGHTS 49152
#define WCMP_GROUP_WEIGHTS 512
#define IPV4_ROUTES 131072
#define IPV6_ROUTES 17000
#define OWN_MACS 64
#define VRFS 64

const bit<16> ETHER_TYPE_IPV4 = 0x0800;
const bit<16> ETHER_TYPE_IPV6 = 0x86DD;

// Bytes of an IPv4 header without options.
const bit<16> IPV4_BYTES = 20;

const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

#endif
