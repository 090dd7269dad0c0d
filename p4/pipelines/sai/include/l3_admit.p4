// Which packets are routed: those for a MAC address of the switch. Hardware requires the same.

#ifndef SAI_L3_ADMIT_P4
#define SAI_L3_ADMIT_P4

control l3_admit(in headers_t headers, inout local_metadata_t local_metadata, in standard_metadata_t standard_metadata) {
    @id(ADMIT_TO_L3_ID)
    action admit_to_l3() {
        local_metadata.admit_to_l3 = true;
    }

    // Key: the destination of the frame, and where it came in. One entry accepts the address of the switch at every port.
    @p4runtime_role(CONTROLLER)
    @id(L3_ADMIT_TABLE_ID)
    table l3_admit_table {
        key = {
            headers.ethernet.dst_addr: ternary @id(1) @name("dst_mac") @format(MAC_ADDRESS);
            (port_id_t)standard_metadata.ingress_port: optional @id(2) @name("in_port");
        }
        actions = {
            @proto_id(1) admit_to_l3;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = OWN_MACS;
    }

    apply {
        local_metadata.admit_to_l3 = false;
        // A station sends from its own address, never from that of a group (IEEE 802.3, clause 3.2.3).
        if (headers.ethernet.src_addr[40:40] == 0) {
            l3_admit_table.apply();
        }
    }
}

#endif
