"""A gNMI server for a configuration, with pygnmi's messages: server.py CONFIG. Prints its port, then each request
as one line of JSON. It decodes requests independently of closc."""

import concurrent.futures
import json
import sys

import grpc
from pygnmi.spec.v080 import gnmi_pb2 as pb
from pygnmi.spec.v080 import gnmi_pb2_grpc as service

config = json.loads(sys.argv[1])


def steps(path):
    assert path.origin == "sonic-db", path
    names = [elem.name for elem in path.elem]
    assert names[:2] == ["CONFIG_DB", "localhost"], names
    return names[2:]


def parent(names):
    place = config
    for name in names[:-1]:
        place = place.setdefault(name, {})
    return place, names[-1]


def unknown_fields(message):
    from google.protobuf.unknown_fields import UnknownFieldSet

    return len(UnknownFieldSet(message))


def say(what, request, **more):
    metadata = unknown_fields(request)
    print(json.dumps({"call": what, "unknown": metadata, **more}), flush=True)


class Switch(service.gNMIServicer):
    def Capabilities(self, request, context):
        say("Capabilities", request)
        return pb.CapabilityResponse(supported_encodings=[pb.JSON_IETF], gNMI_version="0.8.0")

    def Get(self, request, context):
        paths = [steps(path) for path in request.path]
        say("Get", request, paths=paths, type=request.type, encoding=request.encoding)
        answer = pb.GetResponse()
        for path, names in zip(request.path, paths):
            place = config
            for name in names:
                if name not in place:
                    context.abort(grpc.StatusCode.NOT_FOUND, "No valid entry found")
                place = place[name]
            update = pb.Update(path=path, val=pb.TypedValue(json_ietf_val=json.dumps(place).encode()))
            answer.notification.append(pb.Notification(update=[update]))
        return answer

    def Set(self, request, context):
        said = {"delete": [], "replace": [], "update": []}
        for path in request.delete:
            names = [name.replace("~1", "/") for name in steps(path)]
            said["delete"].append(names)
            place, last = parent(names)
            del place[last]
        for kind in ("replace", "update"):
            for update in getattr(request, kind):
                names = [name.replace("~1", "/") for name in steps(update.path)]
                value = json.loads(update.val.json_ietf_val)
                said[kind].append([names, value])
                place, last = parent(names)
                place[last] = value
        say("Set", request, **said)
        return pb.SetResponse()


server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=4))
service.add_gNMIServicer_to_server(Switch(), server)
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(port, flush=True)
sys.stdin.read()
server.stop(None)
