// The switch of a multi-plane Clos fabric for Tofino, one program for T0, T1 and T2, with the tables of `fabric` where the chip
// can have them. The tiers differ only in their table entries: a T0 has NIC ports, a T1 has none.
//
// In: packets on front ports and packet-outs. Out: packets on front ports and packet-ins. Invariants: a packet is
// forwarded once or counted under exactly one drop reason. Routing reduces its hop limit by one.

#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

#include "include/constants.p4"
#include "include/headers.p4"
#include "include/parser.p4"
#include "include/port_role.p4"
#include "include/punt.p4"
#include "include/sanity.p4"
#include "include/ingress_check.p4"
#include "include/my_sid.p4"
#include "include/routing.p4"
#include "include/wcmp.p4"
#include "include/nexthop.p4"
#include "include/qos_class.p4"
#include "include/ecn.p4"
#include "include/ingress.p4"
#include "include/egress.p4"

Pipeline(
    FabricIngressParser(),
    FabricIngress(),
    FabricIngressDeparser(),
    FabricEgressParser(),
    FabricEgress(),
    FabricEgressDeparser()
) pipe;

Switch(pipe) main;
