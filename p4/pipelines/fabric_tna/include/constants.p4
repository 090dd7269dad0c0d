// Numbers of the wire, sizes of the tables and reasons for what is not forwarded: each is written here, once.

#ifndef FABRIC_TNA_CONSTANTS_P4
#define FABRIC_TNA_CONSTANTS_P4

typedef bit<48> mac_addr_t;
typedef bit<128> ipv6_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<16> nexthop_id_t;
typedef bit<16> wcmp_group_id_t;
typedef bit<3> class_t;
typedef bit<12> port_class_t;

// The device port of PCIe, where the controller is. Tofino 1 has it at another number for every number of pipes:
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

// IANA protocol numbers. Behind an IPv6 header the first byte of these says what follows: hop-by-hop options, destination
// options, a fragment, authentication.
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

// Role of the ingress port. A packet-out that asks for the ingress pipeline has CPU.
enum bit<2> PortRole {
    DISABLED = 0,
    NIC = 1,
    FABRIC = 2,
    CPU = 3
}

// Why a packet was dropped in the ingress pipeline: the index of the counter `ingress.drops`.
enum bit<5> DropReason {
    NONE = 0,
    PORT_DISABLED = 1,      // The ingress port has no role, or a packet-out names a port that cannot be.
    MALFORMED = 2,          // Cut short before the end of the network header, wrong (inner) version, IPv4 options, a routing
                            // header behind one extension header, or two of these.
    IPV4_CHECKSUM = 3,
    ETHER_TYPE = 4,         // Neither IPv6 nor (off the NIC ports) IPv4, and not punted.
    NOT_ROUTABLE = 5,       // Link-local or multicast: never crosses a router.
    ROUTING_HEADER = 6,     // Segments live in the destination address; an SRH is not ours.
    HOP_LIMIT = 7,
    NIC_DESTINATION = 8,    // A NIC may not send there at all.
    NIC_SEGMENT = 9,        // In the SRv6 block, but the first uSID is not this switch.
    NIC_NOT_ENCAPSULATED = 10,
    NIC_SOURCE = 11,        // The (outer) source does not belong to the port.
    NIC_INNER_SOURCE = 12,  // The inner source does not belong to the port.
    NEXT_USID_ZERO = 13,    // The segment list ends at this switch.
    BLACKHOLE = 14,         // A route says drop: an unknown uSID dies here.
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

// One cell per reason; a power of two above the last.
const bit<32> DROP_REASONS = 32;

// One entry per device port. 512 is what its 9 bits can name; Tofino 2 has 256 lanes.
const int PORTS = 512;
// Port and class side by side make a 12-bit index.
const bit<32> PORT_CLASSES = 4096;

// LLDP, neighbor discovery and a routing protocol or two, some of them per port.
const int PUNT_RULES = 64;
// A handful of prefixes: the switch's own uSID, the block, the host prefix.
const int NIC_DESTINATIONS = 64;
// Each of up to 256 ports owns an address, or a few where a NIC carries more.
const int NIC_SOURCES = 1024;
// One uN, or one for each parallel link between two switches; a uA per link where uplinks are named one by one.
const int LOCAL_SIDS = 1024;
// Static uSIDs need 257 (256 neighbours and the block). What is left of the chip's TCAM is for routing by prefix.
const int IPV6_ROUTES = 8192;
// Management subnets and router ids.
const int IPV4_ROUTES = 1024;
// One per neighbour port, twice, so that a port can have a new next hop before the old one goes.
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
