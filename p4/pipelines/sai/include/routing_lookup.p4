// The longest prefix of the destination, in the table of the packet's VRF: drop, one next hop, or a group of them.

#ifndef SAI_ROUTING_LOOKUP_P4
#define SAI_ROUTING_LOOKUP_P4

// For routes and for members of groups.
@id(SET_NEXTHOP_ID_ID)
action set_nexthop_id(inout local_metadata_t local_metadata,
                      @id(1) @refers_to(nexthop_table, nexthop_id) nexthop_id_t nexthop_id) {
    local_metadata.nexthop_id_valid = true;
    local_metadata.nexthop_id = nexthop_id;
}

@id(NO_ACTION_ID)
action no_action() {}

control routing_lookup(in headers_t headers, inout local_metadata_t local_metadata) {
    @id(DROP_ID)
    action drop() {}

    @id(SET_WCMP_GROUP_ID_ID)
    action set_wcmp_group_id(@id(1) @refers_to(wcmp_group_table, wcmp_group_id) wcmp_group_id_t wcmp_group_id) {
        local_metadata.wcmp_group_id_valid = true;
        local_metadata.wcmp_group_id = wcmp_group_id;
    }

    // The VRFs, besides the default one, which always exists. The table does not change packets.
    @entry_restriction("vrf_id != 0;")
    @p4runtime_role(CONTROLLER)
    @id(VRF_TABLE_ID)
    table vrf_table {
        key = {
            local_metadata.vrf_id: exact @id(1) @name("vrf_id");
        }
        actions = {
            @proto_id(1) no_action;
        }
        const default_action = no_action;
        size = VRFS;
    }

    @p4runtime_role(CONTROLLER)
    @id(IPV4_TABLE_ID)
    table ipv4_table {
        key = {
            local_metadata.vrf_id: exact @id(1) @name("vrf_id") @refers_to(vrf_table, vrf_id);
            headers.ipv4.dst_addr: lpm @id(2) @name("ipv4_dst") @format(IPV4_ADDRESS);
        }
        actions = {
            @proto_id(1) drop;
            @proto_id(2) set_nexthop_id(local_metadata);
            @proto_id(3) set_wcmp_group_id;
        }
        const default_action = drop;
        size = IPV4_ROUTES;
    }

    @p4runtime_role(CONTROLLER)
    @id(IPV6_TABLE_ID)
    table ipv6_table {
        key = {
            local_metadata.vrf_id: exact @id(1) @name("vrf_id") @refers_to(vrf_table, vrf_id);
            headers.ipv6.dst_addr: lpm @id(2) @name("ipv6_dst") @format(IPV6_ADDRESS);
        }
        actions = {
            @proto_id(1) drop;
            @proto_id(2) set_nexthop_id(local_metadata);
            @proto_id(3) set_wcmp_group_id;
        }
        const default_action = drop;
        size = IPV6_ROUTES;
    }

    apply {
        local_metadata.nexthop_id_valid = false;
        local_metadata.wcmp_group_id_valid = false;
        // No entry selects another VRF. On hardware, the pre-ingress ACL does.
        local_metadata.vrf_id = (vrf_id_t)0;
        vrf_table.apply();
        if (local_metadata.admit_to_l3) {
            // RFC 4291 sections 2.5.2, 2.5.3, 2.5.6 and 2.7, RFC 1812 section 5.3.7, RFC 3927 section 7: what no router forwards, from or to it.
            if (headers.ipv6.isValid()) {
                if (headers.ipv6.dst_addr[127:120] != 0xff && headers.ipv6.src_addr[127:120] != 0xff
                    && headers.ipv6.dst_addr[127:118] != 0x3fa && headers.ipv6.src_addr[127:118] != 0x3fa
                    && headers.ipv6.dst_addr[127:1] != 0 && headers.ipv6.src_addr[127:1] != 0) {
                    ipv6_table.apply();
                }
            } else if (headers.ipv4.isValid()) {
                if (headers.ipv4.dst_addr[31:29] != 7 && headers.ipv4.src_addr[31:29] != 7
                    && headers.ipv4.dst_addr[31:24] != 127 && headers.ipv4.src_addr[31:24] != 127
                    && headers.ipv4.dst_addr[31:24] != 0 && headers.ipv4.src_addr[31:24] != 0
                    && headers.ipv4.dst_addr[31:16] != 0xa9fe && headers.ipv4.src_addr[31:16] != 0xa9fe) {
                    ipv4_table.apply();
                }
            }
        }
    }
}

#endif
