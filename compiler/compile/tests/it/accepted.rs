//! `compile` renders every fabric that `check` accepts: an error is never found only during rendering.
//!
//! In: the fabrics of `tests/errors`, and random fabrics of all hardware, routings and profiles. Their
//! thresholds, lengths and exceptions may be invalid. Out: a failure for each fabric that is accepted but
//! cannot be rendered. `CLOSC_FABRICS=1000` sets the number of random fabrics.

use std::collections::BTreeMap;

use camino::Utf8Path;
use closc_compile::front::Reading;
use closc_compile::{CompileError, Unit, compile_in_memory};
use closc_diagnostics::show;
use closc_platform::{Catalogue, Os};
use closc_qos::profile::Preset;
use closc_render::Templates;

use crate::common::{Draw, read};

/// Number of accepted fabrics in a normal run.
const FEW: usize = 40;

/// Above this number of switches, only one of each kind is rendered.
const LARGE: usize = 100;

/// QoS profiles as they can be written in a fabric file.
const WRITTEN: [&str; 9] = [
    "{ base: lossless, classes: { data: { ecn: { thresholds: { min: 100KB, max: 1MB, probability: 5 } } } } }",
    "{ base: lossless, classes: { data: { ecn: { thresholds: { min: 1GB, max: 6GB, probability: 5 } } } } }",
    "{ base: lossy-trim, classes: { data: { ecn: { thresholds: { min: 1GB, max: 6GB, probability: 5 } } } } }",
    "{ base: lossy-trim, classes: { data: { ecn: { thresholds: { min: 40MB, max: 90MB, probability: 9 } } } } }",
    "{ base: lossless, shared_headroom: { over_subscribe_ratio: 2 } }",
    "{ base: lossless, classes: { data: { ingress_threshold: -7 } } }",
    "{ base: lossy-trim, classes: { data: { egress_threshold: -8 } } }",
    "{ base: lossy-trim, ecn_last_hop: true, classes: { data: { ecn: { computed: { min: 1000, max_over_min: 9, probability: 5 } } } } }",
    NINE,
];

/// A profile with more classes than three bits can distinguish.
const NINE: &str = "{ base: lossy-trim, classes: { c1: { role: other, dscp: [49], tc: 9, queue: 7, scheduler: strict, priority: 6 }, \
    c2: { role: other, dscp: [50], tc: 10, queue: 7, scheduler: strict, priority: 6 }, \
    c3: { role: other, dscp: [51], tc: 11, queue: 7, scheduler: strict, priority: 6 }, \
    c4: { role: other, dscp: [52], tc: 12, queue: 7, scheduler: strict, priority: 6 }, \
    c5: { role: other, dscp: [53], tc: 13, queue: 7, scheduler: strict, priority: 6 }, \
    c6: { role: other, dscp: [54], tc: 14, queue: 7, scheduler: strict, priority: 6 } } }";

/// Returns the presets, and profiles as they can be written in a fabric file.
fn profiles() -> Vec<&'static str> {
    Preset::ALL.iter().map(|preset| preset.name()).chain(WRITTEN).collect()
}

/// Renders an accepted fabric, or returns the codes of its findings. In large fabrics, only one switch of
/// each kind is rendered.
fn render(text: &str, reading: Reading) -> Result<(), Vec<&'static str>> {
    let Some(plan) = reading.plan else {
        return Err(reading.diagnostics.iter().map(|found| found.rule.code).collect());
    };
    if plan.switches().nth(LARGE).is_some() {
        let templates = Templates::builtin();
        for switch in plan.kinds() {
            let rendered = Unit::Switch(switch).render(&plan, &templates);
            assert!(rendered.is_ok(), "`check` accepts this and `compile` does not:\n{text}\n{rendered:?}");
        }
        return Ok(());
    }
    match compile_in_memory(&plan) {
        Ok(_) | Err(CompileError::Nothing) => Ok(()),
        Err(error) => panic!("`check` accepts this and `compile` does not:\n{text}\n{error}"),
    }
}

#[test]
fn what_is_accepted_renders() {
    let wanted = std::env::var("CLOSC_FABRICS").ok().and_then(|text| text.parse().ok()).unwrap_or(FEW);
    let catalogue = Catalogue::builtin();
    let platforms = catalogue.iter();
    let hardware: Vec<(&str, Os)> =
        platforms.flat_map(|platform| platform.oses.iter().map(|os| (platform.id.as_str(), *os))).collect();
    let profiles = profiles();
    let (mut draw, mut accepted, mut refused) = (Draw::new(), 0, BTreeMap::<&str, usize>::new());
    let mut tried = 0;
    while accepted < wanted {
        tried += 1;
        assert!(tried <= 20 * wanted, "{accepted} of {tried} accepted: {refused:?}");
        let (text, reading) = draw.next(&hardware, &profiles);
        match render(&text, reading) {
            Ok(()) => accepted += 1,
            Err(codes) => codes.into_iter().for_each(|code| *refused.entry(code).or_default() += 1),
        }
    }
    println!("{accepted} of {tried} accepted, and all of these rendered; refused: {refused:?}");
    let late = ["E0720", "E0721", "E0908"];
    assert!(late.iter().any(|code| refused.contains_key(code)), "nothing asks too much: {refused:?}");
}

/// Returns the cases of a folder: path, text, and the fabric in the first fenced block.
fn cases(folder: &str) -> Vec<(camino::Utf8PathBuf, String, String)> {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors").join(folder);
    let mut files: Vec<_> = folder
        .read_dir_utf8()
        .expect("the cases are in the repository")
        .map(|entry| entry.expect("a folder can be read").into_path())
        .filter(|path| path.extension() == Some("md"))
        .collect();
    files.sort();
    let case = |path: camino::Utf8PathBuf| {
        let text = std::fs::read_to_string(&path).ok()?;
        let fabric = text.split_once("```yaml\n")?.1.split_once("```\n")?.0.to_owned();
        Some((path, text, fabric))
    };
    files.into_iter().filter_map(case).collect()
}

#[test]
fn cases_of_other_stages_that_are_accepted_render() {
    for folder in ["", "plan"] {
        for (_, _, fabric) in cases(folder) {
            let _ = render(&fabric, read(&fabric));
        }
    }
}

#[test]
fn cases_of_entries_give_their_messages() {
    let cases = cases("entries");
    for rule in closc_entries::checks::RULES {
        assert!(
            cases.iter().any(|(path, ..)| path.as_str().contains(rule.code)),
            "{} has no case",
            rule.code
        );
        let codes = render(rule.example, read(rule.example)).expect_err("the example breaks its rule");
        assert!(codes.contains(&rule.code), "{}: {codes:?}", rule.code);
    }
    for (path, text, fabric) in cases {
        let Reading { diagnostics, sources, .. } = read(&fabric);
        let shown = show::text::all(&diagnostics, &sources, show::text::Colour::Plain);
        let shown = shown.trim_end().to_owned() + "\n";
        let (head, rest) = text.split_once("```text\n").expect("the file has a fence ```text");
        if std::env::var_os("CLOSC_BLESS").is_some() {
            std::fs::write(&path, format!("{head}```text\n{shown}```\n")).expect("the case can be written");
        } else {
            assert_eq!(rest.split_once("```").map_or("", |(shown, _)| shown), shown, "{path}");
        }
        let code = path.file_name().and_then(|name| name.split('-').next()).unwrap_or_default();
        assert!(diagnostics.iter().any(|found| found.rule.code == code), "{path}:\n{shown}");
    }
}
