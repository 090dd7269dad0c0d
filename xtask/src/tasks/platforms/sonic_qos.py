"""Renders QoS tables as sonic-cfggen does. The argument is a folder of templates; input and output are JSON."""

import json
import sys

import jinja2

env = jinja2.Environment(loader=jinja2.FileSystemLoader(sys.argv[1]), trim_blocks=True)
env.filters["sort_by_port_index"] = lambda ports: ports.sort(key=lambda port: int(port[8:]))
env.globals["template_exists"] = lambda name: name in env.list_templates()
tables = []
for data in json.load(sys.stdin):
    found = {}
    for template in ("buffers.json.j2", "qos.json.j2"):
        found.update(json.loads(env.get_template(template).render(data)))
    tables.append(found)
json.dump(tables, sys.stdout)
