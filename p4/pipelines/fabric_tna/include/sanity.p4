// Packets that no router forwards, regardless of its tables.

#ifndef FABRIC_TNA_SANITY_P4
#define FABRIC_TNA_SANITY_P4

// Drops packets whose headers could not be read. Runs before `punt`; the parser has checked versions and options.
control CheckHeaders(
    inout ingress_headers_t hdr,
    inout ingress_metadata_t meta,
    in ingress_intrinsic_metadata_from_parser_t ig_prsr_md
) {
    apply {
        // Too short is fatal only in or below the network header: a trimmed packet may end in the middle of UDP.
        if (meta.malformed || (ig_prsr_md.parser_err != 0 && !hdr.ipv6.isValid())) {
            meta.drop_reason = DropReason.MALFORMED;
        } else if (meta.ipv4_checksum_error) {
            meta.drop_reason = DropReason.IPV4_CHECKSUM;
        }
    }
}

// Drops packets that must not be routed. Runs after `punt`.
control CheckRoutable(inout ingress_headers_t hdr, inout ingress_metadata_t meta) {
    apply {
        if (hdr.ipv6.isValid()) {
            if (hdr.ipv6.dst[127:120] == 0xFF || hdr.ipv6.src[127:120] == 0xFF) {
                meta.drop_reason = DropReason.NOT_ROUTABLE;
            } else if (hdr.ipv6.dst[127:118] == 0x3FA || hdr.ipv6.src[127:118] == 0x3FA) {
                // RFC 4291 section 2.5.6: a router does not forward fe80::/10.
                meta.drop_reason = DropReason.NOT_ROUTABLE;
            } else if (hdr.ipv6.next_header == NEXT_HEADER_ROUTING) {
                meta.drop_reason = DropReason.ROUTING_HEADER;
            } else if (hdr.ipv6.hop_limit == 0 || hdr.ipv6.hop_limit == 1) {
                meta.drop_reason = DropReason.HOP_LIMIT;
            }
        } else if (hdr.ipv4.isValid() && meta.role != PortRole.NIC) {
            if (hdr.ipv4.ttl == 0 || hdr.ipv4.ttl == 1) {
                meta.drop_reason = DropReason.HOP_LIMIT;
            }
        } else {
            meta.drop_reason = DropReason.ETHER_TYPE;
        }
    }
}

#endif
