//! Random fabrics of given hardware: a small shape with varied ports, routing, profile and cable lengths.

#![allow(dead_code, reason = "each test uses a part")]

use camino::Utf8Path;
use closc_compile::front::{Options, Reading, Source, read_text};
use closc_platform::{Catalogue, Os};
use closc_tests::exceptions;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

/// Differences from a small fabric: choices as numbers, modulo the number of options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mix {
    hardware: usize,
    routing: usize,
    profile: usize,
    lengths: [usize; 2],
}

const ROUTINGS: [&str; 3] = ["srv6-static", "ecmp-static", "bgp-unnumbered"];
const LENGTHS: [&str; 6] = ["1m", "30m", "500m", "2km", "10km", "80km"];
fn mixes() -> impl Strategy<Value = Mix> {
    let indices = (any::<u16>(), 0..ROUTINGS.len(), any::<u16>());
    (indices, 0..LENGTHS.len(), 0..LENGTHS.len()).prop_map(|((hardware, routing, profile), near, far)| Mix {
        hardware: hardware.into(),
        routing,
        profile: profile.into(),
        lengths: [near, far],
    })
}

impl Mix {
    /// Applies the mix to the file of a shape with `planes` planes. Returns one file for each number of lanes
    /// that a NIC may have.
    fn apply(&self, yaml: &str, planes: u8, all: &[(&str, Os)], profiles: &[&str]) -> Vec<String> {
        let (platform, os) = all[self.hardware % all.len()];
        let catalogue = Catalogue::builtin();
        let panel = &catalogue.get(platform).expect("it is of the catalogue").panel;
        let speed = u64::from(planes) * u64::from(panel.default_breakout.speed.mbps());
        let nic = format!("nic: {{ speed: {}G, lanes: {planes} }}", u32::from(planes) * 100);
        let soft = ["linux", "bmv2"].contains(&platform);
        let [short, long] = if soft { ["virtual"; 2] } else { ["dac", "dwdm"] };
        let [near, far] = self.lengths.map(|at| LENGTHS[at]);
        // Kernels support only a part of each profile, so most fabrics on Linux or FRR have the profile
        // `none`.
        let silent = matches!(os, Os::Frr | Os::Linux) && !self.profile.is_multiple_of(4);
        let profile = if silent { "none" } else { profiles[self.profile % profiles.len()] };
        let text = yaml
            .replace("platform: linux, os: linux", &format!("platform: {platform}, os: {}", os.keyword()))
            .replace("length: 2m, medium: virtual", &format!("length: {near}, medium: {long}"))
            .replace("length: 3m, medium: virtual", &format!("length: {far}, medium: {long}"))
            .replace("length: 1m, medium: virtual", &format!("length: 1m, medium: {short}"))
            .replace("qos: lossy-trim", &format!("qos: {profile}"))
            .replace("tiers:\n", &format!("routing: {}\ntiers:\n", ROUTINGS[self.routing]));
        let lanes = [1, 2, 4, 8].map(|lanes| u16::from(planes) * lanes);
        lanes.map(|lanes| text.replace(&nic, &format!("nic: {{ speed: {speed}M, lanes: {lanes} }}"))).into()
    }
}

/// A generator of random fabric files.
pub(crate) struct Draw {
    runner: TestRunner,
}

impl Draw {
    pub(crate) fn new() -> Self {
        Draw { runner: TestRunner::deterministic() }
    }

    /// Draws a fabric for the given hardware and profiles; returns its text, and the result of reading it.
    /// The NIC has the first number of lanes that fits the ports.
    pub(crate) fn next(&mut self, hardware: &[(&str, Os)], profiles: &[&str]) -> (String, Reading) {
        let shape = exceptions::shapes_with_exceptions()
            .new_tree(&mut self.runner)
            .expect("there are such fabrics")
            .current();
        let mix = mixes().new_tree(&mut self.runner).expect("there are such mixes").current();
        let mut texts = mix.apply(&shape.yaml(), shape.planes, hardware, profiles);
        let misfit = |text: &String| {
            read(text).diagnostics.iter().any(|found| ["E0205", "E0210"].contains(&found.rule.code))
        };
        let at = texts.iter().position(|text| !misfit(text)).unwrap_or(0);
        let text = texts.swap_remove(at);
        let reading = read(&text);
        (text, reading)
    }
}

/// Reads a fabric as the command line does.
pub(crate) fn read(text: &str) -> Reading {
    let own = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors/platforms");
    let options = Options { platforms: vec![own], ..Options::default() };
    read_text(&Source::Stdin, text.as_bytes(), &options).expect("its own platforms are there")
}
