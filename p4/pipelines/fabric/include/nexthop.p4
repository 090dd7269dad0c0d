// The last step of routing: a port and the addresses of the two ends of the cable.

#ifndef FABRIC_NEXTHOP_P4
#define FABRIC_NEXTHOP_P4

control Nexthop(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    @name(".ingress.nexthop_counter")
    direct_counter(CounterType.packets_and_bytes) nexthop_counter;

    @name(".ingress.set_nexthop")
    action set_nexthop(PortId_t port, mac_addr_t src_mac, mac_addr_t dst_mac) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src = src_mac;
        hdr.ethernet.dst = dst_mac;
    }

    @name(".ingress.no_nexthop")
    action no_nexthop() {
        meta.drop_reason = DropReason.NO_NEXTHOP;
    }

    // Key: the id that a route, a SID or a group gave. Size: two per port.
    @name(".ingress.nexthop")
    table nexthop {
        key = {
            meta.nexthop_id: exact @name("nexthop_id");
        }
        actions = {
            set_nexthop;
            @defaultonly no_nexthop;
        }
        const default_action = no_nexthop;
        counters = nexthop_counter;
        size = NEXTHOPS;
    }

    apply {
        nexthop.apply();
        // The hop limit is reduced only here, so once per switch, regardless of the tables before.
        if (hdr.ipv6.isValid()) {
            hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
        } else {
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        }
        if (standard_metadata.egress_spec == CPU_PORT) {
            meta.punt_reason = PuntReason.ROUTED;
        } else if (meta.drop_reason == DropReason.NONE && standard_metadata.egress_spec == DROP_PORT) {
            // Packets to the drop port would be dropped without being counted.
            meta.drop_reason = DropReason.NO_NEXTHOP;
        }
    }
}

#endif
