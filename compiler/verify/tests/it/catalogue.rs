//! No false alarms on any hardware: random fabrics with every platform, operating system, routing mode and QoS profile.
//!
//! A normal run tests a part of them. `CLOSC_FABRICS=667` sets the number of fabrics, cycling through all combinations.
//! `CLOSC_CONFIGS=FOLDER` stores the first `config_db.json` of every tier of each fabric, for external tools.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use closc_artefacts::Files as _;
use closc_compile::front::{self, Source, read_text};
use closc_platform::{Catalogue, Hardware, Os};
use closc_qos::profile::Preset;
use closc_tests::{exceptions, shape};
use closc_verify::{Options, verify};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use crate::common;

/// Number of fabrics in a normal run.
const FEW: usize = 60;
/// Number of shapes tried for a combination.
const TRIES: usize = 6;

const ROUTINGS: [&str; 3] = ["srv6-static", "ecmp-static", "bgp-unnumbered"];
/// Custom profiles.
const WRITTEN: [&str; 5] = [
    "{ base: lossy-trim, ecn_last_hop: true }",
    "{ base: lossy-trim, ecn_last_hop: true, classes: { data: { egress_threshold: -2 } } }",
    "{ base: lossy-trim, classes: { storage: { dscp: [10], tc: 5, queue: 5, priority: 5, scheduler: { dwrr: 20 }, \
     pfc: true, ecn: { computed: {} } } } }",
    "{ base: lossless, classes: { data: { ecn: { computed: {} }, ingress_threshold: -2 } } }",
    "{ base: lossless, classes: { data: { ecn: { fill: { min: 20, max: 60, probability: 10 } } } } }",
];

/// Presets, and custom profiles.
fn profiles() -> impl Iterator<Item = &'static str> {
    Preset::ALL.iter().map(|preset| preset.name()).chain(WRITTEN)
}

/// Kinds of nodes: `hosts.os`, and `hosts.outputs`.
const NODES: [(&str, &str); 4] =
    [("linux", ""), ("linux", "netplan, networkd"), ("none", "netplan, nccl"), ("none", "networkd, nic")];

/// The parameters of a fabric.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Mix {
    platform: String,
    os: Os,
    routing: &'static str,
    profile: &'static str,
}

impl Mix {
    fn all(catalogue: &Catalogue) -> Vec<Mix> {
        let mut mixes = Vec::new();
        for platform in catalogue.iter() {
            for os in &platform.oses {
                for routing in ROUTINGS {
                    for profile in profiles() {
                        mixes.push(Mix { platform: platform.id.to_string(), os: *os, routing, profile });
                    }
                }
            }
        }
        mixes
    }

    /// Sets the parameters in the fabric file of a shape: ports of the given speed, and NICs with the given number of
    /// lanes per plane.
    fn apply(&self, yaml: &str, planes: u8, megabits: u64, lanes: u16) -> String {
        let (speed, all_lanes) = (u64::from(planes) * megabits, u16::from(planes) * lanes);
        let nic = format!("nic: {{ speed: {}G, lanes: {planes} }}", u32::from(planes) * 100);
        assert!(yaml.contains(&nic), "{yaml}");
        let hardware = format!("platform: {}, os: {}", self.platform, self.os.keyword());
        let is_virtual = ["linux", "bmv2", "embedded-512"].contains(&self.platform.as_str());
        let yaml = if is_virtual { yaml.to_owned() } else { shape::copper(yaml) };
        yaml.replace(&nic, &format!("nic: {{ speed: {speed}M, lanes: {all_lanes} }}"))
            .replace("platform: linux, os: linux", &hardware)
            .replace("qos: lossy-trim", &format!("qos: {}", self.profile))
            .replace("tiers:\n", &format!("routing: {}\ntiers:\n", self.routing))
    }
}

/// Sets the operating system and the outputs of nodes in the fabric file of a shape.
fn with_nodes(yaml: &str, (os, outputs): (&str, &str)) -> String {
    let own = "\n  os: linux\n";
    assert!(yaml.contains(own), "{yaml}");
    yaml.replacen(own, &format!("\n  os: {os}\n  outputs: [{outputs}]\n"), 1)
}

/// Number of fabrics per operating system. The configuration of nodes depends on the operating system of their T0s, so
/// each kind of node is combined with each system.
#[derive(Debug, Default)]
struct FabricCounts(BTreeMap<Os, usize>);

impl FabricCounts {
    fn fabric_count(&self, os: Os) -> usize {
        self.0.get(&os).copied().unwrap_or(0)
    }

    fn has_all(&self, os: Os) -> bool {
        self.fabric_count(os) >= NODES.len()
    }

    fn is_whole(&self) -> bool {
        Os::ALL.iter().all(|os| self.has_all(*os))
    }

    /// Returns the next kind of node in turn.
    fn next(&self, os: Os) -> (&'static str, &'static str) {
        NODES[self.fabric_count(os) % NODES.len()]
    }

    fn add(&mut self, os: Os) {
        *self.0.entry(os).or_default() += 1;
    }
}

/// Returns options with the hardware that the command line knows.
fn options(catalogue: &Catalogue) -> Options {
    let hardware = Hardware::by_hwsku(catalogue.iter());
    Options { hardware, pipelines: closc_compile::pipeline_digests(), ..Options::default() }
}

/// Plans a fabric file with all checks of the command line. Returns the code of the first error if there is one.
fn plan_checked(yaml: &str) -> Result<closc_plan::Plan, String> {
    let reading = read_text(&Source::Stdin, yaml.as_bytes(), &front::Options::default())
        .expect("there is nothing else to read");
    let errors = reading.diagnostics.iter().map(|found| found.rule.code).find(|code| code.starts_with('E'));
    reading.plan.ok_or_else(|| errors.unwrap_or("?").to_owned())
}

#[test]
fn fabrics_of_all_hardware_verify() {
    let wanted = std::env::var("CLOSC_FABRICS").ok().and_then(|text| text.parse().ok());
    let configs = std::env::var_os("CLOSC_CONFIGS").map(std::path::PathBuf::from);
    let catalogue = Catalogue::builtin();
    let (mixes, options) = (Mix::all(&catalogue), options(&catalogue));
    let mut runner = TestRunner::deterministic();
    let (mut made, mut refused) = (BTreeMap::<&Mix, usize>::new(), BTreeMap::<String, usize>::new());
    let (mut count, mut turn) = (0, 0);
    // All combinations would take minutes, so a normal run uses every n-th one. It continues until every operating
    // system and profile has occurred.
    let step = if wanted.is_some() { 1 } else { coprime(7, mixes.len()) };
    let few = wanted.unwrap_or(FEW);
    let mut crossed = FabricCounts::default();
    let mut missing: BTreeSet<&str> = profiles().collect();
    while (count < few || !crossed.is_whole() || !missing.is_empty()) && turn < mixes.len() * 20 {
        let mix = &mixes[turn * step % mixes.len()];
        turn += 1;
        // After the requested number, only missing kinds are tested.
        if count >= few && crossed.has_all(mix.os) && !missing.contains(mix.profile) {
            continue;
        }
        let nodes = crossed.next(mix.os);
        let platform = catalogue.get(&mix.platform).expect("it is of the catalogue");
        let speeds: BTreeSet<u64> =
            platform.panel.breakouts.iter().map(|breakout| u64::from(breakout.speed.mbps())).collect();
        let speeds: Vec<u64> = speeds.into_iter().collect();
        let mut why = String::new();
        let plan = (0..TRIES).find_map(|attempt| {
            let shape = exceptions::shapes_with_exceptions().new_tree(&mut runner);
            let drawn = shape.expect("there are such fabrics").current();
            let speed = speeds[(turn + attempt) % speeds.len()];
            [1, 2, 4, 8].into_iter().find_map(|lanes| {
                let yaml = with_nodes(&mix.apply(&drawn.yaml(), drawn.planes, speed, lanes), nodes);
                plan_checked(&yaml).map(|plan| (yaml, plan)).map_err(|code| why = code).ok()
            })
        });
        let Some((yaml, plan)) = plan else {
            *refused.entry(why).or_default() += 1;
            continue;
        };
        let tree = match closc_compile::compile_in_memory(&plan) {
            Ok(tree) => tree,
            Err(error) => panic!("`check` accepts this and `compile` does not: {mix:?}:\n{yaml}\n{error}"),
        };
        let report = verify(&tree, &options).expect("the tree can be read");
        assert!(report.holds(), "{mix:?}:\n{yaml}\n{}", report.text());
        if let Some(folder) = &configs {
            keep(folder, count, &tree, &plan);
        }
        *made.entry(mix).or_default() += 1;
        missing.remove(mix.profile);
        crossed.add(mix.os);
        count += 1;
    }
    println!("{count} fabrics of {} combinations hold; {refused:?} refused in {turn} turns", made.len());
    assert!(count >= few, "{count} fabrics, refused: {refused:?}");
    assert!(crossed.is_whole(), "not every operating system met every kind of nodes: {crossed:?}");
    assert_all_kinds(&made, &catalogue, count < 600);
}

/// Returns the smallest number, starting from `first`, that is coprime with `count`. Steps of this size reach every
/// element.
fn coprime(first: usize, count: usize) -> usize {
    let divisor = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (first..first + count).find(|step| divisor(*step, count) == 1).expect("a multiple plus one is one")
}

/// Prints the number of fabrics of each kind, and asserts that no kind is missing. Platforms may be missing in normal
/// runs.
fn assert_all_kinds(made: &BTreeMap<&Mix, usize>, catalogue: &Catalogue, few: bool) {
    let of = |what: &dyn Fn(&Mix) -> String| {
        let mut sums = BTreeMap::<String, usize>::new();
        for (mix, number) in made {
            *sums.entry(what(mix)).or_default() += number;
        }
        sums.iter().fold(String::new(), |mut text, (name, number)| {
            let _ = write!(text, " {name} {number}");
            text
        })
    };
    println!("by platform:{}", of(&|mix| mix.platform.clone()));
    println!("by os:{}", of(&|mix| mix.os.keyword().to_owned()));
    println!("by routing:{}", of(&|mix| mix.routing.to_owned()));
    println!("by profile:{}", of(&|mix| mix.profile.to_owned()));
    let have = |part: &dyn Fn(&Mix) -> bool| made.keys().any(|mix| part(mix));
    for routing in ROUTINGS {
        assert!(have(&|mix| mix.routing == routing), "no fabric with {routing}");
    }
    for profile in profiles() {
        assert!(have(&|mix| mix.profile == profile), "no fabric with {profile}");
    }
    for os in Os::ALL {
        assert!(have(&|mix| mix.os == os), "no fabric with {}", os.keyword());
    }
    let platforms: BTreeSet<&str> = made.keys().map(|mix| mix.platform.as_str()).collect();
    let missing: Vec<&str> = catalogue.ids().filter(|id| !platforms.contains(id)).collect();
    assert!(few || missing.is_empty(), "no fabric with {missing:?}");
}

/// In three tiers, ports to NICs that mark according to the profile are not a violation.
#[test]
fn marks_at_the_last_hop_are_no_fault_where_they_are_asked_for() {
    let shape = shape::Shape {
        planes: 1,
        groups: 2,
        per_group: 2,
        rails: 1,
        t1: 2,
        parallel: 1,
        t2: Some(shape::T2 { zones: 2, steps: 2, parallel: 1, rows: 0, node_zones: 1 }),
        exceptions: String::new(),
    };
    let report = |profile| {
        let (platform, os, routing) = ("spectrum4-sn5600".to_owned(), Os::Sonic, "srv6-static");
        let mix = Mix { platform, os, routing, profile };
        let plan = shape::plan(&mix.apply(&shape.yaml(), shape.planes, 800_000, 8));
        let catalogue = Catalogue::builtin();
        let mut tree = common::tree(&plan);
        let holds = verify(&tree, &options(&catalogue)).expect("the tree can be read");
        assert!(holds.holds(), "{profile}:\n{}", holds.text());
        // Verify the same switches in a fabric without this setting.
        tree.files.insert(closc_artefacts::paths::MANIFEST.into(), Vec::new());
        common::sign(&mut tree, "shape", routing);
        verify(&tree, &options(&catalogue)).expect("the tree can be read")
    };
    let last_hop = "{ base: lossy-trim, ecn_last_hop: true, classes: { data: { egress_threshold: -2 } } }";
    assert!(report(last_hop).violations.iter().any(|found| found.rule.code == "V1104"));
    assert!(report("lossy-trim").violations.iter().all(|found| found.rule.code != "V1104"));
}

/// Tomahawk 5 clears the code points of classes that a port's map lacks (opencomputeproject/SAI 2349). A class that is
/// missing on all switches is found, as is one with the code point of another class.
#[test]
fn classes_that_lose_their_code_points_are_found() {
    let catalogue = Catalogue::builtin();
    let shape = shape::Shape::SMALL;
    let (platform, os) = ("th5-128x400g".to_owned(), Os::Sonic);
    let mix = Mix { platform, os, routing: "ecmp-static", profile: "lossy-trim" };
    let plan = shape::plan(&mix.apply(&shape.yaml(), shape.planes, 400_000, 4));
    let whole = common::tree(&plan);
    let options = Options { digests: false, ..options(&catalogue) };
    let codes = |(from, to): (&str, &str)| {
        let mut tree = whole.clone();
        let switches = tree.files.iter_mut().filter(|(path, _)| path.as_str().ends_with("config_db.json"));
        let mut changed = 0;
        for (_, bytes) in switches {
            let mut config: serde_json::Value = serde_json::from_slice(bytes).expect("it is JSON");
            for map in config["TC_TO_DSCP_MAP"].as_object_mut().into_iter().flatten().map(|(_, map)| map) {
                let map = map.as_object_mut().expect("a map has entries");
                changed += usize::from(map.remove(from).is_some());
                if !to.is_empty() {
                    map.insert(from.to_owned(), to.into());
                }
            }
            *bytes = serde_json::to_vec_pretty(&config).expect("it is JSON");
        }
        assert!(changed > 0 || from.is_empty(), "no map has class {from}");
        let report = verify(&tree, &options).expect("the tree can be read");
        report.violations.iter().map(|found| found.rule.code).collect::<BTreeSet<_>>()
    };
    assert_eq!(codes(("", "")), BTreeSet::new());
    for damage in [("1", ""), ("1", "46"), ("3", "16"), ("6", "")] {
        assert_eq!(codes(damage), BTreeSet::from(["V1106"]), "{damage:?}");
    }
}

/// A plane without cables is still a plane, and a switch without cables does not count for its tier.
#[test]
fn what_exceptions_leave_without_a_cable_is_no_fault() {
    let catalogue = Catalogue::builtin();
    let mix =
        |platform: &str, routing, profile| Mix { platform: platform.into(), os: Os::Sonic, routing, profile };
    let plane = shape::Shape {
        groups: 1,
        t1: 3,
        exceptions: "exceptions: { absent: [p1-t0-001] }\n".into(),
        ..shape::Shape::SMALL
    };
    let row = shape::Shape {
        planes: 1,
        groups: 3,
        per_group: 3,
        t2: Some(shape::T2 { zones: 1, steps: 3, parallel: 1, rows: 8, node_zones: 1 }),
        exceptions: "exceptions: { absent: [z0-p0-t1-001] }\n".into(),
        ..plane.clone()
    };
    let cases = [
        (mix("th5-512x100g", "srv6-static", "lossy-trim"), plane, 100_000, 1),
        (mix("q3d-7280r4-64x400g", "bgp-unnumbered", "sonic-azure"), row, 400_000, 4),
    ];
    for (mix, shape, megabits, lanes) in cases {
        let plan = shape::plan(&mix.apply(&shape.yaml(), shape.planes, megabits, lanes));
        let report = verify(&common::tree(&plan), &options(&catalogue)).expect("the tree can be read");
        assert!(report.holds(), "{}", report.text());
    }
}

/// Writes the configuration of one switch of each tier.
fn keep(folder: &std::path::Path, count: usize, tree: &closc_artefacts::Memory, plan: &closc_plan::Plan) {
    let mut tiers = BTreeSet::new();
    for switch in plan.switches() {
        let name = plan.topology().naming.switch(switch).to_string();
        let Ok(bytes) = tree.read(&format!("switches/{name}/config_db.json")) else { continue };
        if tiers.insert(switch.tier) {
            let path = folder.join(format!("{count:03}-{name}.json"));
            std::fs::write(path, bytes).expect("the folder is there");
        }
    }
}
