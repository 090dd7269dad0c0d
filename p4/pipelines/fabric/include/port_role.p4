// Role of each ingress port. A port without an entry accepts no packets.

#ifndef FABRIC_PORT_ROLE_P4
#define FABRIC_PORT_ROLE_P4

control AssignPortRole(
    inout headers_t hdr,
    inout metadata_t meta,
    inout standard_metadata_t standard_metadata
) {
    @name(".ingress.port_role_counter")
    direct_counter(CounterType.packets_and_bytes) port_role_counter;

    // Every packet is checked: the host writes the path, and only source addresses of the port are accepted.
    @name(".ingress.nic_port")
    action nic_port() {
        meta.role = PortRole.NIC;
    }

    // A switch is at the other end, so packets were checked where they entered the fabric.
    @name(".ingress.fabric_port")
    action fabric_port() {
        meta.role = PortRole.FABRIC;
    }

    @name(".ingress.disabled_port")
    action disabled_port() {
        meta.drop_reason = DropReason.PORT_DISABLED;
    }

    // Key: the ingress port. Size: every port once.
    @name(".ingress.port_role")
    table port_role {
        key = {
            standard_metadata.ingress_port: exact @name("ingress_port");
        }
        actions = {
            nic_port;
            fabric_port;
            @defaultonly disabled_port;
        }
        const default_action = disabled_port;
        counters = port_role_counter;
        size = PORTS;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            meta.role = PortRole.CPU;
        } else {
            port_role.apply();
        }
    }
}

#endif
