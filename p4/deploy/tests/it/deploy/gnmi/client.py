"""Drives a gNMI server with pygnmi: client.py PORT. Prints the responses as one line of JSON."""

import json
import logging
import sys

from pygnmi.client import gNMIclient, gNMIException

logging.disable(logging.CRITICAL)
HERE = "sonic-db:/CONFIG_DB/localhost"
said = {}


def read(client, path):
    notifications = client.get(path=[HERE + path], encoding="json_ietf").get("notification", [])
    return [update["val"] for one in notifications for update in one["update"]]


def refused(work):
    try:
        work()
    except gNMIException as error:
        return str(error)
    return None


with gNMIclient(target=("127.0.0.1", int(sys.argv[1])), insecure=True, gnmi_timeout=60) as client:
    said["capabilities"] = client.capabilities()
    said["whole"] = read(client, "")
    said["entry"] = read(client, "/PORT/Ethernet0")
    said["field"] = read(client, "/PORT/Ethernet0/mtu")
    said["state"] = refused(lambda: client.get(path=[HERE], encoding="json_ietf", datatype="state"))
    said["openconfig"] = refused(lambda: client.get(path=["openconfig-interfaces:/interfaces"], encoding="json_ietf"))
    client.set(
        delete=[HERE + "/STATIC_ROUTE/fd00:1::~148", HERE + "/STATIC_ROUTE/absent"],
        replace=[(HERE + "/PORT/Ethernet0/mtu", "\"9100\"")],
        update=[(HERE + "/INTERFACE", {"Ethernet0": {}})],
        encoding="json_ietf",
    )
    said["after"] = read(client, "")
    client.set(update=[(HERE + "/PORT/Ethernet0", {"mtu": "4000"})], encoding="json_ietf")
    said["overwritten"] = read(client, "/PORT/Ethernet0")
    said["absent"] = refused(lambda: client.set(replace=[(HERE + "/PORT/Ethernet4/mtu", "\"1\"")], encoding="json_ietf"))
    said["json"] = refused(lambda: client.set(update=[(HERE + "/PORT/Ethernet0/mtu", "\"1\"")], encoding="json"))
    said["emptied"] = refused(lambda: client.set(delete=[HERE + "/INTERFACE/Ethernet0"], encoding="json_ietf"))
    client.set(delete=[HERE], update=[(HERE, {"PORT": {"Ethernet8": {}}})], encoding="json_ietf")
    said["root"] = read(client, "/PORT")
print(json.dumps(said))
