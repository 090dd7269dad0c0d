"""Reads a testbed with the modules of sonic-mgmt, and prints their results.

In: a folder with modules of sonic-mgmt, the folder of the export, the names of fabric and inventory. Out: JSON with the
links that the graph has, and the addresses that `deploy-cfg` allocates.
"""

import importlib.util
import json
import os
import sys
import types

modules, export, fabric, inventory = sys.argv[1:]


def stub(name, **values):
    module = types.ModuleType(name)
    module.__dict__.update(values)
    sys.modules[name] = module


# Parts of Ansible and packages that the modules import but do not need here.
stub("ansible")
stub("ansible.module_utils")
stub("ansible.module_utils.basic", AnsibleModule=object)
stub("ansible.module_utils.debug_utils", config_module_logging=lambda name: None)
stub("ansible.module_utils.port_utils", get_port_alias_to_name_map=lambda hwsku: ({}, {}, {}))
stub("natsort", natsorted=sorted)
stub("six", string_types=(str,), text_type=str)


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(modules, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


graph = load("graph_utils").LabGraph(os.path.join(export, "ansible/files"), inventory).graph_facts
facts = load("nut_test_facts")
facts.NUT_TOPO_DIR = os.path.join(export, "ansible/vars/nut_topos")
known = facts.ParseTestbedInfo(os.path.join(export, f"ansible/testbed.{fabric}.nut.yaml"))
known.read_testbeds()
testbed = known.get_testbed_info(fabric)
facts.load_topo_info(testbed)
made = load("nut_allocate_ip").GenerateDeviceConfig(
    testbed, graph["devices"], graph["links"], graph["port_vrfs"]
)
made.run()
print(
    json.dumps(
        {
            "devices": graph["devices"],
            "links": graph["links"],
            "meta": made.device_meta,
            "neighbours": made.device_bgp_neighbor_ports,
        }
    )
)
