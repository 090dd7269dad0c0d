// Longest prefix match to a next hop, a group of them, or a drop.

#ifndef FABRIC_ROUTING_P4
#define FABRIC_ROUTING_P4

control Routing(inout headers_t hdr, inout metadata_t meta) {
    @name(".ingress.ipv6_route_counter")
    direct_counter(CounterType.packets_and_bytes) ipv6_route_counter;
    @name(".ingress.ipv4_route_counter")
    direct_counter(CounterType.packets_and_bytes) ipv4_route_counter;

    @name(".ingress.set_nexthop_id")
    action set_nexthop_id(@refers_to("ingress.nexthop", "nexthop_id") nexthop_id_t nexthop_id) {
        meta.nexthop_id = nexthop_id;
    }

    @name(".ingress.set_wcmp_group")
    action set_wcmp_group(@refers_to("ingress.wcmp_group", "wcmp_group_id") wcmp_group_id_t wcmp_group_id) {
        meta.use_wcmp = true;
        meta.wcmp_group_id = wcmp_group_id;
    }

    @name(".ingress.blackhole")
    action blackhole() {
        meta.drop_reason = DropReason.BLACKHOLE;
    }

    @name(".ingress.no_route")
    action no_route() {
        meta.drop_reason = DropReason.NO_ROUTE;
    }

    // Key: the destination after the shift. A neighbour's uSID and a NIC's uSID are /48 routes, the block is a blackhole.
    // Size: 513 of those, or every NIC of the largest fabric where hosts route by address.
    @name(".ingress.ipv6_route")
    table ipv6_route {
        key = {
            hdr.ipv6.dst: lpm @name("dst");
        }
        actions = {
            set_nexthop_id;
            set_wcmp_group;
            blackhole;
            @defaultonly no_route;
        }
        const default_action = no_route;
        counters = ipv6_route_counter;
        size = IPV6_ROUTES;
    }

    // Key: the destination. Size: management subnets and router ids; hosts have no IPv4 here.
    @name(".ingress.ipv4_route")
    table ipv4_route {
        key = {
            hdr.ipv4.dst: lpm @name("dst");
        }
        actions = {
            set_nexthop_id;
            set_wcmp_group;
            blackhole;
            @defaultonly no_route;
        }
        const default_action = no_route;
        counters = ipv4_route_counter;
        size = IPV4_ROUTES;
    }

    apply {
        if (hdr.ipv6.isValid()) {
            ipv6_route.apply();
        } else {
            ipv4_route.apply();
        }
    }
}

#endif
