// Packet changes by routing: the MAC addresses of the link, and a hop limit that is one less.

#ifndef SAI_PACKET_REWRITES_P4
#define SAI_PACKET_REWRITES_P4

control packet_rewrites(inout headers_t headers, in local_metadata_t local_metadata,
                        inout standard_metadata_t standard_metadata) {
    apply {
        headers.ethernet.src_addr = local_metadata.src_mac;
        headers.ethernet.dst_addr = local_metadata.dst_mac;
        if (headers.ipv6.isValid()) {
            // RFC 8200 section 3: what arrives with 0 or becomes 0 is not forwarded.
            if (headers.ipv6.hop_limit <= 1) {
                mark_to_drop(standard_metadata);
            }
            headers.ipv6.hop_limit = headers.ipv6.hop_limit |-| 1;
        } else if (headers.ipv4.isValid()) {
            if (headers.ipv4.ttl <= 1) {
                mark_to_drop(standard_metadata);
            }
            headers.ipv4.ttl = headers.ipv4.ttl |-| 1;
        }
    }
}

#endif
