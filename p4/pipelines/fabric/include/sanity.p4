// Packets that no router forwards, regardless of its tables.

#ifndef FABRIC_SANITY_P4
#define FABRIC_SANITY_P4

// Drops packets whose headers could not be read. Runs before `punt`.
control CheckHeaders(
    in headers_t hdr,
    inout metadata_t meta,
    in standard_metadata_t standard_metadata
) {
    apply {
        if (standard_metadata.parser_error != error.NoError) {
            // Too short is fatal only in or below the network header: a trimmed packet may end in the middle of UDP.
            if (standard_metadata.parser_error != error.PacketTooShort
                || (!hdr.ipv6.isValid() && !hdr.ipv4.isValid())) {
                meta.drop_reason = DropReason.MALFORMED;
            }
        } else if (standard_metadata.checksum_error == 1) {
            meta.drop_reason = DropReason.IPV4_CHECKSUM;
        }
    }
}

// Drops packets that must not be routed. Runs after `punt`.
control CheckRoutable(in headers_t hdr, inout metadata_t meta) {
    apply {
        if (hdr.ethernet.dst[40:40] == 1 || hdr.ethernet.src[40:40] == 1) {
            // RFC 1812 section 5.3.4: frames with a group MAC address (broadcast, multicast) are not routed.
            meta.drop_reason = DropReason.NOT_ROUTABLE;
        } else if (hdr.ipv6.isValid()) {
            if (hdr.ipv6.dst[127:120] == 0xFF || hdr.ipv6.src[127:120] == 0xFF
                || hdr.ipv6.dst[127:118] == 0x3FA || hdr.ipv6.src[127:118] == 0x3FA) {
                // RFC 4291 section 2.5.6: a router does not forward fe80::/10.
                meta.drop_reason = DropReason.NOT_ROUTABLE;
            } else if (hdr.ipv6.dst[127:1] == 0 || hdr.ipv6.src[127:1] == 0) {
                // RFC 4291 sections 2.5.2 and 2.5.3: :: and ::1 are not routed, as source or as destination.
                meta.drop_reason = DropReason.NOT_ROUTABLE;
            } else if (meta.routing_header) {
                meta.drop_reason = DropReason.ROUTING_HEADER;
            } else if (hdr.ipv6.hop_limit <= 1) {
                meta.drop_reason = DropReason.HOP_LIMIT;
            }
        } else if (hdr.ipv4.isValid() && meta.role != PortRole.NIC) {
            if (hdr.ipv4.dst[31:24] == 0 || hdr.ipv4.src[31:24] == 0 || hdr.ipv4.dst[31:24] == 127
                || hdr.ipv4.src[31:24] == 127 || hdr.ipv4.dst[31:29] == 7 || hdr.ipv4.src[31:29] == 7) {
                // RFC 1812 section 5.3.7: this network, loopback, multicast and class E.
                meta.drop_reason = DropReason.NOT_ROUTABLE;
            } else if (hdr.ipv4.dst[31:16] == 0xA9FE || hdr.ipv4.src[31:16] == 0xA9FE) {
                // RFC 3927 section 7: a router does not forward 169.254.0.0/16.
                meta.drop_reason = DropReason.NOT_ROUTABLE;
            } else if (hdr.ipv4.ttl <= 1) {
                meta.drop_reason = DropReason.HOP_LIMIT;
            }
        } else {
            meta.drop_reason = DropReason.ETHER_TYPE;
        }
    }
}

#endif
