"""FRR in the `bgp` container of a SONiC switch for tests, with two files in place of daemons.

In FOLDER, frr/frr.conf is the installed file, and frr/running is the running configuration as `show running-config` prints it.
Three optional files change the behaviour:

- bgp-down: the container does not answer
- frr-refuses: commands with this text are rejected
- frr-slow: number of reads of the running configuration before it is that of the file

The simulation follows the rules of dockers/docker-fpm-frr/docker_init.sh of sonic-buildimage (which file the container starts with, and the two lines
that it appends), of bgpcfgd (the route map of source addresses), and of FRR 8.4 and 10.5 (defaults are not printed, a neighbour is
printed with its group, bfdd does not run).
"""

import os
import re
import sys

APPENDED = ["no fpm use-next-hop-groups", "fpm address 127.0.0.1"]

OWN = """route-map RM_SET_SRC6 permit 10
 set src fd00::1
exit
!
ipv6 protocol bgp route-map RM_SET_SRC6
!
"""

NODES = {
    (): ["interface ", "route-map ", "router bgp ", "vrf ", "bfd"],
    ("router bgp ",): ["address-family "],
    ("bfd",): ["profile "],
}

# Statements that occur once: a new one replaces the old one.
ONE = [
    r"(ip|ipv6) prefix-list \S+ seq \d+",
    r"bgp as-path access-list \S+ seq \d+",
    r"bgp community-list standard \S+ seq \d+",
    r"bgp router-id",
    r"bgp graceful-restart (stalepath|restart)-time",
    r"timers bgp",
    r"maximum-paths",
    r"neighbor \S+ (remote-as|advertisement-interval|maximum-prefix|timers connect|peer-group \S)",
    r"set (local-preference|community|extcommunity)",
    r"match (as-path|community|ipv6 address prefix-list)",
    r"description",
    r"ipv6 nd ra-interval",
    r"fpm address",
    r"frr defaults",
    r"log syslog",
]

# Statements whose `no` form is stored, instead of removing a line.
NEGATIVE = ["fpm use-next-hop-groups", "ipv6 nd suppress-ra", "bgp default ipv4-unicast", "bgp ebgp-requires-policy"]

SILENT = ["frr version", "hostname", "service integrated-vtysh-config", "exit", "end", "!", "Building", "Current"]

DEFAULTS = ["bgp ebgp-requires-policy", "bgp graceful-restart restart-time 120", "maximum-paths 256"]


class Refused(Exception):
    pass


class Router:
    """The running configuration: nodes by the lines that open them, each with its lines."""

    def __init__(self, folder):
        self.folder = folder
        self.held = {(): []}
        self.at = ()
        # The stored configuration is loaded without any rules.
        self.is_loading = False

    def load(self, text):
        self.is_loading = True
        self.feed(text)
        self.is_loading, self.at = False, ()

    def path(self, name):
        return os.path.join(self.folder, name)

    def opens(self, line):
        kinds = tuple(next(kind for kind in NODES.get(self.kind(i), [""]) if node.startswith(kind)) for i, node in enumerate(self.at))
        return any(line.startswith(kind) for kind in NODES.get(kinds, []))

    def kind(self, depth):
        made = ()
        for node in self.at[:depth]:
            made += (next((kind for kind in NODES.get(made, []) if node.startswith(kind)), node),)
        return made

    def feed(self, text):
        forbidden = ""
        if os.path.exists(self.path("frr-refuses")):
            forbidden = open(self.path("frr-refuses")).read()
        for raw in text.splitlines():
            line = " ".join(raw.split())
            if forbidden and forbidden in line and not self.is_loading:
                raise Refused("% Unknown command: " + line)
            if line in ("exit", "exit-address-family"):
                self.at = self.at[:-1]
            elif line == "end":
                self.at = ()
            elif line and not any(line.startswith(silent) for silent in SILENT):
                self.command(line)

    def command(self, line):
        # A command that the current node lacks belongs to an enclosing node.
        top = ("interface ", "route-map ", "router bgp ", "ipv6 route", "ipv6 prefix-list", "bgp as-path", "bgp community-list", "bfd")
        if self.at and not line.startswith(" ") and line.startswith(top) and not (line == "bfd"):
            self.at = ()
        if self.at and self.at[0] == "bfd" or line == "bfd":
            # bfdd does not run, so the lines of its node are ignored.
            self.at = ("bfd",) if line == "bfd" else self.at + (line,) if line.startswith("profile ") else self.at
            return
        if self.opens(line):
            others = [node for node in self.held if node and node[0].startswith("router bgp ") and node[0] != line]
            if line.startswith("router bgp ") and others and not self.is_loading:
                raise Refused("% BGP is already running")
            self.at += (line,)
            self.held.setdefault(self.at, [])
            return
        lines = self.held[self.at]
        if line.startswith("no ") and line[3:] not in NEGATIVE and not self.is_loading:
            self.remove(line[3:])
        elif "no " + line in lines:
            lines.remove("no " + line)
        elif line in NEGATIVE:
            pass
        else:
            self.add(line)

    def remove(self, line):
        node = self.at + (line,)
        if node in self.held:
            self.held = {at: lines for at, lines in self.held.items() if at[: len(node)] != node}
            return
        made = re.match(r"neighbor (\S+) (interface\b.*|peer-group)$", line)
        if made:
            mine = "neighbor %s " % made.group(1)
            for at, lines in self.held.items():
                if at[: len(self.at)] == self.at:
                    lines[:] = [other for other in lines if not other.startswith(mine)]
            return
        if line not in self.held[self.at]:
            raise Refused("% Can't find " + line)
        self.held[self.at].remove(line)

    def add(self, line):
        lines = self.held[self.at]
        parts = re.match(r"neighbor (\S+) interface( v6only)?(?: (?:remote-as (\S+)|peer-group (\S+)))?$", line)
        if parts:
            peer, v6only, number, group = parts.groups()
            self.put("neighbor %s interface%s" % (peer, v6only or ""))
            if number:
                self.put("neighbor %s remote-as %s" % (peer, number))
            if group:
                self.add("neighbor %s peer-group %s" % (peer, group))
            return
        group = re.match(r"neighbor \S+ peer-group (\S+)$", line)
        if group and not self.is_loading and "neighbor %s peer-group" % group.group(1) not in lines:
            raise Refused("% Configure the peer-group first")
        if re.match(r"neighbor \S+ bfd profile", line):
            self.put(" ".join(line.split()[:3]))
        self.put(line)

    def put(self, line):
        lines = self.held[self.at]
        if line in lines:
            return
        one = next((re.match(key, line) for key in ONE if re.match(key, line)), None)
        policy = re.match(r"(neighbor \S+ route-map) \S+ (in|out)$", line)
        for other in list(lines):
            same = one and other.startswith(one.group(0).rstrip())
            if policy:
                same = re.match(re.escape(policy.group(1)) + r" \S+ " + policy.group(2) + "$", other)
            if same:
                lines.remove(other)
        lines.append(line)

    def text(self):
        """Returns the output of `show running-config`."""
        made = ["Building configuration...", "", "Current configuration:", "!", "frr version 10.5.4", "hostname switch"]
        self.write(made, (), 0)
        return "\n".join(made + ["!", "end", ""])

    def write(self, made, at, depth):
        lines = [line for line in self.held.get(at, []) if not (at and line in DEFAULTS)]
        peers = {line.split()[1] for line in lines if re.match(r"neighbor \S+ interface", line)}
        for line in lines:
            words = line.split()
            if words[0] == "neighbor" and words[2] == "peer-group" and words[1] in peers:
                continue
            made.append(" " * depth + self.shown(line, lines))
        for node in [node for node in self.held if len(node) == len(at) + 1 and node[: len(at)] == at]:
            if node[-1].startswith("interface ") and not self.held[node]:
                continue
            made += ["!" if not depth else " " * depth + "!", " " * depth + node[-1]]
            self.write(made, node, depth + 1)
            made.append(" " * depth + ("exit-address-family" if node[-1].startswith("address-family") else "exit"))
        made[:] = [line for line in made if line.strip()] if not at else made

    def shown(self, line, lines):
        """Adds the group of a neighbour to its line; the line of the group is omitted."""
        peer = re.match(r"neighbor (\S+) interface( v6only)?$", line)
        if not peer:
            return line
        mine = re.compile(r"neighbor %s peer-group (\S+)$" % re.escape(peer.group(1)))
        group = next((mine.match(other).group(1) for other in lines if mine.match(other)), None)
        return line + (" peer-group " + group if group else "")


def installed(folder):
    return os.path.join(folder, "frr", "frr.conf")


def read(name, otherwise=""):
    return open(name).read() if os.path.exists(name) else otherwise


def write(name, text):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name + ".new", "w") as file:
        file.write(text)
    os.rename(name + ".new", name)


def start(folder, mode):
    """Starts the container: the steps of docker_init.sh, after which the daemons read the file."""
    if mode != "split-unified":
        write(installed(folder), "! made from CONFIG_DB\nrouter bgp 65100\n bgp router-id 10.0.0.1\nexit\n")
    text = read(installed(folder))
    if APPENDED[0] not in text.splitlines():
        text += "".join(line + "\n" for line in APPENDED)
        write(installed(folder), text)
    router = Router(folder)
    router.feed(text)
    router.at = ()
    router.feed(OWN)
    write(os.path.join(folder, "frr", "running"), router.text())
    if os.path.exists(os.path.join(folder, "bgp-down")):
        os.remove(os.path.join(folder, "bgp-down"))


def running(folder):
    slow = os.path.join(folder, "frr-slow")
    left = int(read(slow, "0") or 0)
    if left > 0:
        write(slow, str(left - 1))
        return "Building configuration...\n\nCurrent configuration:\n!\nend\n"
    return read(os.path.join(folder, "frr", "running"))


def feed(folder, commands):
    """Runs commands. As with vtysh, those before a rejected one stay in effect."""
    router = Router(folder)
    router.load(read(os.path.join(folder, "frr", "running")))
    try:
        router.feed(commands)
    except Refused as error:
        write(os.path.join(folder, "frr", "running"), router.text())
        print(error, file=sys.stderr)
        sys.exit(1)
    write(os.path.join(folder, "frr", "running"), router.text())


def docker(folder, words):
    """`docker exec [-i] bgp ...`."""
    words = [word for word in words[1:] if word != "-i"]
    if words[0] != "bgp" or os.path.exists(os.path.join(folder, "bgp-down")):
        print("Error response from daemon: container is not running", file=sys.stderr)
        sys.exit(1)
    if words[1:] == ["vtysh", "-c", "show running-config"]:
        print(running(folder), end="")
    elif words[1:] == ["vtysh", "-c", "show daemons"]:
        print(" mgmtd zebra bgpd watchfrr staticd")
    elif words[1:3] == ["sh", "-c"]:
        feed(folder, sys.stdin.read())
    else:
        print("no command " + " ".join(words), file=sys.stderr)
        sys.exit(1)
