// Every kind of object that a controller can write or read, each used once.

#include <core.p4>
#include <v1model.p4>

const bit<9> CPU_PORT = 510;

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> unused;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> kind;
}

header payload_t {
    bit<8> a;
    bit<16> b;
    bit<32> c;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
    payload_t payload;
}

struct learn_t {
    bit<48> src;
    bit<9> port;
}

struct metadata_t {
    bit<2> colour;
    bit<2> direct_colour;
    bit<8> marked;
    @field_list(1)
    bit<16> kept;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<bit<16>>(4) kinds;

    state start {
        transition select(std.ingress_port) {
            CPU_PORT: from_controller;
            default: ethernet;
        }
    }
    state from_controller {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }
    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) {
            0x1234: payload;
            kinds: payload;
            default: accept;
        }
    }
    state payload {
        packet.extract(hdr.payload);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(16, CounterType.packets_and_bytes) ports;
    meter(16, MeterType.packets) port_meter;
    register<bit<48>>(8) last_seen;
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<2>>(MeterType.bytes) rate;
    action_selector(HashAlgorithm.crc16, 128, 16) spread;
    action_profile(64) single;

    action drop() {
        mark_to_drop(std);
    }
    action send(bit<9> port) {
        std.egress_spec = port;
    }
    action punt(bit<7> reason) {
        std.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = std.ingress_port;
        hdr.packet_in.reason = reason;
    }
    action learn() {
        digest<learn_t>(1, { hdr.ethernet.src, std.ingress_port });
    }
    action broadcast(bit<16> group) {
        std.mcast_grp = group;
    }
    action mirror(bit<32> session) {
        meta.kept = hdr.ethernet.kind;
        clone_preserving_field_list(CloneType.I2E, session, 1);
    }
    action again() {
        resubmit_preserving_field_list(1);
    }
    action mark(bit<8> value) {
        meta.marked = value;
        rate.read(meta.direct_colour);
    }
    action set_a(bit<8> value) {
        hdr.payload.a = value;
    }

    table exact_dst {
        key = { hdr.ethernet.dst: exact; }
        actions = { send; drop; punt; broadcast; learn; NoAction; }
        const default_action = NoAction();
        size = 1024;
    }
    table lpm_src {
        key = { hdr.ethernet.src: lpm @name("source"); }
        actions = { send; drop; @defaultonly NoAction; }
        default_action = NoAction();
        support_timeout = true;
        size = 1024;
    }
    table ternary_kind {
        key = {
            hdr.ethernet.kind: ternary;
            std.ingress_port: exact;
        }
        actions = { mark; @defaultonly NoAction; }
        default_action = NoAction();
        counters = hits;
        meters = rate;
        size = 256;
    }
    table ranges {
        key = {
            hdr.payload.b: range;
            hdr.payload.a: optional;
        }
        actions = { set_a; mirror; again; NoAction; }
        size = 128;
    }
    table constants {
        key = { hdr.payload.c: ternary; }
        actions = { set_a; NoAction; }
        const entries = {
            0x0000_0001: set_a(11);
            0x0000_0002 &&& 0x0000_00ff: set_a(12);
            _: NoAction();
        }
    }
    table spread_over {
        key = {
            hdr.payload.a: exact;
            hdr.ethernet.src: selector;
            hdr.ethernet.dst: selector;
        }
        actions = { send; drop; NoAction; }
        implementation = spread;
        size = 64;
    }
    table one_of {
        key = { hdr.payload.b: exact; }
        actions = { send; drop; NoAction; }
        implementation = single;
        size = 64;
    }

    apply {
        ports.count((bit<32>)std.ingress_port & 15);
        port_meter.execute_meter((bit<32>)std.ingress_port & 15, meta.colour);
        last_seen.write((bit<32>)std.ingress_port & 7, hdr.ethernet.src);
        if (hdr.packet_out.isValid()) {
            std.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            return;
        }
        lpm_src.apply();
        ternary_kind.apply();
        exact_dst.apply();
        if (hdr.payload.isValid()) {
            if (std.instance_type == 0) {
                ranges.apply();
            }
            constants.apply();
            spread_over.apply();
            one_of.apply();
        }
        if (meta.colour == 2 || meta.direct_colour == 2) {
            drop();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (hdr.payload.isValid() && std.instance_type == 5) {
            hdr.payload.c = std.egress_rid ++ meta.kept;
        }
        if (hdr.payload.isValid() && std.instance_type == 1) {
            hdr.payload.b = meta.kept;
            hdr.payload.c = (bit<32>)std.packet_length;
        }
    }
}

control update_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.payload);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), update_nothing(), deparse()) main;
