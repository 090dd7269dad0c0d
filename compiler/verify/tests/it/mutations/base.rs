//! The trees to damage: small fabrics, each of which is valid before damage.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use closc_artefacts::Memory;
use closc_plan::Plan;
use closc_tests::shape::{self, Shape, T2};
use closc_topology::{Companion, TierId};
use closc_verify::{Options, verify};

use crate::common::fabrics::Target;
use crate::common::{hardware, tree};

/// A fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Base {
    Sonic,
    Lossless,
    Frr,
    Linux,
    P4,
    /// Three tiers.
    Zones,
    /// Two cables between each T0 and T1.
    Parallel,
    /// Planes with their own blocks.
    Blocks,
    BlocksP4,
    /// Planes with their own blocks in three tiers, where two T1s of a zone share a row.
    BlocksZones,
    /// Switches and cables that are absent or drained.
    Declared,
    /// SONiC with isolated cables.
    Isolated,
    /// BGP on FRRouting, with three tiers and two cables between each T0 and T1.
    Bgp,
    /// As `Bgp`, with an absent cable between T1 and T2, so that paths differ.
    BgpGap,
    /// BGP on SONiC, with a drained cable.
    BgpSonic,
    /// As `BgpSonic`, with PFC.
    BgpLossless,
    /// PFC, with ECN thresholds set in the file.
    Fixed,
    /// Switches choose the path.
    ChosenSonic,
    ChosenFrr,
    /// Switches choose the path on Linux, with two cables between each T0 and T1. One cable is absent, one is drained.
    ChosenLinux,
    ChosenP4,
    /// Tofino.
    Tofino,
    ChosenTofino,
    /// Switches choose the path, in three tiers.
    ChosenZones,
    /// SONiC hardware with P4Runtime, with a management network.
    ChosenPins,
    /// SONiC hardware with P4Runtime, where hosts choose the path: segments are in one file and their routes in the
    /// other.
    Pins,
    /// EOS, with a management network.
    ChosenEos,
    /// EOS with BGP and a drained cable.
    BgpEos,
    /// Cumulus Linux, with a management network.
    Nvue,
    /// Cumulus Linux with PFC, where switches choose the path.
    ChosenNvue,
    /// BGP on Cumulus Linux, with three tiers and two cables between each T0 and T1, of which one is drained.
    BgpNvue,
    /// Adaptive routing on Cumulus Linux, with two cables between each T0 and T1, and NCCL files for adaptive routing.
    AdaptiveNvue,
    /// Dynamic load balancing of EOS.
    FlowletEos,
    /// Nodes with two NICs in known slots, configured by netplan and systemd-networkd.
    Tools,
    /// As `Tools`, where switches choose the path. Nodes also have `ip.batch`, and cables are absent and drained.
    ChosenTools,
}

/// An absent cable of a parallel pair, and a drained cable of another pair.
const PARALLEL_HOLES: &str =
    "exceptions:\n  absent: [p0-t0-002--p0-t1-001#1]\n  drained: [p0-t0-003--p0-t1-002#2]\n";

/// Switches and cables that are absent or drained.
const DECLARED: &str = "exceptions:\n  absent: [p0-t1-002, p1-t0-001--p1-t1-001]\n  \
                        drained: [p1-t0-002--p1-t1-002]\n";

/// An isolated cable between switches, and an isolated NIC cable.
const ISOLATED: &str = "exceptions:\n  isolated: [p0-t0-001--p0-t1-002, su002-n001/nic0.p0]\n";

impl Base {
    pub(crate) const ALL: [Base; 35] = [
        Base::Sonic,
        Base::Lossless,
        Base::Frr,
        Base::Linux,
        Base::P4,
        Base::Zones,
        Base::Parallel,
        Base::Blocks,
        Base::BlocksP4,
        Base::BlocksZones,
        Base::Declared,
        Base::Isolated,
        Base::Bgp,
        Base::BgpGap,
        Base::BgpSonic,
        Base::BgpLossless,
        Base::Fixed,
        Base::ChosenSonic,
        Base::ChosenFrr,
        Base::ChosenLinux,
        Base::ChosenP4,
        Base::Tofino,
        Base::ChosenTofino,
        Base::ChosenZones,
        Base::ChosenPins,
        Base::Pins,
        Base::ChosenEos,
        Base::BgpEos,
        Base::Nvue,
        Base::ChosenNvue,
        Base::BgpNvue,
        Base::AdaptiveNvue,
        Base::FlowletEos,
        Base::Tools,
        Base::ChosenTools,
    ];

    /// Routing mode.
    pub(crate) fn routing(self) -> &'static str {
        match self {
            Base::Sonic
            | Base::Lossless
            | Base::Frr
            | Base::Linux
            | Base::P4
            | Base::Tofino
            | Base::Zones
            | Base::Parallel
            | Base::Blocks
            | Base::BlocksP4
            | Base::BlocksZones
            | Base::Fixed
            | Base::Nvue
            | Base::Pins
            | Base::Tools
            | Base::Declared
            | Base::Isolated => "srv6-static",
            Base::Bgp | Base::BgpGap | Base::BgpSonic | Base::BgpLossless | Base::BgpEos | Base::BgpNvue => {
                "bgp-unnumbered"
            }
            Base::ChosenSonic
            | Base::ChosenFrr
            | Base::ChosenLinux
            | Base::ChosenP4
            | Base::ChosenTofino
            | Base::ChosenZones
            | Base::ChosenPins
            | Base::ChosenEos
            | Base::ChosenNvue
            | Base::AdaptiveNvue
            | Base::FlowletEos
            | Base::ChosenTools => "ecmp-static",
        }
    }

    /// Returns the target and the dimensions of the fabric.
    fn shape(self) -> (Target, Shape) {
        let (small, chosen) = (Shape::SMALL, Shape { groups: 3, ..Shape::SMALL });
        match self {
            Base::Sonic => (Target::Sonic, small),
            Base::Lossless | Base::BgpLossless | Base::Fixed => (Target::Lossless, small),
            Base::Frr => (Target::Frr, small),
            Base::Linux | Base::Blocks => (Target::Linux, small),
            Base::P4 | Base::BlocksP4 => (Target::P4, small),
            Base::ChosenP4 => (Target::P4, chosen),
            Base::BlocksZones => {
                let t2 = T2 { zones: 2, steps: 2, parallel: 1, rows: 8, node_zones: 1 };
                (Target::Linux, Shape { per_group: 1, t1: 4, t2: Some(t2), ..small })
            }
            Base::ChosenSonic => (Target::Sonic, chosen),
            Base::ChosenFrr => (Target::Frr, chosen),
            Base::Tofino => (Target::Tofino, small),
            Base::ChosenTofino => (Target::Tofino, chosen),
            Base::Pins => (Target::Pins, small),
            Base::ChosenPins => (Target::Pins, chosen),
            Base::ChosenEos | Base::FlowletEos => (Target::Eos, chosen),
            Base::AdaptiveNvue => (Target::Nvue, Shape { parallel: 2, ..chosen }),
            Base::Nvue => (Target::Nvue, chosen),
            Base::ChosenNvue => (Target::NvueLossless, chosen),
            Base::ChosenLinux => (
                Target::Linux,
                Shape { groups: 4, parallel: 2, exceptions: PARALLEL_HOLES.to_owned(), ..chosen },
            ),
            Base::Zones | Base::ChosenZones => {
                let t2 = T2 { zones: 2, steps: 2, parallel: 1, rows: 0, node_zones: 1 };
                (Target::Linux, Shape { per_group: 1, t2: Some(t2), ..small })
            }
            Base::Parallel => (Target::Linux, Shape { parallel: 2, ..small }),
            Base::Declared => {
                let exceptions = DECLARED.to_owned();
                (Target::Linux, Shape { groups: 3, exceptions, ..small })
            }
            Base::Isolated => (Target::Sonic, Shape { exceptions: ISOLATED.to_owned(), ..small }),
            Base::Bgp | Base::BgpGap | Base::BgpNvue => {
                let t2 = T2 { zones: 2, steps: 2, parallel: 1, rows: 0, node_zones: 1 };
                let exceptions = match self {
                    Base::BgpGap => "exceptions:\n  absent: [z0-p0-t1-001--p0-t2-001]\n",
                    Base::BgpNvue => "exceptions:\n  drained: [z0-p0-t0-002--z0-p0-t1-001#1]\n",
                    _ => "",
                }
                .to_owned();
                let target = if self == Base::BgpNvue { Target::Nvue } else { Target::Frr };
                (target, Shape { planes: 1, per_group: 1, parallel: 2, t2: Some(t2), exceptions, ..small })
            }
            Base::Tools => (Target::Linux, Shape { rails: 2, ..small }),
            Base::ChosenTools => {
                let exceptions = "exceptions:\n  absent: [p0-t0-002--p0-t1-001, su002-n001/nic1.p1]\n  \
                                  drained: [p1-t0-003]\n"
                    .to_owned();
                (Target::Linux, Shape { rails: 2, groups: 4, exceptions, ..chosen })
            }
            Base::BgpSonic => (Target::Sonic, drained_shape()),
            Base::BgpEos => (Target::Eos, drained_shape()),
        }
    }

    fn plan(self) -> Plan {
        let (target, shape) = self.shape();
        let yaml = target.apply(&shape.yaml());
        let fixed = "qos: {base: lossless, classes: {data: {ecn: {thresholds: {min: 300KB, max: 900KB, probability: 7}}}}}";
        let outputs = if self == Base::Tools {
            "nic, netplan, networkd, nccl, agent"
        } else {
            "nic, netplan, networkd, nccl"
        };
        let slots = "[{ pci: \"0000:18:00.0\", gpu: \"0000:1a:00.0\" }, { pci: \"0000:3b:00.0\", gpu: \"0000:3d:00.0\" }]";
        let tools = format!("  outputs: [{outputs}]\n  slots: {slots}\ntiers:");
        let yaml = match self {
            Base::Tools => yaml.replace("  os: linux\ntiers:", &tools),
            Base::ChosenTools => yaml.replace("tiers:", &tools),
            Base::AdaptiveNvue => {
                let hosts = "  outputs: [nic, nccl]\n  packet_order: any\ntiers:";
                let yaml = yaml.replace("256x100g", "256x200g").replace("200G, lanes: 2", "400G, lanes: 4");
                yaml.replace("  os: linux\ntiers:", hosts) + "ecmp: { balance: adaptive }\n"
            }
            Base::FlowletEos => yaml + "ecmp: { balance: flowlet }\n",
            Base::Blocks | Base::BlocksP4 => shape::in_blocks(&yaml),
            Base::BlocksZones => shape::in_blocks(&yaml).replace("rows: 8", "rows: 2"),
            _ => yaml,
        };
        let yaml = if self == Base::Fixed {
            yaml.replace("qos: lossless", fixed).replacen("tiers:", "  outputs: [nic, nccl]\ntiers:", 1)
        } else {
            yaml
        };
        let yaml = format!("routing: {}\n{yaml}", self.routing());
        match self {
            Base::BgpSonic | Base::BgpEos | Base::BgpNvue | Base::Pins => with_listed_management(&yaml),
            _ => shape::plan(&yaml),
        }
    }
}

/// Adds a list of management ports of T0s: one subnet per plane, without positions in addresses.
fn with_listed_management(yaml: &str) -> Plan {
    let plan = shape::plan(yaml);
    let t0s = plan.switches().filter(|switch| switch.tier == TierId::T0).zip(2..);
    let lines = t0s.map(|(switch, at)| {
        let plane = switch.plane;
        format!("{},10.20.{plane}.{}/25,10.20.{plane}.126\n", plan.switch_name(switch), 100 - 3 * at)
    });
    let list = "switch,address,gateway\n".to_owned() + &lines.collect::<String>();
    let addresses = "addresses: { management: 10.64.0.0/14, management_list: list.csv }\n";
    let kept = yaml.lines().filter(|line| !line.starts_with("addresses:"));
    let yaml = kept.fold(addresses.to_owned(), |all, line| all + line + "\n");
    let companions = [(Companion::Management, list.as_str())];
    shape::try_plan_with(&yaml, &companions).unwrap_or_else(|faults| panic!("{yaml}\n{faults}"))
}

/// Two tiers with a drained cable.
fn drained_shape() -> Shape {
    let exceptions = "exceptions:\n  drained: [p0-t0-002--p0-t1-001]\n".to_owned();
    Shape { groups: 3, exceptions, ..Shape::SMALL }
}

/// All trees, compiled once.
pub(crate) struct Trees(BTreeMap<Base, (Plan, Memory)>);

impl Trees {
    pub(crate) fn new() -> Self {
        Trees::of(&Base::ALL)
    }

    /// Compiles the given fabrics.
    pub(crate) fn of(bases: &[Base]) -> Self {
        let compiled = |base: Base| {
            let plan = base.plan();
            let tree = tree(&plan);
            let report = verify(&tree, options()).expect("the tree can be read");
            assert!(report.holds(), "{base:?} holds before it is damaged\n{}", report.text());
            // Without a profile in the manifest, damage on all switches cannot be found.
            let manifest = &tree.files[camino::Utf8Path::new(closc_artefacts::paths::MANIFEST)];
            let manifest = closc_artefacts::Manifest::parse(manifest).expect("the manifest can be read");
            assert!(manifest.profile.is_some(), "{base:?} has hardware that its profile does not fit");
            (base, (plan, tree))
        };
        Trees(bases.iter().copied().map(compiled).collect())
    }

    pub(crate) fn plan(&self, base: Base) -> &Plan {
        &self.0[&base].0
    }

    pub(crate) fn tree(&self, base: Base) -> &Memory {
        &self.0[&base].1
    }
}

/// Options for verification: with known hardware, and all violations shown.
pub(crate) fn options() -> &'static Options {
    static OPTIONS: OnceLock<Options> = OnceLock::new();
    OPTIONS.get_or_init(|| Options {
        hardware: hardware(),
        pipelines: closc_compile::pipeline_digests(),
        max_violations: usize::MAX,
        ..Options::default()
    })
}
