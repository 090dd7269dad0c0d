//! Every fabric file in `tests/errors/plan` is a valid topology, and its plan gives exactly the message next to it.
//!
//! In: Markdown files with a fabric and its message. Out: a failure at the first file whose message differs.
//! `CLOSC_BLESS=1` regenerates the messages. Review them before you commit.

use std::sync::Arc;

use closc_diagnostics::{Diagnostics, Sources, show};
use closc_fabric::Fabric;
use closc_plan::{Plan, checks};

use crate::support::{self, Case};

/// Returns the findings of a plan, and their text form.
fn run(case: &Case) -> (Diagnostics, String) {
    let mut sources = Sources::new();
    let document = closc_topology::load(&mut sources, "fabric.yaml", &case.bytes())
        .expect("the file has the right shape");
    let (topology, _) = closc_topology::lower(&document, &support::catalogue(), &sources);
    let plan = Plan::new(Fabric::new(Arc::new(topology.expect("the file is valid by itself"))));
    let mut diagnostics = Diagnostics::new();
    closc_fabric::checks::check(plan.fabric(), &mut diagnostics);
    checks::check(&plan, &mut diagnostics);
    let text = show::text::all(&diagnostics, &sources, show::text::Colour::Plain);
    (diagnostics, text.trim_end().to_owned() + "\n")
}

#[test]
fn every_case_gives_its_message() {
    let mut files: Vec<_> = std::fs::read_dir(support::folder().join("plan"))
        .expect("the cases are in the repository")
        .map(|entry| entry.expect("a folder can be read").path())
        .collect();
    files.sort();
    for rule in checks::RULES {
        let named = |path: &std::path::PathBuf| path.display().to_string().contains(rule.code);
        assert!(files.iter().any(named), "{} has no case", rule.code);
    }
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a case is text");
        let case = Case::parse(&text).expect("the file has a fence ```yaml");
        let (diagnostics, shown) = run(&case);
        if std::env::var_os("CLOSC_BLESS").is_some() {
            let (head, _) = text.split_once("```text\n").expect("the file has a fence ```text");
            std::fs::write(&path, format!("{head}```text\n{shown}```\n")).expect("the case can be written");
        } else {
            assert_eq!(shown, case.expected, "{}", path.display());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let code = name.split('-').next().unwrap_or_default();
        assert!(diagnostics.iter().any(|found| found.rule.code == code), "{name}:\n{shown}");
    }
}

#[test]
fn the_examples_of_rules_break_them() {
    for rule in checks::RULES {
        let case = Case { form: String::new(), yaml: rule.example.to_owned(), expected: String::new() };
        let (diagnostics, shown) = run(&case);
        assert!(diagnostics.iter().any(|found| found.rule.code == rule.code), "{}:\n{shown}", rule.code);
    }
}

#[test]
fn a_deep_buffer_supports_80_km_and_120_km() {
    for (length, each) in [("80km", 53_305_344_u64), ("120km", 79_900_672)] {
        let text = format!(
            "
fabric: far
planes: 1
routing: ecmp-static
hosts: {{ groups: 2, per_group: 32, nic: {{ speed: 400G, lanes: 4 }} }}
tiers:
  t0: {{ platform: q3d-7280r4-64x400g, up: 32 }}
  t1: {{ platform: q3d-7280r4-64x400g }}
cables:
  nic-t0: {{ length: 2m, medium: dac }}
  t0-t1: {{ length: {length}, medium: zr }}
qos: lossless
"
        );
        let (diagnostics, shown) =
            run(&Case { form: String::new(), yaml: text.clone(), expected: String::new() });
        assert!(!diagnostics.has_errors(), "{shown}");
        let plan = closc_tests::shape::plan(&text);
        let qos = plan.qos(plan.switches().next().unwrap()).unwrap();
        let buffers = qos.buffers.as_ref().unwrap();
        let headrooms: Vec<u64> =
            (0..qos.kinds.len()).filter_map(|kind| Some(buffers.headroom(kind)?.xoff.0)).collect();
        // The published headroom is 53.3 MB for 80 km and 79.9 MB for 120 km. The computed headroom is not
        // smaller, and at most 0.1 % larger.
        let published = each..=each + each / 1000;
        assert!(headrooms.iter().any(|found| published.contains(found)), "{length}: {headrooms:?}");
    }
}
