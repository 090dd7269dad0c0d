// Protocol numbers, table sizes, drop reasons and punt reasons, each defined only here.

#ifndef FABRIC_CONSTANTS_P4
#define FABRIC_CONSTANTS_P4

typedef bit<48> mac_addr_t;
typedef bit<128> ipv6_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<16> nexthop_id_t;
typedef bit<16> wcmp_group_id_t;
typedef bit<3> class_t;
typedef bit<2> color_t;

// The port that stands for the controller: `--cpu-port 510` on BMv2. Ports are 9 bits wide in v1model and 511 means
// "drop", which leaves 0..509 for the front panel.
const PortId_t CPU_PORT = 510;
const PortId_t DROP_PORT = 511;

const bit<16> ETHER_TYPE_IPV4 = 0x0800;
const bit<16> ETHER_TYPE_IPV6 = 0x86DD;

// IANA protocol numbers. The first byte of an IPv6 extension header is the type of the next header. The extension
// headers are hop-by-hop options, destination options, fragment and authentication.
const bit<8> NEXT_HEADER_HOP_BY_HOP = 0;
const bit<8> NEXT_HEADER_TCP = 6;
const bit<8> NEXT_HEADER_UDP = 17;
const bit<8> NEXT_HEADER_IPV6 = 41;
const bit<8> NEXT_HEADER_ROUTING = 43;
const bit<8> NEXT_HEADER_FRAGMENT = 44;
const bit<8> NEXT_HEADER_AUTHENTICATION = 51;
const bit<8> NEXT_HEADER_DESTINATION_OPTIONS = 60;

// RoCEv2, InfiniBand Architecture Specification annex A17.
const bit<16> UDP_PORT_ROCE = 4791;

// RFC 3168 section 5: 00 is "not capable", 01 and 10 are "capable", 11 is "congestion experienced".
const bit<2> ECN_NOT_CAPABLE = 0b00;
const bit<2> ECN_CONGESTION_EXPERIENCED = 0b11;

// Bytes of an IPv4 header without options.
const bit<16> IPV4_BYTES = 20;
// Bytes in front of the layer that a trimmed packet's length field counts.
const bit<16> ETHERNET_BYTES = 14;
const bit<16> ETHERNET_IPV4_BYTES = 34;
const bit<16> ETHERNET_IPV6_BYTES = 54;

// The color of a packet that exceeds the peak rate of its meter; 0 is green and 1 yellow (RFC 2698).
const color_t RED = 2;

// Parts in a million: the unit of the marking probability.
const bit<20> ONE_MILLION = 1000000;

// Role of the ingress port. A packet-out that is submitted to the ingress pipeline has the role CPU.
enum bit<2> PortRole {
    DISABLED = 0,
    NIC = 1,
    FABRIC = 2,
    CPU = 3
}

// Why a packet was dropped in the ingress pipeline: the index of the counter `ingress.drops`.
enum bit<5> DropReason {
    NONE = 0,
    PORT_DISABLED = 1,      // The ingress port has no role, or a packet-out names an invalid port.
    MALFORMED = 2,          // Truncated before the end of the network header, wrong (inner) version, IPv4 options or length.
    IPV4_CHECKSUM = 3,
    ETHER_TYPE = 4,         // Neither IPv6 nor (off the NIC ports) IPv4, and not punted.
    NOT_ROUTABLE = 5,       // Unspecified, loopback, link-local or multicast address, or a group MAC address.
    ROUTING_HEADER = 6,     // A routing header, directly or behind one extension header: segments are in the destination address.
                            // With two extension headers a packet is dropped too, because the parser stops there.
    HOP_LIMIT = 7,
    NIC_DESTINATION = 8,    // A NIC may not send there at all.
    NIC_SEGMENT = 9,        // In the SRv6 block, but the first uSID is not this switch.
    NIC_NOT_ENCAPSULATED = 10,
    NIC_SOURCE = 11,        // The (outer) source does not belong to the port.
    NIC_INNER_SOURCE = 12,  // The inner source does not belong to the port.
    NEXT_USID_ZERO = 13,    // The segment list ends at this switch.
    BLACKHOLE = 14,         // The route is a blackhole, for instance that of an unknown uSID.
    NO_ROUTE = 15,
    NO_WCMP_GROUP = 16,
    NO_NEXTHOP = 17,
    PUNT_LIMIT = 18         // More packets for the controller than the ingress port may send.
}

// Why a packet went to the controller: `reason` of packet_in.
enum bit<8> PuntReason {
    NONE = 0,
    LLDP = 1,
    NEIGHBOR = 2,           // Neighbor discovery and router advertisements.
    ROUTING_PROTOCOL = 3,
    PROBE = 4,
    ROUTED = 5              // A next hop led to the CPU port: an address of the switch itself.
}

// One cell per reason, rounded up to a power of two.
const bit<32> DROP_REASONS = 32;

// One entry per front port. A 9-bit port has 512 values.
const int PORTS = 512;
// Port and class together form a 12-bit index.
const bit<32> PORT_CLASSES = 4096;

// LLDP, neighbor discovery and a routing protocol or two, some of them per port.
const int PUNT_RULES = 64;
// One limit per front port.
const int PUNT_LIMITS = 512;
// Every class of every port of a NIC.
const int NIC_CLASSES = 4096;
// A few prefixes: the switch's own uSID, the block, the host prefix.
const int NIC_DESTINATIONS = 64;
// Each of up to 512 ports has one source address, or a few if its NIC has several.
const int NIC_SOURCES = 2048;
// One uN, or one for each parallel link between two switches; a uA per link where uplinks are named one by one.
const int LOCAL_SIDS = 1024;
// Static uSIDs need 513 (512 neighbours and the block). Routing by prefix needs one for each NIC of the largest fabric in
// the worst case, 131,072, as large ASICs hold.
const int IPV6_ROUTES = 131072;
// Management subnets and router ids.
const int IPV4_ROUTES = 4096;
// Two per neighbour port, so that a port can have its new next hop before the old one is removed.
const int NEXTHOPS = 1024;
// One group per distinct set of live uplinks: a prefix whose far end lost a link needs its own.
const int WCMP_GROUPS = 4096;
// Members over all groups: 128 sets of 512 ways, or 512 of 128.
const bit<32> WCMP_MEMBERS = 65536;
// A code point is 6 bits.
const int DSCPS = 64;

#endif
