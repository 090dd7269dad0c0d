// The ingress pipeline: check, find the next hop, count drops.

#ifndef FABRIC_TNA_INGRESS_P4
#define FABRIC_TNA_INGRESS_P4

control Forward(
    inout ingress_headers_t hdr,
    inout ingress_metadata_t meta,
    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md
) {
    MySid() my_sid;
    Routing() routing;
    Wcmp() wcmp;
    Nexthop() nexthop;
    QosClass() qos_class;

    apply {
        if (hdr.ipv6.isValid()) {
            my_sid.apply(hdr, meta);
        }
        if (meta.drop_reason == DropReason.NONE && !meta.route_known) {
            routing.apply(hdr, meta);
        }
        if (meta.drop_reason == DropReason.NONE && meta.use_wcmp) {
            wcmp.apply(hdr, meta);
        }
        if (meta.drop_reason == DropReason.NONE) {
            nexthop.apply(hdr, meta, ig_tm_md);
            qos_class.apply(hdr, meta, ig_tm_md);
        }
    }
}

control FabricIngress(
    inout ingress_headers_t hdr,
    inout ingress_metadata_t meta,
    in ingress_intrinsic_metadata_t ig_intr_md,
    in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
    inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md
) {
    AssignPortRole() assign_port_role;
    CheckHeaders() check_headers;
    Punt() punt;
    CheckRoutable() check_routable;
    IngressCheck() ingress_check;
    Forward() forward;

    @name(".ingress.drops")
    Counter<bit<64>, bit<5>>(DROP_REASONS, CounterType_t.PACKETS_AND_BYTES) drops;

    @hidden
    action drop() {
        drops.count((bit<5>)meta.drop_reason);
        ig_dprsr_md.drop_ctl = 1;
    }

    // Metadata for the egress pipeline.
    @hidden
    action bridge() {
        hdr.bridge.setValid();
        hdr.bridge.ingress_port = (bit<16>)ig_intr_md.ingress_port;
        hdr.bridge.punt_reason = (bit<8>)meta.punt_reason;
        hdr.bridge.untouched = (bit<1>)meta.decided;
        hdr.bridge.unused = 0;
        hdr.bridge.class = meta.class;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            if (hdr.packet_out.submit_to_ingress != 0) {
                meta.role = PortRole.CPU;
            } else if (hdr.packet_out.egress_port[15:9] == 0) {
                ig_tm_md.ucast_egress_port = (PortId_t)hdr.packet_out.egress_port;
                meta.decided = true;
            } else {
                meta.drop_reason = DropReason.PORT_DISABLED;
            }
        } else {
            assign_port_role.apply(meta, ig_intr_md.ingress_port);
        }
        if (!meta.decided && meta.drop_reason == DropReason.NONE) {
            check_headers.apply(hdr, meta, ig_prsr_md);
        }
        if (!meta.decided && meta.drop_reason == DropReason.NONE) {
            punt.apply(hdr, meta, ig_intr_md.ingress_port, ig_tm_md);
        }
        if (!meta.decided && meta.drop_reason == DropReason.NONE) {
            check_routable.apply(hdr, meta);
            if (meta.drop_reason == DropReason.NONE && meta.role == PortRole.NIC) {
                ingress_check.apply(hdr, meta, ig_intr_md.ingress_port);
            }
            if (meta.drop_reason == DropReason.NONE) {
                forward.apply(hdr, meta, ig_tm_md);
            }
        }
        if (meta.drop_reason != DropReason.NONE) {
            drop();
        } else {
            bridge();
        }
    }
}

#endif
