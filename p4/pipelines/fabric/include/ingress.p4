// The ingress pipeline: check, find the next hop, count drops.

#ifndef FABRIC_INGRESS_P4
#define FABRIC_INGRESS_P4

control Forward(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    MySid() my_sid;
    Routing() routing;
    Wcmp() wcmp;
    Nexthop() nexthop;
    QosClass() qos_class;
    NicClass() nic_class;

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
            nexthop.apply(hdr, meta, standard_metadata);
            qos_class.apply(hdr, meta, standard_metadata);
            if (meta.role == PortRole.NIC) {
                nic_class.apply(hdr, meta, standard_metadata);
            }
        }
    }
}

control FabricIngress(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    AssignPortRole() assign_port_role;
    CheckHeaders() check_headers;
    Punt() punt;
    PuntLimit() punt_limit;
    CheckRoutable() check_routable;
    IngressCheck() ingress_check;
    Forward() forward;

    @name(".ingress.drops")
    counter<DropReason>(DROP_REASONS, CounterType.packets_and_bytes) drops;

    apply {
        if (hdr.packet_out.isValid() && hdr.packet_out.submit_to_ingress == 0) {
            if (hdr.packet_out.egress_port[15:9] == 0 && (PortId_t)hdr.packet_out.egress_port != DROP_PORT) {
                standard_metadata.egress_spec = (PortId_t)hdr.packet_out.egress_port;
                meta.decided = true;
            } else {
                meta.drop_reason = DropReason.PORT_DISABLED;
            }
        } else {
            assign_port_role.apply(hdr, meta, standard_metadata);
        }
        if (!meta.decided && meta.drop_reason == DropReason.NONE) {
            check_headers.apply(hdr, meta, standard_metadata);
        }
        if (!meta.decided && meta.drop_reason == DropReason.NONE) {
            punt.apply(hdr, meta, standard_metadata);
        }
        if (!meta.decided && meta.drop_reason == DropReason.NONE) {
            check_routable.apply(hdr, meta);
            if (meta.drop_reason == DropReason.NONE && meta.role == PortRole.NIC) {
                ingress_check.apply(hdr, meta, standard_metadata);
            }
            if (meta.drop_reason == DropReason.NONE) {
                forward.apply(hdr, meta, standard_metadata);
            }
        }
        if (meta.drop_reason == DropReason.NONE && meta.punt_reason != PuntReason.NONE) {
            punt_limit.apply(meta, standard_metadata);
        }
        if (meta.drop_reason != DropReason.NONE) {
            drops.count(meta.drop_reason);
            mark_to_drop(standard_metadata);
        }
    }
}

#endif
