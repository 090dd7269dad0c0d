// From bytes to headers and back. Ports are used only for the hash, so a packet that is truncated inside them is still routed.

#ifndef SAI_PARSER_P4
#define SAI_PARSER_P4

error {
    WrongIpVersion,
    Ipv4Options,
    Ipv4Length
}

parser packet_parser(packet_in packet, out headers_t headers, inout local_metadata_t local_metadata,
                     inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(headers.ethernet);
        transition select(headers.ethernet.ether_type) {
            ETHER_TYPE_IPV6: parse_ipv6;
            ETHER_TYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(headers.ipv4);
        verify(headers.ipv4.version == 4, error.WrongIpVersion);
        verify(headers.ipv4.ihl == 5, error.Ipv4Options);
        // RFC 1812 section 5.2.2: the length has room for the header.
        verify(headers.ipv4.total_len >= IPV4_BYTES, error.Ipv4Length);
        // Only the first fragment has ports, so no fragment is hashed by them.
        transition select(headers.ipv4.frag_offset, headers.ipv4.flags[0:0], headers.ipv4.protocol) {
            (0, 0, PROTOCOL_UDP): parse_ports;
            (0, 0, PROTOCOL_TCP): parse_ports;
            default: accept;
        }
    }

    state parse_ipv6 {
        packet.extract(headers.ipv6);
        verify(headers.ipv6.version == 6, error.WrongIpVersion);
        transition select(headers.ipv6.next_header, headers.ipv6.payload_length) {
            // Too short for ports.
            (_, 0 .. 3): accept;
            (PROTOCOL_UDP, _): parse_ports;
            (PROTOCOL_TCP, _): parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        packet.extract(headers.l4_ports);
        transition accept;
    }
}

control packet_deparser(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
        packet.emit(headers.ipv6);
        packet.emit(headers.l4_ports);
    }
}

#endif
