//! Random small fabrics of every target, with exceptions, compiled like the file of a user.

use closc_plan::Plan;
use closc_tests::exceptions;
use closc_tests::shape;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

/// The languages of the switches of a fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Sonic,
    Frr,
    Linux,
    P4,
    /// T0s with one language, T1s with another.
    Mixed,
    /// SONiC with PFC.
    Lossless,
    /// SONiC hardware with P4Runtime.
    Pins,
    /// EOS with PFC, which has no segments.
    Eos,
    /// Cumulus Linux.
    Nvue,
    /// Cumulus Linux with PFC, for a release that keeps addresses of both families together.
    NvueLossless,
    /// Tofino, with ports of 400G and ECN marking in three classes.
    Tofino,
}

impl Target {
    /// Targets that support every routing mode.
    pub(crate) const ALL: [Target; 6] =
        [Target::Sonic, Target::Frr, Target::Linux, Target::P4, Target::Mixed, Target::Lossless];

    /// Converts a fabric file for Linux to the target.
    pub(crate) fn apply(self, yaml: &str) -> String {
        let linux = "platform: linux, os: linux";
        let sonic = || shape::copper(&yaml.replace(linux, "platform: th5-512x100g, os: sonic"));
        match self {
            Target::Sonic => sonic(),
            Target::Lossless => sonic().replace("qos: lossy-trim", "qos: lossless"),
            Target::Pins => shape::copper(&yaml.replace(linux, "platform: th5-512x100g, os: pins")),
            Target::Eos => shape::copper(&yaml.replace(linux, "platform: th5-512x100g, os: eos"))
                .replace("qos: lossy-trim", "qos: lossless"),
            Target::Nvue => nvue(yaml),
            Target::NvueLossless => {
                nvue(yaml).replace("qos: lossy-trim", "qos: lossless") + "releases: { nvue: \"5.14\" }\n"
            }
            Target::Frr => yaml.replace(linux, "platform: linux, os: frr"),
            Target::Linux => yaml.to_owned(),
            Target::P4 => yaml.replace(linux, "platform: bmv2, os: p4"),
            Target::Tofino => shape::tofino_yaml(yaml),
            Target::Mixed => yaml.replacen(linux, "platform: linux, os: frr", 1).replacen(
                linux,
                "platform: bmv2, os: p4",
                1,
            ),
        }
    }
}

/// Converts a fabric file for Linux to Cumulus Linux, with every other cage split in eight and the rest
/// disabled.
fn nvue(yaml: &str) -> String {
    shape::copper(
        &yaml.replace("platform: linux, os: linux", "platform: spectrum4-sn5600-256x100g, os: nvue"),
    )
}

/// A source of random fabrics, the same in every run.
pub(crate) struct Fabrics {
    runner: TestRunner,
    count: usize,
}

impl Fabrics {
    pub(crate) fn new() -> Self {
        Fabrics { runner: TestRunner::deterministic(), count: 0 }
    }

    /// Returns the next fabric: its file and its plan. Targets take turns. If a shape does not fit the target, the next
    /// shape is tried.
    pub(crate) fn next(&mut self) -> (Target, String, Plan) {
        let target = Target::ALL[self.count % Target::ALL.len()];
        self.count += 1;
        loop {
            let tree = exceptions::shapes_with_exceptions()
                .new_tree(&mut self.runner)
                .expect("there are such fabrics");
            let yaml = target.apply(&tree.current().yaml());
            // In every third round of targets, planes have their own blocks.
            let blocks = self.count / Target::ALL.len() % 3 == 2;
            let yaml = if blocks { shape::in_blocks(&yaml) } else { yaml };
            if let Ok(plan) = shape::try_plan(&yaml) {
                return (target, yaml, plan);
            }
        }
    }
}
