// From bytes to headers and back. Layers above the network header serve the hash and the ingress check only, so a packet that
// ends inside them (a trimmed one) is still forwarded.
//
// Tofino's parser has no `verify`: a wrong version or options are a state of their own. What was cut short sets `parser_err`,
// and because the ingress pipeline reads that, the packet reaches it.

#ifndef FABRIC_TNA_PARSER_P4
#define FABRIC_TNA_PARSER_P4

parser FabricIngressParser(
    packet_in packet,
    out ingress_headers_t hdr,
    out ingress_metadata_t meta,
    out ingress_intrinsic_metadata_t ig_intr_md
) {
    Checksum() ipv4_checksum;

    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        meta.role = PortRole.DISABLED;
        meta.drop_reason = DropReason.NONE;
        meta.punt_reason = PuntReason.NONE;
        meta.malformed = false;
        meta.ipv4_checksum_error = false;
        meta.decided = false;
        meta.route_known = false;
        meta.use_wcmp = false;
        meta.nexthop_id = 0;
        meta.wcmp_group_id = 0;
        meta.flow_hash = 0;
        meta.class = 0;
        meta.punt_dst = 0;
        meta.punt_next_header = 0;
        meta.l4_src_port = 0;
        meta.l4_dst_port = 0;
        meta.destination_qp = 0;
        transition select(ig_intr_md.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition parse_ethernet;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHER_TYPE_IPV6: look_at_ipv6;
            ETHER_TYPE_IPV4: look_at_ipv4;
            default: accept;
        }
    }

    state malformed {
        meta.malformed = true;
        transition accept;
    }

    state look_at_ipv4 {
        transition select(packet.lookahead<bit<8>>()) {
            0x45: parse_ipv4;
            default: malformed;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        meta.ipv4_checksum_error = ipv4_checksum.verify();
        transition accept;
    }

    state look_at_ipv6 {
        transition select(packet.lookahead<bit<8>>()) {
            0x60 &&& 0xF0: parse_ipv6;
            default: malformed;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        meta.punt_dst = hdr.ipv6.dst;
        meta.punt_next_header = hdr.ipv6.next_header;
        transition select(hdr.ipv6.next_header) {
            NEXT_HEADER_IPV6: look_at_inner_ipv6;
            NEXT_HEADER_UDP: parse_udp;
            NEXT_HEADER_HOP_BY_HOP: look_behind_extension;
            NEXT_HEADER_FRAGMENT: look_behind_extension;
            NEXT_HEADER_AUTHENTICATION: look_behind_extension;
            NEXT_HEADER_DESTINATION_OPTIONS: look_behind_extension;
            default: accept;
        }
    }

    // The first byte of an extension header says what is behind it. Its length is not followed, so a second one ends the search,
    // as a routing header does.
    state look_behind_extension {
        transition select(packet.lookahead<bit<8>>()) {
            NEXT_HEADER_ROUTING: malformed;
            NEXT_HEADER_HOP_BY_HOP: malformed;
            NEXT_HEADER_FRAGMENT: malformed;
            NEXT_HEADER_AUTHENTICATION: malformed;
            NEXT_HEADER_DESTINATION_OPTIONS: malformed;
            default: accept;
        }
    }

    state look_at_inner_ipv6 {
        transition select(packet.lookahead<bit<8>>()) {
            0x60 &&& 0xF0: parse_inner_ipv6;
            default: malformed;
        }
    }

    state parse_inner_ipv6 {
        packet.extract(hdr.inner_ipv6);
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.udp);
        meta.l4_src_port = hdr.udp.src_port;
        meta.l4_dst_port = hdr.udp.dst_port;
        transition select(hdr.udp.dst_port) {
            UDP_PORT_ROCE: parse_bth;
            default: accept;
        }
    }

    state parse_bth {
        packet.extract(hdr.bth);
        meta.destination_qp = hdr.bth.destination_qp;
        transition accept;
    }
}

// packet_out is not emitted, because it ends here.
control FabricIngressDeparser(
    packet_out packet,
    inout ingress_headers_t hdr,
    in ingress_metadata_t meta,
    in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md
) {
    apply {
        packet.emit(hdr.bridge);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.inner_ipv6);
        packet.emit(hdr.udp);
        packet.emit(hdr.bth);
    }
}

parser FabricEgressParser(
    packet_in packet,
    out egress_headers_t hdr,
    out egress_metadata_t meta,
    out egress_intrinsic_metadata_t eg_intr_md
) {
    state start {
        packet.extract(eg_intr_md);
        packet.extract(hdr.bridge);
        meta.port_class = 0;
        meta.over_min = 0;
        meta.over_max = 0;
        meta.ramp = 0;
        meta.share = 0;
        meta.ramp_dice = 0;
        meta.share_dice = 0;
        transition select(hdr.bridge.untouched) {
            0: parse_ethernet;
            default: accept;
        }
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHER_TYPE_IPV6: parse_ipv6;
            ETHER_TYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}

// IPv6 has no header checksum, and the UDP checksum of an encapsulated packet covers the inner addresses, which no switch
// rewrites.
control FabricEgressDeparser(
    packet_out packet,
    inout egress_headers_t hdr,
    in egress_metadata_t meta,
    in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md
) {
    Checksum() ipv4_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset,
                hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            });
        }
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
    }
}

#endif
