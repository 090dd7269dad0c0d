"""Simulated switches: the command line of EOS, `nv` of Cumulus Linux, `vtysh` and `tc`, each with its state in files of one folder.

Usage: switch.py PROGRAM ARGUMENTS, with the folder in SWITCH. Programs follow their manuals, as far as a push needs them.
`expire` ends the time after which a switch rolls back.
Files that tests write: refuse (a word that makes a command invalid), apply-fails (`nv config apply` prints an error and ends
with 0), no-expand (an older `nv`), management (the address by which the switch is reached), goes-away (`ssh.sh` accepts no
connection while a change is unconfirmed).
"""

import difflib
import json
import os
import re
import subprocess
import sys

FOLDER = os.environ["SWITCH"]


def path(name):
    return os.path.join(FOLDER, name)


def has(name):
    return os.path.exists(path(name))


def text(name):
    if not has(name):
        return ""
    with open(path(name)) as file:
        return file.read()


def write(name, content):
    with open(path(name) + ".new", "w") as file:
        file.write(content)
    os.rename(path(name) + ".new", path(name))


def remove(name):
    if has(name):
        os.remove(path(name))


# Configurations that consist of lines, as a tree of mappings in the order of the lines.

ENDS = ("exit", "end", "exit-address-family")


def parsed(lines, tree=None, put=None):
    tree = {} if tree is None else tree
    open_ = [(-1, tree)]
    for line in lines:
        words = " ".join(line.split())
        if not words or words.startswith("!") or words in ENDS:
            continue
        indent = len(line) - len(line.lstrip())
        while open_[-1][0] >= indent:
            open_.pop()
        below = (put or plain)(open_[-1][1], words)
        open_.append((indent, below if below is not None else {}))
    return tree


def plain(tree, words):
    return tree.setdefault(words, {})


def printed(tree, step, depth=0, banner=True):
    lines = []
    for words, below in tree.items():
        lines.append(" " * (step * depth) + words)
        lines += printed(below, step, depth + 1)
        if depth == 0 and below:
            lines.append("!")
    return lines


# EOS.

SINGLE = ("mtu", "speed", "description", "hostname", "service-profile", "bandwidth guaranteed percent", "maximum-paths", "router-id")
KEPT = ("no bgp default", "no switchport", "no error-correction", "no priority", "no aaa", "no lldp", "no ip routing")


def eos_put(tree, words):
    if words.startswith("no ") and not words.startswith(KEPT):
        gone = words[3:]
        for known in [known for known in tree if known == gone or known.startswith(gone + " ")]:
            del tree[known]
        return None
    # Mapping a class to the queue with the same number is the default.
    if re.fullmatch(r"qos map traffic-class (\d) to tx-queue \1", words):
        return None
    for head in SINGLE:
        if words.startswith(head + " "):
            for known in [known for known in tree if known.startswith(head + " ")]:
                del tree[known]
    return tree.setdefault(words, {})


def eos_text(tree):
    return "\n".join(["! device: switch (DCS-7060X6-64PE, EOS-4.33.1F)", "!", *printed(tree, 3), "end", ""])


class Eos:
    def __init__(self):
        self.sessions = json.loads(text("sessions.json") or "{}")
        self.session = None

    def store(self):
        write("sessions.json", json.dumps(self.sessions))

    def running(self):
        return parsed(text("running").splitlines())

    def run(self, tree):
        write("running", "\n".join(printed(tree, 3)) + "\n")
        address = text("management").strip()
        away = address and address not in text("running")
        if away:
            write("unreachable", "")
        else:
            remove("unreachable")

    def commit(self, name, timer):
        session = self.sessions[name]
        if session["state"] == "pendingCommitTimer":
            remove("timer")
            remove("before")
        else:
            if timer:
                write("before", text("running"))
                write("timer", name)
            self.run(parsed(session["lines"], put=eos_put))
        session["state"] = "pendingCommitTimer" if timer else "completed"

    def abort(self, name):
        session = self.sessions.get(name)
        if session and session["state"] == "pendingCommitTimer":
            self.run(parsed(text("before").splitlines()))
            remove("before")
            remove("timer")
        self.sessions.pop(name, None)

    def config(self, line):
        words = line.split()
        lines = self.sessions[self.session]["lines"]
        refused = text("refuse").strip()
        if refused and refused in words:
            print("% Invalid input")
        elif words == ["rollback", "clean-config"]:
            lines.clear()
        elif words == ["end"]:
            self.session = None
        else:
            lines.append(line)

    def show(self, what):
        if what == "running-config":
            print("! Command: show running-config\n" + eos_text(self.running()), end="")
        elif what == "running-config all":
            tree = self.running()
            for name, below in tree.items():
                if name.startswith("interface Ethernet") and "shutdown" not in below:
                    below["no shutdown"] = {}
            for number in range(8):
                tree["qos map traffic-class %d to tx-queue %d" % (number, number)] = {}
            print("! Command: show running-config all\n" + eos_text(tree), end="")
        elif what == "running-config diffs":
            names = ("flash:/startup-config", "system:/running-config")
            for line in difflib.unified_diff(text("startup").splitlines(), text("running").splitlines(), *names, lineterm=""):
                print(line)
        elif what == "configuration sessions":
            print("Maximum number of completed sessions: 1\nMaximum number of pending sessions: 5\n")
            print("  Name     State         User    Terminal\n  -------- ------------- ------- --------")
            for name, session in self.sessions.items():
                print("  %s %s admin vty3" % (name, session["state"]))

    def enter(self, name, rest):
        if not rest:
            tree = printed(self.running(), 3)
            self.sessions.setdefault(name, {"state": "pending", "lines": tree})
            self.session = name
        elif name not in self.sessions:
            print("% Session does not exist")
        elif rest == ["abort"]:
            self.abort(name)
        elif rest[0] == "commit":
            self.commit(name, rest[2] if rest[1:2] == ["timer"] else None)

    def command(self, line):
        words = line.split()
        if self.session:
            return self.config(line)
        if words[:1] == ["show"]:
            self.show(" ".join(words[1:]))
        elif words[:2] == ["configure", "session"]:
            self.enter(words[2], words[3:])
        elif words[:3] == ["no", "configure", "session"]:
            self.abort(words[3])
        elif words[:2] == ["copy", "running-config"]:
            if words[2] == "startup-config":
                write("startup", text("running"))
            else:
                write(words[2].replace("flash:", "flash/"), "! Command: show running-config\n" + eos_text(self.running()))
            print("Copy completed successfully.")
        elif words[:1] == ["dir"]:
            print("Directory of flash:/\n")
            for name in sorted(os.listdir(path("flash"))):
                print("       -rwx        1234   Jan 1 00:00  " + name)
        elif words[:1] == ["delete"]:
            remove(words[1].replace("flash:", "flash/"))
        elif words[:1] == ["more"]:
            print(text(words[1].replace("flash:", "flash/")), end="")
        elif words[:1] not in (["enable"], ["terminal"]):
            print("% Invalid input")
        return None

    def main(self):
        for line in sys.stdin.read().splitlines():
            if line.strip() == "exit" and not self.session:
                break
            if line.strip():
                self.command(line)
        self.store()


# NVUE.


def read_set(file):
    with open(file) as opened:
        for line in opened:
            if line.startswith("- set: "):
                return json.loads(line[len("- set: "):])
    return {}


def ranges(ports):
    """Groups ports with the same configuration, as newer releases print them."""
    groups = {}
    for name, below in ports.items():
        groups.setdefault(json.dumps(below, sort_keys=True), []).append(name)
    made = {}
    for names in groups.values():
        below = ports[names[0]]
        numbers = sorted(int(name[3:]) for name in names if re.fullmatch(r"swp\d+", name))
        if len(numbers) == len(names) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1:
            made["swp%d-%d" % (numbers[0], numbers[-1])] = below
        else:
            made.update({name: below for name in names})
    return made


def nv_apply(config):
    write("applied", json.dumps(config))
    address = text("management").strip()
    if address and address not in text("applied"):
        write("unreachable", "")
    else:
        remove("unreachable")


def nv_save():
    os.makedirs(path("etc/nvue.d"), exist_ok=True)
    write("etc/nvue.d/startup.yaml", "- set: " + (text("applied") or "{}") + "\n")


def nv(words):
    if words[:2] == ["config", "show"]:
        config = json.loads(text("applied") or "{}")
        if "--expand" in words:
            if has("no-expand"):
                sys.exit("nv: unrecognized arguments: --expand")
        elif "interface" in config and not has("no-expand"):
            config["interface"] = ranges(config["interface"])
        print("- header:\n    nvue-api-version: nvue_v1\n    version: Cumulus Linux 5.14.0\n- set: " + json.dumps(config))
    elif words[:2] == ["config", "replace"]:
        refused = text("refuse").strip()
        if refused and refused in json.dumps(read_set(words[2])):
            sys.exit("Error: invalid configuration: " + refused)
        write("candidate", json.dumps(read_set(words[2])))
    elif words[:2] == ["config", "detach"]:
        remove("candidate")
    elif words[:2] == ["config", "apply"]:
        if "--confirm-yes" in words or "--confirm-no" in words:
            if not has("before"):
                sys.exit("Error: there is no configuration to confirm")
            if "--confirm-no" in words:
                nv_apply(json.loads(text("before")))
            remove("before")
            nv_save()
            return
        if not has("candidate"):
            print("no config diff")
            return
        if has("apply-fails"):
            print("Failed to apply: swp1: invalid")
            return
        if "--confirm" in words:
            write("before", text("applied") or "{}")
        nv_apply(json.loads(text("candidate")))
        remove("candidate")
        if "--confirm" not in words:
            nv_save()
        print("applied")
    elif words[:2] == ["config", "save"]:
        nv_save()
    else:
        sys.exit("nv: no such command")


# FRRouting.

# Lines that FRR accepts but does not print with `frr defaults datacenter`.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "frr-defaults.txt")) as defaults:
    FRR_DEFAULTS = defaults.read().splitlines()


def frr_load(file):
    tree = {"frr version 10.5.4": {}}
    lines = []
    # FRR also starts without a file.
    if os.path.exists(file):
        with open(file) as opened:
            lines = [line for line in opened.read().splitlines() if not line.startswith("frr version")]
    parsed(lines, tree)

    def hidden(tree):
        for words in [words for words in tree if words in FRR_DEFAULTS]:
            del tree[words]
        for below in tree.values():
            hidden(below)

    hidden(tree)
    write("frr", "\n".join(printed(tree, 1)) + "\n")


def vtysh(words):
    if words == ["-c", "show running-config"]:
        print("Building configuration...\n\nCurrent configuration:\n!\n" + text("frr") + "end")
    elif words == ["-c", "show version"]:
        print("FRRouting 10.5.4 (switch) on Linux.\nconfigured with:\n    '--enable-multipath=256' '--enable-user=frr'")
    elif words[:2] == ["-C", "-f"]:
        refused = text("refuse").strip()
        if refused:
            with open(words[2]) as file:
                if refused in file.read().split():
                    print("line 1: % Unknown command: " + refused)
                    sys.exit(2)
    else:
        sys.exit("vtysh: " + " ".join(words))


# Queues.


def tc(words):
    state = json.loads(text("tc") or "{}")
    if "show" in words:
        if "qdisc" in words:
            print(json.dumps([qdisc for port in state.values() for qdisc in port["qdiscs"]]))
        else:
            port = state.get(words[-1], {"filters": []})
            for line in port.get("foreign", []):
                print(line)
            for one in port["filters"]:
                print("filter protocol %s pref %s u32 chain 0 " % (one["protocol"], one["pref"]))
                print("filter protocol %s pref %s u32 chain 0 fh 800: ht divisor 1 " % (one["protocol"], one["pref"]))
                line = "filter protocol %s pref %s u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid %s not_in_hw "
                print(line % (one["protocol"], one["pref"], one["flow"]))
                print("  match %08x/%08x at 0" % (one["value"], one["mask"]))
        return
    with open(words[-1]) as file:
        for line in file:
            line = line.split("#")[0].split()
            if line:
                tc_line(state, line)
    write("tc", json.dumps(state))


def tc_line(state, words):
    port = state.setdefault(words[3], {"qdiscs": [], "filters": []})
    if words[:2] == ["qdisc", "del"]:
        state[words[3]] = {"qdiscs": [], "filters": []}
    elif words[:2] == ["filter", "del"]:
        state[words[3]] = {"qdiscs": port["qdiscs"], "filters": []}
    elif words[:2] == ["filter", "add"]:
        at = words.index("match")
        if words[at + 1] == "ip6":
            value, mask = (int(word, 16) << 20 for word in words[at + 3 : at + 5])
        else:
            value, mask = (int(word, 0) for word in words[at + 2 : at + 4])
        port["filters"].append(
            {"protocol": words[7], "pref": words[9], "value": value, "mask": mask, "flow": words[-1]}
        )
    else:
        place = {"root": True} if words[4] == "root" else {"parent": words[5]}
        rest = words[words.index("handle") + 1 :]
        options = {}
        kind, given = rest[1], rest[2:]
        for at, word in enumerate(given):
            if word in ("quanta", "priomap"):
                numbers = []
                for number in given[at + 1 :]:
                    if not number.isdigit():
                        break
                    numbers.append(int(number))
                options[word] = numbers
            elif word in ("bands", "strict", "limit", "min", "max"):
                options[word] = int(given[at + 1])
            elif word in ("ecn", "nodrop"):
                options[word] = True
        made = {"kind": kind, "dev": words[3], "handle": rest[0], **place, "options": options}
        if "root" in place:
            port["qdiscs"] = []
        key = made.get("parent")
        port["qdiscs"] = [qdisc for qdisc in port["qdiscs"] if qdisc.get("parent") != key or "root" in place] + [made]


def expire():
    """Ends the time after which a switch rolls back."""
    if has("eos"):
        eos = Eos()
        if has("timer"):
            eos.abort(text("timer").strip())
        eos.store()
    elif has("timer"):
        command = ["sh", "-c", text("timer").strip()]
        remove("timer")
        # Timers of the switch run in its network namespace.
        within = ["ip", "netns", "exec", text("namespace")] if has("namespace") else []
        subprocess.run(within + command, check=True)


program, words = os.path.basename(sys.argv[1]), sys.argv[2:]
with open(path("log"), "a") as log:
    log.write(" ".join([program, *words]) + "\n")
if program == "eos":
    Eos().main()
elif program == "nv":
    nv(words)
elif program == "vtysh":
    vtysh(words)
elif program == "frr-reload.py":
    frr_load(words[-1])
elif program == "tc":
    tc(words)
elif program == "systemctl":
    if words[:2] == ["restart", "frr"]:
        frr_load(path("etc/frr/frr.conf"))
    elif words[:1] == ["stop"] and words[1] == "closc-unless-confirmed.timer":
        remove("timer")
elif program == "systemd-run":
    write("timer", words[-1])
elif program == "expire":
    expire()
