// IPv4 header checksums. IPv6 has none, and the UDP checksum of an encapsulated packet covers the inner addresses, which no
// switch rewrites.

#ifndef FABRIC_CHECKSUMS_P4
#define FABRIC_CHECKSUMS_P4

control VerifyIpv4(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(
            hdr.ipv4.isValid(),
            {
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset,
                hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            },
            hdr.ipv4.checksum,
            HashAlgorithm.csum16
        );
    }
}

control UpdateIpv4(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            hdr.ipv4.isValid(),
            {
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset,
                hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            },
            hdr.ipv4.checksum,
            HashAlgorithm.csum16
        );
    }
}

#endif
