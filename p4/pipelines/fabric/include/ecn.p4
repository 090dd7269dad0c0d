// Congestion marking: never below `min_depth`, always from `max_depth`, at random in between.

#ifndef FABRIC_ECN_P4
#define FABRIC_ECN_P4

control EcnMark(
    inout headers_t hdr,
    in metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    bool enabled = false;
    bit<19> min_depth = 0;
    bit<19> max_depth = 0;
    bit<20> max_probability = 0;

    @name(".egress.ecn_marked")
    counter<bit<12>>(PORT_CLASSES, CounterType.packets) ecn_marked;

    // Depths count packets, as BMv2's queues do. `max_probability_ppm` is the probability just below `max_depth`.
    @name(".egress.set_ecn_thresholds")
    action set_ecn_thresholds(bit<19> min_depth_packets, bit<19> max_depth_packets, bit<20> max_probability_ppm) {
        enabled = true;
        min_depth = min_depth_packets;
        max_depth = max_depth_packets;
        max_probability = max_probability_ppm;
    }

    // Key: egress port and class. Without an entry, packets are not marked: downlinks of a T0. Size: every class of every port.
    @name(".egress.ecn")
    table ecn {
        key = {
            standard_metadata.egress_port: exact @name("egress_port");
            meta.class: exact @name("class");
        }
        actions = {
            set_ecn_thresholds;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = PORTS * 8;
    }

    apply {
        ecn.apply();
        if (enabled && standard_metadata.enq_qdepth >= min_depth) {
            // The probability rises linearly. P4 cannot divide, so both sides are multiplied out:
            //   dice / 10^6 < max_probability / 10^6 * (depth - min) / (max - min)
            bit<20> dice;
            random(dice, 20w0, ONE_MILLION - 1);
            bit<64> scaled_dice = (bit<64>)dice * (bit<64>)(max_depth - min_depth);
            bit<64> scaled_probability =
                (bit<64>)max_probability * (bit<64>)(standard_metadata.enq_qdepth - min_depth);
            if (standard_metadata.enq_qdepth >= max_depth || scaled_dice < scaled_probability) {
                if (hdr.ipv6.isValid() && hdr.ipv6.ecn != ECN_NOT_CAPABLE) {
                    hdr.ipv6.ecn = ECN_CONGESTION_EXPERIENCED;
                    ecn_marked.count(standard_metadata.egress_port ++ meta.class);
                } else if (hdr.ipv4.isValid() && hdr.ipv4.ecn != ECN_NOT_CAPABLE) {
                    hdr.ipv4.ecn = ECN_CONGESTION_EXPERIENCED;
                    ecn_marked.count(standard_metadata.egress_port ++ meta.class);
                }
            }
        }
    }
}

#endif
