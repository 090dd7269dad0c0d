// Checks of packets from NICs. The destination address determines the path, so a NIC port accepts only destinations that
// begin at this switch, from addresses that belong to the port. Three small tables instead of one wide one: each miss has
// its own reason, none needs a priority, and all are exact or longest prefix.

#ifndef FABRIC_TNA_INGRESS_CHECK_P4
#define FABRIC_TNA_INGRESS_CHECK_P4

control IngressCheck(
    inout ingress_headers_t hdr,
    inout ingress_metadata_t meta,
    in PortId_t ingress_port
) {
    bool encapsulated = false;

    @name(".ingress.nic_destination_counter")
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) nic_destination_counter;
    @name(".ingress.nic_source_counter")
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) nic_source_counter;
    @name(".ingress.nic_inner_source_counter")
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) nic_inner_source_counter;

    // Plain IPv6: routing by prefix.
    @name(".ingress.permit_plain")
    action permit_plain() {
        nic_destination_counter.count();
    }

    // A segment list: the packet must carry another IPv6 packet, whose source is checked too.
    @name(".ingress.permit_encapsulated")
    action permit_encapsulated() {
        nic_destination_counter.count();
        encapsulated = true;
    }

    @name(".ingress.deny")
    action deny(DropReason reason) {
        nic_destination_counter.count();
        meta.drop_reason = reason;
    }

    // Key: the outer destination. The switch's own uSID is permitted, the rest of the block denied as NIC_SEGMENT, and
    // where hosts route by prefix the host prefix is permitted. Size: a few prefixes.
    @name(".ingress.nic_destination")
    table nic_destination {
        key = {
            hdr.ipv6.dst: lpm @name("dst");
        }
        actions = {
            permit_plain;
            permit_encapsulated;
            deny;
        }
        const default_action = deny(DropReason.NIC_DESTINATION);
        counters = nic_destination_counter;
        size = NIC_DESTINATIONS;
    }

    @name(".ingress.permit_source")
    action permit_source() {
        nic_source_counter.count();
    }

    @name(".ingress.deny_source")
    action deny_source() {
        nic_source_counter.count();
        meta.drop_reason = DropReason.NIC_SOURCE;
    }

    // Key: port and outer source. Size: the addresses of every NIC port.
    @name(".ingress.nic_source")
    table nic_source {
        key = {
            ingress_port: exact @name("ingress_port");
            hdr.ipv6.src: lpm @name("src");
        }
        actions = {
            permit_source;
            @defaultonly deny_source;
        }
        const default_action = deny_source;
        counters = nic_source_counter;
        size = NIC_SOURCES;
    }

    @name(".ingress.permit_inner_source")
    action permit_inner_source() {
        nic_inner_source_counter.count();
    }

    @name(".ingress.deny_inner_source")
    action deny_inner_source() {
        nic_inner_source_counter.count();
        meta.drop_reason = DropReason.NIC_INNER_SOURCE;
    }

    // Key: port and inner source. Size: as `nic_source`.
    @name(".ingress.nic_inner_source")
    table nic_inner_source {
        key = {
            ingress_port: exact @name("ingress_port");
            hdr.inner_ipv6.src: lpm @name("src");
        }
        actions = {
            permit_inner_source;
            @defaultonly deny_inner_source;
        }
        const default_action = deny_inner_source;
        counters = nic_inner_source_counter;
        size = NIC_SOURCES;
    }

    apply {
        nic_destination.apply();
        if (meta.drop_reason == DropReason.NONE) {
            nic_source.apply();
        }
        if (meta.drop_reason == DropReason.NONE && encapsulated) {
            if (hdr.inner_ipv6.isValid()) {
                nic_inner_source.apply();
            } else {
                meta.drop_reason = DropReason.NIC_NOT_ENCAPSULATED;
            }
        }
    }
}

#endif
