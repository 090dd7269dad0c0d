// Headers as on the wire, the header from the ingress to the egress pipeline, and the metadata of each pipeline.

#ifndef FABRIC_TNA_HEADERS_P4
#define FABRIC_TNA_HEADERS_P4

// In front of a packet that goes to the controller.
@controller_header("packet_in")
header packet_in_t {
    bit<16> ingress_port;
    PuntReason reason;
}

// In front of a packet from the controller. With `submit_to_ingress` 0 it leaves by `egress_port` untouched, otherwise it is
// forwarded as if it had come in by a fabric port and `egress_port` is ignored.
@controller_header("packet_out")
header packet_out_t {
    bit<16> egress_port;
    bit<8> submit_to_ingress;
}

// Between the two pipelines, and never on a wire.
header bridge_t {
    bit<16> ingress_port;
    bit<8> punt_reason;
    // 1: the egress pipeline parses nothing behind this header, so that packet-outs and punted packets do not change.
    bit<1> untouched;
    bit<4> unused;
    class_t class;
}

header ethernet_t {
    mac_addr_t dst;
    mac_addr_t src;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    ipv4_addr_t src;
    ipv4_addr_t dst;
}

header ipv6_t {
    bit<4> version;
    bit<6> dscp;
    bit<2> ecn;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_addr_t src;
    ipv6_addr_t dst;
}

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

// InfiniBand base transport header.
header bth_t {
    bit<8> opcode;
    bit<8> flags;
    bit<16> partition_key;
    bit<8> fecn_becn;
    bit<24> destination_qp;
    bit<8> acknowledge;
    bit<24> sequence_number;
}

struct ingress_headers_t {
    bridge_t bridge;
    packet_out_t packet_out;
    ethernet_t ethernet;
    ipv4_t ipv4;
    ipv6_t ipv6;
    ipv6_t inner_ipv6;
    udp_t udp;
    bth_t bth;
}

struct ingress_metadata_t {
    PortRole role;
    DropReason drop_reason;
    PuntReason punt_reason;
    // A wrong version or IPv4 options: the parser stopped there.
    bool malformed;
    bool ipv4_checksum_error;
    // The egress port is final, and tables do not change it: packet-outs and punted packets.
    bool decided;
    // A uA chose `nexthop_id`, so routes are not looked up.
    bool route_known;
    // A route chose `wcmp_group_id`, which still has to choose `nexthop_id`.
    bool use_wcmp;
    nexthop_id_t nexthop_id;
    wcmp_group_id_t wcmp_group_id;
    bit<32> flow_hash;
    class_t class;
    // Copies that are 0 if the packet lacks the header.
    ipv6_addr_t punt_dst;
    bit<8> punt_next_header;
    bit<16> l4_src_port;
    bit<16> l4_dst_port;
    bit<24> destination_qp;
}

struct egress_headers_t {
    packet_in_t packet_in;
    bridge_t bridge;
    ethernet_t ethernet;
    ipv4_t ipv4;
    ipv6_t ipv6;
}

struct egress_metadata_t {
    port_class_t port_class;
    // Cells in the queue when the packet came; 0 where nothing is marked.
    bit<32> depth;
    // The two thresholds, and then the cells by which the queue is deeper; 0 where it is not.
    bit<32> over_min;
    bit<32> over_max;
    // The masked dice of the ramp, and the excess of the share over its dice; 0 where the dice won.
    bit<32> ramp;
    bit<16> share;
    bit<32> ramp_dice;
    bit<16> share_dice;
}

#endif
