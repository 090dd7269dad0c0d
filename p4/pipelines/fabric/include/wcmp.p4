// Weighted multipath. The flow is hashed once (addresses, flow label, protocol, ports and, for RoCEv2, the destination queue
// pair), then scrambled by the switch's seed and given to the selector.

#ifndef FABRIC_WCMP_P4
#define FABRIC_WCMP_P4

control Wcmp(inout headers_t hdr, inout metadata_t meta) {
    bit<31> switch_seed = 0;
    bit<24> switch_qp_mask = 0;

    @name(".ingress.wcmp_selector")
    @max_group_size(512)
    action_selector(HashAlgorithm.crc32, WCMP_MEMBERS, 32) wcmp_selector;

    @name(".ingress.set_wcmp_hash")
    action set_wcmp_hash(bit<31> seed, bit<24> qp_mask) {
        switch_seed = seed;
        switch_qp_mask = qp_mask;
    }

    // Key: none, the default action is the setting. `seed` differs from switch to switch; `qp_mask` 0xffffff takes the
    // queue pair into the hash, 0 leaves it out.
    @name(".ingress.wcmp_hash")
    table wcmp_hash {
        actions = {
            @defaultonly set_wcmp_hash;
        }
        default_action = set_wcmp_hash(0, 0xFFFFFF);
        size = 1;
    }

    @name(".ingress.select_nexthop")
    action select_nexthop(@refers_to("ingress.nexthop", "nexthop_id") nexthop_id_t nexthop_id) {
        meta.nexthop_id = nexthop_id;
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
        }
        implementation = wcmp_selector;
        size = WCMP_GROUPS;
    }

    apply {
        wcmp_hash.apply();
        // IPv4 has no flow label. Its addresses take the place of the low bits of the IPv6 addresses.
        ipv6_addr_t src = hdr.ipv6.src;
        ipv6_addr_t dst = hdr.ipv6.dst;
        bit<20> flow_label = hdr.ipv6.flow_label;
        bit<8> next_header = hdr.ipv6.next_header;
        if (!hdr.ipv6.isValid()) {
            src = (bit<128>)hdr.ipv4.src;
            dst = (bit<128>)hdr.ipv4.dst;
            flow_label = 0;
            next_header = hdr.ipv4.protocol;
        }
        hash(
            meta.flow_hash,
            HashAlgorithm.crc32,
            32w0,
            { src, dst, flow_label, 4w0, next_header, meta.l4_src_port, meta.l4_dst_port, meta.destination_qp & switch_qp_mask },
            64w0x100000000
        );
        // A CRC is linear: a seed that is only another input flips the same bits of every flow. The second of two switches
        // would then send all flows from the first over one link. Multiplying by an odd number is not linear over bits.
        // Odd numbers that differ only in a high bit mix alike, so the seed is spread over all bits first: a product moves
        // differences to higher bits, and the shift moves them down again.
        bit<32> spread = (bit<32>)switch_seed * 0x9E3779B1;
        spread = (spread ^ (spread >> 15)) * 0x85EBCA6B;
        meta.flow_hash = (meta.flow_hash ^ spread) * (spread[30:0] ++ 1w1);
        // A table with a selector has no default action on BMv2, so the miss is handled here.
        if (!wcmp_group.apply().hit) {
            meta.drop_reason = DropReason.NO_WCMP_GROUP;
        }
    }
}

#endif
