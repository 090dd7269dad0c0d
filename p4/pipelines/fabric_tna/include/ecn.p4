// Congestion marking: never up to `min_depth_cells`, always above `max_depth_cells`, at random in between.
//
// The probability rises linearly, although the chip can neither multiply nor divide. Two random numbers are used. The first is
// uniform over 0 to `ramp_mask`, the second over 0 to 65,535. A packet is marked if the depth exceeds the lower threshold by
// more than the first, and the second is below `share`. With `ramp_mask` = 2^k - 1, the probability is
//
//   (depth - min) / 2^k * share / 2^16
//
// and 2^k is the least power that is not below max - min, so that the line is straight up to the upper threshold.

#ifndef FABRIC_TNA_ECN_P4
#define FABRIC_TNA_ECN_P4

control EcnMark(
    inout egress_headers_t hdr,
    inout egress_metadata_t meta,
    in egress_intrinsic_metadata_t eg_intr_md
) {
    Random<bit<32>>() ramp_random;
    Random<bit<16>>() share_random;

    @name(".egress.ecn_marked")
    Counter<bit<64>, port_class_t>(PORT_CLASSES, CounterType_t.PACKETS) ecn_marked;

    @name(".egress.set_ecn_thresholds")
    action set_ecn_thresholds(
        bit<32> min_depth_cells,
        bit<32> max_depth_cells,
        bit<32> ramp_mask,
        bit<16> share
    ) {
        meta.over_min = min_depth_cells;
        meta.over_max = max_depth_cells;
        meta.ramp = meta.ramp_dice & ramp_mask;
        meta.share = share |-| meta.share_dice;
    }

    @name(".egress.not_marked")
    action not_marked() {
        meta.depth = 0;
        meta.over_min = 0;
        meta.over_max = 0;
        meta.share = 0;
    }

    // Key: egress port and class. Without an entry, packets are not marked: downlinks of a T0. Size: every class of every port.
    @name(".egress.ecn")
    table ecn {
        key = {
            eg_intr_md.egress_port: exact @name("egress_port");
            hdr.bridge.class: exact @name("class");
        }
        actions = {
            set_ecn_thresholds;
            @defaultonly not_marked;
        }
        const default_action = not_marked;
        size = PORTS * 8;
    }

    @hidden
    action measure() {
        meta.depth = (bit<32>)eg_intr_md.enq_qdepth;
    }

    // One action per random number, because an action can use at most 32 random bits.
    @hidden
    action roll_ramp() {
        meta.ramp_dice = ramp_random.get();
    }

    @hidden
    action roll_share() {
        meta.share_dice = share_random.get();
    }

    // The chip subtracts no value of an entry, so the thresholds are fields first.
    @hidden
    action exceed() {
        meta.over_min = meta.depth |-| meta.over_min;
        meta.over_max = meta.depth |-| meta.over_max;
    }

    @hidden
    action climb() {
        meta.over_min = meta.over_min |-| meta.ramp;
    }

    apply {
        measure();
        roll_ramp();
        roll_share();
        ecn.apply();
        exceed();
        climb();
        // One field each, so that every question fits the chip's comparators.
        bool marked = false;
        if (meta.over_max != 0) {
            marked = true;
        } else if (meta.over_min != 0) {
            if (meta.share != 0) {
                marked = true;
            }
        }
        if (marked) {
            if (hdr.ipv6.isValid() && hdr.ipv6.ecn != ECN_NOT_CAPABLE) {
                hdr.ipv6.ecn = ECN_CONGESTION_EXPERIENCED;
                ecn_marked.count(meta.port_class);
            } else if (hdr.ipv4.isValid() && hdr.ipv4.ecn != ECN_NOT_CAPABLE) {
                hdr.ipv4.ecn = ECN_CONGESTION_EXPERIENCED;
                ecn_marked.count(meta.port_class);
            }
        }
    }
}

#endif
