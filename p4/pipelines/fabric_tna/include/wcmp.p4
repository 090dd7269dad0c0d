// Weighted multipath. The flow is hashed once (addresses, flow label, protocol, ports and, for RoCEv2, the destination queue
// pair) and given to the selector.
//
// A CRC is linear: a seed that is only another input flips the same bits of every flow. The second of two switches would then
// send all flows from the first over one link. `fabric` multiplies by an odd number, which the chip cannot do. Here a switch
// has one of four polynomials. None is a multiple of another, so the choices of two of them are independent.
// Adjacent tiers must have different ones.

#ifndef FABRIC_TNA_WCMP_P4
#define FABRIC_TNA_WCMP_P4

control Wcmp(inout ingress_headers_t hdr, inout ingress_metadata_t meta) {
    bit<2> polynomial = 0;
    bit<32> switch_seed = 0;

    // IEEE 802.3, Castagnoli (RFC 9260 appendix A), Koopman, and the one of AIXM.
    CRCPolynomial<bit<32>>(32w0x04C11DB7, true, false, false, 32w0xFFFFFFFF, 32w0xFFFFFFFF) ieee;
    CRCPolynomial<bit<32>>(32w0x1EDC6F41, true, false, false, 32w0xFFFFFFFF, 32w0xFFFFFFFF) castagnoli;
    CRCPolynomial<bit<32>>(32w0x741B8CD7, true, false, false, 32w0xFFFFFFFF, 32w0xFFFFFFFF) koopman;
    CRCPolynomial<bit<32>>(32w0x814141AB, false, false, false, 32w0x00000000, 32w0x00000000) aixm;

    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, ieee) ipv6_hash_0;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, castagnoli) ipv6_hash_1;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, koopman) ipv6_hash_2;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, aixm) ipv6_hash_3;
    // Hosts have no IPv4 here, so one polynomial does.
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, ieee) ipv4_hash;

    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) selector_hash;
    @name(".ingress.wcmp_selector")
    ActionProfile(WCMP_MEMBERS) wcmp_selector;
    @name(".ingress.wcmp_groups")
    ActionSelector(wcmp_selector, selector_hash, SelectorMode_t.FAIR, WCMP_WIDTH, WCMP_GROUPS) wcmp_groups;

    // `function` is the polynomial, by tier; `seed` moves what each choice is, from switch to switch.
    @name(".ingress.set_wcmp_hash")
    action set_wcmp_hash(bit<2> function, bit<32> seed, bit<24> qp_mask) {
        polynomial = function;
        switch_seed = seed;
        meta.destination_qp = meta.destination_qp & qp_mask;
    }

    // Key: none, the default action is the setting. `qp_mask` 0xffffff takes the queue pair into the hash, 0 leaves it out.
    @name(".ingress.wcmp_hash")
    table wcmp_hash {
        actions = {
            @defaultonly set_wcmp_hash;
        }
        default_action = set_wcmp_hash(0, 0, 0xFFFFFF);
        size = 1;
    }

    @name(".ingress.select_nexthop")
    action select_nexthop(@refers_to("ingress.nexthop", "nexthop_id") nexthop_id_t nexthop_id) {
        meta.nexthop_id = nexthop_id;
    }

    @name(".ingress.no_wcmp_group")
    action no_wcmp_group() {
        meta.drop_reason = DropReason.NO_WCMP_GROUP;
    }

    // Key: the group a route named. Size: one group per distinct set of live uplinks.
    @name(".ingress.wcmp_group")
    table wcmp_group {
        key = {
            meta.wcmp_group_id: exact @name("wcmp_group_id");
            meta.flow_hash: selector;
        }
        actions = {
            select_nexthop;
            @defaultonly no_wcmp_group;
        }
        const default_action = no_wcmp_group;
        implementation = wcmp_groups;
        size = WCMP_GROUPS;
    }

    @hidden
    action hash_ipv6_0() {
        meta.flow_hash = ipv6_hash_0.get({
            hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.flow_label, hdr.ipv6.next_header,
            meta.l4_src_port, meta.l4_dst_port, meta.destination_qp
        });
    }

    @hidden
    action hash_ipv6_1() {
        meta.flow_hash = ipv6_hash_1.get({
            hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.flow_label, hdr.ipv6.next_header,
            meta.l4_src_port, meta.l4_dst_port, meta.destination_qp
        });
    }

    @hidden
    action hash_ipv6_2() {
        meta.flow_hash = ipv6_hash_2.get({
            hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.flow_label, hdr.ipv6.next_header,
            meta.l4_src_port, meta.l4_dst_port, meta.destination_qp
        });
    }

    @hidden
    action hash_ipv6_3() {
        meta.flow_hash = ipv6_hash_3.get({
            hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.flow_label, hdr.ipv6.next_header,
            meta.l4_src_port, meta.l4_dst_port, meta.destination_qp
        });
    }

    @hidden
    action hash_ipv4() {
        meta.flow_hash = ipv4_hash.get({ hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol });
    }

    apply {
        wcmp_hash.apply();
        if (hdr.ipv4.isValid()) {
            hash_ipv4();
        } else if (polynomial == 0) {
            hash_ipv6_0();
        } else if (polynomial == 1) {
            hash_ipv6_1();
        } else if (polynomial == 2) {
            hash_ipv6_2();
        } else {
            hash_ipv6_3();
        }
        meta.flow_hash = meta.flow_hash ^ switch_seed;
        wcmp_group.apply();
    }
}

#endif
