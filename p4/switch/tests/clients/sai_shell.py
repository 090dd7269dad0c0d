"""Writes routes by name to a switch that models SONiC hardware, with p4runtime-shell.

Arguments: address, P4Info, program. Prints `ready` when packets can be sent, and `done` at the end.
"""

import sys

import p4runtime_sh.shell as sh
from p4runtime_sh.p4runtime import P4RuntimeWriteException

address, p4info, program = sys.argv[1:]
sh.setup(device_id=7, grpc_addr=address, election_id=(0, 1), config=sh.FwdPipeConfig(p4info, program))

PORT = "p3-t0-017:Ethernet0"


def entry(table, action, match, parameters=None):
    made = sh.TableEntry(table)(action=action)
    for field, value in match.items():
        made.match[field] = value
    for name, value in (parameters or {}).items():
        made.action[name] = value
    return made


own_mac = entry("l3_admit_table", "admit_to_l3", {"dst_mac": "02:00:00:00:00:01&&&ff:ff:ff:ff:ff:ff"})
own_mac.priority = 1
interface = entry(
    "router_interface_table",
    "unicast_set_port_and_src_mac",
    {"router_interface_id": PORT},
    {"port": "3", "src_mac": "02:00:00:00:00:01"},
)
neighbour = entry(
    "neighbor_table",
    "set_dst_mac",
    {"router_interface_id": PORT, "neighbor_id": "fe80::3"},
    {"dst_mac": "02:00:00:00:10:03"},
)
hop = entry(
    "nexthop_table",
    "set_ip_nexthop",
    {"nexthop_id": PORT},
    {"router_interface_id": PORT, "neighbor_id": "fe80::3"},
)
group = sh.TableEntry("wcmp_group_table")
group.match["wcmp_group_id"] = "to-t1"
oneshot = sh.Oneshot("wcmp_group_table")
share = sh.Action("set_nexthop_id")
share["nexthop_id"] = PORT
oneshot.add(share, weight=3, watch_port=b"3")
group.oneshot = oneshot
route = entry(
    "ipv6_table",
    "set_wcmp_group_id",
    {"vrf_id": "", "ipv6_dst": "2001:db8:1::/48"},
    {"wcmp_group_id": "to-t1"},
)
all_of_them = [own_mac, interface, neighbour, hop, group, route]
for one in all_of_them:
    one.insert()
try:
    route.insert()
    raise AssertionError("a second insert must fail")
except P4RuntimeWriteException as error:
    assert "ALREADY_EXISTS" in str(error), error
found = list(sh.TableEntry("neighbor_table").read())
assert len(found) == 1 and found[0].match["router_interface_id"] is not None, found
assert len(list(sh.TableEntry("ipv6_table").read())) == 1
print("ready", flush=True)
sys.stdin.readline()
for one in reversed(all_of_them):
    one.delete()
assert not list(sh.TableEntry("ipv6_table").read())
sh.teardown()
print("done", flush=True)
