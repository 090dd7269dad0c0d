// From the DSCP of the (outer) network header to a traffic class and a queue.

#ifndef FABRIC_QOS_CLASS_P4
#define FABRIC_QOS_CLASS_P4

control QosClass(
    in headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    bit<6> dscp = 0;

    @name(".ingress.dscp_class_counter")
    direct_counter(CounterType.packets_and_bytes) dscp_class_counter;

    // ECN, trimming and counters use `class`. The packet waits in `queue`; higher numbers are served first.
    // BMv2 drops packets to queues that it was not started with (`--priority-queues 8`), hence two parameters.
    @name(".ingress.set_class")
    action set_class(class_t class, bit<3> queue) {
        meta.class = class;
        standard_metadata.priority = queue;
    }

    // Key: the DSCP. Size: all of them. A DSCP without an entry has class 0 and queue 0.
    @name(".ingress.dscp_class")
    table dscp_class {
        key = {
            dscp: exact @name("dscp");
        }
        actions = {
            set_class;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
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
