// From the DSCP of the (outer) network header to a traffic class and a queue.

#ifndef FABRIC_TNA_QOS_CLASS_P4
#define FABRIC_TNA_QOS_CLASS_P4

control QosClass(
    inout ingress_headers_t hdr,
    inout ingress_metadata_t meta,
    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md
) {
    bit<6> dscp = 0;

    @name(".ingress.dscp_class_counter")
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) dscp_class_counter;

    // ECN and counters use `class`, which is also the ingress class of service. The packet waits in `queue`. The traffic
    // manager, which P4Runtime does not reach, schedules the queues.
    @name(".ingress.set_class")
    action set_class(class_t class, bit<3> queue) {
        dscp_class_counter.count();
        meta.class = class;
        ig_tm_md.ingress_cos = class;
        ig_tm_md.qid = (QueueId_t)queue;
    }

    @name(".ingress.first_class")
    action first_class() {
        dscp_class_counter.count();
    }

    // Key: the DSCP. Size: all of them. A DSCP without an entry has class 0 and queue 0.
    @name(".ingress.dscp_class")
    table dscp_class {
        key = {
            dscp: exact @name("dscp");
        }
        actions = {
            set_class;
            @defaultonly first_class;
        }
        const default_action = first_class;
        counters = dscp_class_counter;
        size = DSCPS;
    }

    apply {
        if (hdr.ipv6.isValid()) {
            dscp = hdr.ipv6.dscp;
        } else {
            dscp = hdr.ipv4.dscp;
        }
        dscp_class.apply();
    }
}

#endif
