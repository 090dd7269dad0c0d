// The routing part of the pipeline that SONiC hardware with P4Runtime (PINS) shows its controllers: a model of the fixed
// pipeline behind SAI. Tables, actions, fields, their ids and annotations are those of that interface, so that the same
// entries go to hardware and to a software switch.
//
// In: packets on front ports. Out: packets on front ports. Invariants: only packets to a MAC address of the switch are
// routed. A routed packet has a hop limit one lower and the MAC addresses of its next link.

#define V1MODEL_VERSION 20200408
#include <core.p4>
#include <v1model.p4>

#include "include/constants.p4"
#include "include/types.p4"
#include "include/headers.p4"
#include "include/parser.p4"
#include "include/checksums.p4"
#include "include/l3_admit.p4"
#include "include/routing_lookup.p4"
#include "include/flow_hash.p4"
#include "include/routing_resolution.p4"
#include "include/packet_rewrites.p4"

control ingress(inout headers_t headers, inout local_metadata_t local_metadata, inout standard_metadata_t standard_metadata) {
    apply {
        // Packets that no table below forwards are dropped.
        mark_to_drop(standard_metadata);
        // Too short is fatal only in or below the network header.
        bool is_readable = standard_metadata.parser_error == error.NoError
            || (standard_metadata.parser_error == error.PacketTooShort
                && (headers.ipv6.isValid() || headers.ipv4.isValid()));
        if (is_readable && standard_metadata.checksum_error == 0) {
            l3_admit.apply(headers, local_metadata, standard_metadata);
            routing_lookup.apply(headers, local_metadata);
            flow_hash.apply(headers, local_metadata);
            routing_resolution.apply(local_metadata, standard_metadata);
        }
    }
}

control egress(inout headers_t headers, inout local_metadata_t local_metadata, inout standard_metadata_t standard_metadata) {
    apply {
        packet_rewrites.apply(headers, local_metadata, standard_metadata);
    }
}

@pkginfo(name = "closc-sai", version = "1.0.0")
V1Switch(packet_parser(), verify_ipv4(), ingress(), egress(), update_ipv4(), packet_deparser()) main;
