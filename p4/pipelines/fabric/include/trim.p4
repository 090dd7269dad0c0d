// Packet trimming: if the queue is too deep, the payload is removed and the headers are sent, so that the receiver sees
// the loss at once. The DSCP tells where it happened: in the fabric, or at the last hop to the receiver.
//
// Lengths follow the switch ASICs (SAI, packet trimming): the outer IP length is that of the trimmed packet, so that
// every next hop sees a well-formed packet. The UDP length and the inner header do not change: they tell the receiver
// how much was removed.

#ifndef FABRIC_TRIM_P4
#define FABRIC_TRIM_P4

control Trim(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata,
    out bool done
) {
    bool eligible = false;
    bit<19> depth = 0;
    bit<16> keep = 0;
    bit<6> dscp = 0;

    @name(".egress.trimmed")
    counter<bit<12>>(PORT_CLASSES, CounterType.packets) trimmed;

    // `size_bytes` counts from the Ethernet header. 128 keeps everything up to the BTH of an encapsulated packet.
    @name(".egress.set_trim")
    action set_trim(bit<19> depth_packets, bit<16> size_bytes, bit<6> trimmed_dscp) {
        eligible = true;
        depth = depth_packets;
        keep = size_bytes;
        dscp = trimmed_dscp;
    }

    // Key: egress port and class. Only classes with an entry are trimmed, so a trimmed packet, whose DSCP belongs to another
    // class, is not cut again. Size: every class of every port.
    @name(".egress.trim")
    table trim {
        key = {
            standard_metadata.egress_port: exact @name("egress_port");
            meta.class: exact @name("class");
        }
        actions = {
            set_trim;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = PORTS * 8;
    }

    apply {
        done = false;
        trim.apply();
        // A trimmed packet keeps at least its network header: otherwise a length would be negative.
        if (hdr.ipv6.isValid() && keep < ETHERNET_IPV6_BYTES) {
            keep = ETHERNET_IPV6_BYTES;
        } else if (keep < ETHERNET_IPV4_BYTES) {
            keep = ETHERNET_IPV4_BYTES;
        }
        if (eligible && standard_metadata.enq_qdepth >= depth && standard_metadata.packet_length > (bit<32>)keep) {
            done = true;
            truncate((bit<32>)keep);
            trimmed.count(standard_metadata.egress_port ++ meta.class);
            if (hdr.ipv6.isValid()) {
                hdr.ipv6.payload_length = keep - ETHERNET_IPV6_BYTES;
                hdr.ipv6.dscp = dscp;
            } else if (hdr.ipv4.isValid()) {
                hdr.ipv4.total_length = keep - ETHERNET_BYTES;
                hdr.ipv4.dscp = dscp;
            }
        }
    }
}

#endif
