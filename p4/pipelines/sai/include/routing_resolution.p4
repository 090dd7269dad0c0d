// From a group to one of its next hops, from a next hop to its router interface and neighbour, and from these to a port and
// the MAC addresses of the link.

#ifndef SAI_ROUTING_RESOLUTION_P4
#define SAI_ROUTING_RESOLUTION_P4

control routing_resolution(inout local_metadata_t local_metadata, inout standard_metadata_t standard_metadata) {
    bool link_valid = false;
    router_interface_id_t router_interface = (router_interface_id_t)0;
    ipv6_addr_t neighbor = 0;
    bool port_valid = false;
    PortId_t egress_port = 0;
    bool neighbor_valid = false;

    @id(SET_DST_MAC_ID)
    action set_dst_mac(@id(1) @format(MAC_ADDRESS) ethernet_addr_t dst_mac) {
        neighbor_valid = true;
        local_metadata.dst_mac = dst_mac;
    }

    // Key: who is on a link. Size: one for each link, and as many again while they change.
    @p4runtime_role(CONTROLLER)
    @id(NEIGHBOR_TABLE_ID)
    table neighbor_table {
        key = {
            router_interface: exact
                @id(1) @name("router_interface_id") @refers_to(router_interface_table, router_interface_id);
            neighbor: exact @id(2) @name("neighbor_id") @format(IPV6_ADDRESS);
        }
        actions = {
            @proto_id(1) set_dst_mac;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = NEIGHBORS;
    }

    // On hardware this also accepts the address at the port; here `l3_admit_table` alone does.
    @id(SET_PORT_AND_SRC_MAC_ID)
    @action_restriction("src_mac != 0;")
    action set_port_and_src_mac(@id(1) port_id_t port, @id(2) @format(MAC_ADDRESS) ethernet_addr_t src_mac) {
        port_valid = true;
        egress_port = (PortId_t)port;
        local_metadata.src_mac = src_mac;
    }

    @id(UNICAST_SET_PORT_AND_SRC_MAC_ID)
    @action_restriction("src_mac != 0;")
    action unicast_set_port_and_src_mac(@id(1) port_id_t port, @id(2) @format(MAC_ADDRESS) ethernet_addr_t src_mac) {
        port_valid = true;
        egress_port = (PortId_t)port;
        local_metadata.src_mac = src_mac;
    }

    // Key: the end of a link. What it names: the port, and the address that the switch has there.
    @p4runtime_role(CONTROLLER)
    @id(ROUTER_INTERFACE_TABLE_ID)
    table router_interface_table {
        key = {
            router_interface: exact @id(1) @name("router_interface_id");
        }
        actions = {
            @proto_id(1) set_port_and_src_mac;
            @proto_id(3) unicast_set_port_and_src_mac;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = ROUTER_INTERFACES;
    }

    @id(SET_IP_NEXTHOP_ID)
    action set_ip_nexthop(
        @id(1) @refers_to(router_interface_table, router_interface_id) @refers_to(neighbor_table, router_interface_id)
        router_interface_id_t router_interface_id,
        @id(2) @format(IPV6_ADDRESS) @refers_to(neighbor_table, neighbor_id) ipv6_addr_t neighbor_id) {
        link_valid = true;
        router_interface = router_interface_id;
        neighbor = neighbor_id;
    }

    @p4runtime_role(CONTROLLER)
    @id(NEXTHOP_TABLE_ID)
    table nexthop_table {
        key = {
            local_metadata.nexthop_id: exact @id(1) @name("nexthop_id");
        }
        actions = {
            @proto_id(1) set_ip_nexthop;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = NEXTHOPS;
    }

    // The size of a group is the sum of its weights, and so is that of all of them.
    @selector_size_semantics("sum_of_weights")
    @max_group_size(WCMP_GROUP_WEIGHTS)
    @id(WCMP_GROUP_SELECTOR_ID)
    action_selector(HashAlgorithm.crc32, WCMP_WEIGHTS, 32) wcmp_group_selector;

    @p4runtime_role(CONTROLLER)
    @id(WCMP_GROUP_TABLE_ID)
    @oneshot()
    table wcmp_group_table {
        key = {
            local_metadata.wcmp_group_id: exact @id(1) @name("wcmp_group_id");
            local_metadata.wcmp_selector_input: selector;
        }
        actions = {
            @proto_id(1) set_nexthop_id(local_metadata);
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        implementation = wcmp_group_selector;
        size = WCMP_GROUPS;
    }

    apply {
        if (local_metadata.wcmp_group_id_valid) {
            wcmp_group_table.apply();
        }
        if (local_metadata.nexthop_id_valid) {
            nexthop_table.apply();
        }
        if (link_valid) {
            router_interface_table.apply();
            neighbor_table.apply();
        }
        if (port_valid && neighbor_valid) {
            standard_metadata.egress_spec = egress_port;
        }
    }
}

#endif
