// Longest prefix match to a next hop, a group of them, or a drop.

#ifndef FABRIC_TNA_ROUTING_P4
#define FABRIC_TNA_ROUTING_P4

control Routing(inout ingress_headers_t hdr, inout ingress_metadata_t meta) {
    @name(".ingress.ipv6_route_counter")
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv6_route_counter;
    @name(".ingress.ipv4_route_counter")
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv4_route_counter;

    // An action counts in the counter of one table, so the two tables have actions of their own; names of P4Info are those
    // of `ipv6_route`.
    @name(".ingress.set_nexthop_id")
    action set_nexthop_id(@refers_to("ingress.nexthop", "nexthop_id") nexthop_id_t nexthop_id) {
        ipv6_route_counter.count();
        meta.nexthop_id = nexthop_id;
    }

    @name(".ingress.set_wcmp_group")
    action set_wcmp_group(@refers_to("ingress.wcmp_group", "wcmp_group_id") wcmp_group_id_t wcmp_group_id) {
        ipv6_route_counter.count();
        meta.use_wcmp = true;
        meta.wcmp_group_id = wcmp_group_id;
    }

    @name(".ingress.blackhole")
    action blackhole() {
        ipv6_route_counter.count();
        meta.drop_reason = DropReason.BLACKHOLE;
    }

    @name(".ingress.no_route")
    action no_route() {
        ipv6_route_counter.count();
        meta.drop_reason = DropReason.NO_ROUTE;
    }

    // Key: the destination after the shift. A neighbour's uSID and a NIC's uSID are /48 routes, the block is a blackhole.
    // Size: those, and every prefix where hosts route by address.
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

    @name(".ingress.ipv4_set_nexthop_id")
    action ipv4_set_nexthop_id(@refers_to("ingress.nexthop", "nexthop_id") nexthop_id_t nexthop_id) {
        ipv4_route_counter.count();
        meta.nexthop_id = nexthop_id;
    }

    @name(".ingress.ipv4_set_wcmp_group")
    action ipv4_set_wcmp_group(@refers_to("ingress.wcmp_group", "wcmp_group_id") wcmp_group_id_t wcmp_group_id) {
        ipv4_route_counter.count();
        meta.use_wcmp = true;
        meta.wcmp_group_id = wcmp_group_id;
    }

    @name(".ingress.ipv4_blackhole")
    action ipv4_blackhole() {
        ipv4_route_counter.count();
        meta.drop_reason = DropReason.BLACKHOLE;
    }

    @name(".ingress.ipv4_no_route")
    action ipv4_no_route() {
        ipv4_route_counter.count();
        meta.drop_reason = DropReason.NO_ROUTE;
    }

    // Key: the destination. Size: management subnets and router ids; hosts have no IPv4 here.
    @name(".ingress.ipv4_route")
    table ipv4_route {
        key = {
            hdr.ipv4.dst: lpm @name("dst");
        }
        actions = {
            ipv4_set_nexthop_id;
            ipv4_set_wcmp_group;
            ipv4_blackhole;
            @defaultonly ipv4_no_route;
        }
        const default_action = ipv4_no_route;
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
