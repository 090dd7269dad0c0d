// Checksums of IPv4 headers; IPv6 has none.

#ifndef SAI_CHECKSUMS_P4
#define SAI_CHECKSUMS_P4

#define IPV4_SUMMED                                                                                  \
    {                                                                                                \
        headers.ipv4.version, headers.ipv4.ihl, headers.ipv4.dscp, headers.ipv4.ecn,                 \
        headers.ipv4.total_len, headers.ipv4.identification, headers.ipv4.flags,                     \
        headers.ipv4.frag_offset, headers.ipv4.ttl, headers.ipv4.protocol, headers.ipv4.src_addr,    \
        headers.ipv4.dst_addr                                                                        \
    }

control verify_ipv4(inout headers_t headers, inout local_metadata_t local_metadata) {
    apply {
        verify_checksum(headers.ipv4.isValid(), IPV4_SUMMED, headers.ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

control update_ipv4(inout headers_t headers, inout local_metadata_t local_metadata) {
    apply {
        update_checksum(headers.ipv4.isValid(), IPV4_SUMMED, headers.ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

#endif
