//! containerlab: a lab of containers, each with its configuration files mounted.
//!
//! In: a plan, and the files of each device. Out: `NAME.clab.yml`. For switches whose container numbers its
//! interfaces, also the lists of their lanes and ports. Invariants: a cable is listed with both ends or not
//! at all; every interface name is valid for the kind of its container. If a kind numbers interfaces, `ethN`
//! is the Nth port with a cable, in the order of the panel.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use closc_plan::{Plan, PortIntent};
use closc_topology::Link;
use smol_str::SmolStr;

use crate::{File, Refusal};

const FORMAT: &str = "containerlab";

/// The longest name of an interface (`IFNAMSIZ` of Linux, less the zero).
const INTERFACE_MAX: usize = 15;

/// The most containers of a lab. The Linux bridge of the management network has room for 1,023 ports.
const DEVICES_MAX: u64 = 1_000;

/// A kind of container. The files of a device decide which kind runs it.
#[derive(Debug, PartialEq, Eq)]
pub struct Container {
    /// Its name in `--image NAME=IMAGE`.
    pub name: &'static str,
    /// The file that only devices of this kind have.
    mark: &'static str,
    /// The kind of node that containerlab has for it.
    kind: &'static str,
    image: &'static str,
    /// Whether interfaces are `eth1`, `eth2` and so on, regardless of the names of the ports.
    pub numbers_interfaces: bool,
    /// Destinations of files.
    files: &'static [(&'static str, &'static str)],
    /// Commands to run once all interfaces exist, each only if the device has its file.
    run: &'static [(&'static str, &'static str)],
}

/// Files with kernel settings, and the command that applies each.
const KERNEL: &[(&str, &str)] = &[
    ("sysctl.conf", "sysctl -q -p /etc/closc/sysctl.conf"),
    ("devices.batch", "ip -force -batch /etc/closc/devices.batch"),
    ("ip.batch", "ip -batch /etc/closc/ip.batch"),
    ("tc.batch", "tc -batch /etc/closc/tc.batch"),
    ("routes.batch", "ip -batch /etc/closc/routes.batch"),
];

/// The supported kinds. A device runs in the first one whose mark is among its files.
pub const CONTAINERS: &[Container] = &[
    // `start.sh` of docker-sonic-vs reads the configuration from `/var/sonic`. From the two `.orig` lists it copies the
    // lines of existing interfaces.
    Container {
        name: "sonic-vs",
        mark: "config_db.json",
        kind: "sonic-vs",
        image: "docker-sonic-vs:latest",
        numbers_interfaces: true,
        files: &[
            ("config_db.json", "/var/sonic/config_db.json"),
            ("frr.conf", "/etc/frr/frr.conf"),
            ("lanemap.ini", "/usr/share/sonic/device/x86_64-kvm_x86_64-r0/Force10-S6000/lanemap.ini.orig"),
            (
                "port_config.ini",
                "/usr/share/sonic/device/x86_64-kvm_x86_64-r0/Force10-S6000/port_config.ini.orig",
            ),
        ],
        run: &[],
    },
    Container {
        name: "frr",
        mark: "daemons",
        kind: "linux",
        image: "quay.io/frrouting/frr:10.5.4",
        numbers_interfaces: false,
        files: &[
            ("daemons", "/etc/frr/daemons"),
            ("frr.conf", "/etc/frr/frr.conf"),
            ("sysctl.conf", "/etc/closc/sysctl.conf"),
            ("devices.batch", "/etc/closc/devices.batch"),
            ("ip.batch", "/etc/closc/ip.batch"),
            ("tc.batch", "/etc/closc/tc.batch"),
        ],
        run: KERNEL,
    },
    LINUX,
];

/// A container with tools only: for nodes, and for switches that are just a kernel.
pub const LINUX: Container = Container {
    name: "linux",
    mark: "sysctl.conf",
    kind: "linux",
    image: "wbitt/network-multitool:3.22.2",
    numbers_interfaces: false,
    files: &[
        ("sysctl.conf", "/etc/closc/sysctl.conf"),
        ("devices.batch", "/etc/closc/devices.batch"),
        ("ip.batch", "/etc/closc/ip.batch"),
        ("tc.batch", "/etc/closc/tc.batch"),
        ("routes.batch", "/etc/closc/routes.batch"),
    ],
    run: KERNEL,
};

impl Container {
    /// Returns the container of a device with these files.
    ///
    /// # Errors
    ///
    /// Rejects a device whose files no container supports.
    pub fn of(device: &str, files: &[String]) -> Result<&'static Container, Refusal> {
        let is_marked = |container: &&Container| files.iter().any(|file| file == container.mark);
        CONTAINERS.iter().find(is_marked).ok_or_else(|| Refusal::Unknown {
            format: FORMAT,
            subject: format!("container that can load the files of `{device}`: {}", files.join(", ")),
            help: "P4 switches run in Mininet (`export mininet`) and in `closc lab`",
        })
    }

    /// Returns whether the container mounts a file of its device.
    pub fn accepts(&self, file: &str) -> bool {
        self.files.iter().any(|(name, _)| *name == file)
    }
}

/// A device of the lab.
pub struct Device {
    /// Its name.
    pub name: SmolStr,
    /// Sort key of a drawing: `t0`, `t1`, `t2` or `node`.
    pub group: &'static str,
    /// The kind of container that runs it.
    pub container: &'static Container,
    /// The image given with `--image`.
    pub image: Option<String>,
    /// Its files, below `configs/NAME/`.
    pub files: Vec<String>,
    /// The container's interface names for ports that have cables; empty if the container uses the names of the ports.
    pub interface_names: BTreeMap<SmolStr, String>,
}

/// Returns the ports of a switch that have a cable, with their names in a container that numbers its interfaces.
pub fn interface_names(ports: &[PortIntent]) -> BTreeMap<SmolStr, String> {
    let linked = ports.iter().filter(|port| port.connection.is_some());
    linked.enumerate().map(|(at, port)| (port.physical.name.clone(), format!("eth{}", at + 1))).collect()
}

/// Returns the lanes of a switch's interfaces: a line `ethN:LANES` for each port that has a cable.
pub fn lane_map(ports: &[PortIntent]) -> String {
    let linked = ports.iter().filter(|port| port.connection.is_some());
    linked.enumerate().fold(String::new(), |mut text, (at, port)| {
        let _ = writeln!(text, "eth{}:{}", at + 1, lanes(port));
        text
    })
}

/// Returns the ports of a switch in the form of SONiC's `port_config.ini`.
pub fn port_config(ports: &[PortIntent]) -> String {
    let linked = ports.iter().filter(|port| port.connection.is_some());
    linked.fold("# name lanes alias index speed\n".to_owned(), |mut text, port| {
        let physical = &port.physical;
        let (name, alias) = (&physical.name, &physical.alias);
        let _ = writeln!(text, "{name} {} {alias} {} {}", lanes(port), physical.panel, physical.speed.mbps());
        text
    })
}

fn lanes(port: &PortIntent) -> String {
    let lanes: Vec<String> = port.physical.lanes.iter().map(u16::to_string).collect();
    lanes.join(",")
}

/// A lab, checked and ready to be written.
pub struct Lab<'p> {
    plan: &'p Plan,
    devices: Vec<Device>,
}

impl<'p> Lab<'p> {
    /// Checks a lab.
    ///
    /// # Errors
    ///
    /// Refuses ports whose names are too long for Linux.
    pub fn new(plan: &'p Plan, devices: Vec<Device>) -> Result<Self, Refusal> {
        let lab = Lab { plan, devices };
        for link in plan.fabric().links() {
            let ends = plan.cable_ends(link);
            for (device, port) in [ends.lower, ends.upper] {
                let name = lab.interface(&device, &port);
                if name.len() > INTERFACE_MAX {
                    let rule = "at most 15 characters for an interface, as on Linux";
                    return Err(Refusal::Name { format: FORMAT, rule, name: format!("{device}:{name}") });
                }
            }
        }
        Ok(lab)
    }

    /// Returns the topology file.
    pub fn file(&self) -> File<'_> {
        File::new(format!("{}.clab.yml", self.plan.name()), |out| self.write(out))
    }

    /// Returns the name of a port inside its container.
    fn interface(&self, device: &SmolStr, port: &SmolStr) -> String {
        // Devices are in the order of names.
        let at = self.devices.binary_search_by(|known| known.name.cmp(device)).ok();
        let numbered = at.and_then(|at| self.devices[at].interface_names.get(port));
        numbered.cloned().unwrap_or_else(|| port.to_string())
    }

    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "name: {}\ntopology:\n  nodes:", self.plan.name())?;
        for device in &self.devices {
            node(device, out)?;
        }
        writeln!(out, "  links:")?;
        self.plan.fabric().links().try_for_each(|link| self.link(link, out))
    }

    fn link(&self, link: Link, out: &mut dyn io::Write) -> io::Result<()> {
        let ends = self.plan.cable_ends(link);
        let [lower, upper] = [ends.lower, ends.upper]
            .map(|(device, port)| format!("{device}:{}", self.interface(&device, &port)));
        let mtu = self.plan.topology().mtu.link;
        writeln!(out, "    - {{ endpoints: [\"{lower}\", \"{upper}\"], mtu: {mtu} }}")
    }
}

/// Checks the number of devices before any of them is read.
///
/// # Errors
///
/// Refuses a lab that is too large for one machine.
pub fn fits(plan: &Plan) -> Result<(), Refusal> {
    let counts = plan.fabric().counts();
    let switches = counts.t0 + counts.t1 + counts.t2;
    let count = switches + counts.nodes;
    if count <= DEVICES_MAX {
        return Ok(());
    }
    Err(Refusal::TooMany {
        format: FORMAT,
        subject: "devices",
        arithmetic: format!("{switches} switches + {} nodes", counts.nodes),
        count,
        maximum: DEVICES_MAX,
        help: "run a smaller fabric of the same kind, or `closc lab --target embedded`",
    })
}

fn node(device: &Device, out: &mut dyn io::Write) -> io::Result<()> {
    let Device { name, group, container, image, files, .. } = device;
    let image = image.as_deref().unwrap_or(container.image);
    writeln!(out, "    \"{name}\":\n      kind: {}\n      image: \"{image}\"", container.kind)?;
    writeln!(out, "      group: {group}")?;
    let has = |file: &str| files.iter().any(|own| own == file);
    let mut bound = container.files.iter().filter(|(file, _)| has(file)).peekable();
    if bound.peek().is_some() {
        writeln!(out, "      binds:")?;
    }
    for (file, place) in bound {
        writeln!(out, "        - \"configs/{name}/{file}:{place}:ro\"")?;
    }
    let mut commands = container.run.iter().filter(|(file, _)| has(file)).peekable();
    if commands.peek().is_some() {
        writeln!(out, "      exec:")?;
    }
    for (_, command) in commands {
        writeln!(out, "        - \"{command}\"")?;
    }
    Ok(())
}
