

def inner(path, number):
    """The inner packet: UDP over IPv6, with its number as payload."""
    source, target = (socket.inet_pton(socket.AF_INET6, path[at]) for at in (5, 6))
    payload = struct.pack("!I", number)
    length = 8 + len(payload)
    udp = struct.pack("!HHHH", 0xC000, UDP_PORT, length, 0) + payload
    words = source + target + struct.pack("!II", length, 17) + udp
    total = sum(struct.unpack("!%dH" % (len(words) // 2), words))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    udp = udp[:6] + struct.pack("!H", ~total & 0xFFFF or 0xFFFF) + udp[8:]
    return struct.pack("!IHBB", 6 << 28, length, 17, 64) + source + target + udp


def send(host):
    """Sends a packet over every path that begins at a host. Runs in the namespace of the host."""
    for number, path in enumerate(PATHS):
        sender, port, source, destination = path[:4]
        if sender != host:
            continue
        # The T0 accepts only packets from addresses of the NIC at its port.
        raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_IPV6)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, port.encode())
        raw.bind((source, 0))
        raw.sendto(inner(path, number), (destination, 0))
        raw.close()


def receive(seconds):
    """Prints the numbers of packets that the kernel accepts. Runs in the namespace of a host."""
    udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    udp.bind(("::", UDP_PORT))
    print("ready", flush=True)
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if left <= 0:
            return
        udp.settimeout(left)
        try:
            payload = udp.recv(2048)
        except socket.timeout:
            return
        if len(payload) == 4:
            print(struct.unpack("!I", payload)[0], flush=True)


def walk(net, seconds=5):
    """Sends a packet over every path. Returns how many arrived exactly once, at the right host."""
    me = os.path.abspath(__file__)
    receivers = {}
    for name in HOSTS:
        command = [sys.executable, me, "--receive", str(seconds)]
        process = net.get(name).popen(command, stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        receivers[name] = process
    senders = [net.get(name).popen([sys.executable, me, "--send", name]) for name in HOSTS]
    for sender in senders:
        sender.wait()
    arrived = {}
    for name, process in receivers.items():
        for line in process.communicate()[0].split():
            arrived.setdefault(int(line), []).append(name)
    good = sum(arrived.get(number) == [path[4]] for number, path in enumerate(PATHS))
    print("%d paths: %d delivered, %d not" % (len(PATHS), good, len(PATHS) - good), flush=True)
    return good


def build(folder, program):
    """Builds the network. Needs Mininet and root; no Open vSwitch and no controller."""
    from mininet.net import Mininet
    from mininet.node import Node, Switch

    class P4Switch(Switch):
        """A switch with the command line of simple_switch_grpc, in its own namespace."""

        def __init__(self, name, device_id=0, ports=(), **params):
            params.update(inNamespace=True, dpid="%016x" % device_id)
            Switch.__init__(self, name, **params)
            self.device_id, self.ports_of = device_id, ports
            self.socket = os.path.join(folder, name + ".sock")
            self.process = None

        def start(self, controllers):
            # The kernel must not send packets of its own on ports of the switch.
            for which in ("all", "default"):
                self.cmd("echo 1 > /proc/sys/net/ipv6/conf/%s/disable_ipv6" % which)
            self.cmd("ip link set dev lo up")
            command = program + ["--no-p4", "--device-id", str(self.device_id)]
            for number, port in self.ports_of:
                self.cmd("echo 1 > /proc/sys/net/ipv6/conf/%s/disable_ipv6" % port)
                self.cmd("ip link set dev %s mtu 65535 up" % port)
                command += ["-i", "%d@%s" % (number, port)]
            command += ["--", "--grpc-server-addr", "unix:" + self.socket]
            command += ["--cpu-port", "510", "--priority-queues", "8"]
            with open(os.path.join(folder, self.name + ".log"), "w") as log:
                self.process = self.popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def listens(self):
            probe = socket.socket(socket.AF_UNIX)
            try:
                probe.connect(self.socket)
                return True
            except OSError:
                return False
            finally:
                probe.close()

        def stop(self, deleteIntfs=True):
            if self.process:
                self.process.terminate()
                self.process.wait()
            Switch.stop(self, deleteIntfs)

    class KernelHost(Node):
        """A node, configured with its compiled files."""

        def apply(self, what, *options):
            path = os.path.join(folder, "%s.%s" % (self.name, what))
            with open(path, "w") as out:
                out.write(HOSTS[self.name][what])
            said = self.cmd("ip %s -batch %s" % (" ".join(options), path))
            if said.strip() and not options:
                raise SystemExit("%s: %s" % (self.name, said.strip()))

        def configure(self):
            for line in HOSTS[self.name]["sysctl"].splitlines():
                key, equals, value = line.partition("=")
                if equals and not key.lstrip().startswith(("#", ";")):
                    path = "/proc/sys/" + key.strip().replace(".", "/")
                    self.cmd("echo %s > %s" % (value.strip(), path))
            self.apply("devices", "-force")
            self.apply("batch")

    net = Mininet(controller=None, autoSetMacs=False)
    for name in HOSTS:
        net.addHost(name, cls=KernelHost, ip=None)
    for name, device_id, ports in SWITCHES:
        net.addSwitch(name, cls=P4Switch, device_id=device_id, ports=ports)
    for lower, lower_port, upper, upper_port in CABLES:
        net.addLink(net.get(lower), net.get(upper), intfName1=lower_port, intfName2=upper_port)
    net.build()
    for name in HOSTS:
        net.get(name).configure()
    for name, _, _ in SWITCHES:
        net.get(name).start([])
    for name in HOSTS:
        net.get(name).apply("routes")
    return net


def wait(net, folder):
    """Waits until every switch listens, and writes the inventory for `closc push`."""
    end = time.monotonic() + 120
    for name, _, _ in SWITCHES:
        switch = net.get(name)
        while not switch.listens():
            if switch.process.poll() is not None or time.monotonic() > end:
                raise SystemExit("%s does not start: see %s/%s.log" % (name, folder, name))
            time.sleep(0.02)
    devices = {
        name: {"endpoint": "unix:" + net.get(name).socket, "device_id": device_id, "plane": PLANES[name]}
        for name, device_id, _ in SWITCHES
    }
    inventory = os.path.join(folder, "inventory.json")
    with open(inventory, "w") as out:
        json.dump({"devices": devices}, out, indent=2)
    print("inventory: " + inventory, flush=True)
    return inventory


def main():
    parser = argparse.ArgumentParser(description="Brings fabric %s up in Mininet." % FABRIC)
    parser.add_argument("--switch", default=SWITCH, help="program of a switch; `closc` is the embedded switch")
    parser.add_argument("--folder", default="/run/closc/mininet/" + FABRIC, help="sockets, logs, inventory")
    parser.add_argument("--run", metavar="COMMAND", help="run a command, with the inventory in $INVENTORY")
    parser.add_argument("--walk", action="store_true", help="send a packet over every path")
    parser.add_argument("--send", metavar="HOST", help=argparse.SUPPRESS)
    parser.add_argument("--receive", metavar="SECONDS", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.send:
        return send(arguments.send)
    if arguments.receive:
        return receive(arguments.receive)
    folder = os.path.abspath(arguments.folder)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    program = arguments.switch.split()
    if os.path.basename(program[-1]) == "closc":
        program.append("switch")
    net = build(folder, program)
    try:
        inventory = wait(net, folder)
        if arguments.run:
            subprocess.run(arguments.run, shell=True, check=True, env=dict(os.environ, INVENTORY=inventory))
        if arguments.walk:
            return 0 if walk(net) == len(PATHS) else 1
        if not arguments.run:
            from mininet.cli import CLI

            CLI(net)
    finally:
        net.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
