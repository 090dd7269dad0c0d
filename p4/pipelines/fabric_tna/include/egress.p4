// The egress pipeline: steps that depend on the queue of the packet, and the header for the controller.

#ifndef FABRIC_TNA_EGRESS_P4
#define FABRIC_TNA_EGRESS_P4

control FabricEgress(
    inout egress_headers_t hdr,
    inout egress_metadata_t meta,
    in egress_intrinsic_metadata_t eg_intr_md,
    in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
    inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
    inout egress_intrinsic_metadata_for_output_port_t eg_oport_md
) {
    EcnMark() ecn_mark;

    @name(".egress.port_class")
    Counter<bit<64>, port_class_t>(PORT_CLASSES, CounterType_t.PACKETS_AND_BYTES) port_class;

    apply {
        if (eg_intr_md.egress_port == CPU_PORT) {
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = hdr.bridge.ingress_port;
            hdr.packet_in.reason = (PuntReason)hdr.bridge.punt_reason;
        } else {
            meta.port_class = eg_intr_md.egress_port ++ hdr.bridge.class;
            port_class.count(meta.port_class, sizeInBytes(hdr.bridge));
            ecn_mark.apply(hdr, meta, eg_intr_md);
        }
    }
}

#endif
