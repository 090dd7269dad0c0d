// The last step of routing: a port and the addresses of the two ends of the cable.

#ifndef FABRIC_TNA_NEXTHOP_P4
#define FABRIC_TNA_NEXTHOP_P4

control Nexthop(
    inout ingress_headers_t hdr,
    inout ingress_metadata_t meta,
    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md
) {
    @name(".ingress.nexthop_counter")
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) nexthop_counter;

    @name(".ingress.set_nexthop")
    action set_nexthop(PortId_t port, mac_addr_t src_mac, mac_addr_t dst_mac) {
        nexthop_counter.count();
        ig_tm_md.ucast_egress_port = port;
        hdr.ethernet.src = src_mac;
        hdr.ethernet.dst = dst_mac;
    }

    @name(".ingress.no_nexthop")
    action no_nexthop() {
        nexthop_counter.count();
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
        if (ig_tm_md.ucast_egress_port == CPU_PORT) {
            meta.punt_reason = PuntReason.ROUTED;
        }
    }
}

#endif
