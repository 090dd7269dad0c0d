// Packets for the controller, selected before the checks of addresses: LLDP, neighbor discovery, probes.

#ifndef FABRIC_PUNT_P4
#define FABRIC_PUNT_P4

control Punt(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    // An absent header may contain data of the previous packet, so these copies are 0 instead.
    ipv6_addr_t dst = 0;
    bit<8> next_header = 0;

    @name(".ingress.punt_counter")
    direct_counter(CounterType.packets_and_bytes) punt_counter;

    @name(".ingress.punt_to_cpu")
    action punt_to_cpu(PuntReason reason) {
        meta.punt_reason = reason;
        meta.decided = true;
        standard_metadata.egress_spec = CPU_PORT;
    }

    // Key: enough of the packet to tell control traffic from data. Size: a few rules, some of them per port.
    @name(".ingress.punt")
    table punt {
        key = {
            standard_metadata.ingress_port: ternary @name("ingress_port");
            hdr.ethernet.ether_type: ternary @name("ether_type");
            next_header: ternary @name("next_header");
            dst: ternary @name("dst");
        }
        actions = {
            punt_to_cpu;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        counters = punt_counter;
        size = PUNT_RULES;
    }

    apply {
        if (hdr.ipv6.isValid()) {
            dst = hdr.ipv6.dst;
            next_header = hdr.ipv6.next_header;
        }
        punt.apply();
    }
}

#endif
