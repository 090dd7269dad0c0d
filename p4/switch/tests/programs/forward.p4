// Forwards IPv6 by uSID, the minimum that a switch of the fabric does. For measurements and small tests.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv6_t {
    bit<4> version; bit<8> traffic_class; bit<20> flow_label;
    bit<16> length; bit<8> next_header; bit<8> hop_limit;
    bit<128> src; bit<128> dst;
}
struct headers_t { ethernet_t ethernet; ipv6_t ipv6; }
struct metadata_t { bit<16> nexthop; }

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) { 0x86dd: ipv6; default: accept; }
    }
    state ipv6 { packet.extract(hdr.ipv6); transition accept; }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets_and_bytes) routes_counter;

    // uN: the 16 bits after the block name this switch; shift the rest up.
    action shift() {
        hdr.ipv6.dst = (hdr.ipv6.dst & 0xffffffff << 96) | ((hdr.ipv6.dst << 16) & 0xffffffffffffffffffffffff);
    }
    action set_nexthop(bit<16> nexthop) { meta.nexthop = nexthop; }
    action send(bit<9> port, bit<48> src, bit<48> dst) {
        std.egress_spec = port;
        hdr.ethernet.src = src;
        hdr.ethernet.dst = dst;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }
    action drop() { mark_to_drop(std); }

    table my_sid {
        key = { hdr.ipv6.dst[127:80]: exact @name("sid"); }
        actions = { shift; NoAction; }
        const default_action = NoAction();
        size = 16;
    }
    table routes {
        key = { hdr.ipv6.dst: lpm @name("dst"); }
        actions = { set_nexthop; drop; }
        const default_action = drop();
        counters = routes_counter;
        size = 131072;
    }
    table nexthops {
        key = { meta.nexthop: exact @name("nexthop"); }
        actions = { send; drop; }
        const default_action = drop();
        size = 1024;
    }
    apply {
        if (hdr.ipv6.isValid() && hdr.ipv6.hop_limit > 1) {
            my_sid.apply();
            if (routes.apply().hit) { nexthops.apply(); }
        } else {
            drop();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
control compute_nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); packet.emit(hdr.ipv6); } }

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute_nothing(), deparse()) main;
