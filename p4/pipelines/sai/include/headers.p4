// Headers as on the wire, and the metadata of a packet.

#ifndef SAI_HEADERS_P4
#define SAI_HEADERS_P4

header ethernet_t {
    ethernet_addr_t dst_addr;
    ethernet_addr_t src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_len;
    bit<16> identification;
    bit<3> flags;
    bit<13> frag_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> header_checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

header ipv6_t {
    bit<4> version;
    bit<6> dscp;
    bit<2> ecn;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_addr_t src_addr;
    ipv6_addr_t dst_addr;
}

// The first four bytes of TCP and UDP alike.
header l4_ports_t {
    bit<16> src_port;
    bit<16> dst_port;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    ipv6_t ipv6;
    l4_ports_t l4_ports;
}

struct local_metadata_t {
    bool admit_to_l3;
    vrf_id_t vrf_id;
    bool wcmp_group_id_valid;
    wcmp_group_id_t wcmp_group_id;
    bool nexthop_id_valid;
    nexthop_id_t nexthop_id;
    bit<32> wcmp_selector_input;
    // MAC addresses of the packet when it leaves.
    ethernet_addr_t src_mac;
    ethernet_addr_t dst_mac;
}

#endif
