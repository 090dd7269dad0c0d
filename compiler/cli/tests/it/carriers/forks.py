"""Runs the programs of simulated switches in forked processes. A command then takes a millisecond, instead of a start of Python.

Usage: forks.py REQUESTS SCRIPT. REQUESTS is a named pipe. A request is the number of its fields, then these fields, each with a zero byte
at its end: the requesting process, the folder of its switch, the arguments of SCRIPT. SCRIPT runs with files 7, 8 and 2 of that process as
its input, output and errors, and its status goes to the named pipe `reply` of the folder. The end of the standard input ends this program.
"""

import glob
import importlib
import os
import select
import signal
import sys
import traceback

# Modules that the scripts use.
import difflib  # noqa: F401
import fcntl  # noqa: F401
import json  # noqa: F401
import re  # noqa: F401
import subprocess  # noqa: F401
import time  # noqa: F401

sys.dont_write_bytecode = True
REQUESTS, SCRIPT = sys.argv[1], os.path.abspath(sys.argv[2])

sys.path.insert(0, os.path.dirname(SCRIPT))
for beside in glob.glob(os.path.join(os.path.dirname(SCRIPT), "*.py")):
    if beside not in (SCRIPT, os.path.abspath(__file__)):
        importlib.import_module(os.path.basename(beside)[:-3])

with open(SCRIPT) as file:
    CODE = compile(file.read(), SCRIPT, "exec")


def run(process, folder, words):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir("/proc/%s/cwd" % process)
    for number, theirs, flags in ((0, 7, os.O_RDONLY), (1, 8, os.O_WRONLY | os.O_APPEND), (2, 2, os.O_WRONLY | os.O_APPEND)):
        opened = os.open("/proc/%s/fd/%d" % (process, theirs), flags)
        os.dup2(opened, number)
        os.close(opened)
    os.environ["SWITCH"] = folder
    os.environ["PATH"] = os.path.join(os.path.dirname(REQUESTS), "bin") + ":" + os.environ["PATH"]
    sys.argv = [SCRIPT, *words]
    exec(CODE, {"__name__": "__main__", "__file__": SCRIPT})


def child(process, folder, words):
    code = 0
    try:
        run(process, folder, words)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    with open(os.path.join(folder, "reply"), "w") as reply:
        reply.write("%d\n" % code)
    os._exit(0)


def main():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # The pipe is also open for writing, so that reading never reaches its end.
    requests = os.open(REQUESTS, os.O_RDWR)
    fields = []
    rest = b""
    while True:
        ready, _, _ = select.select([0, requests], [], [])
        if 0 in ready and not os.read(0, 1):
            return
        if requests in ready:
            *whole, rest = (rest + os.read(requests, 65536)).split(b"\0")
            fields += [field.decode() for field in whole]
            while fields and len(fields) > int(fields[0]):
                count = int(fields[0])
                process, folder, *words = fields[1 : count + 1]
                fields = fields[count + 1 :]
                if os.fork() == 0:
                    os.close(requests)
                    child(process, folder, words)


main()
