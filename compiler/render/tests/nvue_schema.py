"""Reads `nvue.yaml` files with PyYAML and compares them with NVUE's own schema, which the models of `nvueschema` contain.

Input: JSON with texts by `release/name`. The program ends with a message at a key that the model of the release lacks, a value
that the model rejects, or a type that the model would convert (a number for a text).
"""

import importlib
import json
import sys
import typing

import yaml
from pydantic import BaseModel


def models(annotation):
    """All models in an annotation, and whether it is a mapping by name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in models(part)]


def is_mapping(annotation):
    """Whether keys are names that the file chooses."""
    if typing.get_origin(annotation) is dict:
        return True
    return any(is_mapping(part) for part in typing.get_args(annotation))


def strange(model, value, path, counts):
    """The first key that a model does not have."""
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    for key, below in value.items():
        counts["keys"] += 1
        if not isinstance(key, str):
            return f"{path}.{key!r} is not text"
        if key not in fields:
            return f"{path}.{key} is not in the schema"
        annotation = fields[key].annotation
        inner = models(annotation)
        named = below.items() if is_mapping(annotation) else [(None, below)]
        for name, one in named:
            counts["keys"] += name is not None
            if name is not None and not isinstance(name, str):
                return f"{path}.{key}.{name!r} is not text"
            if inner and isinstance(one, dict):
                fault = strange(inner[0], one, ".".join(filter(None, [path, key, name])), counts)
                if fault:
                    return fault
    return None


counts = {"files": 0, "keys": 0}
for name, text in json.load(sys.stdin).items():
    release = name.split("/")[0]
    model = importlib.import_module(f"nvueschema.models.v{release.replace('.', '_')}").NvueConfig
    (entry,) = yaml.safe_load(text)
    (kind,) = entry
    assert kind == "set", kind
    config = entry["set"]
    fault = strange(model, config, "", counts)
    if fault:
        sys.exit(f"{name}: {fault}")
    # Without conversions: a number is a number, and text is text.
    model.model_validate_json(json.dumps(config), strict=True)
    counts["files"] += 1
json.dump(counts, sys.stdout)
