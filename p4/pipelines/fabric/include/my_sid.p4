// The switch's own segments: RFC 9800 NEXT-CSID with a 32-bit block and 16-bit uSIDs. The destination address is
//
//   127      96 95      80 79                        0
//   |  block   |  active  |  argument: five more uSIDs |
//
// and a hit moves the argument up by one uSID.

#ifndef FABRIC_MY_SID_P4
#define FABRIC_MY_SID_P4

control MySid(inout headers_t hdr, inout metadata_t meta) {
    @name(".ingress.my_sid_counter")
    direct_counter(CounterType.packets_and_bytes) my_sid_counter;

    action shift_argument() {
        hdr.ipv6.dst = hdr.ipv6.dst[127:96] ++ hdr.ipv6.dst[79:0] ++ 16w0;
    }

    // uN: shift, then route by the next uSID.
    @name(".ingress.un")
    action un() {
        shift_argument();
    }

    // uA: shift, then forward over one adjacency, regardless of routes.
    @name(".ingress.ua")
    action ua(@refers_to("ingress.nexthop", "nexthop_id") nexthop_id_t nexthop_id) {
        shift_argument();
        meta.nexthop_id = nexthop_id;
        meta.route_known = true;
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
            @defaultonly NoAction;
        }
        const default_action = NoAction;
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
