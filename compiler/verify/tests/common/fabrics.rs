//! Random small fabrics of every target, with exceptions, over the same road as a user's file.

use std::sync::Arc;

use closc_diagnostics::Sources;
use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_tests::shape::{self, Shape};
use closc_topology::Link;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

/// A language that switches are told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Sonic,
    Frr,
    Linux,
    P4,
    /// T0s of one, T1s of another.
    Mixed,
    /// SONiC with paused classes.
    Lossless,
}

impl Target {
    pub(crate) const ALL: [Target; 6] =
        [Target::Sonic, Target::Frr, Target::Linux, Target::P4, Target::Mixed, Target::Lossless];

    /// Puts the target into a fabric file that is for Linux.
    pub(crate) fn apply(self, yaml: &str) -> String {
        let linux = "platform: linux, os: linux";
        match self {
            Target::Sonic => {
                yaml.replace(linux, "platform: th5-512x100g, os: sonic").replace("virtual", "dac")
            }
            Target::Lossless => yaml
                .replace(linux, "platform: th5-512x100g, os: sonic")
                .replace("virtual", "dac")
                .replace("qos: lossy-trim", "qos: lossless"),
            Target::Frr => yaml.replace(linux, "platform: linux, os: frr"),
            Target::Linux => yaml.to_owned(),
            Target::P4 => yaml.replace(linux, "platform: bmv2, os: p4"),
            Target::Mixed => yaml.replacen(linux, "platform: linux, os: frr", 1).replacen(
                linux,
                "platform: bmv2, os: p4",
                1,
            ),
        }
    }
}

/// Plans a fabric file; nothing where it is at fault.
pub(crate) fn plan(yaml: &str) -> Option<Plan> {
    let mut sources = Sources::new();
    let document = closc_topology::load(&mut sources, "test.yaml", yaml.as_bytes()).ok()?;
    let (topology, _) = closc_topology::lower(&document, &Catalogue::builtin(), &sources);
    Some(Plan::new(Fabric::new(Arc::new(topology?))))
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

    fn pick<T: std::fmt::Debug>(&mut self, strategy: impl Strategy<Value = T>) -> T {
        strategy.new_tree(&mut self.runner).expect("the strategy makes values").current()
    }

    /// Returns the next valid fabric: its file and its plan.
    pub(crate) fn next(&mut self) -> (String, Plan) {
        loop {
            self.count += 1;
            let target = Target::ALL[self.count % Target::ALL.len()];
            let mut shape = if self.count % 3 == 0 {
                self.pick(shape::three_tiers())
            } else {
                self.pick(shape::two_tiers())
            };
            let Some(whole) = plan(&target.apply(&shape.yaml())) else { continue };
            self.except(&whole, &mut shape);
            let yaml = target.apply(&shape.yaml());
            if let Some(plan) = plan(&yaml) {
                return (yaml, plan);
            }
        }
    }

    /// Adds exceptions to two of three fabrics: what is absent, drained, or has another cable.
    fn except(&mut self, plan: &Plan, shape: &mut Shape) {
        if self.count % 3 == 1 {
            return;
        }
        let topology = plan.topology();
        let mut names: Vec<String> =
            plan.switches().map(|switch| topology.naming.switch(switch).to_string()).collect();
        names.extend(plan.nodes().map(|node| topology.naming.node(node).to_string()));
        names.extend(plan.nodes().map(|node| topology.naming.nic(node, 0)));
        let links: Vec<String> = plan.fabric().links().map(|link: Link| plan.link_name(link)).collect();
        names.extend(links.iter().cloned());
        let planes = (0..topology.planes).map(|plane| format!("plane {plane}"));
        let drainable: Vec<String> = names
            .iter()
            .filter(|name| !name.contains("/nic") || name.contains(".p"))
            .filter(|name| !name.starts_with("su") || name.contains(".p"))
            .filter(|name| !name.contains("-su") || name.contains(".p"))
            .cloned()
            .chain(planes)
            .collect();
        let some = |from: Vec<String>, most: usize| {
            let most = most.min(from.len());
            proptest::sample::subsequence(from, 0..=most)
        };
        let absent = self.pick(some(names, 3));
        let drained: Vec<String> =
            self.pick(some(drainable, 2)).into_iter().filter(|name| !absent.contains(name)).collect();
        let longer = self.pick(some(links, 2));
        let cables: Vec<String> =
            longer.iter().map(|name| format!("\"{name}\": {{ length: 7m, medium: virtual }}")).collect();
        let quoted =
            |names: &[String]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        shape.exceptions = format!(
            "exceptions:\n  absent: [{}]\n  drained: [{}]\n  cables: {{ {} }}\n",
            quoted(&absent),
            quoted(&drained),
            cables.join(", ")
        );
    }
}
