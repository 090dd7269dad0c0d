"""Loads SONiC's YANG models from the given folder, and validates the configurations of its input, one per line."""

import sys

# Import only modules of the system. `python3 -c` would search the working directory first.
sys.path = [place for place in sys.path if place]

import json
import os

ANSWER_MAX = 2000

answers = os.fdopen(os.dup(1), "w")
# The library for the models prints text for users, which is discarded.
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def answer(said):
    print(json.dumps(said), file=answers, flush=True)


def text(fault):
    words = " ".join(str(fault).split())
    return words.removeprefix("Data Loading Failed").lstrip(" :")[:ANSWER_MAX] or type(fault).__name__


try:
    import sonic_yang
except ImportError as fault:
    answer({"missing": f"`python3` cannot import `sonic_yang`: {fault}"})
    sys.exit()
try:
    if not os.path.isdir(sys.argv[1]):
        raise FileNotFoundError(f"no folder `{sys.argv[1]}`")
    models = sonic_yang.SonicYang(sys.argv[1])
    models.loadYangModel()
except Exception as fault:
    answer({"missing": text(fault)})
    sys.exit()
answer("ready")
for line in sys.stdin:
    error = None
    try:
        models.loadData(json.loads(line))
    except Exception as fault:
        error = text(fault)
    answer({"verdict": {"error": error, "unknown": sorted(models.tablesWithOutYang)}})
