// The rate of packets for the controller, per ingress port. A port that sends more than its share loses its own packets alone, and
// the processor of the switch receives at most the sum over all ports.

#ifndef FABRIC_PUNT_LIMIT_P4
#define FABRIC_PUNT_LIMIT_P4

control PuntLimit(inout metadata_t meta, in standard_metadata_t standard_metadata) {
    color_t color = 0;

    @name(".ingress.punt_limit_counter")
    direct_counter(CounterType.packets_and_bytes) punt_limit_counter;
    @name(".ingress.punt_limit_meter")
    direct_meter<color_t>(MeterType.packets) punt_limit_meter;

    @name(".ingress.limit_punts")
    action limit_punts() {
        punt_limit_meter.read(color);
    }

    // Key: the ingress port. The rate is that of the entry's meter. Size: every port once. A packet of the controller itself has no
    // entry and no limit.
    @name(".ingress.punt_limit")
    table punt_limit {
        key = {
            standard_metadata.ingress_port: exact @name("ingress_port");
        }
        actions = {
            limit_punts;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        counters = punt_limit_counter;
        meters = punt_limit_meter;
        size = PUNT_LIMITS;
    }

    apply {
        punt_limit.apply();
        if (color == RED) {
            meta.drop_reason = DropReason.PUNT_LIMIT;
        }
    }
}

#endif
