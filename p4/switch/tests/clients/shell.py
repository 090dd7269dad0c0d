"""Sets a pipeline, writes, reads and takes packets with p4runtime-shell.

Arguments: address, P4Info, program. Prints `ready` when it waits for a packet to 00:00:00:00:00:01, and `done` at the end.
"""

import sys

import p4runtime_sh.shell as sh
from p4runtime_sh.p4runtime import P4RuntimeWriteException

address, p4info, program = sys.argv[1:]
sh.setup(device_id=7, grpc_addr=address, election_id=(0, 1), config=sh.FwdPipeConfig(p4info, program))

entry = sh.TableEntry("ingress.exact_dst")(action="ingress.punt")
entry.match["hdr.ethernet.dst"] = "00:00:00:00:00:01"
entry.action["reason"] = "5"
entry.insert()
found = [e for e in sh.TableEntry("ingress.exact_dst").read()]
assert len(found) == 1, found

lpm = sh.TableEntry("ingress.lpm_src")(action="ingress.send")
lpm.match["source"] = "00:00:00:01:00:00/32"
lpm.action["port"] = "4"
lpm.insert()

ternary = sh.TableEntry("ingress.ternary_kind")(action="ingress.mark")
ternary.match["hdr.ethernet.kind"] = "0x0800&&&0xff00"
ternary.match["std.ingress_port"] = "1"
ternary.action["value"] = "1"
ternary.priority = 10
ternary.insert()
try:
    ternary.insert()
    raise AssertionError("a second insert must fail")
except P4RuntimeWriteException as error:
    assert "ALREADY_EXISTS" in str(error), error

for member in (1, 2):
    m = sh.ActionProfileMember("ingress.spread")(member_id=member, action="ingress.send")
    m.action["port"] = str(member)
    m.insert()
group = sh.ActionProfileGroup("ingress.spread")(group_id=1)
group.add(1, 2)
group.add(2, 1)
group.insert()
spread = sh.TableEntry("ingress.spread_over")(group_id=1)
spread.match["hdr.payload.a"] = "1"
spread.insert()

multicast = sh.MulticastGroupEntry(5)
multicast.add(1, 1).add(2, 1)
multicast.insert()
clone = sh.CloneSessionEntry(7)
clone.add(1)
clone.insert()

counter = sh.CounterEntry("ingress.ports")
counter.index = 3
assert [c.packet_count for c in counter.read()] == [0]
meter = sh.MeterEntry("ingress.port_meter")
meter.index = 2
meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 2, 3, 4
meter.modify()
assert [m.pir for m in meter.read()] == [3]

packet_in = sh.PacketIn()
print("ready", flush=True)
packet = packet_in.packet_in_queue.get(block=True, timeout=60)
assert packet.packet.payload[:6] == b"\0\0\0\0\0\1", packet
assert packet.packet.metadata[1].value == b"\5", packet

out = sh.PacketOut(b"\0\0\0\0\0\2" + bytes(8), egress_port="3", unused="0")
out.send()
lpm.delete()
sh.teardown()
print("done", flush=True)
