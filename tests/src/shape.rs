//! Small fabrics for tests: numbers become YAML, which is planned like a user's file.

use std::fmt::Write as _;
use std::sync::Arc;

use closc_artefacts::Routing;
use closc_diagnostics::{Sources, show};
use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_topology::Companion;
use proptest::prelude::*;

/// The numbers of a small fabric.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Planes.
    pub planes: u8,
    /// T0 groups of a zone.
    pub groups: u16,
    /// NICs of a group.
    pub per_group: u16,
    /// Rails, and NICs of a node.
    pub rails: u8,
    /// T1s of a plane and zone. With 0 the fabric has one tier, regardless of the routing mode.
    pub t1: u16,
    /// Cables between a T0 and a T1.
    pub parallel: u16,
    /// The tier above the zones, if any.
    pub t2: Option<T2>,
    /// Lines added at the end of the file, for example `exceptions`.
    pub exceptions: String,
}

/// The third tier of a small fabric.
#[derive(Debug, Clone)]
pub struct T2 {
    /// Zones.
    pub zones: u16,
    /// T2s that a T1 reaches. With 0 there are no T2s, and zones are connected only through nodes, regardless
    /// of the routing mode.
    pub steps: u16,
    /// Cables between a T1 and a T2.
    pub parallel: u16,
    /// Number of rows of T2s; 0 without rows.
    pub rows: u16,
    /// Number of zones in which a node has NICs.
    pub node_zones: u16,
}

impl Shape {
    /// The smallest shape with two of everything: planes, groups, NICs of a group, T1s.
    pub const SMALL: Shape = Shape {
        planes: 2,
        groups: 2,
        per_group: 2,
        rails: 1,
        t1: 2,
        parallel: 1,
        t2: None,
        exceptions: String::new(),
    };

    /// Returns the number of NICs of an adapter. It is two if the number of planes is odd and the number of rails in a
    /// zone is even, so that tests of every subject cover such adapters.
    pub fn nics_per_adapter(&self) -> u8 {
        let in_zone = u16::from(self.rails) / self.node_zones();
        if self.planes % 2 == 1 && in_zone > 0 && in_zone.is_multiple_of(2) { 2 } else { 1 }
    }

    /// Returns the line that states the NICs of an adapter, if there are several.
    fn adapter_line(&self) -> &'static str {
        if self.nics_per_adapter() > 1 { "\n  nics_per_adapter: 2" } else { "" }
    }

    /// Returns the numbers as a fabric file.
    pub fn yaml(&self) -> String {
        if self.t1 == 0 {
            return self.one_tier_yaml();
        }
        let Shape { planes, groups, per_group, rails, t1, parallel, .. } = self;
        let spread = match self.node_zones() {
            1 => String::new(),
            zones => format!("\n  zones_per_node: {zones}"),
        };
        let adapters = self.adapter_line();
        let routing = if self.is_by_nic() { "routing: ecmp-static\n" } else { "" };
        let mut text = format!(
            "{routing}fabric: shape\nplanes: {planes}\nhosts:\n  groups: {groups}\n  per_group: {per_group}\n  \
             nics_per_node: {rails}\n  rails: {rails}{spread}{adapters}\n  nic: {{ speed: {}G, lanes: {planes} }}\n  os: linux\n\
             tiers:\n  t0: {{ platform: linux, os: linux, up: {}, parallel: {parallel} }}\n",
            u32::from(*planes) * 100,
            t1 * parallel,
        );
        let plane_bits = if *planes > 8 { 4 } else { 3 };
        match &self.t2 {
            None => {
                text.push_str("  t1: { platform: linux, os: linux }\n");
                let _ = writeln!(
                    text,
                    "srv6: {{ widths: {{ plane: {plane_bits}, index: {} }} }}",
                    14 - plane_bits
                );
            }
            Some(t2) if t2.steps == 0 => {
                let _ = writeln!(text, "  t1: {{ platform: linux, os: linux }}\nzones: {}", t2.zones);
            }
            Some(t2) => {
                let up = t2.steps * t2.parallel;
                let wiring = match t2.rows {
                    0 => String::new(),
                    rows => format!(", wiring: rows, rows: {rows}"),
                };
                let _ = writeln!(
                    text,
                    "  t1: {{ platform: linux, os: linux, up: {up}, parallel: {} }}\n  \
                     t2: {{ platform: linux, os: linux{wiring} }}\nzones: {}\nsrv6: {{ widths: {{ role: 3, plane: \
                     {plane_bits}, zone: 3, index: {} }} }}",
                    t2.parallel,
                    t2.zones,
                    10 - plane_bits
                );
            }
        }
        self.cables_and_pools(&mut text);
        text.push_str("qos: lossy-trim\n");
        text.push_str(&self.exceptions);
        text
    }

    /// Writes cables and pools of addresses.
    fn cables_and_pools(&self, text: &mut String) {
        text.push_str(
            "cables:\n  nic-t0: { length: 1m, medium: virtual }\n  t0-t1: { length: 2m, medium: virtual }\n",
        );
        if self.t2.is_some() && !self.is_by_nic() {
            text.push_str("  t1-t2: { length: 3m, medium: virtual }\n");
        }
        // Fabrics of three planes set widths that differ from the defaults.
        text.push_str(match self.planes {
            // Growth by complete nodes can add zones for which IPv4 management addresses have no space.
            _ if self.node_zones() > 1 => "addresses: { management: \"fd00:64::/64\" }\n",
            3 => "addresses: { management: 10.64.0.0/13, widths: { zone: 6, index: 7 } }\n",
            _ => "addresses: { management: 10.64.0.0/14 }\n",
        });
    }

    /// Returns the number of zones in which a node has NICs.
    fn node_zones(&self) -> u16 {
        self.t2.as_ref().map_or(1, |t2| t2.node_zones)
    }

    /// Returns whether zones are planes by NIC.
    fn is_by_nic(&self) -> bool {
        self.t2.as_ref().is_some_and(|t2| t2.steps == 0)
    }

    /// Returns the file of a fabric whose T0s are not connected with each other. Switches choose the path.
    fn one_tier_yaml(&self) -> String {
        let Shape { planes, groups, per_group, rails, exceptions, .. } = self;
        let adapters = self.adapter_line();
        format!(
            "routing: ecmp-static\nfabric: shape\nplanes: {planes}\nhosts:\n  groups: {groups}\n  per_group: {per_group}\n  \
             nics_per_node: {rails}\n  rails: {rails}{adapters}\n  nic: {{ speed: {}G, lanes: {planes} }}\n  os: linux\n\
             tiers:\n  t0: {{ platform: linux, os: linux }}\n\
             cables:\n  nic-t0: {{ length: 1m, medium: virtual }}\n\
             addresses: {{ management: 10.64.0.0/14 }}\nqos: lossy-trim\n{exceptions}",
            u32::from(*planes) * 100,
        )
    }

    /// Plans the fabric.
    pub fn plan(&self) -> Plan {
        plan(&self.yaml())
    }

    /// Changes the size by these numbers of units: groups, NICs of a group, T1s, zones, and steps of T2s.
    /// Exceptions stay unchanged.
    #[must_use]
    pub fn resize(&self, by: [i32; 5]) -> Shape {
        let more = |number: u16, by: i32, unit: u16| {
            let changed = i32::from(number) + by * i32::from(unit);
            u16::try_from(changed).unwrap_or(0).max(unit)
        };
        Shape {
            groups: more(self.groups, by[0], u16::from(self.rails) / self.node_zones()),
            per_group: more(self.per_group, by[1], 1),
            t1: if self.t1 == 0 { 0 } else { more(self.t1, by[2], 1) },
            t2: self.t2.as_ref().map(|t2| T2 {
                zones: if t2.steps == 0 { t2.zones } else { more(t2.zones, by[3], t2.node_zones) },
                steps: if t2.steps == 0 { 0 } else { more(t2.steps, by[4], 1) },
                ..t2.clone()
            }),
            ..self.clone()
        }
    }
}

impl Shape {
    /// Plans the fabric with a different routing mode. BGP needs a daemon, so its switches run FRR.
    pub fn plan_with_routing(&self, routing: Routing) -> Plan {
        plan(&self.yaml_with_routing(routing))
    }

    /// Plans the fabric with a different routing mode, and with IPv4 addresses if `ipv4` is set and the mode
    /// supports them.
    pub fn plan_with_family(&self, routing: Routing, ipv4: bool) -> Plan {
        let yaml = self.yaml_with_routing(routing);
        plan(&if ipv4 && !routing.is_source_routed() { with_ipv4(&yaml) } else { yaml })
    }

    /// Returns the file of the fabric with a different routing mode.
    pub fn yaml_with_routing(&self, routing: Routing) -> String {
        if self.t1 == 0 || self.is_by_nic() && routing.is_source_routed() {
            return self.yaml();
        }
        let os = match routing {
            Routing::Srv6Static | Routing::EcmpStatic => "os: linux",
            Routing::BgpUnnumbered => "os: frr",
        };
        let yaml = self.yaml();
        let (tiers, rest) = yaml
            .trim_start_matches("routing: ecmp-static\n")
            .split_once("tiers:")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .expect("a shape writes its tiers");
        let switches = rest.replace("os: linux", os);
        format!("{tiers}routing: {}\ntiers:{switches}", routing.keyword())
    }
}

/// Gives every plane of a shape's file its own block.
pub fn in_blocks(yaml: &str) -> String {
    let mut text = String::with_capacity(yaml.len());
    for line in yaml.lines() {
        let own = if line.starts_with("srv6: ") { "srv6: { plan: plane-in-block }" } else { line };
        text.push_str(own);
        text.push('\n');
    }
    text
}

/// Gives the NICs, cables and switches of a shape's file IPv4 addresses, from pools with little spare space.
pub fn with_ipv4(yaml: &str) -> String {
    yaml.replace(
        "addresses: { management: 10.64.0.0/14 }",
        "addresses: { hosts: 10.128.0.0/10, links: 100.0.0.0/7, loopbacks: 192.168.0.0/19, management: 10.64.0.0/17 }",
    )
    // Shapes whose nodes are in several zones have more zones, so their pools are larger.
    .replace(
        "addresses: { management: \"fd00:64::/64\" }",
        "addresses: { hosts: 10.128.0.0/9, links: 100.0.0.0/7, loopbacks: 192.168.0.0/18, management: 10.64.0.0/16 }",
    )
}

/// Changes the switches of a shape's file to Tofino 2, whose 400G ports have eight lanes. The profile has six
/// classes; none is trimmed, and three are marked.
pub fn tofino_yaml(yaml: &str) -> String {
    let mut text = String::with_capacity(yaml.len());
    for line in yaml.lines() {
        let own = match line.split_once("lanes: ") {
            Some((_, rest)) if line.contains("nic: {") => {
                let planes: u32 =
                    rest.trim_end_matches([' ', '}']).parse().expect("a shape has a lane for each plane");
                format!("  nic: {{ speed: {}G, lanes: {} }}", planes * 400, planes * 8)
            }
            _ => line.replace("platform: linux, os: linux", "platform: tofino2-32x400g, os: p4"),
        };
        text.push_str(&copper(&own));
        text.push('\n');
    }
    text.replace("qos: lossy-trim", TOFINO_QOS)
}

/// Thresholds that fit the buffer, different for each class.
const TOFINO_QOS: &str = "qos: { base: sonic-ai-lossy, classes: { \
data-1: { ecn: { thresholds: { min: 200KB, max: 400KB, probability: 5 } } }, \
data-2: { ecn: { thresholds: { min: 150KB, max: 450KB, probability: 10 } } }, \
data-3: { ecn: { thresholds: { min: 100KB, max: 300KB, probability: 7 } } } } }";

/// Gives zone 1 of a shape's file NICs of a different speed, or the given numbers of T0 groups or NICs. A
/// zone that the shape does not have makes the file invalid.
pub fn in_generations(
    yaml: &str,
    faster: Option<u16>,
    groups: Option<u16>,
    per_group: Option<u16>,
) -> String {
    let mut text = String::with_capacity(yaml.len());
    for line in yaml.lines() {
        text.push_str(line);
        text.push('\n');
        let Some(nic) = line.strip_prefix("  nic: { speed: ") else { continue };
        let speed = nic.split('G').next().and_then(|speed| speed.parse::<u32>().ok());
        let lanes = nic.split_once("lanes: ").map_or("", |(_, lanes)| lanes);
        if let (Some(times), Some(speed)) = (faster, speed) {
            let _ = writeln!(
                text,
                "  nic_by_zone: {{ 1: {{ speed: {}G, lanes: {lanes} }}",
                speed * u32::from(times)
            );
        }
        for (name, count) in [("groups_by_zone", groups), ("per_group_by_zone", per_group)] {
            if let Some(count) = count {
                let _ = writeln!(text, "  {name}: {{ 1: {count} }}");
            }
        }
    }
    text
}

/// Makes every routing mode.
pub fn any_routing() -> impl Strategy<Value = Routing> {
    prop_oneof![Just(Routing::Srv6Static), Just(Routing::EcmpStatic), Just(Routing::BgpUnnumbered)]
}

/// Plans a fabric file; an invalid file fails the test.
pub fn plan(yaml: &str) -> Plan {
    try_plan(yaml).unwrap_or_else(|faults| panic!("{yaml}\n{faults}"))
}

/// Replaces virtual cables with copper, which reaches 2 m between split cages with lanes of 100G.
pub fn copper(yaml: &str) -> String {
    yaml.replace("virtual", "dac").replace("length: 3m", "length: 2m")
}

/// Plans a fabric file, or returns its errors as text.
pub fn try_plan(yaml: &str) -> Result<Plan, String> {
    try_plan_with(yaml, &[])
}

/// Plans a fabric file that names other files, or returns its errors as text.
pub fn try_plan_with(yaml: &str, companions: &[(Companion, &str)]) -> Result<Plan, String> {
    let mut sources = Sources::new();
    let mut document = match closc_topology::load(&mut sources, "test.yaml", yaml.as_bytes()) {
        Ok(document) => document,
        Err(faults) => return Err(show::text::all(&faults, &sources, show::text::Colour::Plain)),
    };
    for (which, text) in companions {
        let source = sources.add("companion.csv", *text);
        document.companions.insert(*which, Ok(source));
    }
    match closc_topology::lower(&document, &Catalogue::builtin(), &sources) {
        (Some(topology), _) => Ok(Plan::new(Fabric::new(Arc::new(topology)))),
        (None, faults) => Err(show::text::all(&faults, &sources, show::text::Colour::Plain)),
    }
}

/// Makes small fabrics of one tier: single switches, and rails that are connected only through nodes.
pub fn one_tier() -> impl Strategy<Value = Shape> {
    (1..=6u8, 1..=3u16, 1..=4u16, 1..=3u8).prop_map(|(planes, units, per_group, rails)| Shape {
        planes,
        groups: units * u16::from(rails),
        per_group,
        rails,
        t1: 0,
        parallel: 1,
        t2: None,
        exceptions: String::new(),
    })
}

/// Makes small fabrics with planes by NIC: zones that are connected only through nodes.
pub fn by_nic() -> impl Strategy<Value = Shape> {
    (1..=3u8, 2..=3u16, 1..=2u16, 1..=2u16, 1..=2u16, 1..=3u16, 1..=2u16).prop_map(
        |(planes, zones, in_zone, units, per_group, t1, parallel)| Shape {
            planes,
            groups: units * in_zone,
            per_group,
            rails: (in_zone * zones) as u8,
            t1,
            parallel,
            t2: Some(T2 { zones, steps: 0, parallel: 1, rows: 0, node_zones: zones }),
            exceptions: String::new(),
        },
    )
}

/// Makes small fabrics of several parts that are connected only through nodes.
pub fn islands() -> impl Strategy<Value = Shape> {
    prop_oneof![one_tier(), by_nic()]
}

/// Makes small fabrics of two tiers.
pub fn two_tiers() -> impl Strategy<Value = Shape> {
    (1..=16u8, 1..=4u16, 1..=4u16, 1..=3u8, 1..=4u16, 1..=3u16).prop_map(
        |(planes, units, per_group, rails, t1, parallel)| Shape {
            planes,
            groups: units * u16::from(rails),
            per_group,
            rails,
            t1,
            parallel,
            t2: None,
            exceptions: String::new(),
        },
    )
}

/// Makes small fabrics of three tiers, some of them with T1s for single rails.
pub fn three_tiers() -> impl Strategy<Value = Shape> {
    let rows = prop_oneof![3 => Just(0u16), 3 => Just(8), 1 => Just(1), 1 => Just(2), 1 => Just(4)];
    let node_zones = prop_oneof![4 => Just(1u16), 2 => Just(2), 1 => Just(3)];
    let t2 = (1..=3u16, 1..=3u16, 1..=2u16, rows, node_zones).prop_map(
        |(zones, steps, parallel, rows, node_zones)| T2 {
            // A T2 has ports for eight zones, some of which are reserved for growth.
            zones: if node_zones > 1 { zones.min(4 / node_zones) * node_zones } else { zones },
            steps,
            parallel,
            rows,
            node_zones,
        },
    );
    (1..=4u8, 1..=3u16, 1..=3u16, 1..=2u16, 1..=3u16, 1..=2u16, t2).prop_map(
        |(planes, units, per_group, in_zone, t1, parallel, t2)| {
            // Rails in a zone: several only if a node is in several zones.
            let in_zone = if t2.node_zones > 1 { in_zone } else { 1 };
            Shape {
                planes,
                groups: units * in_zone,
                per_group: if t2.node_zones > 1 { per_group.min(2) } else { per_group },
                rails: (in_zone * t2.node_zones) as u8,
                t1,
                parallel,
                // If there are fewer rows than T1s, every row has the same number of T1s.
                t2: Some(if t2.rows < t1 && t2.rows > 0 && t1 % t2.rows > 0 {
                    T2 { rows: t1, ..t2 }
                } else {
                    t2
                }),
                exceptions: String::new(),
            }
        },
    )
}
