"""Renders structured configurations of EOS with Arista's pyavd. Input and output are JSON by name."""

import json
import sys

import pyavd

texts = {}
for name, intent in json.load(sys.stdin).items():
    judged = pyavd.validate_structured_config(json.loads(json.dumps(intent)))
    judged = getattr(judged, "validation_result", judged)
    for violation in judged.violations:
        sys.exit(f"{name}: {'.'.join(violation.path)}: {violation.message}")
    texts[name] = pyavd.get_device_config(intent)
json.dump(texts, sys.stdout)
