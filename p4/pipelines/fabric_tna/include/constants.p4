// Protocol numbers, table sizes, drop reasons and punt reasons, each defined only here.

#ifndef FABRIC_TNA_CONSTANTS_P4
#define FABRIC_TNA_CONSTANTS_P4

typedef bit<48> mac_addr_t;
typedef bit<128> ipv6_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<16> nexthop_id_t;
typedef bit<16> wcmp_group_id_t;
typedef bit<3> class_t;
typedef bit<12> port_class_t;

// The device port of PCIe, where the controller is. On Tofino 1, its number depends on the number of pipes:
// `-DCPU_DEVICE_PORT=192` for two.
#ifdef CPU_DEVICE_PORT
const PortId_t CPU_PORT = CPU_DEVICE_PORT;
#elif __TARGET_TOFINO__ == 2
const PortId_t CPU_PORT = 0;
#else
const PortId_t CPU_PORT = 320;
#endif

const bit<16> ETHER_TYPE_IPV4 = 0x0800;
const bit<16> ETHER_TYPE_IPV6 = 0x86DD;

// IANA protocol numbers. The first byte of an IPv6 extension header is the type of the next header. The extension
// headers are hop-by-hop options, destination options, fragment and authentication.
const bit<8> NEXT_HEADER_HOP_BY_HOP = 0;
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
    MALFORMED = 2,          // Truncated before the end of the network header, wrong (inner) version, IPv4 options, a routing
                            // header behind one extension header, or two of these.
    IPV4_CHECKSUM = 3,
    ETHER_TYPE = 4,         // Neither IPv6 nor (off the NIC ports) IPv4, and not punted.
    NOT_ROUTABLE = 5,       // Link-local or multicast: never crosses a router.
    ROUTING_HEADER = 6,     // A routing header: segments are in the destination address instead.
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
    NO_NEXTHOP = 17
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

// One entry per device port. Its 9 bits have 512 values; Tofino 2 has 256 lanes.
const int PORTS = 512;
// Port and class together form a 12-bit index.
const bit<32> PORT_CLASSES = 4096;

// LLDP, neighbor discovery and a routing protocol or two, some of them per port.
const int PUNT_RULES = 64;
// A few prefixes: the switch's own uSID, the block, the host prefix.
const int NIC_DESTINATIONS = 64;
// Each of up to 256 ports has one source address, or a few if its NIC has several.
const int NIC_SOURCES = 1024;
// One uN, or one for each parallel link between two switches; a uA per link where uplinks are named one by one.
const int LOCAL_SIDS = 1024;
// Static uSIDs need 257 (256 neighbours and the block). The rest of the chip's TCAM is for routing by prefix.
const int IPV6_ROUTES = 8192;
// Management subnets and router ids.
const int IPV4_ROUTES = 1024;
// Two per neighbour port, so that a port can have its new next hop before the old one is removed.
const int NEXTHOPS = 1024;
// One group per distinct set of live uplinks: a prefix whose far end lost a link needs its own.
const int WCMP_GROUPS = 1024;
// Members of one group, weights counted.
const int WCMP_WIDTH = 256;
// Members over all groups, weights counted: 64 sets of 256 ways, or 256 of 64.
const bit<32> WCMP_MEMBERS = 16384;
// A code point is 6 bits.
const int DSCPS = 64;

#endif
