// The switch's own segments: RFC 9800 NEXT-CSID with a 32-bit block and 16-bit uSIDs. The destination address is
//
//   127      96 95      80 79                        0
//   |  block   |  active  |  argument: five more uSIDs |
//
// and a hit moves the argument up by one uSID.

#ifndef FABRIC_TNA_MY_SID_P4
#define FABRIC_TNA_MY_SID_P4

control MySid(inout ingress_headers_t hdr, inout ingress_metadata_t meta) {
    @name(".ingress.my_sid_counter")
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) my_sid_counter;

    // A chip moves containers and does not shift 80 bits: one uSID after the other, from the top, so that each is read before
    // it is written.
    action shift_argument() {
        hdr.ipv6.dst[95:80] = hdr.ipv6.dst[79:64];
        hdr.ipv6.dst[79:64] = hdr.ipv6.dst[63:48];
        hdr.ipv6.dst[63:48] = hdr.ipv6.dst[47:32];
        hdr.ipv6.dst[47:32] = hdr.ipv6.dst[31:16];
        hdr.ipv6.dst[31:16] = hdr.ipv6.dst[15:0];
        hdr.ipv6.dst[15:0] = 0;
    }

    // uN: shift, then route by the next uSID.
    @name(".ingress.un")
    action un() {
        my_sid_counter.count();
        shift_argument();
    }

    // uA: shift, then forward over one adjacency, regardless of routes.
    @name(".ingress.ua")
    action ua(@refers_to("ingress.nexthop", "nexthop_id") nexthop_id_t nexthop_id) {
        my_sid_counter.count();
        shift_argument();
        meta.nexthop_id = nexthop_id;
        meta.route_known = true;
    }

    @name(".ingress.not_my_sid")
    action not_my_sid() {
        my_sid_counter.count();
    }

    // Key: block and active uSID. Size: one uN, and a uA per link where links are named.
    @name(".ingress.my_sid")
    table my_sid {
        key = {
            hdr.ipv6.dst[127:80]: exact @name("sid");
        }
        actions = {
            un;
            ua;
            @defaultonly not_my_sid;
        }
        const default_action = not_my_sid;
        counters = my_sid_counter;
        size = LOCAL_SIDS;
    }

    apply {
        if (my_sid.apply().hit) {
            // A list that ends at a switch is never decapsulated. Tomahawk 5 drops such packets, so all switches do.
            if (hdr.ipv6.dst[95:80] == 0) {
                meta.drop_reason = DropReason.NEXT_USID_ZERO;
            }
        }
    }
}

#endif
