// From bytes to headers. Layers above the network header serve the hash and the ingress check only, so a packet that ends
// inside them (a trimmed one) is still forwarded.

#ifndef FABRIC_PARSER_P4
#define FABRIC_PARSER_P4

error {
    WrongIpVersion,
    Ipv4Options,
    Ipv4Length
}

parser FabricParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    state start {
        transition select(standard_metadata.ingress_port) {
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
            ETHER_TYPE_IPV6: parse_ipv6;
            ETHER_TYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.WrongIpVersion);
        verify(hdr.ipv4.ihl == 5, error.Ipv4Options);
        // RFC 1812 section 5.2.2: the length has room for the header.
        verify(hdr.ipv4.total_length >= IPV4_BYTES, error.Ipv4Length);
        // Only the first fragment has ports, so no fragment is hashed by them.
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.flags[0:0], hdr.ipv4.protocol) {
            (0, 0, NEXT_HEADER_UDP): parse_udp;
            (0, 0, NEXT_HEADER_TCP): parse_tcp;
            default: accept;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.WrongIpVersion);
        transition select(hdr.ipv6.next_header) {
            NEXT_HEADER_IPV6: parse_inner_ipv6;
            NEXT_HEADER_UDP: parse_udp;
            NEXT_HEADER_TCP: parse_tcp;
            NEXT_HEADER_ROUTING: found_routing_header;
            NEXT_HEADER_HOP_BY_HOP: look_behind_extension;
            NEXT_HEADER_FRAGMENT: look_behind_extension;
            NEXT_HEADER_AUTHENTICATION: look_behind_extension;
            NEXT_HEADER_DESTINATION_OPTIONS: look_behind_extension;
            default: accept;
        }
    }

    // Search behind an extension header, whose first byte is the type of the next. Its length is not followed, so a second one ends
    // the search, as a routing header would.
    state look_behind_extension {
        transition select(packet.lookahead<bit<8>>()) {
            NEXT_HEADER_ROUTING: found_routing_header;
            NEXT_HEADER_HOP_BY_HOP: found_routing_header;
            NEXT_HEADER_FRAGMENT: found_routing_header;
            NEXT_HEADER_AUTHENTICATION: found_routing_header;
            NEXT_HEADER_DESTINATION_OPTIONS: found_routing_header;
            default: accept;
        }
    }

    state found_routing_header {
        meta.routing_header = true;
        transition accept;
    }

    state parse_inner_ipv6 {
        packet.extract(hdr.inner_ipv6);
        verify(hdr.inner_ipv6.version == 6, error.WrongIpVersion);
        transition accept;
    }

    state parse_tcp {
        packet.extract(hdr.tcp_ports);
        meta.l4_src_port = hdr.tcp_ports.src_port;
        meta.l4_dst_port = hdr.tcp_ports.dst_port;
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
control FabricDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.inner_ipv6);
        packet.emit(hdr.udp);
        packet.emit(hdr.tcp_ports);
        packet.emit(hdr.bth);
    }
}

#endif
