// The egress pipeline: steps that depend on the queue of the packet, and the header for the controller.

#ifndef FABRIC_EGRESS_P4
#define FABRIC_EGRESS_P4

control FabricEgress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    Trim() trim;
    EcnMark() ecn_mark;

    @name(".egress.port_class")
    counter<bit<12>>(PORT_CLASSES, CounterType.packets_and_bytes) port_class;

    apply {
        if (standard_metadata.egress_port == CPU_PORT) {
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = (bit<16>)standard_metadata.ingress_port;
            hdr.packet_in.reason = meta.punt_reason;
        } else {
            port_class.count(standard_metadata.egress_port ++ meta.class);
            bool trimmed;
            trim.apply(hdr, meta, standard_metadata, trimmed);
            // Trimming already signals congestion, so a trimmed packet is not marked.
            if (!trimmed) {
                ecn_mark.apply(hdr, meta, standard_metadata);
            }
        }
    }
}

#endif
