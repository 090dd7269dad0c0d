// Classes that a NIC does not choose freely. A strict class has a rate, so that one NIC cannot fill the port. The class of trimmed
// packets belongs to switches, so its rate is below any packet. Packets above the rate get the code point, class and queue of the
// entry, so that the next switch does not trust them either.

#ifndef FABRIC_NIC_CLASS_P4
#define FABRIC_NIC_CLASS_P4

control NicClass(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    color_t color = 0;
    bit<6> other_dscp = 0;
    class_t other_class = 0;
    bit<3> other_queue = 0;

    @name(".ingress.nic_class_demoted")
    counter<bit<12>>(PORT_CLASSES, CounterType.packets_and_bytes) nic_class_demoted;
    @name(".ingress.nic_class_counter")
    direct_counter(CounterType.packets_and_bytes) nic_class_counter;
    @name(".ingress.nic_class_meter")
    direct_meter<color_t>(MeterType.bytes) nic_class_meter;

    // Packets above the rate of the entry's meter become those of another class.
    @name(".ingress.limit_class")
    action limit_class(bit<6> dscp, class_t class, bit<3> queue) {
        nic_class_meter.read(color);
        other_dscp = dscp;
        other_class = class;
        other_queue = queue;
    }

    // Key: ingress port and class of the packet's own DSCP. A class without an entry is the NIC's own choice. Size: every class of
    // every port.
    @name(".ingress.nic_class")
    table nic_class {
        key = {
            standard_metadata.ingress_port: exact @name("ingress_port");
            meta.class: exact @name("class");
        }
        actions = {
            limit_class;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        counters = nic_class_counter;
        meters = nic_class_meter;
        size = NIC_CLASSES;
    }

    apply {
        nic_class.apply();
        if (color == RED) {
            nic_class_demoted.count(standard_metadata.ingress_port ++ meta.class);
            // NIC ports accept only IPv6.
            hdr.ipv6.dscp = other_dscp;
            meta.class = other_class;
            standard_metadata.priority = other_queue;
        }
    }
}

#endif
