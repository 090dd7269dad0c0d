// Hash inputs of a group: addresses, protocol and ports, as in `SWITCH_HASH` of SONiC's CONFIG_DB, scrambled by the
// switch's own MAC address. Hardware has a seed of its own instead.

#ifndef SAI_FLOW_HASH_P4
#define SAI_FLOW_HASH_P4

control flow_hash(in headers_t headers, inout local_metadata_t local_metadata) {
    apply {
        ipv6_addr_t src = headers.ipv6.src_addr;
        ipv6_addr_t dst = headers.ipv6.dst_addr;
        bit<8> protocol = headers.ipv6.next_header;
        if (!headers.ipv6.isValid()) {
            src = (bit<128>)headers.ipv4.src_addr;
            dst = (bit<128>)headers.ipv4.dst_addr;
            protocol = headers.ipv4.protocol;
        }
        bit<16> src_port = 0;
        bit<16> dst_port = 0;
        if (headers.l4_ports.isValid()) {
            src_port = headers.l4_ports.src_port;
            dst_port = headers.l4_ports.dst_port;
        }
        bit<32> flow = 0;
        hash(flow, HashAlgorithm.crc32, 32w0, { src, dst, protocol, src_port, dst_port }, 64w0x100000000);
        bit<32> seed = 0;
        hash(seed, HashAlgorithm.crc32, 32w0, { headers.ethernet.dst_addr }, 64w0x100000000);
        // A CRC is linear, so a seed that is only another input flips the same bits of every flow. The second of two switches
        // would then send all flows from the first over one link. The product with an odd number is not linear. The seed is
        // spread over all bits first, because odd numbers that differ only in a high bit mix alike.
        seed = seed * 0x9E3779B1;
        seed = (seed ^ (seed >> 15)) * 0x85EBCA6B;
        local_metadata.wcmp_selector_input = (flow ^ seed) * (seed[30:0] ++ 1w1);
    }
}

#endif
