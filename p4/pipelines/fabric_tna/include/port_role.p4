// Role of each ingress port. A port without an entry accepts no packets.

#ifndef FABRIC_TNA_PORT_ROLE_P4
#define FABRIC_TNA_PORT_ROLE_P4

control AssignPortRole(inout ingress_metadata_t meta, in PortId_t ingress_port) {
    @name(".ingress.port_role_counter")
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) port_role_counter;

    // Every packet is checked: the host writes the path, and only source addresses of the port are accepted.
    @name(".ingress.nic_port")
    action nic_port() {
        port_role_counter.count();
        meta.role = PortRole.NIC;
    }

    // A switch is at the other end, so packets were checked where they entered the fabric.
    @name(".ingress.fabric_port")
    action fabric_port() {
        port_role_counter.count();
        meta.role = PortRole.FABRIC;
    }

    @name(".ingress.disabled_port")
    action disabled_port() {
        port_role_counter.count();
        meta.drop_reason = DropReason.PORT_DISABLED;
    }

    // Key: the ingress port. Size: every port once.
    @name(".ingress.port_role")
    table port_role {
        key = {
            ingress_port: exact @name("ingress_port");
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
        port_role.apply();
    }
}

#endif
