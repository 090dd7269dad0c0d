// Packets for the controller, selected before the checks of addresses: LLDP, neighbor discovery, probes.

#ifndef FABRIC_TNA_PUNT_P4
#define FABRIC_TNA_PUNT_P4

control Punt(
    inout ingress_headers_t hdr,
    inout ingress_metadata_t meta,
    in PortId_t ingress_port,
    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md
) {
    @name(".ingress.punt_counter")
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) punt_counter;

    @name(".ingress.punt_to_cpu")
    action punt_to_cpu(PuntReason reason) {
        punt_counter.count();
        meta.punt_reason = reason;
        meta.decided = true;
        ig_tm_md.ucast_egress_port = CPU_PORT;
    }

    @name(".ingress.not_punted")
    action not_punted() {
        punt_counter.count();
    }

    // Key: enough of the packet to tell control traffic from data. Size: a few rules, some of them per port.
    @name(".ingress.punt")
    table punt {
        key = {
            ingress_port: ternary @name("ingress_port");
            hdr.ethernet.ether_type: ternary @name("ether_type");
            meta.punt_next_header: ternary @name("next_header");
            meta.punt_dst: ternary @name("dst");
        }
        actions = {
            punt_to_cpu;
            @defaultonly not_punted;
        }
        const default_action = not_punted;
        counters = punt_counter;
        size = PUNT_RULES;
    }

    apply {
        punt.apply();
    }
}

#endif
