// Types whose values controllers write as text: names of objects, and numbers of ports in decimal. In the program they are
// numbers, which the switch assigns. Ports are as wide as v1model has them.

#ifndef SAI_TYPES_P4
#define SAI_TYPES_P4

typedef bit<48> ethernet_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<128> ipv6_addr_t;

@p4runtime_translation("", string)
type bit<9> port_id_t;

@p4runtime_translation("", string)
type bit<16> router_interface_id_t;

@p4runtime_translation("", string)
type bit<16> nexthop_id_t;

@p4runtime_translation("", string)
type bit<16> wcmp_group_id_t;

// The empty string is the default VRF, whose number is 0.
@p4runtime_translation("", string)
@p4runtime_translation_mappings({
    {"", 0},
})
type bit<16> vrf_id_t;

#endif
