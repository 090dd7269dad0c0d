//! Kinds of switches under test: their lines in a fabric file, and their transports.
//!
//! In: a name, the size of a fabric. Out: a fabric file. Invariants: every operating system and every transport that
//! reads switches is covered; the files of each transport are in the compiler's own table
//! (`closc_artefacts::carriers`).

use closc_artefacts::carriers::{SwitchFile, Transport};

/// Simulation of a switch in these tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Eos,
    Nvue,
    /// A switch with ports and routes in the kernel.
    Kernel {
        has_frr: bool,
    },
    /// CONFIG_DB, with or without entries.
    Sonic,
    /// Only P4Runtime entries.
    Programmed,
}

/// Environment variable that limits the tested systems: names, separated by commas.
const ONLY: &str = "CLOSC_CARRIER_SYSTEMS";

/// A kind of switch under test.
pub(crate) struct System {
    pub(crate) name: &'static str,
    /// Value of `os` in a fabric file.
    pub(crate) os: &'static str,
    pub(crate) kind: Kind,
    pub(crate) transports: &'static [Transport],
    pub(crate) routings: &'static [&'static str],
    /// Platform, speed and lanes of a NIC port.
    platform: (&'static str, u32, u8),
    /// Whether cables are virtual, as in a lab.
    is_virtual: bool,
    /// A QoS profile that it supports.
    pub(crate) qos: &'static str,
    /// Additional lines at the end of the fabric file.
    extra_lines: &'static str,
}

/// Lines of systems with a management network.
const MANAGED: &str = "addresses: { management: 10.64.0.0/14 }\nservices: { ntp: [10.0.0.1] }\n";

/// A profile with thresholds that fit the buffer of Tofino.
const TOFINO_QOS: &str = "{ base: sonic-ai-lossy, classes: { data-1: { ecn: { thresholds: { min: 200KB, max: 400KB, probability: 5 } } }, \
    data-2: { ecn: { thresholds: { min: 150KB, max: 450KB, probability: 10 } } }, \
    data-3: { ecn: { thresholds: { min: 100KB, max: 300KB, probability: 7 } } } } }";

const fn ssh_system(os: &'static str, kind: Kind, routings: &'static [&'static str]) -> System {
    let transports = &[Transport::Ssh];
    let platform = ("linux", 100, 1);
    System {
        name: os,
        os,
        kind,
        transports,
        routings,
        platform,
        is_virtual: true,
        qos: "lossy-trim",
        extra_lines: "",
    }
}

const ALL_ROUTINGS: &[&str] = &["ecmp-static", "bgp-unnumbered", "srv6-static"];
const WITHOUT_BGP: &[&str] = &["ecmp-static", "srv6-static"];
const WITHOUT_SEGMENTS: &[&str] = &["ecmp-static", "bgp-unnumbered"];

const SONIC: System = System {
    name: "sonic",
    os: "sonic",
    kind: Kind::Sonic,
    transports: &[Transport::SonicSsh],
    routings: ALL_ROUTINGS,
    platform: ("sonic-vs", 40, 1),
    is_virtual: true,
    qos: "lossy-trim",
    extra_lines: MANAGED,
};

const PINS: System = System {
    name: "pins",
    os: "pins",
    transports: &[Transport::P4Runtime, Transport::SonicSsh],
    routings: &["ecmp-static"],
    platform: ("th5-512x100g", 100, 1),
    is_virtual: false,
    qos: "none",
    ..SONIC
};

const P4: System = System {
    name: "p4",
    os: "p4",
    kind: Kind::Programmed,
    transports: &[Transport::P4Runtime],
    routings: WITHOUT_BGP,
    platform: ("bmv2", 100, 1),
    is_virtual: true,
    qos: "lossy-trim",
    extra_lines: "",
};

/// All kinds of switches.
pub(crate) static SYSTEMS: [System; 10] = [
    System {
        platform: ("th5-128x400g", 400, 4),
        is_virtual: false,
        qos: "lossless",
        extra_lines: MANAGED,
        ..ssh_system("eos", Kind::Eos, WITHOUT_SEGMENTS)
    },
    System {
        platform: ("spectrum4-sn5600", 800, 8),
        is_virtual: false,
        qos: "lossless",
        extra_lines: MANAGED,
        ..ssh_system("nvue", Kind::Nvue, WITHOUT_SEGMENTS)
    },
    ssh_system("frr", Kind::Kernel { has_frr: true }, ALL_ROUTINGS),
    ssh_system("linux", Kind::Kernel { has_frr: false }, WITHOUT_BGP),
    SONIC,
    // gNMI does not deliver `frr.conf`; see `unsupported_files.rs`.
    System { name: "sonic-gnmi", transports: &[Transport::SonicGnmi], routings: WITHOUT_BGP, ..SONIC },
    P4,
    PINS,
    System { name: "pins-gnmi", transports: &[Transport::P4Runtime, Transport::SonicGnmi], ..PINS },
    System {
        name: "tofino",
        platform: ("tofino2-32x400g", 400, 8),
        is_virtual: false,
        qos: TOFINO_QOS,
        ..P4
    },
];

/// Finds a kind by name.
pub(crate) fn system(name: &str) -> &'static System {
    SYSTEMS.iter().find(|system| system.name == name).expect("the system is known")
}

/// The kinds that are configured only with files over SSH.
pub(crate) fn ssh_only_systems() -> impl Iterator<Item = &'static System> {
    SYSTEMS.iter().filter(|system| system.transports == [Transport::Ssh] && system.is_selected())
}

/// The size of a fabric.
#[derive(Clone)]
pub(crate) struct Shape {
    pub(crate) groups: u8,
    pub(crate) per_group: u8,
    pub(crate) planes: u8,
    pub(crate) up: u8,
    pub(crate) qos: &'static str,
    pub(crate) routing: &'static str,
    pub(crate) exceptions: &'static str,
}

impl System {
    /// Returns whether tests over all systems include this system.
    pub(crate) fn is_selected(&self) -> bool {
        std::env::var(ONLY).map_or(true, |only| only.split(',').any(|name| name == self.name))
    }

    /// Returns the shape of a small fabric with one plane.
    pub(crate) fn small(&self) -> Shape {
        let (qos, routing) = (self.qos, self.routings[0]);
        Shape { groups: 2, per_group: 2, planes: 1, up: 2, qos, routing, exceptions: "" }
    }

    /// Returns a random shape.
    pub(crate) fn random(&self, pick: &mut impl FnMut(usize) -> usize) -> Shape {
        let routing = self.routings[pick(self.routings.len())];
        let up = 1 + u8::try_from(pick(2)).expect("small");
        let exceptions = match pick(4) {
            0 if up > 1 => "exceptions: { drained: [ p0-t0-001--p0-t1-001 ] }\n",
            1 if up > 1 => "exceptions: { absent: [ p0-t0-002--p0-t1-002 ] }\n",
            _ => "",
        };
        Shape {
            groups: 2 + u8::from(pick(4) == 0),
            per_group: 1 + u8::try_from(pick(3)).expect("small"),
            planes: 1 + u8::from(pick(4) == 0),
            up,
            qos: if pick(4) == 0 { "none" } else { self.qos },
            routing,
            exceptions,
        }
    }

    /// Returns a fabric file.
    pub(crate) fn fabric(&self, shape: &Shape, mtu: u16) -> String {
        let Shape { groups, per_group, planes, up, qos, routing, exceptions } = shape;
        let System { os, platform: (platform, speed, lanes), extra_lines: more, .. } = self;
        let (speed, lanes) = (speed * u32::from(*planes), lanes * planes);
        let [short, long] = if self.is_virtual {
            ["{ length: 1m, medium: virtual }"; 2]
        } else {
            ["{ length: 1m, medium: dac }", "{ length: 30m, medium: dr4 }"]
        };
        format!(
            "fabric: pod\nplanes: {planes}\nrouting: {routing}\n\
             hosts: {{ groups: {groups}, per_group: {per_group}, nic: {{ speed: {speed}G, lanes: {lanes} }} }}\n\
             tiers:\n  t0: {{ platform: {platform}, os: {os}, up: {up} }}\n  t1: {{ platform: {platform}, os: {os} }}\n\
             cables:\n  nic-t0: {short}\n  t0-t1: {long}\nmtu: {{ link: {mtu} }}\nqos: {qos}\n{more}{exceptions}"
        )
    }

    /// Returns whether it supports a transport.
    pub(crate) fn has(&self, transport: Transport) -> bool {
        self.transports.contains(&transport)
    }

    /// Returns the transport that delivers a file; `None` if there is none.
    pub(crate) fn carrier(&self, file: SwitchFile) -> Option<Transport> {
        self.transports.iter().copied().find(|transport| transport.carries(file))
    }
}
