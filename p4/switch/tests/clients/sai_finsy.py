"""Writes routes by name to a switch that models SONiC hardware, with finsy.

Arguments: address, P4Info, program. Prints `ready` when packets can be sent, and `done` at the end.
"""

import asyncio
import sys
from pathlib import Path

import finsy as fy

address, p4info, program = sys.argv[1:]

PORT = "p3-t0-017:Ethernet0"


def entries():
    """A route over one next hop. An entry follows those to which it refers."""
    table, match, action = fy.P4TableEntry, fy.P4TableMatch, fy.P4TableAction
    return [
        table(
            "l3_admit_table",
            match=match(dst_mac="02:00:00:00:00:01/&ff:ff:ff:ff:ff:ff"),
            action=action("admit_to_l3"),
            priority=1,
        ),
        table(
            "router_interface_table",
            match=match(router_interface_id=PORT),
            action=action("unicast_set_port_and_src_mac", port="3", src_mac="02:00:00:00:00:01"),
        ),
        table(
            "neighbor_table",
            match=match(router_interface_id=PORT, neighbor_id="fe80::3"),
            action=action("set_dst_mac", dst_mac="02:00:00:00:10:03"),
        ),
        table(
            "nexthop_table",
            match=match(nexthop_id=PORT),
            action=action("set_ip_nexthop", router_interface_id=PORT, neighbor_id="fe80::3"),
        ),
        table(
            "ipv6_table",
            match=match(vrf_id="", ipv6_dst="2001:db8:1::/48"),
            action=action("set_nexthop_id", nexthop_id=PORT),
        ),
    ]


async def main():
    options = fy.SwitchOptions(p4info=Path(p4info), p4blob=Path(program), device_id=7)
    async with fy.Switch("sw", address, options) as switch:
        for entry in entries():
            await switch.write([+entry])
        read = {}
        for entry in entries():
            found = [one async for one in switch.read(fy.P4TableEntry(entry.table_id))]
            assert len(found) == 1, found
            read[entry.table_id] = found[0]
        assert read["router_interface_table"].match["router_interface_id"] == PORT, read
        assert read["router_interface_table"].action.args["port"] == "3", read
        assert read["ipv6_table"].match["vrf_id"] == "", read
        assert read["ipv6_table"].action.args["nexthop_id"] == PORT, read
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for entry in reversed(entries()):
            await switch.delete([entry])
        left = [read async for read in switch.read(fy.P4TableEntry("ipv6_table"))]
        assert not left, left
    print("done", flush=True)


asyncio.run(main())
