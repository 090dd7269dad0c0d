"""Sets a pipeline, writes, reads and takes packets with finsy.

Arguments: address, P4Info, program. Prints `ready` when it waits for a packet to 00:00:00:00:00:01, and `done` at the end.
"""

import asyncio
import sys
from pathlib import Path

import finsy as fy

address, p4info, program = sys.argv[1:]


async def main():
    options = fy.SwitchOptions(p4info=Path(p4info), p4blob=Path(program), device_id=7)
    async with fy.Switch("sw", address, options) as switch:
        await switch.delete_all()
        await switch.write(
            [
                +fy.P4TableEntry(
                    "exact_dst",
                    match=fy.P4TableMatch({"hdr.ethernet.dst": 1}),
                    action=fy.P4TableAction("punt", reason=5),
                ),
                +fy.P4TableEntry(
                    "lpm_src",
                    match=fy.P4TableMatch(source="00:00:00:01:00:00/32"),
                    action=fy.P4TableAction("ingress.send", port=4),
                ),
                +fy.P4MulticastGroupEntry(5, replicas=[1, 2]),
                +fy.P4CloneSessionEntry(7, replicas=[1]),
                +fy.P4DigestEntry("learn_t", max_list_size=1),
            ]
        )
        found = [entry async for entry in switch.read(fy.P4TableEntry("exact_dst"))]
        assert len(found) == 1, found
        async for entry in switch.read(fy.P4CounterEntry("ingress.ports", index=3)):
            assert entry.packet_count == 0, entry
        print("ready", flush=True)
        async for packet in switch.read_packets():
            assert packet.payload[:6] == b"\0\0\0\0\0\1", packet
            assert packet["reason"] == 5, packet
            break
        await switch.write(fy.P4PacketOut(b"\0\0\0\0\0\2" + bytes(8), egress_port=3, unused=0))
        await switch.delete_all()
        left = [entry async for entry in switch.read(fy.P4TableEntry("exact_dst"))]
        assert not left, left
    print("done", flush=True)


asyncio.run(main())
